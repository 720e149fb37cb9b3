#include "compiler/ipu/cost/exchange.hpp"

#include <algorithm>
#include <cmath>

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {
namespace {

bool IsIdle(const TileExchange& exchange) {
  return exchange.bytes_received == 0 && exchange.bytes_sent == 0 && exchange.sends == 0 &&
         exchange.receives == 0;
}

}  // namespace

std::uint64_t ExchangeCycles(const Target& target, const TileExchange& exchange) {
  if (IsIdle(exchange)) return 0;
  const std::uint64_t receive_width = exchange.shared_bus ? target.shared_exchange_bytes_per_cycle
                                                          : target.exchange_bytes_per_cycle;
  std::uint64_t transfer =
      std::max(CeilDivide(exchange.bytes_received, receive_width),
               CeilDivide(exchange.bytes_sent, target.exchange_bytes_per_cycle));
  if (exchange.fragmented) {
    transfer = static_cast<std::uint64_t>(
        std::ceil(static_cast<double>(transfer) / target.exchange_fragmented_efficiency));
  }
  const std::uint64_t control = target.exchange_send_cycles * exchange.sends +
                                target.exchange_receive_cycles * exchange.receives +
                                target.exchange_pointer_change_cycles * exchange.pointer_changes;
  return target.exchange_phase_cycles + std::max(transfer, control);
}

std::uint64_t ExchangeCodeBytes(const Target& target, const TileExchange& exchange) {
  if (IsIdle(exchange)) return 0;
  const bool long_sends = exchange.sends > 0 && CeilDivide(exchange.bytes_sent, exchange.sends) >
                                                    target.exchange_send_bytes_max;
  return target.exchange_phase_code_bytes +
         exchange.sends * (target.exchange_send_code_bytes +
                           (long_sends ? target.exchange_long_send_code_bytes : 0)) +
         exchange.receives * target.exchange_receive_code_bytes +
         exchange.pointer_changes * target.exchange_address_code_bytes;
}

}  // namespace poprt::ipu
