// call_sites.hpp: every place where weft asks the kernel (or the C library on its behalf) for something that may be refused.
//
// One table: a name for the place, and the call that is made there. The same call has several names where different things follow from its
// failure: an mmap for a stack is another matter than one for io_uring. Whoever adds a call adds a line here, and its cases to tests/faults.
//
// Not here, because they cannot fail with the arguments they are given, or nothing follows from it: signal masks, close(), munmap() of what was
// mapped, getpid(), gettid(), sched_yield(), raise(), _exit(), thread names, join and detach.
#pragma once

#include <cstddef>
#include <cstdint>

#define WEFT_CALL_SITES(X)                                                                              \
  /* memory: vm.cpp, growable_region.cpp */                                                             \
  X(reserve_map, mmap)                                                                                  \
  X(reserve_no_huge, madvise)                                                                           \
  X(reserve_unlock, munlock)                                                                            \
  X(reserve_open, mprotect)                                                                             \
  X(reserve_trim, munmap)                                                                               \
  X(guard_install, madvise)                                                                             \
  X(guard_protect, mprotect)                                                                            \
  X(populate, madvise)                                                                                  \
  X(discard, madvise)                                                                                   \
  X(resident, mincore)                                                                                  \
  X(probe_pipe, pipe2)                                                                                  \
  X(probe_write, write)                                                                                 \
  X(limit_of_memory, getrlimit)                                                                         \
  X(region_map, mmap)                                                                                   \
  X(region_remap, mremap)                                                                               \
  /* threads: thread.cpp, futex.cpp, membarrier.cpp, restartable.cpp, thread_tuning.cpp, signal.cpp */  \
  X(thread_create, pthread_create)                                                                      \
  X(thread_create_plainly, pthread_create)                                                              \
  X(thread_bounds, pthread_getattr_np)                                                                  \
  X(futex_wait, futex)                                                                                  \
  X(futex_wake, futex)                                                                                  \
  X(barrier_register, membarrier)                                                                       \
  X(barrier, membarrier)                                                                                \
  X(restart_register, membarrier)                                                                       \
  X(restart, membarrier)                                                                                \
  X(timer_slack, prctl)                                                                                 \
  X(slice_get, sched_getattr)                                                                           \
  X(slice_set, sched_setattr)                                                                           \
  X(alternate_stack, sigaltstack)                                                                       \
  X(fault_action, sigaction)                                                                            \
  /* time: clock.cpp, futex.cpp */                                                                      \
  X(clock_now, clock_gettime)                                                                           \
  X(clock_sleep, clock_nanosleep)                                                                       \
  X(nap, clock_nanosleep)                                                                               \
  /* stopping goroutines: preempt_signal.cpp, thread_watch.cpp */                                       \
  X(preempt_query, sigaction)                                                                           \
  X(preempt_install, sigaction)                                                                         \
  X(preempt_send, rt_tgsigqueueinfo)                                                                    \
  X(preempt_send_plainly, tgkill)                                                                       \
  X(preempt_peek, process_vm_readv)                                                                     \
  X(watch_open, openat)                                                                                 \
  X(watch_read, pread64)                                                                                \
  X(watch_stat, fstat)                                                                                  \
  X(watch_cpu, clock_gettime)                                                                           \
  X(watch_limit, getrlimit)                                                                             \
  /* what the machine says: line_reader.cpp, procfs.cpp, cpu_count.cpp; and what we say: text.cpp */    \
  X(proc_open, openat)                                                                                  \
  X(proc_read, read)                                                                                    \
  X(proc_list, getdents64)                                                                              \
  X(affinity, sched_getaffinity)                                                                        \
  X(message_write, write)                                                                               \
  X(message_room, poll)                                                                                 \
  X(message_try, pwritev2)                                                                              \
  /* polling: epoll_poller.cpp, uring.cpp, uring_poller.cpp */                                          \
  X(epoll_open, epoll_create1)                                                                          \
  X(epoll_eventfd, eventfd)                                                                             \
  X(epoll_add_eventfd, epoll_ctl)                                                                       \
  X(epoll_add, epoll_ctl)                                                                               \
  X(epoll_remove, epoll_ctl)                                                                            \
  X(epoll_sleep, epoll_wait)                                                                            \
  X(epoll_sleep_exactly, epoll_pwait2)                                                                  \
  X(epoll_drain, read)                                                                                  \
  X(epoll_interrupt, write)                                                                             \
  X(uring_setup, io_uring_setup)                                                                        \
  X(uring_probe, io_uring_register)                                                                     \
  X(uring_map, mmap)                                                                                    \
  X(uring_enter, io_uring_enter)                                                                        \
  X(uring_eventfd, eventfd)                                                                             \
  X(uring_kick, write)                                                                                  \
  X(uring_drain, read)                                                                                  \
  X(uring_judge, epoll_create1)                                                                         \
  X(uring_judge_add, epoll_ctl)                                                                         \
  X(uring_stat, fstat)                                                                                  \
  /* descriptors and streams: io/descriptor.cpp, async_fd.cpp, stream.cpp, quiet_write.cpp, copy.cpp */ \
  X(adopt_get_flags, fcntl)                                                                             \
  X(adopt_set_flags, fcntl)                                                                             \
  X(kind_stat, fstat)                                                                                   \
  X(kind_type, getsockopt)                                                                              \
  X(pipe, pipe2)                                                                                        \
  X(stream_recv, recv)                                                                                  \
  X(stream_read, read)                                                                                  \
  X(stream_send, send)                                                                                  \
  X(stream_write, write)                                                                                \
  X(stream_send_parts, sendmsg)                                                                         \
  X(stream_write_parts, writev)                                                                         \
  X(send_file, sendfile)                                                                                \
  X(wait_poll, poll)                                                                                    \
  X(refused_poll, poll)                                                                                 \
  X(thread_poll, ppoll)                                                                                 \
  X(empty_socket, socket)                                                                               \
  X(empty_dup, dup3)                                                                                    \
  X(path_unlink, unlink)                                                                                \
  X(copy_pipe, pipe2)                                                                                   \
  X(copy_pipe_size, fcntl)                                                                              \
  X(copy_in, splice)                                                                                    \
  X(copy_out, splice)                                                                                   \
  X(copy_rest, read)                                                                                    \
  /* files: io/file.cpp */                                                                              \
  X(file_open, open)                                                                                    \
  X(file_kind, fstat)                                                                                   \
  X(file_read, read)                                                                                    \
  X(file_write, write)                                                                                  \
  X(file_read_at, pread)                                                                                \
  X(file_write_at, pwrite)                                                                              \
  X(file_flags, fcntl)                                                                                  \
  X(file_seek, lseek)                                                                                   \
  X(file_size, fstat)                                                                                   \
  X(file_truncate, ftruncate)                                                                           \
  X(file_sync, fsync)                                                                                   \
  X(file_close, close)                                                                                  \
  /* processes and signals: io/process.cpp, child.cpp, signals.cpp */                                   \
  X(spawn, posix_spawnp)                                                                                \
  X(spawn_dup, fcntl)                                                                                   \
  X(spawn_null, open)                                                                                   \
  X(spawn_pipe, pipe2)                                                                                  \
  X(child_watch, pidfd_open)                                                                            \
  X(child_wait, waitid)                                                                                 \
  X(child_signal, pidfd_send_signal)                                                                    \
  X(child_kill, kill)                                                                                   \
  X(signals_eventfd, eventfd)                                                                           \
  X(signals_install, sigaction)                                                                         \
  X(signals_wake, write)                                                                                \
  X(signals_take, read)                                                                                 \
  /* the network: net/ */                                                                               \
  X(socket, socket)                                                                                     \
  X(socket_option, setsockopt)                                                                          \
  X(socket_reuse_port, setsockopt)                                                                      \
  X(bind, bind)                                                                                         \
  X(listen, listen)                                                                                     \
  X(accept, accept4)                                                                                    \
  X(connect, connect)                                                                                   \
  X(connect_answer, getsockopt)                                                                         \
  X(connect_partner, getpeername)                                                                       \
  X(local_name, getsockname)                                                                            \
  X(remote_name, getpeername)                                                                           \
  X(shutdown, shutdown)                                                                                 \
  X(packet_recv, recvfrom)                                                                              \
  X(packet_send, sendto)                                                                                \
  X(ipv6_socket, socket)                                                                                \
  X(ipv6_bind, bind)                                                                                    \
  X(lookup_thread, pthread_create)                                                                      \
  X(lookup_host, getaddrinfo)                                                                           \
  X(lookup_service, getservbyname_r)

namespace weft::os {

enum class site : std::uint8_t {
#define WEFT_SITE(name, function) name,
  WEFT_CALL_SITES(WEFT_SITE)
#undef WEFT_SITE
};

#define WEFT_SITE(name, function) site::name,
inline constexpr site kAllSites[] = {WEFT_CALL_SITES(WEFT_SITE)};
#undef WEFT_SITE
inline constexpr std::size_t kSites = sizeof kAllSites / sizeof kAllSites[0];
static_assert(kSites <= 256);

}  // namespace weft::os
