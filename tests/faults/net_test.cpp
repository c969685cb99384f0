// net_test.cpp: sockets: whoever listens, dials, accepts, reads or writes is told; a shortage is waited out, a lost connection passed over.
#include <netdb.h>

#include "rows.hpp"

namespace weft::test {
namespace {

const auto kRows =
    rows{}
        .both("tcp", "socket", {EMFILE, ENFILE, ENOBUFS, ENOMEM}, fails("system listen tcp "))
        .once_each("tcp", "socket", {EMFILE, ENOBUFS}, fails("system dial tcp "), 1)
        .both("unix", "socket", {EMFILE, EAFNOSUPPORT}, fails("system listen unix "))
        .both("tcp", "socket_option", {ENOPROTOOPT, ENOMEM},
              succeeds())  // defaults are not promises
        .both("options", "socket_option", {ENOPROTOOPT}, fails("system set no delay tcp "))
        .both("shared_port", "socket_reuse_port", {ENOPROTOOPT}, fails("system listen tcp "))
        .both("tcp", "bind", {EADDRINUSE, EACCES, EADDRNOTAVAIL}, fails("system listen tcp "))
        .both("tcp", "listen", {EADDRINUSE}, fails("system listen tcp "))
        .both("unix_path", "path_unlink", {EACCES, EROFS}, succeeds())
        .both("packets", "bind", {EADDRINUSE}, fails("system listen udp "))
        .both("tcp", "local_name", {ENOBUFS}, fails("system listen tcp "))
        .both("packets", "local_name", {ENOBUFS}, fails("system listen udp "))
        .both("tcp", "remote_name", {ENOTCONN, ENOBUFS}, succeeds())
        // --- accepting ---
        .once_each("accept", "accept",
                   {EINTR, EAGAIN, ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH}, succeeds())
        .once_each("accept", "accept", {EMFILE, ENFILE, ENOBUFS, ENOMEM}, succeeds())  // waited out
        .for_ever_each("accept_in_vain", "accept", {EMFILE, ENOMEM, ECONNABORTED, EINTR},
                       fails("i/o timeout"))
        .for_ever_each("accept_until_closed", "accept", {EMFILE, ECONNABORTED, EINTR},
                       fails("use of something closed"))
        .both("accept", "accept", {EINVAL, EPERM}, fails("system accept tcp "))
        .late("accept", "accept", 20'000'000)
        .both("accept", "epoll_add", {ENOMEM}, fails("system "))
        // --- dialling ---
        .both("tcp", "connect",
              {ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, ETIMEDOUT, EADDRNOTAVAIL, EACCES},
              fails("system dial tcp "))
        .both("tcp", "connect", {EAGAIN}, fails("system dial tcp "))
        .once_each("unix", "connect", {EAGAIN}, succeeds())  // its queue is full: waited out
        .both("unix", "connect", {ECONNREFUSED, ENOENT}, fails("system dial unix "))
        .late("tcp", "connect", 20'000'000)
        .both("tcp", "connect_answer", {ENOBUFS, EBADF}, fails("system dial tcp "))
        .late("tcp", "connect_partner", 20'000'000)
        // --- talking ---
        .once_each("tcp", "stream_recv", {EINTR, EAGAIN}, succeeds())
        .both("tcp", "stream_recv", {ECONNRESET, ETIMEDOUT, ENOMEM}, fails("system talk: "))
        .both("unix", "stream_recv", {ECONNRESET}, fails("system talk: "))
        .short_counts("unix", "stream_recv", {1000, 8191})
        .once_each("tcp", "stream_send", {EINTR}, succeeds())
        .both("tcp", "stream_send", {ECONNRESET, EPIPE, ENOBUFS}, fails("system talk: "))
        .short_counts("tcp", "stream_send", {1000, 65537})
        .short_counts("unix", "stream_send", {1000})
        .late("tcp", "stream_recv", 20'000'000)
        .late("tcp", "stream_send", 20'000'000)
        .once_each("pieces", "stream_send_parts", {EINTR}, succeeds())
        .both("pieces", "stream_send_parts", {ECONNRESET, EMSGSIZE}, fails("system write tcp "))
        .short_counts("pieces", "stream_send_parts", {1, 2})
        .both("tcp", "shutdown", {ENOTCONN}, fails("system talk: "))
        .once_each("file_to_socket", "send_file", {EINTR}, succeeds())
        .both("file_to_socket", "send_file", {EIO, EINVAL, ECONNRESET}, fails("system send file: "))
        .short_counts("file_to_socket", "send_file", {1000, 65537})
        .once_each("packets", "packet_recv", {EINTR, EAGAIN}, succeeds())
        .both("packets", "packet_recv", {ECONNREFUSED, ENOMEM}, fails("system read udp "))
        .once_each("packets", "packet_send", {EINTR, EAGAIN}, succeeds())
        .both("packets", "packet_send", {ENETUNREACH, EMSGSIZE, EPERM}, fails("system write udp "))
        // --- names ---
        .both("lookup", "lookup_host", {EAI_NONAME, EAI_AGAIN, EAI_FAIL}, fails("lookup localhost"))
        .both("lookup", "lookup_host", {EAI_MEMORY}, fails("lookup localhost"))
        .both("lookup_from_a_thread", "lookup_thread", {EAGAIN, ENOMEM},
              fails("system lookup localhost: "))
        .both("lookup_from_a_thread_by_code", "lookup_thread", {EAGAIN, ENOMEM},
              fails("system by its code: "))
        .both("dial_from_a_thread", "lookup_thread", {EAGAIN},
              fails("system dial tcp4: lookup localhost: "))
        .both("lookup_from_a_thread", "lookup_thread", {EINVAL},
              succeeds())  // too small a stack for its TLS
        .both("lookup_of_a_port", "lookup_service", {ERANGE, EIO}, fails("weft-no-such-service"))
        .both("ipv6", "ipv6_socket", {EMFILE, ENOBUFS}, succeeds())
        .both("ipv6", "ipv6_bind", {EADDRINUSE, ENOMEM}, succeeds());

INSTANTIATE_FAULTS(net, kRows);

}  // namespace
}  // namespace weft::test
