"""Shows that every check accepts a good tree and fails on a bad one, for the reason it should."""
import shutil

from check_case import REPOSITORY, SCRIPTS, CheckTest


class Layers(CheckTest):
    def includes(self, name, *targets):
        self.write(name, "".join(f"#include {target}\n" for target in targets))

    def test_accepts_includes_along_the_order(self):
        self.includes("include/spool/pool/pool.hpp", "<spool/queue/q.hpp>", "<vector>", '"spool/version.hpp"')
        self.includes("src/pool/worker.cpp", '"worker.hpp"', '"pool/worker.hpp"', "<spool/pool/detail/x.hpp>")
        self.includes("include/spool/spool.hpp", "<spool/schedule/s.hpp>", "<spool/base/task.hpp>")
        self.accepts("check_layers.py")

    def test_refuses_an_include_against_the_order(self):
        self.includes("include/spool/base/task.hpp", "<spool/sync/event_count.hpp>")
        self.refuses("check_layers.py", "task.hpp:1: base may not include sync")

    def test_refuses_it_in_src_too(self):
        self.includes("src/future/state.cpp", '"executor/private.hpp"')
        self.refuses("check_layers.py", "future may not include executor")

    def test_refuses_the_detail_of_another_part(self):
        self.includes("include/spool/executor/submit.hpp", "<spool/future/detail/state.hpp>")
        self.refuses("check_layers.py", "private to future")

    def test_accepts_plumbing_in_every_part(self):
        self.includes("include/spool/queue/q.hpp", "<spool/detail/backoff.hpp>")
        self.includes("include/spool/detail/future_link.hpp", "<spool/future/detail/future_core.hpp>")
        self.accepts("check_layers.py")

    def test_refuses_plumbing_among_what_users_include(self):
        self.includes("include/spool/spool.hpp", "<spool/detail/backoff.hpp>")
        self.refuses("check_layers.py", "not for users")

    def test_refuses_plumbing_that_knows_the_pool(self):
        self.includes("include/spool/detail/backoff.hpp", "<spool/pool/pool.hpp>")
        self.refuses("check_layers.py", "detail may not include pool")

    def test_refuses_the_header_of_everything_inside(self):
        self.includes("src/pool/pool.cpp", "<spool/spool.hpp>")
        self.refuses("check_layers.py", "may not include spool/spool.hpp")

    def test_refuses_an_unknown_part(self):
        self.includes("src/extras/x.cpp", "<vector>")
        self.refuses("check_layers.py", "unknown part 'extras'")

    def test_refuses_to_climb(self):
        self.includes("src/pool/x.cpp", '"../schedule/y.hpp"')
        self.refuses("check_layers.py", "climbs")


class Comments(CheckTest):
    def test_accepts_long_code_and_comments_of_100_columns(self):
        self.write("src/pool/a.cpp", "// " + "x" * 97 + "\n" + "    call(" + "y" * 99 + ");\n"
                                     "if (ready) {\n    go();  // now\n}\n"
                                     "    const auto url = \"http://example.org\";\n")
        self.accepts("check_comments.py")

    def test_refuses_a_comment_that_is_too_wide(self):
        self.write("tests/unit/a_test.cpp", "int x;\n// " + "x" * 98 + "\n")
        self.refuses("check_comments.py", "a_test.cpp:2: 101 columns")

    def test_refuses_code_that_its_comment_makes_too_wide(self):
        self.write("include/spool/base/a.hpp", "int x = " + "1" * 80 + ";  // the greatest of all\n")
        self.refuses("check_comments.py", "a.hpp:1: 113 columns")

    def test_refuses_a_comment_that_pushes_an_initialiser_onto_a_second_line(self):
        self.write("src/pool/a.hpp", "    std::atomic<int> version_{\n        0};  // compared by waiting workers\n")
        self.refuses("check_comments.py", "a.hpp:2: the comment pushes")

    def test_refuses_a_comment_that_pushes_an_argument_onto_a_second_line(self):
        self.write("src/pool/a.cpp", "    const bool done = wait(limit,\n        stop);  // seldom\n")
        self.refuses("check_comments.py", "a.cpp:2: the comment pushes")


class Orders(CheckTest):
    def test_accepts_a_reason_beside_or_above(self):
        self.write("src/pool/a.cpp", "x.load(std::memory_order_relaxed);  // statistic\n"
                                     "// (A) publishes y\nx.store(1, std::memory_order::release);\n"
                                     "// talks about memory_order_acquire only\n")
        self.write("src/sync/f.cpp", "std::atomic_thread_fence(std::memory_order_seq_cst);  // handshake\n")
        self.accepts("check_orders.py")

    def test_refuses_an_order_without_a_reason(self):
        self.write("include/spool/pool/a.hpp", "// why\n\nx.load(std::memory_order_acquire);\n")
        self.refuses("check_orders.py", "a.hpp:3: explicit memory order")

    def test_refuses_an_empty_reason(self):
        self.write("src/pool/a.cpp", "x.load(std::memory_order_seq_cst);  // -\n")
        self.refuses("check_orders.py", "explicit memory order")

    def test_refuses_a_fence_outside_sync(self):
        self.write("src/pool/a.cpp", "std::atomic_thread_fence(o);  // why\n")
        self.refuses("check_orders.py", "fence outside sync")


