// x86_64/entry.cpp: where a goroutine begins. See weft_context_entry in context.hpp.
//
// Written as assembly inside a C++ file so that the compiler marks the object with the same control-flow properties
// (IBT yes, SHSTK no) as all others; one unmarked object would switch IBT off for the whole program.
#if defined(__x86_64__)

asm(R"(
    .text
    .p2align 4
    .globl  weft_context_entry
    .hidden weft_context_entry
    .type   weft_context_entry, @function
weft_context_entry:
    .cfi_startproc
    .cfi_personality 0x1b, weft_entry_personality
    .cfi_undefined rip
    .cfi_def_cfa rsp, 16
    endbr64
    popq %rax
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    xorl %ebp, %ebp
    call *%rax
    ud2
    .cfi_endproc
    .size   weft_context_entry, . - weft_context_entry
    .hidden weft_entry_personality
)");

#endif
