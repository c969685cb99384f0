// net.hpp: the network: all of <weft/net/..>.
#pragma once

#include <weft/net/address.hpp>
#include <weft/net/conn.hpp>
#include <weft/net/dial.hpp>
#include <weft/net/error.hpp>
#include <weft/net/host_port.hpp>
#include <weft/net/listener.hpp>
#include <weft/net/lookup.hpp>
#include <weft/net/packet_conn.hpp>