class Length(CheckTest):
    def test_limit_is_400_lines(self):
        self.write("src/pool/a.cpp", "x\n" * 400)
        self.accepts("check_length.py")
        self.write("src/pool/a.cpp", "x\n" * 401)
        self.refuses("check_length.py", "401 lines")


class Tests(CheckTest):
    def test_accepts_claims_and_cooperative_sleeps(self):
        self.write("tests/unit/a.cpp", "TEST(pool, runs_every_task) { spool::this_task::sleep_for(d); }\n"
                                       "// sleep_for(d) in a comment\n")
        self.write("tests/timing/b.cpp", "std::this_thread::sleep_for(d);\n")
        self.accepts("check_tests.py")

    def test_refuses_a_sleep(self):
        self.write("tests/unit/a.cpp", "std::this_thread::sleep_for(d);\n")
        self.refuses("check_tests.py", "a.cpp:1: a sleep")

    def test_refuses_a_short_name(self):
        self.write("tests/unit/a.cpp", "\nTEST_F(pool,\n       shutdown_2) {}\n")
        self.refuses("check_tests.py", "a.cpp:2: test name 'shutdown_2'")

    def test_refuses_unfinished_work(self):
        self.write("src/pool/a.cpp", "// TO" "DO later\n")
        self.refuses("check_tests.py", "unfinished work")


class Docs(CheckTest):
    EXAMPLE = "int main() {\n    // [use]\n    use();\n    // [/use]\n}\n"
    MARKER = "<!-- from examples/010_hello.cpp#use -->\n"

    def page(self, text):
        self.write("examples/010_hello.cpp", self.EXAMPLE)
        self.write("docs/guide/a.md", text)

    def test_accepts_an_equal_block(self):
        self.page(self.MARKER + "```cpp\nuse();\n```\n```sh\nls\n```\n")
        self.accepts("check_docs.py")

    def test_refuses_a_block_that_differs(self):
        self.page(self.MARKER + "```cpp\nuse(1);\n```\n")
        self.refuses("check_docs.py", "a.md:2: differs")

    def test_refuses_a_block_without_a_marker(self):
        self.page(self.MARKER + "Words between.\n```cpp\nuse();\n```\n")
        self.refuses("check_docs.py", "without a")

    def test_refuses_a_missing_region(self):
        self.page(self.MARKER.replace("use", "gone") + "```cpp\nuse();\n```\n")
        self.refuses("check_docs.py", "no region 'gone'")


class Format(CheckTest):
    def test_refuses_what_clang_format_would_change(self):
        shutil.copy(REPOSITORY / ".clang-format", self.root)
        self.write("src/a.cpp", "int main() {\n    return 0;\n}\n")
        code, output = self.run_script(SCRIPTS / "check_format.py", self.root)
        if code == 77:
            self.skipTest(output)
        self.assertEqual(code, 0, output)
        self.write("src/a.cpp", "int main()\n{ return 0;}\n")
        self.refuses("check_format.py", "a.cpp:1:")


class Sources(CheckTest):
    def lists(self, headers, sources):
        self.write("include/spool/a.hpp", "")
        self.write("src/base/a.cpp", "")
        self.write("src/sources.cmake", f"# list\nset(SPOOL_PUBLIC_HEADERS\n    {headers}\n)\n"
                                        f"set(SPOOL_SOURCES {sources})\n")

    def test_accepts_complete_lists(self):
        self.lists("include/spool/a.hpp", "src/base/a.cpp")
        self.accepts("check_sources.py")

    def test_refuses_a_forgotten_file(self):
        self.lists("# include/spool/a.hpp", "src/base/a.cpp")
        self.refuses("check_sources.py", "include/spool/a.hpp: not listed")

    def test_refuses_a_file_that_is_gone(self):
        self.lists("include/spool/a.hpp", "src/base/a.cpp src/base/b.cpp")
        self.refuses("check_sources.py", "src/base/b.cpp: listed in SPOOL_SOURCES, but")

    def test_refuses_a_doubled_file(self):
        self.lists("include/spool/a.hpp", "src/base/a.cpp src/base/a.cpp")
        self.refuses("check_sources.py", "listed twice")
