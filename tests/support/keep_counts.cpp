// For scripts/coverage. A process writes its coverage counters when it ends by exit(). These
// wrappers also write them when a forked child calls _exit(), a test calls _Exit(), or the library
// aborts the process. The linker substitutes them for the originals (--wrap) and dictates their
// names.
extern "C" {

void __gcov_dump();
[[noreturn]] void __real__exit(int status);
[[noreturn]] void __real__Exit(int status);
[[noreturn]] void __real_abort();

[[noreturn]] void __wrap__exit(int status) {
    __gcov_dump();
    __real__exit(status);
}

[[noreturn]] void __wrap__Exit(int status) {
    __gcov_dump();
    __real__Exit(status);
}

[[noreturn]] void __wrap_abort() {
    __gcov_dump();
    __real_abort();
}

}  // extern "C"
