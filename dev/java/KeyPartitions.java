import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/**
 * Prints which partition the Java client's default partitioner gives a key: one line per key and partition count,
 * separated by tabs: the key's bytes in hex, the number of partitions, the partition.
 *
 * <p>java -cp "$(dev/kafka cp)" dev/java/KeyPartitions.java > integration-tests/fixtures/java-partitions.tsv
 */
public final class KeyPartitions {
    private static final int[] PARTITION_COUNTS = {1, 3, 6, 12, 100};

    public static void main(String[] arguments) {
        System.out.println("# key (hex)\tpartitions\tpartition; written by dev/java/KeyPartitions.java");
        for (byte[] key : keys()) {
            for (int partitions : PARTITION_COUNTS) {
                int partition = BuiltInPartitioner.partitionForKey(key, partitions);
                System.out.println(HexFormat.of().formatHex(key) + "\t" + partitions + "\t" + partition);
            }
        }
    }

    private static List<byte[]> keys() {
        List<byte[]> keys = new ArrayList<>();
        String[] texts = {
            "", "a", "ab", "abc", "abcd", "abcde", "order-4711", "21", "foobar", "a-little-bit-long-string",
            "ключ", "größe", "注文", "🕰️", " ", "line\nbreak", "0", "-1", "key=value", "x".repeat(1000),
        };
        for (String text : texts) {
            keys.add(text.getBytes(StandardCharsets.UTF_8));
        }
        // Every length modulo four, bytes with the high bit set: where a signed shift would go wrong.
        for (int length = 1; length <= 9; length++) {
            keys.add(bytes(length, 0xff, 0));
            keys.add(bytes(length, 0x00, 0));
            keys.add(bytes(length, 0x7e, 1));
        }
        keys.add(bytes(256, 0, 1));
        keys.add(bytes(4096, 17, 31));
        for (int number = 0; number < 40; number++) {
            keys.add(("customer-" + number).getBytes(StandardCharsets.UTF_8));
        }
        return keys;
    }

    private static byte[] bytes(int length, int first, int step) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (first + i * step);
        }
        return bytes;
    }
}
