import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Sends one delayed record with the Java client.
 *
 * <p>java -cp "kafka-clients and its dependencies" Produce.java BROKERS LEVEL_TOPIC TARGET KEY PAYLOAD [HEADER=VALUE …]
 */
public final class Produce {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 5) {
            System.err.println("usage: Produce BROKERS LEVEL_TOPIC TARGET KEY PAYLOAD [HEADER=VALUE …]");
            System.exit(2);
        }
        Properties properties = new Properties();
        properties.put("bootstrap.servers", arguments[0]);
        properties.put("acks", "all");
        properties.put("enable.idempotence", "true");

        ProducerRecord<String, String> record = new ProducerRecord<>(arguments[1], arguments[3], arguments[4]);
        header(record, "dwell-target", arguments[2]);
        for (int i = 5; i < arguments.length; i++) {
            String[] header = arguments[i].split("=", 2);
            header(record, header[0], header[1]);
        }

        StringSerializer text = new StringSerializer();
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(properties, text, text)) {
            // A record is safe when the future says so, not before.
            RecordMetadata sent = producer.send(record).get(30, TimeUnit.SECONDS);
            System.out.printf("%s partition %d offset %d%n", sent.topic(), sent.partition(), sent.offset());
        }
    }

    private static void header(ProducerRecord<String, String> record, String name, String value) {
        record.headers().add(name, value.getBytes(StandardCharsets.UTF_8));
    }
}
