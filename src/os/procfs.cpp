// procfs.cpp: see procfs.hpp.
#include "os/procfs.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/line_reader.hpp"
#include "os/parse.hpp"
#include "os/path_buffer.hpp"
#include "os/system_call.hpp"

// Present when ThreadSanitizer is linked in, whoever was compiled with it.
extern "C" [[gnu::weak]] void __tsan_init();

namespace weft::os {
namespace {

// A stat line is some 350 characters; 52 numbers of 20 digits would still fit.
constexpr std::size_t kStatSize = 1200;

// What getdents64(2) writes: this header, then the name with its zero.
struct directory_entry {
  std::uint64_t inode;
  std::int64_t next;
  std::uint16_t size;
  std::uint8_t type;
};
constexpr std::size_t kNameOffset = 19;  // not sizeof: the header's padding is already name
static_assert(offsetof(directory_entry, type) + 1 == kNameOffset);

std::ptrdiff_t read_directory(int fd, char* buffer, std::size_t size) noexcept {
  std::ptrdiff_t n;
  do {
    n = call(site::proc_list, ::syscall, SYS_getdents64, fd, buffer, size);
  } while (n < 0 && errno == EINTR);
  return n;
}

// Calls visit(tid) for each thread the kernel lists until it returns false. False when the list could not be read to its end.
template <class Visit>
bool for_each_tid(Visit visit) noexcept {
  raw_file directory("/proc/self/task", O_DIRECTORY);
  if (!directory.is_open()) return false;
  alignas(directory_entry) char buffer[2048];
  for (;;) {
    const std::ptrdiff_t n = read_directory(directory.fd(), buffer, sizeof buffer);
    if (n <= 0) return n == 0;
    for (std::ptrdiff_t at = 0; at < n;) {
      directory_entry entry;
      std::memcpy(&entry, buffer + at, sizeof entry);
      const std::string_view name = buffer + at + kNameOffset;
      const bool is_thread = parse_number<unsigned>(name).has_value();  // and not "." or ".."
      if (is_thread && !visit(name)) return true;
      at += entry.size;
    }
  }
}

// Whether to go on. A thread that has ended since it was listed is passed over.
bool visit_thread(std::string_view tid, thread_visitor visit, void* context) noexcept {
  path_buffer path;
  path.append("/proc/self/task/");
  path.append(tid);
  path.append("/stat");
  char buffer[kStatSize];
  const auto text = read_small_file(path.c_str(), buffer);
  const auto stat = text ? parse_thread_stat(*text) : std::nullopt;
  return !stat || visit(context, *stat);
}

struct tally {
  unsigned nlisted = 0;
  unsigned nignorable = 0;
};

bool count_one(void* context, const thread_stat& thread) {
  auto& counts = *static_cast<tally*>(context);
  ++counts.nlisted;
  if (thread.is_ignorable()) ++counts.nignorable;
  return true;
}

}  // namespace

bool thread_stat::is_ignorable() const noexcept {
  return state == 'Z' || state == 'X' || name.starts_with("iou-wrk-") ||
         name.starts_with("iou-sqp-");
}

std::optional<thread_stat> parse_thread_stat(std::string_view text) noexcept {
  // "tid (name) state ppid ... nthreads ...": only the last ')' ends the name, all that follows are numbers.
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(") ");
  if (open == text.npos || close == text.npos || close < open + 2) return std::nullopt;

  thread_stat stat;
  const auto tid = parse_number<long>(text.substr(0, open));
  stat.name = text.substr(open + 2, close - open - 2);
  std::string_view rest = text.substr(close + 2);
  const std::string_view state = take_field(rest, ' ');
  for (int field = 4; field < 20; ++field) take_field(rest, ' ');
  const auto nthreads = parse_number<long>(without_newline(take_field(rest, ' ')));
  if (!tid || state.size() != 1 || !nthreads) return std::nullopt;
  stat.tid = *tid;
  stat.state = state[0];
  stat.nthreads = *nthreads;
  return stat;
}

long thread_count() noexcept {
  char buffer[kStatSize];
  const auto text = read_small_file("/proc/self/stat", buffer);
  const auto stat = text ? parse_thread_stat(*text) : std::nullopt;
  if (stat && stat->nthreads > 0) return stat->nthreads;
  // There is no process without a thread: the file is not the kernel's. qemu-user makes one up, with zeros for what it does
  // not know, but hands on the list of threads, its own among them.
  long n = 0;
  const bool is_complete = for_each_tid([&n](std::string_view) { return ++n, true; });
  return is_complete && n > 0 ? n : -1;
}

bool for_each_thread(thread_visitor visit, void* context) noexcept {
  return for_each_tid(
      [visit, context](std::string_view tid) { return visit_thread(tid, visit, context); });
}

thread_census count_threads() noexcept {
  thread_census census;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const long before = thread_count();
    if (before <= 0) return {};
    tally counts;
    const bool is_complete = for_each_thread(count_one, &counts);
    const long after = thread_count();
    census.total = static_cast<unsigned>(before > after ? before : after);
    if (!is_complete || before != after || counts.nlisted != census.total)
      continue;  // they come and go

    // ThreadSanitizer starts a thread of its own, nameless, with the first one the program makes.
    const bool has_tsan_thread = __tsan_init != nullptr && counts.nlisted - counts.nignorable > 1;
    census.ignorable = counts.nignorable + (has_tsan_thread ? 1 : 0);
    break;
  }
  return census;
}

std::uint64_t resident_bytes() noexcept {
  char buffer[256];
  const auto text = read_small_file("/proc/self/statm", buffer);
  if (!text) return 0;
  std::string_view rest = *text;
  take_field(rest, ' ');
  return parse_number<std::uint64_t>(take_field(rest, ' ')).value_or(0) * ::getauxval(AT_PAGESZ);
}

}  // namespace weft::os
