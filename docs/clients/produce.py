#!/usr/bin/env python3
"""Sends one delayed record with confluent-kafka (librdkafka).

produce.py BROKERS LEVEL_TOPIC TARGET KEY PAYLOAD [HEADER=VALUE ...]
e.g. produce.py localhost:9092 delay-5s orders 4711 hello dwell-id=$(uuidgen)
"""

import sys

from confluent_kafka import Producer


def main() -> None:
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    brokers, level, target, key, payload = sys.argv[1:6]
    headers = [("dwell-target", target)]
    headers += [tuple(header.split("=", 1)) for header in sys.argv[6:]]

    producer = Producer(
        {
            "bootstrap.servers": brokers,
            "acks": "all",
            "enable.idempotence": True,
            # The Java client's choice of partition; librdkafka's own default would part the records of one key.
            "partitioner": "murmur2_random",
        }
    )
    failures = []

    def delivered(error, record):
        if error is not None:
            failures.append(str(error))
        else:
            print(f"{record.topic()} partition {record.partition()} offset {record.offset()}")

    producer.produce(level, value=payload, key=key, headers=headers, on_delivery=delivered)
    # A record is safe when its delivery report says so, not before.
    if producer.flush(30) > 0:
        failures.append("no answer within 30 s")
    if failures:
        sys.exit(f"not sent: {failures[0]}")


if __name__ == "__main__":
    main()
