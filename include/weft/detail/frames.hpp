// frames.hpp: how much stack the code that includes weft needs, told to the library. Not for users.
//
// Frames are several times larger without optimisation and with a sanitizer's red zones. The library is mostly compiled otherwise than its
// user, and is asked only when a runtime starts. So each translation unit with large frames that includes any of weft says so before
// main(); one that is optimised has nothing of this in it. Whoever names a stack size in `options` gets that.
//
// It says so from the initialiser of a variable with internal linkage: nothing here has a name that two units could share, so whichever flags
// others were compiled with, no linker merges theirs with ours, and no linker drops an initialiser.
#pragma once

#include <cstdint>

// The name of a weft::detail::frames.
#if defined(__SANITIZE_ADDRESS__)
#define WEFT_FRAMES address_checked
#elif defined(__SANITIZE_THREAD__)
#define WEFT_FRAMES race_checked
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_FRAMES address_checked
#elif __has_feature(thread_sanitizer)
#define WEFT_FRAMES race_checked
#endif
#endif
#if !defined(WEFT_FRAMES)
#if defined(__OPTIMIZE__)
#define WEFT_FRAMES optimised
#else
#define WEFT_FRAMES unoptimised
#define WEFT_FRAMES_ARE_LARGE
#endif
#else
#define WEFT_FRAMES_ARE_LARGE
#endif

namespace weft::inline v1::detail {

// Smallest first.
enum class frames : std::uint8_t { optimised, unoptimised, race_checked, address_checked };

// From now on a runtime that starts has default stacks for such frames, or for larger ones. Any thread, also before main().
__attribute__((visibility("default"))) bool expect_frames(frames f) noexcept;

#if defined(WEFT_FRAMES_ARE_LARGE) && !defined(WEFT_BUILDING_LIBRARY)
[[maybe_unused]] static const bool kFramesAreExpected = expect_frames(frames::WEFT_FRAMES);
#endif

}  // namespace weft::inline v1::detail
