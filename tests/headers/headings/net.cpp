// "## Network and I/O (<weft/net.hpp>, <weft/io.hpp>)": the first.
#include <string>
#include <system_error>

#include <weft/net.hpp>

std::size_t network(const weft::context& ctx) {
  namespace net = weft::net;
  const net::listener listener = net::listen("tcp", "127.0.0.1:0");
  std::error_code ec;
  const net::conn mine = net::dial("tcp", listener.addr().to_string(), ctx, ec);
  const net::conn other = net::dial("unix", "/tmp/socket");
  const net::conn theirs = listener.accept();
  char room[3] = {};
  const weft::io::mutable_buffer room_of(room, sizeof room);
  std::size_t n = mine.read_some(room_of) + mine.write_some(room_of);
  mine.read_full(room_of);
  mine.write_all(room_of);
  mine.set_deadline(weft::clock::now());
  mine.set_read_deadline(weft::clock::now());
  mine.set_write_deadline(weft::clock::now());
  mine.shutdown();
  n += mine.local_addr() == theirs.remote_addr() ? 1 : 0;
  n += static_cast<std::size_t>(mine.native_handle());
  mine.close();
  other.close();
  listener.close();
  const net::packet_conn packets = net::listen_packet("udp", "127.0.0.1:0");
  return n + net::lookup_host("localhost").size();
}
