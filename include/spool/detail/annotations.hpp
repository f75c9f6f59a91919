// Lock annotations: which mutex guards which data, and which mutex a caller must hold. Clang checks
// them (-Wthread-safety); for other compilers the macros are empty.
#pragma once

#if defined(__clang__)
#define SPOOL_ANNOTATE(x) __attribute__((x))
#else
#define SPOOL_ANNOTATE(x)
#endif

/// Marks a type as a lock. Clang uses `name` in its messages.
#define SPOOL_CAPABILITY(name) SPOOL_ANNOTATE(capability(name))
/// Marks a type that holds a mutex from its constructor to its destructor.
#define SPOOL_SCOPED_CAPABILITY SPOOL_ANNOTATE(scoped_lockable)

/// Marks a member that may be accessed only with the mutex held.
#define SPOOL_GUARDED_BY(mutex) SPOOL_ANNOTATE(guarded_by(mutex))
/// Marks a function whose caller must hold the mutex.
#define SPOOL_REQUIRES(...) SPOOL_ANNOTATE(requires_capability(__VA_ARGS__))

/// Mark a function that acquires a mutex, one that releases it, and one that acquires it if it
/// returns the first argument.
#define SPOOL_ACQUIRE(...) SPOOL_ANNOTATE(acquire_capability(__VA_ARGS__))
#define SPOOL_RELEASE(...) SPOOL_ANNOTATE(release_capability(__VA_ARGS__))
#define SPOOL_TRY_ACQUIRE(...) SPOOL_ANNOTATE(try_acquire_capability(__VA_ARGS__))
/// Marks a function after which Clang treats the mutex as held: for a lock with another name.
#define SPOOL_ASSERT_HELD(...) SPOOL_ANNOTATE(assert_capability(__VA_ARGS__))
/// Exempts a function from the check. A comment beside the function says why.
#define SPOOL_UNCHECKED_LOCKS SPOOL_ANNOTATE(no_thread_safety_analysis)
