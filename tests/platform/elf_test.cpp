// elf_test.cpp: what weft's object files and its shared library say of themselves.
#include <map>
#include <set>

#include "platform/tool.hpp"

namespace {

using namespace weft::test;

std::string output_of(std::vector<std::string> command) {
  const auto ended = run_child({.command = std::move(command), .limit = std::chrono::seconds(40)});
  EXPECT_TRUE(exited(ended, 0));
  return ended.out;
}

// "File: libweft.a(entry.cpp.o)" begins each member in readelf's output.
std::map<std::string, std::string> by_member(const std::string& text) {
  std::map<std::string, std::string> members;
  std::string member;
  for (const std::string& line : lines_of(text)) {
    if (line.rfind("File: ", 0) == 0) members[member = line];
    if (!member.empty()) members[member] += line + '\n';
  }
  return members;
}

// A switch of stacks is what a shadow stack forbids: whoever advertises SHSTK is killed by it (HAZARDS 57).
TEST(platform_objects, advertise_branch_tracking_and_no_shadow_stack) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "a property of x86 objects";
#elif !defined(__CET__)
  GTEST_SKIP() << "the compiler does not know -fcf-protection";
#endif
  NEEDS_TOOL(WEFT_READELF);
  const auto members = by_member(output_of({WEFT_READELF, "-n", WEFT_STATIC_LIBRARY}));
  ASSERT_GT(members.size(), 20u);
  for (const auto& [name, notes] : members) {
    EXPECT_NE(notes.find("IBT"), std::string::npos)
        << name << " would switch IBT off for the whole program";
    EXPECT_EQ(notes.find("SHSTK"), std::string::npos) << name;
  }
}

TEST(platform_objects, ask_for_no_executable_stack) {
  NEEDS_TOOL(WEFT_READELF);
  for (const auto& [name, sections] :
       by_member(output_of({WEFT_READELF, "-SW", WEFT_STATIC_LIBRARY}))) {
    const std::string line = find_like(sections, "(\\.note\\.GNU-stack[^\n]*)");
    ASSERT_FALSE(line.empty()) << name
                               << ": without this section the linker makes every stack executable";
    // name type address offset size es flags ...: the flags column is missing when it is empty
    EXPECT_FALSE(said_like(line, "PROGBITS +[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ [0-9a-f]+ +[A-Z]*X"))
        << name << ": " << line;
  }
}

// Threads may still run when static destructors do, so weft has none; nor does it run code before main().
TEST(platform_objects, have_no_static_constructors_or_destructors) {
  NEEDS_TOOL(WEFT_READELF);
  const std::string sections = output_of({WEFT_READELF, "-SW", WEFT_STATIC_LIBRARY});
  EXPECT_FALSE(said_like(sections, "\\.(init_array|fini_array|ctors|dtors)"));
  const std::string symbols = output_of({WEFT_NM, "--undefined-only", WEFT_STATIC_LIBRARY});
  EXPECT_FALSE(said_like(symbols, " U __cxa_atexit"));
  EXPECT_FALSE(said_like(symbols, " U atexit"));
}

TEST(platform_library, needs_nothing_but_the_c_and_cxx_libraries) {
  NEEDS_TOOL(WEFT_READELF);
  const std::string dynamic = output_of({WEFT_READELF, "-dW", WEFT_SHARED_LIBRARY});
  int count = 0;
  for (const std::string& line : lines_of(dynamic)) {
    const std::string needed = find_like(line, "NEEDED.*\\[([^]]+)\\]");
    if (needed.empty()) continue;
    ++count;
    EXPECT_TRUE(
        said_like(needed, "^(libc|libm|libstdc\\+\\+|libgcc_s|ld-linux[-a-z0-9_]*)\\.so\\.[0-9]+$"))
        << needed;
  }
  EXPECT_GE(count, 2) << dynamic;
}

TEST(platform_library, has_no_executable_stack_and_no_text_relocations) {
  NEEDS_TOOL(WEFT_READELF);
  EXPECT_TRUE(
      said_like(output_of({WEFT_READELF, "-lW", WEFT_SHARED_LIBRARY}), "GNU_STACK[ 0-9a-fx]+ RW "));
  EXPECT_FALSE(said_like(output_of({WEFT_READELF, "-dW", WEFT_SHARED_LIBRARY}), "TEXTREL"));
}

// A symbol that is resolved at its first call is resolved by the loader, which has locks and may allocate, and that call may
// stand inside the bracket.
TEST(platform_library, resolves_its_symbols_when_it_is_loaded) {
  NEEDS_TOOL(WEFT_READELF);
  EXPECT_TRUE(
      said_like(output_of({WEFT_READELF, "-dW", WEFT_SHARED_LIBRARY}), "BIND_NOW|FLAGS_1.* NOW"));
}

// Pieces of the standard library's templates neither: whoever loads two libraries would get one's in the other (cmake/exports.map).
TEST(platform_library, exports_only_its_public_names) {
  NEEDS_TOOL(WEFT_NM);
  const std::string symbols = output_of({WEFT_NM, "-DC", "--defined-only", WEFT_SHARED_LIBRARY});
  int count = 0;
  for (const std::string& line : lines_of(symbols)) {
    if (line.find(" A ") != std::string::npos) continue;  // the version itself
    ++count;
    EXPECT_TRUE(said_like(line, "weft::v1::")) << line;
  }
  EXPECT_GT(count, 20) << symbols;
}

// A thread's address must not be carried over a switch (HAZARDS 43, 44). A function that contains the switch must not even
// compute one: neither the thread pointer itself (%fs:0) nor errno's address nor that of a thread_local.
TEST(platform_objects, functions_that_switch_compute_no_thread_local_address) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "reads x86 instructions";
#endif
  NEEDS_TOOL(WEFT_OBJDUMP);
  const std::string code =
      output_of({WEFT_OBJDUMP, "-dr", "--no-show-raw-insn", WEFT_STATIC_LIBRARY});
  std::string function, why;
  bool does_switch = false;
  int nswitching = 0;
  const auto close = [&] {
    nswitching += does_switch;
    if (does_switch) {
      EXPECT_EQ(why, "") << "in " << function;
    }
    does_switch = false;
    why.clear();
  };
  for (const std::string& line : lines_of(code)) {
    if (!line.empty() && line.back() == ':' && line.find('<') != std::string::npos) {
      close();
      function = line;
    }
    if (said_like(line, "jmpq?[ \t]+\\*(0x10|16)\\(%rsi\\)")) does_switch = true;
    if (said_like(line,
                  "%fs:(0x)?0[^x0-9a-f]|%fs:(0x)?0$|__errno_location|__tls_get_addr|TLSGD|TLSLD"))
      why += line + '\n';
  }
  close();
  EXPECT_GE(nswitching, 1) << "the switch looks different now; this test must learn it";
}

}  // namespace
