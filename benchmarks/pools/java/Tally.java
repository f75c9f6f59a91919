import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Which tasks have run: each thread counts for itself, and the producer adds up while it sleeps. */
final class Tally {
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int TASKS = 16;  // with room on both sides, so that no two threads share a line
    private static final int NUMBERS = 17;
    private static final List<long[]> SLOTS = new CopyOnWriteArrayList<>();
    private static final ThreadLocal<long[]> MINE = ThreadLocal.withInitial(() -> {
        long[] slot = new long[48];
        SLOTS.add(slot);
        return slot;
    });

    static void add(long number) {
        long[] mine = MINE.get();
        mine[NUMBERS] += number;
        SLOT.setRelease(mine, TASKS, mine[TASKS] + 1);
    }

    /** Tasks numbered first, first + 1 ... from now until all of them have run. */
    static final class Expected {
        private final long count;
        private final long first;
        private final long tasksBefore = tasks();
        private final long numbersBefore = numbers();
        private final long start = System.nanoTime();

        Expected(long count, long first) {
            this.count = count;
            this.first = first;
        }

        double seconds() {
            return (System.nanoTime() - start) / 1e9;
        }

        /** Sleeps for most of the time that is probably left, but never for longer than it has waited so far. */
        void await() throws InterruptedException {
            long firstLook = System.nanoTime();
            long ranBefore = ran();
            for (long done = ranBefore; done < count; done = ran()) {
                double waited = (System.nanoTime() - firstLook) / 1e9;
                double left = (count - done) * waited / Math.max(done - ranBefore, 1);
                double longest = Math.min(Math.max(waited, 20e-6), 5e-3);
                long nanos = (long) (Math.min(Math.max(0.7 * left, 20e-6), longest) * 1e9);
                Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
            }
        }

        void check() {
            Bench.requireEqual(ran(), count, "tasks that ran");
            Bench.requireEqual(numbers() - numbersBefore, count * first + count * (count - 1) / 2,
                "sum of the tasks' numbers");
        }

        private long ran() {
            return tasks() - tasksBefore;
        }
    }

    private static long tasks() {
        long sum = 0;
        for (long[] slot : SLOTS) {
            sum += (long) SLOT.getAcquire(slot, TASKS);
        }
        return sum;
    }

    private static long numbers() {
        long sum = 0;
        for (long[] slot : SLOTS) {
            sum += (long) SLOT.getAcquire(slot, NUMBERS);
        }
        return sum;
    }

    private Tally() {}
}
