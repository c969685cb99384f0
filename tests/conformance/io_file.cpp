// io_file.cpp: files that cannot be waited for (B267, B268).
//
// A call blocks a thread and never a processor; deadlines are refused; a number is not closed under a call that uses it.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <weft/io.hpp>
#include <weft/weft.hpp>

#include "rt/g.hpp"
#include "sched/park.hpp"
#include "support/for_procs.hpp"
#include "support/what_of.hpp"

using weft::io::file;
using weft::io::open_mode;
using weft::io::seek_from;
using weft::test::eventually;
using weft::test::what_of;

namespace {

// A folder that goes with its scope.
class folder {
 public:
  folder() {
    const char* const base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/tmp") + "/weft_file_XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "mkdtemp " << path_;
  }
  ~folder() {
    for (const std::string& name : made_) ::unlink(name.c_str());
    ::rmdir(path_.c_str());
  }
  std::string operator/(std::string_view name) {
    made_.push_back(path_ + "/" + std::string(name));
    return made_.back();
  }

 private:
  std::string path_;
  std::vector<std::string> made_;
};

// A goroutine that is, or is not, inside blocking().
class caller {
 public:
  void comes() { gp_ = weft::sched::current_g(); }
  [[nodiscard]] bool is_in_the_kernel() const {
    return eventually([this] {
      const weft::rt::G* const gp = gp_;
      return gp != nullptr && gp->status() == weft::rt::g_status::syscall;
    });
  }

