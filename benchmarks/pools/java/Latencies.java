import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/** W4, W4b, W5, W8, W12 and W12s: how long one task takes. */
final class Latencies {
    static void addTo(List<Bench.Measurement> all) {
        add(all, "java-tpe", "JDK ThreadPoolExecutor", Floods::threadPool);
        add(all, "java-fjp", "JDK ForkJoinPool", ForkJoinPool::new);
        all.add(new Bench.Measurement("W5", "java-fjp", "JDK ForkJoinPool", 30, Latencies::forkJoin));
        all.add(new Bench.Measurement("W8", "java-cached", "JDK newCachedThreadPool", 200, Latencies::burst));
    }

    private static void add(List<Bench.Measurement> all, String name, String label, Floods.Pools pools) {
        all.add(new Bench.Measurement("W4", name, label, 100_000, n -> roundTrips(pools.apply(2), n, 0)));
        all.add(new Bench.Measurement("W4b", name, label, 500, n -> roundTrips(pools.apply(2), n, 1)));
        all.add(new Bench.Measurement("W12", name, label, 100_000, n -> openLoop(pools.apply(2), n, false)));
        all.add(new Bench.Measurement("W12s", name, label, 40_000, n -> openLoop(pools.apply(2), n, true)));
    }

    private static double[] trips(ExecutorService pool, int count, int restMs) throws Exception {
        AtomicInteger ran = new AtomicInteger();
        double[] us = new double[count];
        long sum = 0;
        for (int i = 0; i < count; i++) {
            if (restMs > 0) {
                Thread.sleep(restMs);
            }
            long start = System.nanoTime();
            sum += pool.submit(() -> {
                ran.incrementAndGet();
                return 42;
            }).get();
            us[i] = (System.nanoTime() - start) / 1e3;
        }
        Bench.requireEqual(sum, 42L * count, "sum of the answers");
        Bench.requireEqual(ran.get(), count, "tasks that ran");
        return us;
    }

    private static Bench.Figures roundTrips(ExecutorService pool, int count, int restMs) throws Exception {
        for (int round = 0; round < Floods.WARM_UP_ROUNDS; round++) {
            trips(pool, restMs > 0 ? 5_000 : count / 4 + 1, 0);
        }
        double cpuBefore = CpuWork.cpuSeconds();
        double[] us = trips(pool, count, restMs);
        double cpu = CpuWork.cpuSeconds() - cpuBefore;
        double mean = Arrays.stream(us).average().orElse(0);
        Arrays.sort(us);
        return new Bench.Figures().add("p50_us", Bench.percentile(us, 0.5)).add("p99_us", Bench.percentile(us, 0.99))
            .add("mean_us", mean).add("p999_us", Bench.percentile(us, 0.999))
            .add("cpu_us_per_trip", cpu * 1e6 / count);
    }

    private static final class Fib extends RecursiveTask<Long> {
        private static final long serialVersionUID = 1;
        private final int n;

        Fib(int n) {
            this.n = n;
        }

        @Override
        protected Long compute() {
            return forked(n);
        }

        private static long forked(int n) {
            if (n < 2) {
                return n;
            }
            Fib left = new Fib(n - 1);
            left.fork();
            long right = forked(n - 2);
            return right + left.join();
        }
    }

    private static long serialFib(int n) {
        return n < 2 ? n : serialFib(n - 1) + serialFib(n - 2);
    }

    private static double fibSeconds(ForkJoinPool pool, int n) {
        long start = System.nanoTime();
        long value = pool.invoke(new Fib(n));
        double seconds = (System.nanoTime() - start) / 1e9;
        Bench.requireEqual(value, serialFib(n), "fib");
        return seconds;
    }

    private static Bench.Figures forkJoin(int n) {
        ForkJoinPool pool = new ForkJoinPool(2);
        for (int round = 0; round < Floods.WARM_UP_ROUNDS; round++) {
            fibSeconds(pool, n);
        }
        double small = fibSeconds(pool, n - 3);
        double cpuBefore = CpuWork.cpuSeconds();
        double large = fibSeconds(pool, n);
        double cpu = CpuWork.cpuSeconds() - cpuBefore;
        return new Bench.Figures().add("fib_ms", large * 1e3).add("Mspawns_s", (serialFib(n + 1) - 1) / large / 1e6)
            .add("cpu_ms", cpu * 1e3).add("small_fib_ms", small * 1e3)
            .add("small_Mspawns_s", (serialFib(n - 2) - 1) / small / 1e6);
    }

