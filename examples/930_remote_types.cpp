// Types of your own travel by to_json() and from_json(); a later process finds a job by its id.
// prints: later: 320x200\n
#include <cstdio>
#include <filesystem>

#include <spool/remote/executor.hpp>
#include <spool/remote/sqlite_broker.hpp>
#include <spool/remote/worker.hpp>
#include <spool/spool.hpp>

// [types]
struct image {
    std::string url;
    int width = 0;
    int height = 0;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(image, url, width, height)
};
// The name of the type in the signature. Without it, the compiler's own name is used.
template <>
struct spool::remote::type_label<image> {
    static std::string text() { return "image/1"; }
};
SPOOL_REMOTE(shrink, image(image original, int factor));
// [/types]

int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "spool-930-XXXXXX").string();
    folder = mkdtemp(folder.data());
    const std::string file = folder + "/jobs.db";
    // [find]
    std::string id;
    {
        spool::remote::executor today({.broker = spool::remote::sqlite(file)});
        id = today.submit_job({}, shrink, image{"a.png", 640, 400}, 2).id.text();
    }  // the future is cancelled here; the job goes on
    spool::remote::executor later({.broker = spool::remote::sqlite(file)});
    const spool::future<image> small = later.find(shrink, *spool::remote::job_id::parse(id));
    // [/find]
    {
        spool::thread_pool_executor pool({.core_size = 1});
        spool::remote::worker worker({.broker = spool::remote::sqlite(file), .pool = pool});
        worker.handle(shrink, [](image i, int factor) {
            i.width /= factor;
            i.height /= factor;
            return i;
        });
        worker.start();
        std::printf("later: %dx%d\n", small.get().width, small.get().height);
    }
    std::filesystem::remove_all(folder);
}
