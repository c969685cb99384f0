// io_test.cpp: pipes, copies, files, processes and signals: the error comes out of the call, with its name and the kernel's number.
#include "rows.hpp"

namespace weft::test {
namespace {

const auto kStreams =
    rows{}
        .both("pipe", "pipe", {EMFILE, ENFILE, ENOMEM}, fails("system pipe: "))
        .both("pipe", "adopt_get_flags", {EBADF}, fails("system pipe: "))
        .both("adopt", "adopt_get_flags", {EBADF}, fails("system adopt fd "))
        .both("adopt", "adopt_set_flags", {EBADF, EPERM}, fails("system adopt fd "))
        .both("adopt", "epoll_add", {ENOMEM, ENOSPC}, fails("system adopt fd "))
        .both("adopt", "kind_stat", {EBADF, ENOMEM}, succeeds())
        .both("adopt_socket", "kind_type", {ENOBUFS}, succeeds())
        .once_each("pipe", "stream_read", {EINTR, EAGAIN}, succeeds())
        .both("pipe", "stream_read", {EIO, ENOMEM}, fails("system read fd "))
        .short_counts("pipe", "stream_read", {1000, 4095})
        .once_each("pipe", "stream_write", {EINTR, EAGAIN}, succeeds())
        .both("pipe", "stream_write", {EIO, ENOSPC, EPIPE}, fails("system write fd "))
        .short_counts("pipe", "stream_write", {1000, 65537})
        .late("pipe", "stream_read", 20'000'000)
        .late("pipe", "stream_write", 20'000'000)
        .once_each("pipe_in_pieces", "stream_write_parts", {EINTR, EAGAIN}, succeeds())
        .both("pipe_in_pieces", "stream_write_parts", {EIO, ENOSPC}, fails("system write fd "))
        .short_counts("pipe_in_pieces", "stream_write_parts", {1, 2})
        .once_each("wait_readable", "wait_poll", {EINTR}, succeeds())
        .both("wait_readable_in_vain", "wait_poll", {EINTR}, fails("i/o timeout"))
        .both("wait_readable", "wait_poll", {ENOMEM}, fails("system wait for fd"))
        .both("pipe_of_threads", "thread_poll", {EINTR, ENOMEM}, succeeds())
        .both("close_under_a_reader", "empty_socket", {EMFILE, ENOMEM, EAFNOSUPPORT}, succeeds())
        .both("close_under_a_reader", "empty_dup", {EINTR, EBUSY, EBADF}, succeeds());

const auto kCopies = rows{}
                         .both("copy", "copy_pipe", {EMFILE, ENFILE}, succeeds())  // through memory
                         .both("copy", "copy_pipe_size", {EPERM, EBUSY}, succeeds())
                         .both("copy", "copy_in", {EINVAL}, succeeds())
                         .once_each("copy", "copy_in", {EINTR, EAGAIN}, succeeds())
                         .both("copy", "copy_in", {ENOMEM, EIO}, fails("system copy: "))
                         .short_counts("copy", "copy_in", {1000})
                         .both("copy", "copy_out", {EINVAL}, succeeds())
                         .once_each("copy", "copy_out", {EINTR, EAGAIN}, succeeds())
                         .both("copy", "copy_out", {ENOMEM, EPIPE}, fails("system copy: "))
                         .short_counts("copy", "copy_out", {1000})
                         .once_each("copy_by_half", "copy_rest", {EINTR}, succeeds())
                         .both("copy_by_half", "copy_rest", {EIO}, fails("system copy: "))
                         .short_counts("copy_by_half", "copy_rest", {1000});

const auto kFiles =
    rows{}
        .both("file", "file_open", {EMFILE, ENFILE, EACCES, ENOENT, ENOMEM, EROFS},
              fails("system open /tmp/"))
        .once_each("file", "file_open", {EINTR}, succeeds())
        .late("file", "file_open", 30'000'000)
        .both("file", "file_kind", {EIO, ENOMEM}, succeeds())
        .once_each("file", "file_read", {EINTR}, succeeds())
        .both("file", "file_read", {EIO, EISDIR}, fails("system read /tmp/"))
        .short_counts("file", "file_read", {1000, 4097})
        .once_each("file", "file_write", {EINTR}, succeeds())
        .both("file", "file_write", {EIO, ENOSPC, EDQUOT, EFBIG}, fails("system write /tmp/"))
        .short_counts("file", "file_write", {1000, 65537})
        .row({.scenario = "file",
              .site = "file_write",
              .error = 0,
              .times = for_ever,
              .expected = fails("write /tmp/"),
              .most = 0})  // nothing is written, and nothing is said
        .once_each("file", "file_read_at", {EINTR}, succeeds())
        .both("file", "file_read_at", {EIO}, fails("system read /tmp/"))
        .short_counts("file", "file_read_at", {1, 100})
        .once_each("file", "file_write_at", {EINTR}, succeeds())
        .both("file", "file_write_at", {EIO, ENOSPC}, fails("system write /tmp/"))
        .short_counts("file", "file_write_at", {1})
        .both("file", "file_flags", {EBADF}, fails("system write /tmp/"))
        .both("file", "file_seek", {EINVAL, EOVERFLOW}, fails("system seek /tmp/"))
        .both("file", "file_size", {EIO, EOVERFLOW}, fails("system stat /tmp/"))
        .once_each("file", "file_truncate", {EINTR}, succeeds())
        .both("file", "file_truncate", {EIO, EFBIG}, fails("system truncate /tmp/"))
        .once_each("file", "file_sync", {EINTR}, succeeds())
        .both("file", "file_sync", {EIO, ENOSPC}, fails("system sync /tmp/"))
        .both("file", "file_close", {EIO, ENOSPC}, fails("system close: "))
        .once_each("file", "file_close", {EINTR}, succeeds())  // the number is free all the same
        .both("file_that_nobody_closes", "file_close", {EIO}, succeeds());

const auto kProcesses =
    rows{}
        .both("command", "spawn", {EAGAIN, ENOMEM, ENOENT, EACCES},
              fails("system fork/exec /bin/cat: "))
        .both("command", "spawn_pipe", {EMFILE, ENFILE}, fails("system pipe: "))
        .once_each("command", "spawn_pipe", {EMFILE}, fails("system pipe: "), 2)
        .both("command", "spawn_dup", {EMFILE}, fails("system dup: "))
        .once_each("command", "spawn_dup", {EMFILE}, fails("system dup: "), 1)
        .both("command_without_input", "spawn_null", {EMFILE, ENOENT},
              fails("system open /dev/null: "))
        .both("command", "child_watch", {ENOSYS, EMFILE, EPERM}, succeeds())
        .both("command", "child_wait", {EINVAL}, succeeds(), fails("system wait /bin/cat: "))
        .once_each("command", "child_wait", {EINTR}, succeeds())
        .both("command", "child_wait", {ECHILD}, fails("system wait /bin/cat: "))
        .both("kill", "child_signal", {ENOSYS, EPERM}, succeeds())
        .both("kill", "child_signal", {EINVAL}, fails("system kill /bin/sleep: "))
        .both("kill_by_number", "child_kill", {EPERM, ESRCH}, fails("system kill /bin/sleep: "))
        .both("signals", "signals_eventfd", {EMFILE, ENFILE}, fails("system signals: eventfd: "))
        .both("signals", "epoll_add", {ENOMEM}, fails("system signals: eventfd: "))
        .both("signals", "signals_install", {EINVAL}, fails("system signals: sigaction: "))
        .once_each("signals", "signals_install", {EINVAL}, fails("system signals: sigaction: "), 1)
        .once_each("signals", "signals_take", {EINTR, EAGAIN}, succeeds())
        .both("signals", "signals_take", {EBADF}, dies("weft: read failed (errno=9)"));

INSTANTIATE_FAULTS(streams, kStreams);
INSTANTIATE_FAULTS(copies, kCopies);
INSTANTIATE_FAULTS(files, kFiles);
INSTANTIATE_FAULTS(processes, kProcesses);

}  // namespace
}  // namespace weft::test
