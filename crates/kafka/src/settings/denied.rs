//! Client properties Dwell's promises rest on. A user who could change them could lose or reorder records.

const COMMITS: &str = "Dwell commits only what the broker has acknowledged at the target";
const DELIVERY: &str =
    "Dwell keeps records in order and gives none up: an idempotent producer that waits for all replicas";
const NAMES: &str = "the consumer group follows from the level table (groupPrefix) or the worker's group";
const BROKERS: &str = "say --brokers or DWELL_BROKERS";

const DENIED: &[(&str, &str)] = &[
    ("bootstrap.servers", BROKERS),
    ("metadata.broker.list", BROKERS),
    ("enable.auto.commit", COMMITS),
    ("auto.commit.enable", COMMITS),
    ("enable.auto.offset.store", COMMITS),
    ("offset.store.method", COMMITS),
    ("offset.store.path", COMMITS),
    ("auto.offset.reset", "a group without offsets starts at the earliest record; anything else skips waiting records"),
    ("group.id", NAMES),
    ("group.instance.id", "say --instance-id or DWELL_INSTANCE_ID"),
    ("group.protocol", "Dwell's rebalancing is built on the classic protocol"),
    ("group.remote.assignor", "Dwell's rebalancing is built on the classic protocol"),
    ("partition.assignment.strategy", "Dwell needs cooperative-sticky; mixing strategies stops the group"),
    ("isolation.level", "Dwell reads committed records where it releases, and all of them where it counts"),
    ("enable.partition.eof", "Dwell learns where partitions end in its own way"),
    ("enable.idempotence", DELIVERY),
    ("acks", DELIVERY),
    ("request.required.acks", DELIVERY),
    ("retries", DELIVERY),
    ("message.send.max.retries", DELIVERY),
    ("max.in.flight", DELIVERY),
    ("max.in.flight.requests.per.connection", DELIVERY),
    ("message.timeout.ms", DELIVERY),
    ("delivery.timeout.ms", DELIVERY),
    ("enable.gapless.guarantee", DELIVERY),
    ("queuing.strategy", DELIVERY),
    ("delivery.report.only.error", "Dwell completes a record on its delivery report"),
    ("partitioner", "the same key must reach the same partition as from a Java client (murmur2_random)"),
    ("transactional.id", "set `delivery: exactly-once` on the level"),
    ("allow.auto.create.topics", "a typing error in a target must not create a topic"),
    ("statistics.interval.ms", "Dwell's metrics are read from these statistics"),
    ("log.queue", "Dwell reads the client's log from this queue"),
    ("test.mock.num.brokers", "the mock cluster forgets waiting records"),
];

/// Why a property may not be set, if it may not.
pub(super) fn why_denied(key: &str) -> Option<&'static str> {
    let key = key.strip_prefix("topic.").unwrap_or(key);
    DENIED.iter().find(|(name, _)| *name == key).map(|(_, why)| *why)
}
