// aarch64/entry.cpp: where a goroutine begins. See weft_context_entry in context.hpp.
#if defined(__aarch64__)

asm(R"(
    .text
    .p2align 4
    .globl  weft_context_entry
    .hidden weft_context_entry
    .type   weft_context_entry, %function
weft_context_entry:
    .cfi_startproc
    .cfi_personality 0x1b, weft_entry_personality
    .cfi_undefined x30
    .cfi_def_cfa sp, 0
    hint #36
    ldp x1, x0, [sp], #16
    mov x29, xzr
    mov x30, xzr
    blr x1
    brk #1
    .cfi_endproc
    .size   weft_context_entry, . - weft_context_entry
    .hidden weft_entry_personality
)");

#endif
