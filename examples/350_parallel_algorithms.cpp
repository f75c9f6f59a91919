// Sorting with a projection, a reduction that gives the same bits each time, running totals.
// prints: oldest: Ada, 91\nmean age: 52.0\nseats taken before: 0 2 5 9\n
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <spool/parallel/parallel.hpp>
#include <spool/spool.hpp>

struct person {
    std::string name;
    int age;
};

int main() {
    spool::thread_pool_executor pool = spool::work_stealing_pool();
    std::vector<person> people{{"Bo", 37}, {"Ada", 91}, {"Cy", 28}, {"Dee", 52}};

    // [algorithms]
    spool::parallel_stable_sort(pool, people, std::greater<>{}, &person::age);
    const double ages =
        spool::parallel_reduce(pool, people, 0.0, std::plus<>{}, &person::age, {.deterministic = true});

    const std::vector<int> seats{2, 3, 4, 1};
    std::vector<int> before(seats.size());
    spool::parallel_exclusive_scan(pool, seats, before.begin(), 0);
    // [/algorithms]

    std::printf("oldest: %s, %d\n", people.front().name.c_str(), people.front().age);
    std::printf("mean age: %.1f\n", ages / static_cast<double>(people.size()));
    std::printf("seats taken before: %d %d %d %d\n", before[0], before[1], before[2], before[3]);
}
