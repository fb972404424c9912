// Sends one delayed record with kafkajs.
// node produce.mjs BROKERS LEVEL_TOPIC TARGET KEY PAYLOAD [HEADER=VALUE …]
import kafkajs from "kafkajs";

const { Kafka, Partitioners, logLevel } = kafkajs;
const [brokers, level, target, key, payload, ...extra] = process.argv.slice(2);
if (payload === undefined) {
  console.error("usage: produce.mjs BROKERS LEVEL_TOPIC TARGET KEY PAYLOAD [HEADER=VALUE …]");
  process.exit(2);
}

const headers = { "dwell-target": target };
for (const header of extra) {
  const at = header.indexOf("=");
  headers[header.slice(0, at)] = header.slice(at + 1);
}

const kafka = new Kafka({ brokers: brokers.split(","), logLevel: logLevel.ERROR });
const producer = kafka.producer({
  idempotent: true,
  maxInFlightRequests: 1,
  // The Java client's choice of partition; LegacyPartitioner differs from it for some keys.
  createPartitioner: Partitioners.DefaultPartitioner,
});

await producer.connect();
try {
  // acks -1 is acks=all. The promise is fulfilled when the brokers have the record, not before.
  const [sent] = await producer.send({ topic: level, acks: -1, messages: [{ key, value: payload, headers }] });
  console.log(`${sent.topicName} partition ${sent.partition} offset ${sent.baseOffset}`);
} finally {
  await producer.disconnect();
}
