import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;

/** W14 and W14d: many tasks with a result each. */
final class Futures {
    static void addTo(List<Bench.Measurement> all) {
        add(all, "java-tpe", "JDK ThreadPoolExecutor", Floods::threadPool);
        add(all, "java-fjp", "JDK ForkJoinPool", ForkJoinPool::new);
    }

    private static void add(List<Bench.Measurement> all, String name, String label, Floods.Pools pools) {
        all.add(new Bench.Measurement("W14", name, label, 1_000_000, n -> rounds(pools.apply(2), n, true)));
        all.add(new Bench.Measurement("W14d", name, label, 1_000_000, n -> rounds(pools.apply(2), n, false)));
    }

    private record Answer(int number) implements Callable<Integer> {
        @Override
        public Integer call() {
            Tally.add(number);
            return number;
        }
    }

    /** Submits all tasks, then collects the results, or awaits the tasks of dropped futures. */
    private static final class Round {
        double submitSeconds;
        double seconds;
        double cpuSeconds;

        void run(ExecutorService pool, Future<?>[] futures, int tasks) throws Exception {
            double cpuBefore = CpuWork.cpuSeconds();
            Tally.Expected all = new Tally.Expected(tasks, 0);
            submitAll(pool, futures, tasks);
            submitSeconds = all.seconds();
            collect(all, futures, tasks);
            seconds = all.seconds();
            cpuSeconds = CpuWork.cpuSeconds() - cpuBefore;
            all.check();
        }
    }

    /** Without an array each future is dropped at once. */
    private static void submitAll(ExecutorService pool, Future<?>[] futures, int tasks) {
        if (futures == null) {
            for (int i = 0; i < tasks; i++) {
                pool.submit(new Answer(i));
            }
            return;
        }
        for (int i = 0; i < tasks; i++) {
            futures[i] = pool.submit(new Answer(i));
        }
    }

    private static void collect(Tally.Expected all, Future<?>[] futures, int tasks) throws Exception {
        if (futures == null) {
            all.await();
            return;
        }
        long sum = 0;
        for (Future<?> one : futures) {
            sum += (Integer) one.get();
        }
        Bench.requireEqual(sum, tasks * (tasks - 1L) / 2, "sum of the results");
    }

    /** Growth of the live heap while all tasks are pending, because a gate holds the workers. */
    private static double pendingBytes(ExecutorService pool, Future<?>[] futures, int tasks) throws Exception {
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
        if (futures != null) {
            Arrays.fill(futures, null);
        }
        double before = Floods.liveHeap();
        Tally.Expected all = new Tally.Expected(tasks, 0);
        submitAll(pool, futures, tasks);
        double growth = Floods.liveHeap() - before;
        open.countDown();
        collect(all, futures, tasks);
        all.check();
        return growth;
    }

    private static Bench.Figures rounds(ExecutorService pool, int tasks, boolean kept) throws Exception {
        Future<?>[] futures = kept ? new Future<?>[tasks] : null;
        Round round = new Round();
        for (int i = 0; i <= Floods.WARM_UP_ROUNDS; i++) {
            round.run(pool, futures, tasks);
        }
        double pending = pendingBytes(pool, futures, tasks);
        return new Bench.Figures().add("Mtasks_s", tasks / round.seconds / 1e6)
            .add("ns_per_submit", round.submitSeconds * 1e9 / tasks)
            .add("cpu_ns_per_task", round.cpuSeconds * 1e9 / tasks)
            .add("bytes_per_pending", pending / tasks);
    }

    private Futures() {}
}
