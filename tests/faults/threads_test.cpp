// threads_test.cpp: threads that cannot be made, sleeps that end early, clocks and barriers that fail, signals that cannot be sent.
#include "rows.hpp"
#include "support/for_procs.hpp"

namespace weft::test {
namespace {

const auto kNoThreads = fails("weft: cannot start the runtime's threads");
const auto kNoThread = dies("weft: failed to create a new thread (have ");
const auto kAtTheCap = succeeds_saying("hold all max_threads (8)");
const auto kNoSignal = succeeds_saying("weft: cannot stop goroutines with signal 23: ");

const auto kRows =
    rows{}  // --- making threads ---
        .both("start", "thread_create", {EAGAIN, ENOMEM, EPERM}, kNoThreads)
        .both("start", "thread_create", {EINVAL}, succeeds())  // too small a stack for its TLS
        .both("many_blocking_calls", "thread_create", {EAGAIN, ENOMEM}, succeeds(), kNoThread)
        .late("many_blocking_calls", "thread_create", 20'000'000)
        .both("start_with_large_threads", "thread_create_plainly", {EAGAIN, ENOMEM}, kNoThreads)
#if defined(WEFT_TEST_ASAN) || defined(WEFT_TEST_TSAN)  // nobody else asks
        .both("start", "thread_bounds", {ENOMEM, ENOENT}, succeeds())
#endif
        .both("start", "fault_action", {EINVAL}, succeeds())  // overflows are then only a SIGSEGV
        .both("start", "alternate_stack", {ENOMEM, EPERM}, succeeds())
        .both("start", "timer_slack", {EINVAL, EPERM}, succeeds())
        .both("start", "slice_get", {ENOSYS, EPERM}, succeeds())
        .both("start", "slice_set", {EINVAL, EPERM}, succeeds())
        .both("start_by_default", "affinity", {ENOSYS, EINVAL}, succeeds())
        // --- sleeping and waking ---
        .both("waiting", "futex_wait", {EINTR, EAGAIN}, succeeds())
        .both("many_blocking_calls", "futex_wait", {EINTR}, succeeds())
        .once_each("waiting", "futex_wait", {ENOMEM}, succeeds())
        .late("waiting", "futex_wait", 5'000'000)
        .late("waiting", "futex_wake", 5'000'000)
        .both("waiting", "futex_wake", {ENOSYS, EPERM}, dies("weft: futex failed (errno="))
        .both("sleep_of_a_thread", "clock_sleep", {EINTR, ENOSYS, EPERM}, succeeds())
        // --- the clock ---
        .both("waiting", "clock_now", {EINVAL, ENOSYS, EPERM},
              dies("weft: clock_gettime failed (errno="))
        .late("waiting", "clock_now", 5'000'000)
        // --- the barrier ---
        .both("start", "barrier_register", {ENOSYS, EPERM, EINVAL}, succeeds())
        .once_each("resize_while_computing", "barrier", {ENOMEM, EINTR}, succeeds())
        .for_ever_each("resize_while_computing", "barrier", {ENOMEM},
                       dies("weft: membarrier failed (errno=12)"))
        .both("resize_while_computing", "barrier", {ENOSYS, EPERM},
              dies("weft: membarrier failed (errno="))
#if defined(__x86_64__) && !defined(WEFT_TEST_TSAN)  // nobody else has restartable sequences
        .both("start", "restart_register", {ENOSYS, EPERM, EINVAL}, succeeds())
        .once_each("waiting_for_a_mutex", "restart", {ENOMEM, EINTR}, succeeds())
        .both("waiting_for_a_mutex", "restart", {ENOSYS, EPERM},
              dies("weft: membarrier failed (errno="))
#endif
        // --- stopping those who compute ---
        .both("start", "preempt_query", {EINVAL}, kNoSignal)
        .both("start", "preempt_install", {EINVAL}, kNoSignal)
        .both("start_with_signal", "preempt_install", {EINVAL},
              fails("invalid_argument weft: cannot stop goroutines with signal 12: "))
        .both("computing", "preempt_send", {ENOSYS, EPERM, EAGAIN, ESRCH}, succeeds())
        .both("computing_in_a_sandbox", "preempt_send_plainly", {EPERM, EAGAIN, ESRCH}, succeeds())
        .once_each("computing_at_the_cap", "message_room", {EINTR, ENOMEM}, kAtTheCap)
        .both("computing_at_the_cap", "message_try", {EAGAIN, EOPNOTSUPP, ENOSYS}, kAtTheCap)
        .both("computing", "watch_limit", {EINVAL}, succeeds())
        .both("computing", "watch_stat", {EBADF, EOVERFLOW}, succeeds())
        .both("computing", "watch_open", {EMFILE, ENOENT, EACCES}, succeeds())
        .both("computing", "watch_read", {ESRCH, EIO}, succeeds())
        .both("computing", "watch_cpu", {EINVAL, EPERM}, succeeds())
        // --- what the machine says of itself ---
        .both("start_by_default", "proc_open", {EMFILE, ENOENT, EACCES}, succeeds())
        .both("start_by_default", "proc_read", {EIO}, succeeds())
        .once_each("start_by_default", "proc_read", {EINTR}, succeeds())
        .short_counts("start_by_default", "proc_read", {1, 7})
        // --- last words ---
        .once_each("deadlock", "proc_list", {EINTR}, dies("all goroutines are asleep - deadlock!"))
        .once_each("deadlock", "proc_open", {EMFILE}, dies("all goroutines are asleep - deadlock!"))
        .once_each("message", "message_write", {EINTR, EAGAIN},
                   dies("weft: negative wait_group counter"))
        .short_counts("message", "message_write", {1, 10},
                      dies("weft: negative wait_group counter"));

INSTANTIATE_FAULTS(threads, kRows);

}  // namespace
}  // namespace weft::test
