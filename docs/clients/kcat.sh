#!/usr/bin/env bash
# Sends one delayed record with kcat (librdkafka).
# kcat.sh BROKERS LEVEL_TOPIC TARGET KEY PAYLOAD [HEADER=VALUE …]     e.g. kcat.sh localhost:9092 delay-5s orders 4711 hello
set -euo pipefail
(($# >= 5)) || {
  sed -n '3s/^# /usage: /p' "$0" >&2
  exit 2
}
brokers=$1 level=$2 target=$3 key=$4 payload=$5
shift 5

headers=(-H "dwell-target=$target")
for header in "$@"; do
  headers+=(-H "$header")
done

# murmur2_random is the Java client's choice of partition; librdkafka's own default would part the records of one key.
# -K takes the key up to the first such byte of the line, -D ends a record at the given byte: neither is a text's.
printf '%s\x1f%s\x1e' "$key" "$payload" |
  kcat -P -b "$brokers" -t "$level" "${headers[@]}" -K $'\x1f' -D $'\x1e' \
    -X acks=all -X enable.idempotence=true -X partitioner=murmur2_random
