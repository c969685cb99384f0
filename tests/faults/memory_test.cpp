// memory_test.cpp: no memory, no address space, no mappings: the start says so, go() throws, and where nobody can be told the program ends.
#include "rows.hpp"

namespace weft::test {
namespace {

const auto kNoProcessors = fails("runtime_error weft: no memory for the processors");
const auto kNoStack = dies("weft: no stack for goroutine ");

const auto kRows =
    rows{}
        // The first mapping is the trial of guards; without it the other kind is taken. After that come the processors' own.
        .once_each("start", "reserve_map", {ENOMEM, EAGAIN}, succeeds())
        .for_ever_each("start", "reserve_map", {ENOMEM, EAGAIN, EPERM}, kNoProcessors)
        .once_each("start", "reserve_map", {ENOMEM}, kNoProcessors, 2)
        .once_each("start", "reserve_open", {ENOMEM}, succeeds())
        .for_ever_each("start", "reserve_open", {ENOMEM, EACCES}, kNoProcessors)
        .both("start", "reserve_no_huge", {EINVAL, ENOMEM}, succeeds())
        .both("start", "reserve_unlock", {ENOMEM, EPERM}, succeeds())
        .both("start", "reserve_trim", {ENOMEM}, succeeds())
        .both("start", "limit_of_memory", {EPERM}, succeeds())
        // Guards: of the one kind, or of the other.
        .both("start", "guard_install", {EINVAL, ENOSYS, EPERM}, succeeds())
        .once_each("start", "guard_install", {EINTR}, succeeds())
        .both("start", "probe_pipe", {EMFILE, ENFILE, ENOMEM}, succeeds())
        .once_each("start", "probe_write", {EINTR}, succeeds())
        .both("start", "probe_write", {EAGAIN, EIO}, succeeds())
        .both("many_goroutines", "guard_install", {ENOMEM}, kNoStack)
        .once_each("many_goroutines", "guard_install", {EINTR}, succeeds())
        .row({.scenario = "many_goroutines",
              .site = "guard_protect",
              .error = ENOMEM,
              .times = once,
              .expected = dies("weft: no stack for goroutine "),
              .environment = "guard=mprotect"})
        // Memory for goroutines themselves, which go() asks for: it can tell.
        .both("many_goroutines", "reserve_map", {ENOMEM}, succeeds(), fails("bad_alloc"))
        // Not once: a thread that is just being made asks for memory too, and may be the one who is refused.
        .for_ever_each("resize", "reserve_map", {ENOMEM}, fails("bad_alloc"))
        .for_ever_each("resize", "reserve_open", {ENOMEM}, fails("bad_alloc"))
        // Threads whose memory cannot be had are as good as threads that cannot be had.
        .for_ever_each("many_blocking_calls", "reserve_map", {ENOMEM},
                       dies("weft: out of memory for a thread"))
        // Timers.
        .both("many_timers", "region_map", {ENOMEM, EAGAIN}, dies("weft: out of memory for timers"))
        .both("many_timers", "region_remap", {ENOMEM}, dies("weft: out of memory for timers"))
        // A page that is not had in advance is had when it is written to.
        .both("many_goroutines", "populate", {EINVAL, ENOMEM, EFAULT, EAGAIN}, succeeds())
        // What cannot be given back is kept.
        .both("giving_back", "discard", {EINVAL, ENOMEM, EAGAIN}, succeeds())
        .late("giving_back", "discard", 5'000'000);

INSTANTIATE_FAULTS(memory, kRows);

}  // namespace
}  // namespace weft::test
