// version.hpp: which weft this is, for the preprocessor.
#pragma once

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

// One number that grows with every release: 10203 is 1.2.3.
#define WEFT_VERSION (WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH)
#define WEFT_VERSION_STRING "0.1.0"
