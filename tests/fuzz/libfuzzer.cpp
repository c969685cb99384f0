// libfuzzer.cpp: makes a fuzzer of the one target it is linked with. What a broken promise throws ends the process, and libFuzzer keeps the
// input.
#include <cstddef>
#include <cstdint>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::fuzz::targets().at(0).run({reinterpret_cast<const char*>(data), size});
  return 0;
}
