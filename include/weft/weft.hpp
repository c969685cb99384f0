// weft.hpp: everything but <weft/beast.hpp>, which needs Boost.
#pragma once

#include <weft/chan.hpp>
#include <weft/context.hpp>
#include <weft/error.hpp>
#include <weft/event.hpp>
#include <weft/go.hpp>
#include <weft/goroutine_local.hpp>
#include <weft/group.hpp>
#include <weft/io.hpp>
#include <weft/join_handle.hpp>
#include <weft/net.hpp>
#include <weft/parallel.hpp>
#include <weft/runtime.hpp>
#include <weft/select.hpp>
#include <weft/select_list.hpp>
#include <weft/single_flight.hpp>
#include <weft/sync.hpp>
#include <weft/time.hpp>
#include <weft/version.hpp>
#include <weft/worker_pool.hpp>
