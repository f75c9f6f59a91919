import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntFunction;

/** W1, W1x1, W2, W3, W6, W7, W9 and W10: many tasks. */
final class Floods {
    static final int WARM_UP_ROUNDS = 3;

    interface Pools extends IntFunction<ExecutorService> {}

    static ExecutorService threadPool(int workers) {
        return new ThreadPoolExecutor(workers, workers, 0, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>());
    }

    static void addTo(List<Bench.Measurement> all) {
        add(all, "java-tpe", "JDK ThreadPoolExecutor", Floods::threadPool);
        add(all, "java-fjp", "JDK ForkJoinPool", ForkJoinPool::new);
    }

    private static void add(List<Bench.Measurement> all, String name, String label, Pools pools) {
        all.add(new Bench.Measurement("W1", name, label, 2_000_000, n -> oneProducer(pools.apply(2), n)));
        all.add(new Bench.Measurement("W1x1", name, label, 2_000_000, n -> oneProducer(pools.apply(1), n)));
        all.add(new Bench.Measurement("W2", name, label, 2_000_000, n -> fourProducers(pools.apply(2), n)));
        all.add(new Bench.Measurement("W3", name, label, 19, depth -> tree(pools.apply(2), depth)));
        all.add(new Bench.Measurement("W6", name, label, 1_000, rounds -> fanOut(pools.apply(2), rounds)));
        all.add(new Bench.Measurement("W7", name, label, 100_000, n -> uneven(pools.apply(2), n)));
        all.add(new Bench.Measurement("W9", name, label, 2_000_000, n -> memory(pools.apply(2), n)));
        all.add(new Bench.Measurement("W10", name, label, 3_000, ms -> idle(pools.apply(2), ms)));
    }

    private record Bump(int number) implements Runnable {
        @Override
        public void run() {
            Tally.add(number);
        }
    }

    private static Bench.Figures oneProducer(ExecutorService pool, int tasks) throws InterruptedException {
        double seconds = 0;
        double posting = 0;
        double cpu = 0;
        for (int round = 0; round <= WARM_UP_ROUNDS; round++) {
            double cpuBefore = CpuWork.cpuSeconds();
            Tally.Expected all = new Tally.Expected(tasks, 0);
            for (int i = 0; i < tasks; i++) {
                pool.execute(new Bump(i));
            }
            posting = all.seconds();
            all.await();
            seconds = all.seconds();
            cpu = CpuWork.cpuSeconds() - cpuBefore;
            all.check();
        }
        return new Bench.Figures().add("Mtasks_s", tasks / seconds / 1e6).add("ns_per_post", posting * 1e9 / tasks)
            .add("cpu_ns_per_task", cpu * 1e9 / tasks);
    }

    private static Bench.Figures fourProducers(ExecutorService pool, int tasks) throws InterruptedException {
        final int producers = 4;
        int each = tasks / producers;
        double seconds = 0;
        double cpu = 0;
        for (int round = 0; round <= WARM_UP_ROUNDS; round++) {
            CountDownLatch go = new CountDownLatch(1);
            CountDownLatch ready = new CountDownLatch(producers);
            Thread[] threads = new Thread[producers];
            for (int p = 0; p < producers; p++) {
                int first = p * each;
                threads[p] = new Thread(() -> {
                    ready.countDown();
                    try {
                        go.await();
                    } catch (InterruptedException e) {
                        return;
                    }
                    for (int i = first; i < first + each; i++) {
                        pool.execute(new Bump(i));
                    }
                });
                threads[p].start();
            }
            ready.await();
            double cpuBefore = CpuWork.cpuSeconds();
            Tally.Expected all = new Tally.Expected((long) each * producers, 0);
            go.countDown();
            all.await();
            seconds = all.seconds();
            cpu = CpuWork.cpuSeconds() - cpuBefore;
            for (Thread thread : threads) {
                thread.join();
            }
            all.check();
        }
        return new Bench.Figures().add("Mtasks_s", each * producers / seconds / 1e6)
            .add("cpu_ns_per_task", cpu * 1e9 / (each * producers));
    }

    private record TreeTask(ExecutorService pool, int depth, int number) implements Runnable {
        @Override
        public void run() {
            if (depth > 0) {
                pool.execute(new TreeTask(pool, depth - 1, 2 * number));
                pool.execute(new TreeTask(pool, depth - 1, 2 * number + 1));
            }
            Tally.add(number);
        }
    }

    private static Bench.Figures tree(ExecutorService pool, int depth) throws InterruptedException {
        long tasks = (2L << depth) - 1;
        double seconds = 0;
        double cpu = 0;
        for (int round = 0; round <= WARM_UP_ROUNDS; round++) {
            double cpuBefore = CpuWork.cpuSeconds();
            Tally.Expected all = new Tally.Expected(tasks, 1);
            pool.execute(new TreeTask(pool, depth, 1));
            all.await();
            seconds = all.seconds();
            cpu = CpuWork.cpuSeconds() - cpuBefore;
            all.check();
        }
        return new Bench.Figures().add("Mtasks_s", tasks / seconds / 1e6)
            .add("cpu_ns_per_task", cpu * 1e9 / tasks);
    }

