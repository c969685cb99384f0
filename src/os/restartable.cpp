// restartable.cpp: see restartable.hpp.
#include "os/restartable.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "os/membarrier.hpp"
#include "os/system_call.hpp"

// ThreadSanitizer does not know of sequences; and the C library must have registered the threads.
#if defined(__x86_64__) && __has_include(<sys/rseq.h>) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if !__has_feature(thread_sanitizer)
#define WEFT_HAS_RSEQ 1
#endif
#else
#define WEFT_HAS_RSEQ 1
#endif
#endif

#if defined(WEFT_HAS_RSEQ)
#include <sys/rseq.h>
#endif

namespace weft::os {

constinit std::atomic<std::ptrdiff_t> detail::rseq_offset{0};

#if defined(WEFT_HAS_RSEQ)

bool init_restartables(bool wanted) noexcept {
  // seq_cst, here and below: [restart.others]
  if (detail::rseq_offset.load(std::memory_order_seq_cst) != 0) return true;
  if (!wanted || __rseq_size == 0) return false;
  const int saved = errno;
  const bool is_done = call(site::restart_register, ::syscall, SYS_membarrier,
                            MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0) == 0;
  errno = saved;
  if (is_done) detail::rseq_offset.store(__rseq_offset, std::memory_order_seq_cst);
  return is_done;
}

void restart_others() noexcept {
  if (detail::rseq_offset.load(std::memory_order_seq_cst) == 0) return;
  call_barrier(site::restart, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
}

static_assert(RSEQ_SIG == 0x53053053);
static_assert(offsetof(struct rseq, cpu_id) == 4 && offsetof(struct rseq, rseq_cs) == 8);

#else

bool init_restartables(bool) noexcept { return false; }
void restart_others() noexcept {}

#endif

}  // namespace weft::os

#if defined(__x86_64__)

// bool weft_os_replace_in_sequence(word: rdi, before: esi, after: edx, rseq: rcx)
//
// The kernel finds the description of the sequence (3) by the pointer in the thread's control block: from the look (1) to behind the store (2);
// a thread that was stopped in between goes on at 4, in front of which it wants to see a signature, here as part of an instruction that
// traps. A thread that could not be registered has a negative number of a CPU. (A child of vfork() has its parent's, and must not come here:
// it may do nothing but exec or exit anyway.)
//
// Not in a function of C++: nothing may come between the arguments and the sequence, whatever the compiler is told to instrument.
asm(R"(
    .pushsection .text.weft_os_replace_in_sequence, "ax", @progbits
    .balign 16
    .globl weft_os_replace_in_sequence
    .hidden weft_os_replace_in_sequence
    .type weft_os_replace_in_sequence, @function
weft_os_replace_in_sequence:
    .cfi_startproc
    endbr64
    cmpl $0, %fs:4(%rcx)
    js 4f
    leaq 3f(%rip), %rax
    movq %rax, %fs:8(%rcx)
1:  cmpl %esi, (%rdi)
    jne 4f
    movl %edx, (%rdi)
2:  movq $0, %fs:8(%rcx)
    movl $1, %eax
    ret
    .byte 0x0f, 0xb9, 0x3d
    .long 0x53053053
4:  movq $0, %fs:8(%rcx)
    xorl %eax, %eax
    ret
    .cfi_endproc
    .size weft_os_replace_in_sequence, . - weft_os_replace_in_sequence
    .popsection

    .pushsection .data.rel.ro.local, "aw", @progbits
    .balign 32
3:  .long 0, 0
    .quad 1b, 2b - 1b, 4b
    .popsection
)");

#endif
