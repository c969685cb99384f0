// restartable.hpp: a compare-and-exchange without a locked instruction, for one that is mostly alone.
//
// replace_alone() looks at a word and stores to it, in a restartable sequence (rseq(2)): if its thread is stopped in between, by the
// scheduler or by a signal, the kernel lets it fail. It is no read-modify-write, though: one that changes the word from another CPU meanwhile
// may be overwritten. Who wants to be sure that it is not calls restart_others() after its change, and looks whether it is still there:
//
//    T: replace_alone(word, a, b)                     U: changes the word from a to c
//    load: is it a?                                   CAS a -> c
//    store b                                          restart_others(): T's store is done, or will never be
//                                                     load: b (T was first) or c (T sees it, or fails)
//
// T's store is a plain one, 4 ns cheaper than a locked instruction; U pays as much as for os::heavy_barrier().  [restart.others]
//
// Only where T, with all its turns, is the only one that may change a to anything but c.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::os {

// Registers the process. From then on for ever: one that is in the midst of replace_alone() relies on it. False: this machine or kernel
// has none (or `wanted` is false), and replace_alone() is a compare-and-exchange.
bool init_restartables(bool wanted) noexcept;

// After it, every replace_alone() that had begun on another thread has stored what it wanted, visibly, or has failed.
void restart_others() noexcept;

namespace detail {

// Where in a thread's control block the kernel looks for its sequence; 0: nowhere. Changes once.
extern std::atomic<std::ptrdiff_t> rseq_offset;

}  // namespace detail

#if defined(__x86_64__)
extern "C" [[gnu::visibility("hidden")]] bool weft_os_replace_in_sequence(
    std::atomic<std::uint32_t>* word, std::uint32_t before, std::uint32_t after,
    std::ptrdiff_t rseq) noexcept;
#endif

// False: the word holds something else, or the thread was stopped. Memory ordering: release.
inline bool replace_alone(std::atomic<std::uint32_t>& word, std::uint32_t before,
                          std::uint32_t after) noexcept {
#if defined(__x86_64__)
  // acquire: one that finds it on sees what was done to the word by those who found it off  [restart.others]
  const std::ptrdiff_t rseq = detail::rseq_offset.load(std::memory_order_acquire);
  if (rseq != 0) [[likely]]
    return weft_os_replace_in_sequence(&word, before, after, rseq);
#endif
  // Looked at first: beside others who want it, a CAS that fails costs as much as one that does not.
  return word.load(std::memory_order_relaxed) == before &&  // checked by the CAS
         word.compare_exchange_strong(before, after, std::memory_order_release,
                                      std::memory_order_relaxed);  // failed: nothing was done
}

}  // namespace weft::os