    private static Bench.Figures fanOut(ExecutorService pool, int rounds) throws InterruptedException {
        final int width = 1000;
        double iterationNs = CpuWork.nsPerIteration();
        double seconds = 0;
        double cpu = 0;
        for (int turn = 0; turn <= WARM_UP_ROUNDS; turn++) {
            int roundsNow = turn < WARM_UP_ROUNDS ? rounds / 20 + 1 : rounds;
            double cpuBefore = CpuWork.cpuSeconds();
            Tally.Expected all = new Tally.Expected((long) roundsNow * width, 0);
            for (int round = 0; round < roundsNow; round++) {
                CountDownLatch done = new CountDownLatch(width);
                for (int i = 0; i < width; i++) {
                    int number = round * width + i;
                    pool.execute(() -> {
                        CpuWork.workFor(CpuWork.ITERATIONS_PER_US);
                        Tally.add(number);
                        done.countDown();
                    });
                }
                done.await();
            }
            seconds = all.seconds();
            cpu = CpuWork.cpuSeconds() - cpuBefore;
            all.check();
        }
        double ideal = (double) rounds * width * CpuWork.ITERATIONS_PER_US * iterationNs / 1e9;
        return new Bench.Figures().add("time_per_ideal", seconds / (ideal / 2)).add("ms", seconds * 1e3)
            .add("cpu_per_ideal", cpu / ideal);
    }

    /** In iterations; the same sequence as in C++. */
    private static int[] unevenLengths(int tasks) {
        long x = 88172645463325252L;
        int[] lengths = new int[tasks];
        for (int i = 0; i < tasks; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
            double uniform = ((x >>> 11) + 0.5) / 9007199254740992.0;
            lengths[i] = (int) (-Math.log(uniform) * 10 * CpuWork.ITERATIONS_PER_US);
        }
        return lengths;
    }

    private static Bench.Figures uneven(ExecutorService pool, int tasks) throws InterruptedException {
        double iterationNs = CpuWork.nsPerIteration();
        int[] lengths = unevenLengths(tasks);
        double seconds = 0;
        double cpu = 0;
        for (int round = 0; round <= WARM_UP_ROUNDS; round++) {
            int now = round < WARM_UP_ROUNDS ? tasks / 10 + 1 : tasks;
            AtomicIntegerArray timesRun = new AtomicIntegerArray(now);
            double cpuBefore = CpuWork.cpuSeconds();
            Tally.Expected all = new Tally.Expected(now, 0);
            for (int i = 0; i < now; i++) {
                int number = i;
                pool.execute(() -> {
                    CpuWork.workFor(lengths[number]);
                    timesRun.incrementAndGet(number);
                    Tally.add(number);
                });
            }
            all.await();
            seconds = all.seconds();
            cpu = CpuWork.cpuSeconds() - cpuBefore;
            all.check();
            for (int i = 0; i < now; i++) {
                Bench.requireEqual(timesRun.get(i), 1, "runs of one task");
            }
        }
        double ideal = 0;
        for (int length : lengths) {
            ideal += length * iterationNs / 1e9;
        }
        return new Bench.Figures().add("time_per_ideal", seconds / (ideal / 2)).add("ms", seconds * 1e3)
            .add("cpu_per_ideal", cpu / ideal);
    }

    private record Wide(long number, long a, long b) implements Runnable {
        @Override
        public void run() {
            Tally.add(number + a - b);
        }
    }

    static double liveHeap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** Live heap instead of the resident set, which the JVM takes beforehand. */
    private static Bench.Figures memory(ExecutorService pool, int tasks) throws InterruptedException {
        CountDownLatch open = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            pool.execute(() -> {
                held.countDown();
                try {
                    open.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        held.await();
        double before = liveHeap();
        Tally.Expected all = new Tally.Expected(tasks, 0);
        for (int i = 0; i < tasks; i++) {
            pool.execute(new Wide(i, i, i));
        }
        double posting = all.seconds();
        double full = liveHeap();
        double opened = all.seconds();
        open.countDown();
        all.await();
        double draining = all.seconds() - opened;
        all.check();
        Thread.sleep(100);
        return new Bench.Figures().add("bytes_per_task", (full - before) / tasks)
            .add("ns_per_post", posting * 1e9 / tasks).add("drain_ns_per_task", draining * 1e9 / tasks)
            .add("before_MB", before / 1e6).add("trimmed_MB", liveHeap() / 1e6);
    }

    private static Bench.Figures idle(ExecutorService pool, int restMs) throws InterruptedException {
        oneProducer(pool, 100_000);
        double before = CpuWork.cpuSeconds();
        Thread.sleep(restMs);
        return new Bench.Figures().add("cpu_ms", (CpuWork.cpuSeconds() - before) * 1e3);
    }

    private Floods() {}
}
