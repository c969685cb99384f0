#include "os/line_reader.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/test_support.hpp"

namespace weft::os {
namespace {

struct lines_read {
  std::vector<std::string> lines;
  unsigned nskipped;
  bool operator==(const lines_read&) const = default;
};

lines_read read_lines(std::string_view content, std::size_t buffer_size) {
  test::fake_root root;
  root.write("/file", content);
  raw_file file(root.at("/file").c_str());
  EXPECT_TRUE(file.is_open());
  std::vector<char> buffer(buffer_size);
  line_reader reader(file, buffer);
  lines_read result{};
  for (std::string_view line; reader.next(line);) result.lines.emplace_back(line);
  result.nskipped = reader.nskipped();
  EXPECT_EQ(file.error(), 0);
  return result;
}

TEST(line_reader, yields_every_line_whatever_the_buffer_size) {
  for (const std::size_t size : {5, 6, 7, 8, 64, 4096}) {
    EXPECT_EQ(read_lines("abc\n\nde\nfghi\n", size), (lines_read{{"abc", "", "de", "fghi"}, 0}))
        << size;
  }
}

TEST(line_reader, last_line_needs_no_newline) {
  EXPECT_EQ(read_lines("abc\nde", 8), (lines_read{{"abc", "de"}, 0}));
  EXPECT_EQ(read_lines("abc\n", 8), (lines_read{{"abc"}, 0}));
  EXPECT_EQ(read_lines("", 8), (lines_read{{}, 0}));
}

TEST(line_reader, long_lines_are_skipped_whole) {
  const std::string nearly(7, 'x'), exactly(8, 'x'), much(1000, 'x');
  EXPECT_EQ(read_lines(nearly + "\nab\n", 8), (lines_read{{nearly, "ab"}, 0}));
  EXPECT_EQ(read_lines(exactly + "\nab\n", 8), (lines_read{{"ab"}, 1}));
  EXPECT_EQ(read_lines("a\n" + much + "\n\n" + much + "\nb", 8), (lines_read{{"a", "", "b"}, 2}));
  EXPECT_EQ(read_lines("a\n" + much, 8), (lines_read{{"a"}, 1}))
      << "the end of a long last line is no line";
}

TEST(line_reader, a_directory_gives_an_error_and_no_line) {
  raw_file file("/");
  ASSERT_TRUE(file.is_open());
  char buffer[16];
  line_reader reader(file, buffer);
  std::string_view line;
  EXPECT_FALSE(reader.next(line));
  EXPECT_EQ(file.error(), EISDIR);
}

TEST(raw_file, says_why_it_did_not_open) {
  raw_file file("/no/such/file");
  EXPECT_FALSE(file.is_open());
  EXPECT_EQ(file.error(), ENOENT);
}

TEST(raw_file, is_closed_on_exec_and_at_the_end_of_its_scope) {
  test::fake_root root;
  root.write("/file", "x");
  int fd = -1;
  {
    raw_file file(root.at("/file").c_str());
    ASSERT_TRUE(file.is_open());
    fd = file.fd();
    EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

TEST(raw_file, a_signal_does_not_end_a_read) {
  // A fifo blocks in open until it has a writer and in read until something is written: signals hit both.
  struct sigaction action{}, old{};
  action.sa_handler = [](int) {};  // no SA_RESTART
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &old), 0);
  test::fake_root root;
  const std::string path = root.at("/fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);

  std::thread writer([reader = ::pthread_self(), &path] {
    const auto poke = [reader] {
      for (int i = 0; i < 20; ++i) {
        ::pthread_kill(reader, SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    };
    poke();
    const int fd = ::open(path.c_str(), O_WRONLY);
    poke();
    EXPECT_EQ(::write(fd, "hello\n", 6), 6);
    ::close(fd);
  });
  char buffer[32];
  EXPECT_EQ(read_small_file(path.c_str(), buffer), "hello\n");
  writer.join();
  ::sigaction(SIGUSR1, &old, nullptr);
}

TEST(read_small_file, gives_all_or_nothing) {
  test::fake_root root;
  root.write("/five", "12345");
  char small[5], enough[6];
  EXPECT_EQ(read_small_file(root.at("/five").c_str(), enough), "12345");
  EXPECT_EQ(read_small_file(root.at("/five").c_str(), small), std::nullopt);
  EXPECT_EQ(read_small_file(root.at("/none").c_str(), enough), std::nullopt);
}

}  // namespace
}  // namespace weft::os
