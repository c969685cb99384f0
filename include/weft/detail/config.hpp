// config.hpp: what the compiler must be told about weft's public functions.
//
// Everything public lives in `weft::inline v1`: a program linked against a later, incompatible weft fails to
// link instead of failing to run.
#pragma once

#include <weft/version.hpp>

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "weft needs C++20 (-std=c++20)"
#endif

// Exported from the shared library; everything else in it is hidden.
#define WEFT_API __attribute__((visibility("default")))

// Marks functions that may return on another thread than the one that called them: thread-local
// addresses (errno's too) that were computed before the call must not be used after it.
#define WEFT_MAY_SWITCH

#include <weft/detail/frames.hpp>  // every unit that includes any of weft says how much stack it needs
