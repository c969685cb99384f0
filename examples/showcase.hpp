// showcase.hpp: how the showcase prints, measures and judges. Nothing here is weft's.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace showcase {

#if defined(__has_feature)
#define SHOWCASE_HAS(x) __has_feature(x)
#else
#define SHOWCASE_HAS(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    SHOWCASE_HAS(address_sanitizer) || SHOWCASE_HAS(thread_sanitizer)
inline constexpr bool kIsInstrumented = true;  // ten times slower, and memory means nothing
#else
inline constexpr bool kIsInstrumented = false;
#endif

inline bool has_failed = false;

// A terminal's escape code, or nothing when nobody would see the colour.
inline const char* paint(const char* code) {
  static const bool is_colourful =
      ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  return is_colourful ? code : "";
}

inline void section(const char* title) {
  std::printf("\n%s%s%s\n", paint("\033[1;36m"), title, paint("\033[0m"));
}

[[gnu::format(printf, 1, 2)]] inline void line(const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  std::printf("    ");
  std::vprintf(format, values);
  std::printf("\n");
  va_end(values);
}

inline void row(const char* name, unsigned long long value) { line("%-28s %12llu", name, value); }

inline void check(bool holds, const char* promise) {
  has_failed |= !holds;
  std::printf("  %s%s%s %s\n", paint(holds ? "\033[32m" : "\033[1;31m"), holds ? "ok" : "FAILED",
              paint("\033[0m"), promise);
}

class stopwatch {
 public:
  double ms() const {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    return std::chrono::duration<double, std::milli>(elapsed).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What the kernel has given this process, page tables included.
inline double memory_bytes() {
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return 0;
  double kib = 0;
  for (char text[256]; std::fgets(text, sizeof text, status) != nullptr;) {
    const bool is_counted =
        std::strncmp(text, "VmRSS:", 6) == 0 || std::strncmp(text, "VmPTE:", 6) == 0;
    if (is_counted) kib += std::atof(text + 6);
  }
  std::fclose(status);
  return kib * 1024;
}

}  // namespace showcase