 private:
  std::atomic<const weft::rt::G*> gp_{nullptr};
};

constexpr open_mode kAnew = open_mode::read_write | open_mode::create | open_mode::truncate;

TEST_FOR_PROCS(io_file, what_is_written_is_read_again) {
  folder here;
  const file f = file::open(here / "a", kAnew);
  f.write_all("hello, ");
  EXPECT_EQ(f.write_some("world"), 5U);
  EXPECT_EQ(f.size(), 12U);
  EXPECT_EQ(f.seek(7), 7U);
  std::array<char, 5> five{};
  f.read_full(five);
  EXPECT_EQ(std::string_view(five.data(), 5), "world");
  EXPECT_EQ(f.read_some(five), 0U);
  EXPECT_EQ(f.seek(-12, seek_from::end), 0U);
  EXPECT_EQ(f.read_all(), "hello, world");
  f.truncate(5);
  f.sync();
  EXPECT_EQ(f.seek(0), 0U);
  EXPECT_EQ(f.read_all(), "hello");
  EXPECT_EQ(f.seek(0, seek_from::current), 5U);
}

TEST_FOR_PROCS(io_file, read_at_and_write_at_leave_the_position_alone) {
  folder here;
  const file f = file::open(here / "a", kAnew);
  f.write_all("0123456789");
  f.write_at(3, "xyz");
  std::array<char, 4> four{};
  EXPECT_EQ(f.read_at(2, four), 4U);
  EXPECT_EQ(std::string_view(four.data(), 4), "2xyz");
  EXPECT_EQ(f.read_at(8, four), 2U);
  EXPECT_EQ(f.read_at(10, four), 0U);
  EXPECT_EQ(f.seek(0, seek_from::current), 10U);
  std::error_code ec;
  EXPECT_EQ(f.read_at(~std::uint64_t{0}, four, ec), 0U);
  EXPECT_EQ(ec, std::errc::invalid_argument);
}

TEST_FOR_PROCS(io_file, the_end_before_all_was_read_is_an_error) {
  folder here;
  const file f = file::open(here / "a", kAnew);
  f.write_all("abc");
  f.seek(0);
  std::array<char, 5> five{};
  std::error_code ec;
  EXPECT_EQ(f.read_full(five, ec), 3U);
  EXPECT_EQ(ec, weft::io::errc::unexpected_eof);
}

TEST_FOR_PROCS(io_file, modes_do_what_their_names_say) {
  folder here;
  const std::string a = here / "a";
  weft::io::write_file(a, "one\n");
  const file log = file::open(a, open_mode::append);
  log.seek(0);
  log.write_all("two\n");
  EXPECT_EQ(weft::io::read_file(a), "one\ntwo\n");
  std::error_code ec;
  log.write_at(0, "x", ec);
  EXPECT_EQ(ec, std::errc::invalid_argument);
  const file none = file::open(a, open_mode::write | open_mode::create | open_mode::exclusive, ec);
  EXPECT_EQ(ec, std::errc::file_exists);
  EXPECT_FALSE(none);
  file::open(a, open_mode::create, ec);
  EXPECT_EQ(ec, std::errc::invalid_argument);
  file::open(a, open_mode::read | open_mode::truncate, ec);
  EXPECT_EQ(ec, std::errc::invalid_argument);
  const file reader = file::open(a);
  reader.write_all("x", ec);
  EXPECT_EQ(ec, std::errc::bad_file_descriptor);
  EXPECT_NE(ec, weft::io::errc::closed);
  weft::io::write_file(a, "3");
  EXPECT_EQ(weft::io::read_file(a), "3");
  EXPECT_NE(::fcntl(reader.native_handle(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_FOR_PROCS(io_file, errors_name_the_operation_and_the_path) {
  EXPECT_EQ(what_of([] { file::open("/nonexistent"); }),
            "open /nonexistent: No such file or directory");
  EXPECT_EQ(what_of([] { weft::io::read_file("/nonexistent"); }),
            "open /nonexistent: No such file or directory");
  EXPECT_EQ(what_of([] { file::open("/").read_all(); }), "read /: Is a directory");
  EXPECT_EQ(what_of([] { weft::io::write_file("/nonexistent/a", ""); }),
            "write /nonexistent/a: No such file or directory");
  EXPECT_EQ(what_of([] {
              const file f = file::open("/dev/null");
              f.close();
              f.read_all();
            }),
            "read /dev/null: use of something closed");
  std::error_code ec;
  EXPECT_EQ(weft::io::read_file("/nonexistent", ec), "");
  EXPECT_EQ(ec, std::errc::no_such_file_or_directory);
  file::open(std::string("/dev/null\0x", 11), open_mode::read, ec);
  EXPECT_EQ(ec, std::errc::invalid_argument);
}

TEST_FOR_PROCS(io_file, deadlines_are_refused) {
  const file f = file::open("/dev/null", open_mode::read_write);
  std::error_code ec;
  f.set_deadline(weft::io::no_deadline, ec);
  EXPECT_EQ(ec, std::errc::operation_not_supported);
  f.set_read_deadline(weft::clock::now(), ec);
  EXPECT_EQ(ec, std::errc::operation_not_supported);
  EXPECT_NE(what_of([&] {
              f.set_write_deadline(weft::clock::now());
            }).find("set write deadline /dev/null: "),
            std::string::npos);
  f.write_all("goes on");
}

TEST_FOR_PROCS(io_file, a_file_without_a_size_is_read_whole) {
  const std::string status = weft::io::read_file("/proc/self/status");
  EXPECT_NE(status.find("\nPid:"), std::string::npos);
  EXPECT_EQ(status.back(), '\n');
  folder here;
  const std::string a = here / "a";
  const std::string large(3'000'000, 'x');
  weft::io::write_file(a, large);
  EXPECT_TRUE(weft::io::read_file(a) == large);
  weft::io::write_file(a, "");
  EXPECT_EQ(weft::io::read_file(a), "");
}

TEST_FOR_PROCS(io_file, the_last_copy_closes_it) {
  int number = -1;
  {
    file f = file::open("/dev/null");
    number = f.native_handle();
    const file copy = f;
    EXPECT_EQ(copy, f);
    f = {};
    EXPECT_TRUE(copy.is_open());
    EXPECT_NE(::fcntl(number, F_GETFD), -1);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST_FOR_PROCS(io_file, after_close_everything_says_so) {
  const file f = file::open("/dev/null", open_mode::read_write);
  std::error_code ec;
  f.close(ec);
  EXPECT_FALSE(ec);
  f.close(ec);
  EXPECT_EQ(ec, weft::io::errc::closed);
  EXPECT_EQ(f.native_handle(), -1);
  f.write_all("x", ec);
  EXPECT_EQ(ec, weft::io::errc::closed);
  f.size(ec);
  EXPECT_EQ(ec, weft::io::errc::closed);
  file().sync(ec);
  EXPECT_EQ(ec, weft::io::errc::closed);
}

// Go's TestNonPollable, from the side of the processor: open, read and close of what the kernel makes wait are all done in blocking().
TEST_FOR_PROCS(io_file, a_call_that_waits_holds_no_processor) {
  folder here;
  const std::string path = here / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  caller reader;
  auto reading = weft::spawn([&] {
    reader.comes();
    const file f = file::open(path);
    return f.read_all();
  });
  EXPECT_TRUE(reader.is_in_the_kernel());  // in open: nobody writes
  {
    const file writer = file::open(path, open_mode::write);
    writer.write_all("from the other end");
    EXPECT_TRUE(reader.is_in_the_kernel());  // in read: it is not the end
  }
  EXPECT_EQ(reading.join(), "from the other end");
}

TEST_FOR_PROCS(io_file, nobody_reads_any_more_is_an_error_and_no_signal) {
  folder here;
  const std::string path = here / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  file reader = file::open(path, open_mode::read_write);
  const file writer = file::open(path, open_mode::write);
  reader.close();
  std::error_code ec;
  writer.write_all("x", ec);
  EXPECT_EQ(ec, std::errc::broken_pipe);
}

// The number is another file's as soon as it is closed: the read must not have it.
TEST_FOR_PROCS(io_file, a_number_is_not_closed_under_a_call) {
  folder here;
  const std::string path = here / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const file both = file::open(path, open_mode::read_write);
  const int number = both.native_handle();
  caller reader;
  auto reading = weft::spawn([&] {
    std::array<char, 16> room{};
    reader.comes();
    return std::string(room.data(), both.read_some(room));
  });
  ASSERT_TRUE(reader.is_in_the_kernel());
  const file writer = file::open(path, open_mode::write);
  both.close();
  EXPECT_FALSE(both.is_open());
  EXPECT_NE(::fcntl(number, F_GETFD), -1);
  std::error_code ec;
  both.write_all("x", ec);
  EXPECT_EQ(ec, weft::io::errc::closed);
  writer.write_all("late");
  EXPECT_EQ(reading.join(), "late");
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

// Each file holds one letter. Whoever reads another one has got a number that was given away.
TEST_FOR_PROCS(io_file, reads_and_closes_race_and_nobody_reads_a_strangers_bytes) {
  folder here;
  const std::array<std::string, 2> paths{here / "a", here / "b"};
  weft::io::write_file(paths[0], std::string(64, 'a'));
  weft::io::write_file(paths[1], std::string(64, 'b'));
  std::atomic<int> nwrong{0};
  std::atomic<int> nread{0};
  for (int i = 0; i < weft::test::scaled(200); ++i) {
    weft::wait_group wg;
    for (int which = 0; which < 2; ++which) {
      const file f = file::open(paths[which]);
      for (int k = 0; k < 2; ++k) {
        wg.go([&, f, which] {
          std::array<char, 8> room{};
          std::error_code ec;
          for (int n = 0; n < 4; ++n) {
            const std::size_t got = f.read_at(0, room, ec);
            if (ec) break;
            nread += 1;
            nwrong += got != 8 || room[0] != 'a' + which || room[7] != 'a' + which;
          }
          nwrong += ec && ec != weft::io::errc::closed;
        });
      }
      wg.go([f] { f.close(); });
    }
    wg.wait();
  }
  EXPECT_EQ(nwrong, 0);
  EXPECT_GT(nread, 0);
}

// Whole writes, one after the other.
TEST_FOR_PROCS(io_file, writes_of_many_goroutines_are_not_mixed) {
  folder here;
  const std::string path = here / "log";
  const file log = file::open(path, open_mode::write | open_mode::create);
  constexpr int kWriters = 8;
  constexpr int kLines = 20;
  weft::wait_group wg;
  for (int i = 0; i < kWriters; ++i) {
    wg.go([&, i] {
      const std::string line = std::string(40 + i, static_cast<char>('a' + i)) + "\n";
      for (int k = 0; k < kLines; ++k) log.write_all(line);
    });
  }
  wg.wait();
  std::array<int, kWriters> nlines{};
  const std::string all = weft::io::read_file(path);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    const std::string line = all.substr(at, end - at);
    const int who = line[0] - 'a';
    ASSERT_TRUE(who >= 0 && who < kWriters) << line;
    EXPECT_EQ(line, std::string(40 + who, static_cast<char>('a' + who)));
    ++nlines[who];
    at = end + 1;
  }
  for (const int n : nlines) EXPECT_EQ(n, kLines);
}

TEST(io_file, works_without_a_runtime) {
  folder here;
  const std::string a = here / "a";
  weft::io::write_file(a, "plain");
  EXPECT_EQ(weft::io::read_file(a), "plain");
}

// An async_fd refuses what a file is for.
TEST_FOR_PROCS(io_file, an_async_fd_refuses_a_regular_file_and_leaves_it_alone) {
  folder here;
  const std::string a = here / "a";
  weft::io::write_file(a, "regular");
  const int fd = ::open(a.c_str(), O_RDONLY | O_CLOEXEC);
  std::error_code ec;
  const weft::io::async_fd refused(fd, ec);
  EXPECT_EQ(ec, std::errc::operation_not_permitted);
  EXPECT_EQ(file(fd, a).read_all(), "regular");
}

}  // namespace
