import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/** Work that takes a known time, and what the process has used. */
final class CpuWork {
    static final int ITERATIONS_PER_US = 870;
    static volatile long sink;
    private static final LongSupplier CPU_NANOS =
        ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            ::getProcessCpuTime;

    static void workFor(long iterations) {
        long x = iterations;
        for (long i = 0; i < iterations; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        if (x == 1) {
            sink = x;  // practically never, but the compiler cannot know
        }
    }

    /** The least of several looks: others may take the CPU away in some, and the first are not compiled yet. */
    static double nsPerIteration() {
        double least = Double.MAX_VALUE;
        long steps = 1000L * ITERATIONS_PER_US;
        for (int look = 0; look < 40; look++) {
            long start = System.nanoTime();
            workFor(steps);
            least = Math.min(least, (System.nanoTime() - start) / (double) steps);
        }
        return least;
    }

    /** Of all threads of the JVM, in steps of 10 ms. */
    static double cpuSeconds() {
        return CPU_NANOS.getAsLong() / 1e9;
    }

    private CpuWork() {}
}
