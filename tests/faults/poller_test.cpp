// poller_test.cpp: epoll and io_uring that cannot be had, or fail later.
#include "rows.hpp"

namespace weft::test {
namespace {

const auto kEpollInstead = [](const char* why) {
  return succeeds_saying(std::string("weft: poller=uring: ") + why);
};
const auto kPollerIsGone = [](const char* call) {
  return dies(std::string("weft: ") + call + " failed (errno=");
};

// Found out once, by as many threads as come at the same time; after that the other call is made.
fault_row remembered(int error) {
  return {.scenario = "waiting_for_both",
          .site = "epoll_sleep_exactly",
          .error = error,
          .times = for_ever,
          .expected = succeeds(),
          .most_hits = 8};
}

const auto kRows =
    rows{}
        .both("first_pipe", "epoll_open", {EMFILE, ENFILE, ENOMEM}, fails("system pipe: "))
        .both("first_pipe", "epoll_eventfd", {EMFILE, ENFILE, ENOMEM, ENODEV},
              fails("system pipe: "))
        .both("first_pipe", "epoll_add_eventfd", {ENOMEM, ENOSPC}, fails("system pipe: "))
        .both("pipe", "epoll_add", {ENOMEM, ENOSPC, EPERM}, fails("system pipe: "))
        .once_each("pipe", "epoll_add", {ENOMEM}, fails("system pipe: "), 1)  // the other end
        .both("pipe", "epoll_remove", {ENOENT, EBADF}, succeeds())
        .once_each("pipe", "epoll_sleep", {EINTR}, succeeds())
        .both("tcp", "epoll_sleep", {EBADF, EINVAL}, kPollerIsGone("epoll_wait"))
        .once_each("waiting_for_both", "epoll_sleep_exactly", {ENOSYS, EPERM}, succeeds())
        .row(remembered(ENOSYS))
        .row(remembered(EPERM))
        .both("waiting_for_both", "epoll_sleep_exactly", {EBADF}, kPollerIsGone("epoll_pwait2"))
        .once_each("waiting_for_both", "epoll_sleep_exactly", {EINTR}, succeeds())
        .late("waiting_for_both", "epoll_sleep_exactly", 20'000'000)
        .once_each("called_away", "epoll_interrupt", {EINTR}, succeeds())
        .both("called_away", "epoll_interrupt", {EBADF}, kPollerIsGone("write"))
        .both("called_away", "epoll_drain", {EAGAIN, EINTR}, succeeds())
        .both("called_away", "epoll_drain", {EBADF}, kPollerIsGone("read"))
        // io_uring: a line says why it is not used.
        .both("start_on_uring", "uring_setup", {ENOSYS},
              kEpollInstead("this kernel has no io_uring"))
        .both("start_on_uring", "uring_setup", {EPERM, EACCES},
              kEpollInstead("io_uring is forbidden"))
        .both("start_on_uring", "uring_setup", {EINVAL}, kEpollInstead("io_uring is too old"))
        .both("start_on_uring", "uring_setup", {EMFILE, ENFILE},
              kEpollInstead("no descriptor is left for io_uring"))
        .both("start_on_uring", "uring_setup", {ENOMEM}, kEpollInstead("no memory for io_uring"))
        .once_each("start_on_uring", "uring_setup", {EFAULT},
                   kEpollInstead("io_uring_setup failed"))
        .both("start_on_uring", "uring_probe", {EINVAL, ENOMEM},
              kEpollInstead("io_uring does not say what it can do"))
        .both("start_on_uring", "uring_map", {ENOMEM, EPERM},
              kEpollInstead("no memory for io_uring"))
        .once_each("start_on_uring", "uring_map", {ENOMEM}, kEpollInstead("no memory for io_uring"),
                   1)
        .both("start_on_uring", "uring_eventfd", {EMFILE}, kEpollInstead("no eventfd for io_uring"))
        .both("start_on_uring", "uring_judge", {EMFILE}, kEpollInstead("no epoll beside io_uring"))
        .once_each("start_on_uring", "thread_create", {EAGAIN},
                   kEpollInstead("no thread for io_uring"))
        .once_each("pipe_on_uring", "uring_enter", {EINTR, EBUSY, EAGAIN}, succeeds())
        .both("pipe_on_uring", "uring_enter", {EBADF, ENXIO}, kPollerIsGone("io_uring_enter"))
        .late("pipe_on_uring", "uring_enter", 20'000'000)
        .once_each("pipe_on_uring", "uring_kick", {EINTR}, succeeds())
        .both("pipe_on_uring", "uring_kick", {EBADF}, kPollerIsGone("write"))
        .both("start_on_uring", "uring_drain", {EAGAIN, EINTR}, succeeds())
        .both("pipe_on_uring", "uring_stat", {EBADF, ENOMEM}, fails("system pipe: "))
        .both("terminal_on_uring", "uring_judge_add", {ENOMEM, ENOSPC}, fails("system adopt fd "));

INSTANTIATE_FAULTS(poller, kRows);

}  // namespace
}  // namespace weft::test
