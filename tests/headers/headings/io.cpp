// "## Network and I/O (<weft/net.hpp>, <weft/io.hpp>)": the second.
#include <csignal>

#include <weft/io.hpp>

int input_and_output() {
  namespace io = weft::io;
  const io::async_fd adopted(0);
  const io::file file = io::file::open("/dev/null");
  const io::pipe_ends ends = io::pipe();
  const weft::recv_chan<int> told = io::signals(SIGINT, SIGTERM);
  const weft::recv_chan<int> also_told = io::signal_chan(SIGHUP);
  const io::process child = io::process::start({"true"});
  return child.wait().code + (adopted.is_open() && file.is_open() && told != also_told ? 1 : 0);
}