    private static void oneBurst(ExecutorService pool, int tasks) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(tasks);
        AtomicIntegerArray timesRun = new AtomicIntegerArray(tasks);
        for (int i = 0; i < tasks; i++) {
            int number = i;
            pool.execute(() -> {
                try {
                    Thread.sleep(20);
                } catch (InterruptedException e) {
                    return;
                }
                timesRun.incrementAndGet(number);
                done.countDown();
            });
        }
        done.await();
        for (int i = 0; i < tasks; i++) {
            Bench.requireEqual(timesRun.get(i), 1, "runs of one task");
        }
    }

    /** Medians of five bursts, after three pairs for the JIT. */
    private static Bench.Figures burst(int tasks) throws InterruptedException {
        double[] cold = new double[5];
        double[] warm = new double[5];
        for (int i = -Floods.WARM_UP_ROUNDS; i < 5; i++) {
            long start = System.nanoTime();
            ExecutorService pool = Executors.newCachedThreadPool();
            oneBurst(pool, tasks);
            cold[Math.max(i, 0)] = (System.nanoTime() - start) / 1e6;
            Thread.sleep(5);
            long again = System.nanoTime();
            oneBurst(pool, tasks);
            warm[Math.max(i, 0)] = (System.nanoTime() - again) / 1e6;
            pool.shutdown();
            pool.awaitTermination(1, TimeUnit.MINUTES);
        }
        Arrays.sort(cold);
        Arrays.sort(warm);
        return new Bench.Figures().add("cold_ms", cold[2]).add("warm_ms", warm[2]);
    }

    private record Timely(AtomicLongArray starts, int number, long first) implements Runnable {
        @Override
        public void run() {
            long started = System.nanoTime() - first;
            if (starts.getAndSet(number, started) != 0) {
                throw new IllegalStateException("task " + number + " started twice");
            }
            CpuWork.workFor(5L * CpuWork.ITERATIONS_PER_US);
            Tally.add(number);
        }
    }

    private static Bench.Figures loopOnce(ExecutorService pool, int tasks, boolean sleeps)
        throws InterruptedException {
        AtomicLongArray starts = new AtomicLongArray(tasks);
        long[] posted = new long[tasks];
        double cpuBefore = CpuWork.cpuSeconds();
        Tally.Expected all = new Tally.Expected(tasks, 0);
        long first = System.nanoTime();
        for (int i = 0; i < tasks; i++) {
            long due = i * 50_000L;
            long now = System.nanoTime() - first;
            while (now < due) {
                if (sleeps) {
                    LockSupport.parkNanos(due - now);
                }
                now = System.nanoTime() - first;
            }
            posted[i] = now;
            pool.execute(new Timely(starts, i, first));
        }
        all.await();
        double cores = (CpuWork.cpuSeconds() - cpuBefore) / all.seconds();
        all.check();
        double[] us = new double[tasks];
        double[] fromDue = new double[tasks];
        for (int i = 0; i < tasks; i++) {
            us[i] = (starts.get(i) - posted[i]) / 1e3;
            fromDue[i] = starts.get(i) / 1e3 - 50.0 * i;
        }
        Arrays.sort(us);
        Arrays.sort(fromDue);
        return new Bench.Figures().add("p50_us", Bench.percentile(us, 0.5)).add("p99_us", Bench.percentile(us, 0.99))
            .add("p999_us", Bench.percentile(us, 0.999)).add("p99_from_due_us", Bench.percentile(fromDue, 0.99))
            .add("cores_busy", cores);
    }

    /** Warm-up rounds of a second at most. */
    private static Bench.Figures openLoop(ExecutorService pool, int tasks, boolean sleeps)
        throws InterruptedException {
        for (int round = 0; round < Floods.WARM_UP_ROUNDS; round++) {
            loopOnce(pool, Math.min(tasks, 20_000), sleeps);
        }
        return loopOnce(pool, tasks, sleeps);
    }

    private Latencies() {}
}
