import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The JDK's pools in the workloads of spool-bench-pools: one measurement per process, one line of JSON.
 *
 *     java Bench --list
 *     java Bench W1 java-tpe [size]
 *
 * Three rounds warm the JIT up and are thrown away; the fourth counts. Workloads that rest or sleep for seconds
 * need less and say so.
 */
public final class Bench {
    /** Named figures, in order. */
    static final class Figures {
        private final List<String> fields = new ArrayList<>();

        Figures add(String name, double value) {
            fields.add(String.format(Locale.ROOT, "\"%s\":%.6g", name, value));
            return this;
        }

        @Override
        public String toString() {
            return "{" + String.join(",", fields) + "}";
        }
    }

    interface Workload {
        Figures run(int size) throws Exception;
    }

    record Measurement(String workload, String contender, String label, int usualSize, Workload run) {
        String describe(int size) {
            return String.format("\"workload\":\"%s\",\"contender\":\"%s\",\"label\":\"%s\",\"hands_over\":true,"
                + "\"size\":%d", workload, contender, label, size);
        }
    }

    static List<Measurement> all() {
        List<Measurement> all = new ArrayList<>();
        Floods.addTo(all);
        Futures.addTo(all);
        Latencies.addTo(all);
        Timers.addTo(all);
        return all;
    }

    static void requireEqual(long actual, long expected, String what) {
        if (actual != expected) {
            throw new IllegalStateException(what + ": " + actual + " instead of " + expected);
        }
    }

    /** `part` of the values are at or below the result; they are sorted. */
    static double percentile(double[] sorted, double part) {
        return sorted[(int) (part * (sorted.length - 1) + 0.5)];
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("--list")) {
            for (Measurement one : all()) {
                System.out.println("{" + one.describe(one.usualSize()) + "}");
            }
            return;
        }
        if (arguments.length < 2) {
            System.err.println("usage: Bench --list | <workload> <contender> [size]");
            System.exit(2);
        }
        for (Measurement one : all()) {
            if (one.workload().equals(arguments[0]) && one.contender().equals(arguments[1])) {
                int size = arguments.length > 2 ? Integer.parseInt(arguments[2]) : one.usualSize();
                Figures found = one.run().run(size);
                System.out.println("{" + one.describe(size) + ",\"figures\":" + found + "}");
                System.exit(0);  // idle workers are no daemons
            }
        }
        System.err.println("error: no contender '" + arguments[1] + "' in workload '" + arguments[0] + "'");
        System.exit(1);
    }

    private Bench() {}
}
