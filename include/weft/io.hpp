// io.hpp: descriptors, pipes, files, signals, processes: all of <weft/io/..>.
#pragma once

#include <weft/io/async_fd.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/copy.hpp>
#include <weft/io/error.hpp>
#include <weft/io/file.hpp>
#include <weft/io/handle.hpp>
#include <weft/io/process.hpp>
#include <weft/io/signals.hpp>
#include <weft/io/stream.hpp>
