// checked_work.hpp: pieces of work that find out by themselves whether a stop in the middle of them has spoilt anything.
//
// Each takes a tenth of a millisecond or so and returns false for a wrong result. tests/stress shares the processors among them;
// tests/controls shows that they would see it: there a handler of its own does what weft's must not.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

namespace weft::test {

// i: whose work it is. Blocks of many sizes, from malloc's caches and beyond them.
inline bool allocates(std::size_t i) {
  std::array<unsigned char*, 200> blocks{};
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    blocks[k] = new unsigned char[16 + 31 * k];
    blocks[k][0] = static_cast<unsigned char>(i);
    blocks[k][15 + 31 * k] = static_cast<unsigned char>(k);
  }
  bool ok = true;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    ok &= blocks[k][0] == static_cast<unsigned char>(i) &&
          blocks[k][15 + 31 * k] == static_cast<unsigned char>(k);
    delete[] blocks[k];
  }
  return ok;
}

inline bool throws(std::size_t i) {
  bool ok = true;
  for (std::size_t k = 0; k < 40; ++k) {
    try {
      throw std::runtime_error(std::to_string(i * 1000 + k));
    } catch (const std::runtime_error& e) {
      ok &= e.what() == std::to_string(i * 1000 + k);
    }
  }
  return ok && std::uncaught_exceptions() == 0;
}

[[gnu::noinline]] inline bool keeps_errno(int mine) {
  errno = mine;
  for (int k = 0; k < 100'000; ++k) asm volatile("");
  asm volatile("" ::: "memory");  // or the compiler knows what is in errno
  return errno == mine;
}

#if defined(__x86_64__)
// What a leaf keeps below its stack pointer, and the carry flag.
[[gnu::noinline]] inline bool keeps_red_zone_and_flags() {
  std::uint64_t wrong = 0;
  std::uint64_t rounds = 200'000;
  asm volatile(
      "sub $256, %%rsp\n"  // so that the red zone below is nobody else's
      "movq $0x5a5a5a5a, -8(%%rsp)\n"
      "movq $0x6b6b6b6b, -64(%%rsp)\n"
      "movq $0x7c7c7c7c, -128(%%rsp)\n"
      "stc\n"
      "1: dec %[rounds]\n"  // leaves the carry flag as it is
      "jnz 1b\n"
      "sbb $0, %[wrong]\n"  // carry: -1
      "inc %[wrong]\n"
      "cmpq $0x5a5a5a5a, -8(%%rsp)\n"
      "je 2f\n inc %[wrong]\n 2:\n"
      "cmpq $0x6b6b6b6b, -64(%%rsp)\n"
      "je 3f\n inc %[wrong]\n 3:\n"
      "cmpq $0x7c7c7c7c, -128(%%rsp)\n"
      "je 4f\n inc %[wrong]\n 4:\n"
      "add $256, %%rsp\n"
      : [wrong] "+r"(wrong), [rounds] "+r"(rounds)
      :
      : "cc", "memory");
  return wrong == 0;
}

// Vector registers hold the only copy of the state for long stretches.
[[gnu::target("avx2"), gnu::noinline]] inline bool vectors(unsigned seed) {
  using v8 = unsigned __attribute__((vector_size(32)));
  const v8 step = {1, 2, 3, 4, 5, 6, 7, 8};
  v8 sum = {seed, seed, seed, seed, seed, seed, seed, seed};
  constexpr unsigned kRounds = 100'000;
  for (unsigned k = 0; k < kRounds; ++k) {
    sum += step;
    asm volatile("" : "+x"(sum));
  }
  for (unsigned k = 0; k < 8; ++k)
    if (sum[k] != seed + kRounds * (k + 1)) return false;
  return true;
}

[[gnu::target("avx512f"), gnu::noinline]] inline bool wide_vectors(unsigned seed) {
  using v16 = unsigned __attribute__((vector_size(64)));
  v16 step{};
  v16 sum{};
  for (unsigned k = 0; k < 16; ++k) {
    step[k] = k + 1;
    sum[k] = seed;
  }
  constexpr unsigned kRounds = 100'000;
  for (unsigned k = 0; k < kRounds; ++k) {
    sum += step;
    asm volatile("" : "+v"(sum));
  }
  for (unsigned k = 0; k < 16; ++k)
    if (sum[k] != seed + kRounds * (k + 1)) return false;
  return true;
}
#endif

}  // namespace weft::test
