// For scripts/coverage. What a process has counted is written when it ends by exit(); these write it also when a forked child ends by
// _exit() or a test by _Exit(), and when the library ends a process on purpose. The linker puts them in place of the originals (--wrap), and chooses their names.
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
