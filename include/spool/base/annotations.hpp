// Which mutex guards what, and which must be held where: for Clang, which checks it (-Wthread-safety). Other compilers read over it.
#pragma once

#if defined(__clang__)
#define SPOOL_ANNOTATE(x) __attribute__((x))
#else
#define SPOOL_ANNOTATE(x)
#endif

/// A type that can be held, as a mutex; `name` stands in Clang's messages.
#define SPOOL_CAPABILITY(name) SPOOL_ANNOTATE(capability(name))
/// A type that holds a mutex from its constructor to its destructor.
#define SPOOL_SCOPED_CAPABILITY SPOOL_ANNOTATE(scoped_lockable)

/// A member that is touched only with the mutex held.
#define SPOOL_GUARDED_BY(mutex) SPOOL_ANNOTATE(guarded_by(mutex))
/// A function whose callers hold the mutex.
#define SPOOL_REQUIRES(...) SPOOL_ANNOTATE(requires_capability(__VA_ARGS__))

/// A function that takes a mutex, gives it back, or takes it if it returns the first argument.
#define SPOOL_ACQUIRE(...) SPOOL_ANNOTATE(acquire_capability(__VA_ARGS__))
#define SPOOL_RELEASE(...) SPOOL_ANNOTATE(release_capability(__VA_ARGS__))
#define SPOOL_TRY_ACQUIRE(...) SPOOL_ANNOTATE(try_acquire_capability(__VA_ARGS__))
/// A function after whose call the mutex counts as held: for a lock that was taken under another name.
#define SPOOL_ASSERT_HELD(...) SPOOL_ANNOTATE(assert_capability(__VA_ARGS__))
/// A function that is not checked: says why beside it.
#define SPOOL_UNCHECKED_LOCKS SPOOL_ANNOTATE(no_thread_safety_analysis)
