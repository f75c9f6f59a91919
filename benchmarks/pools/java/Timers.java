import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** W11 and W11a: ScheduledThreadPoolExecutor with one thread, cancelled tasks removed at once. */
final class Timers {
    private static final int WARM_UP_ROUNDS = 3;

    static void addTo(List<Bench.Measurement> all) {
        String label = "JDK ScheduledThreadPoolExecutor(1)";
        all.add(new Bench.Measurement("W11", "java-stpe", label, 1_000_000, Timers::insertAndCancel));
        all.add(new Bench.Measurement("W11a", "java-stpe", label, 10_000, Timers::accuracy));
    }

    private static ScheduledThreadPoolExecutor newTimers() {
        ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1);
        timers.setRemoveOnCancelPolicy(true);
        return timers;
    }

    private static long[] randomDelays(int count, long least, long most) {
        Random random = new Random(88172645463325252L);
        return random.longs(count, least, most + 1).toArray();
    }

    private record Firing(AtomicLong counter) implements Runnable {
        @Override
        public void run() {
            counter.incrementAndGet();
        }
    }

    /** One round: all in, all out in the order of insertion. */
    private static final class Round {
        double insertSeconds;
        double cancelSeconds;
        double liveBytes;

        void run(ScheduledThreadPoolExecutor timers, ScheduledFuture<?>[] handles, long[] delays, boolean weigh)
            throws InterruptedException {
            AtomicLong fired = new AtomicLong();
            Arrays.fill(handles, null);
            double before = weigh ? liveHeap() : 0;
            long start = System.nanoTime();
            for (int i = 0; i < delays.length; i++) {
                handles[i] = timers.schedule(new Firing(fired), delays[i], TimeUnit.NANOSECONDS);
            }
            insertSeconds = (System.nanoTime() - start) / 1e9;
            liveBytes = weigh ? liveHeap() - before : 0;
            int cancelled = 0;
            long firstCancel = System.nanoTime();
            for (ScheduledFuture<?> one : handles) {
                cancelled += one.cancel(false) ? 1 : 0;
            }
            cancelSeconds = (System.nanoTime() - firstCancel) / 1e9;
            while (fired.get() + cancelled < delays.length) {
                Thread.sleep(5);
            }
            Bench.requireEqual(fired.get() + cancelled, delays.length, "timers fired or cancelled");
        }
    }

    private static double liveHeap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private static Bench.Figures insertAndCancel(int size) throws InterruptedException {
        long[] delays = randomDelays(size, 1_000_000_000L, 60_000_000_000L);
        ScheduledFuture<?>[] handles = new ScheduledFuture<?>[size];
        ScheduledThreadPoolExecutor timers = newTimers();
        Round round = new Round();
        for (int i = 0; i <= WARM_UP_ROUNDS; i++) {
            round.run(timers, handles, delays, false);
        }
        Round weighed = new Round();
        weighed.run(timers, handles, delays, true);
        timers.shutdownNow();
        return new Bench.Figures().add("Minserts_s", size / round.insertSeconds / 1e6)
            .add("Mcancels_s", size / round.cancelSeconds / 1e6)
            .add("Mgone_s", size / round.cancelSeconds / 1e6)
            .add("bytes_per_timer", weighed.liveBytes / size);
    }

    private static final class Lateness implements Runnable {
        long due;
        volatile long late;
        volatile int times;

        @Override
        public void run() {
            late = System.nanoTime() - due;
            times++;  // only ever by the one thread of the pool
        }
    }

    private static Lateness[] fireAll(ScheduledThreadPoolExecutor timers, long[] delays)
        throws InterruptedException {
        Lateness[] all = new Lateness[delays.length];
        for (int i = 0; i < delays.length; i++) {
            all[i] = new Lateness();
            all[i].due = System.nanoTime() + delays[i];
            timers.schedule(all[i], delays[i], TimeUnit.NANOSECONDS);
        }
        while (!Arrays.stream(all).allMatch(one -> one.times > 0)) {
            Thread.sleep(5);
        }
        return all;
    }

    /** Each round lasts as long as the longest delay; the warm-up rounds are shorter ones with as many timers. */
    private static Bench.Figures accuracy(int size) throws InterruptedException {
        ScheduledThreadPoolExecutor timers = newTimers();
        for (int i = 0; i < WARM_UP_ROUNDS; i++) {
            fireAll(timers, randomDelays(size, 0, 200_000_000L));
        }
        Lateness[] all = fireAll(timers, randomDelays(size, 0, 2_000_000_000L));
        timers.shutdownNow();
        double[] late = new double[size];
        for (int i = 0; i < size; i++) {
            Bench.requireEqual(all[i].times, 1, "firings of one timer");
            late[i] = all[i].late / 1e3;
        }
        Arrays.sort(late);
        return new Bench.Figures().add("late_p50_us", Bench.percentile(late, 0.5))
            .add("late_p99_us", Bench.percentile(late, 0.99))
            .add("late_worst_us", late[size - 1]);
    }

    private Timers() {}
}
