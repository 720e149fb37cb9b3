#include "compiler/ipu/target/target_fields.hpp"

#include <array>

namespace poprt::ipu {
namespace {

// Limits that keep sums and products of the formulas far from 2^64. A cycle count of 0 means that
// something is free, units of 0 that the architecture lacks them.
constexpr double kMostTiles = 65536;
constexpr double kMostSramBytes = 1 << 30;
constexpr double kMostWidth = 1024;      // bytes or elements that move at once
constexpr double kMostCycles = 1 << 20;  // of one event
constexpr double kMostCyclesPerByte = 1024;
constexpr double kMostCodeBytes = 4096;
constexpr double kMostBytesPerSecond = 1e15;

constexpr auto kTargetFields = std::to_array<Field<Target>>({
    {"ipu_version", &Target::ipu_version},
    {"architecture", &Target::architecture},
    {"tiles", &Target::tiles, 1, kMostTiles},
    {"sram_bytes_per_tile", &Target::sram_bytes_per_tile, 1 << 14, kMostSramBytes},
    {"worker_threads", &Target::worker_threads, 1, 64},
    {"vector_bytes", &Target::vector_bytes, 4, kMostWidth},
    {"tiles_per_exchange_bus", &Target::tiles_per_exchange_bus, 1, 64},
    {"exchange_bytes_per_cycle", &Target::exchange_bytes_per_cycle, 1, kMostWidth},
    {"shared_exchange_bytes_per_cycle", &Target::shared_exchange_bytes_per_cycle, 1, kMostWidth},
    {"memcpy_bytes_per_cycle", &Target::memcpy_bytes_per_cycle, 1, kMostWidth},
    {"conv_units_fp16_to_fp16", &Target::conv_units_fp16_to_fp16, 1, kMostWidth},
    {"conv_units_fp16_to_fp32", &Target::conv_units_fp16_to_fp32, 1, kMostWidth},
    {"conv_units_fp32", &Target::conv_units_fp32, 1, kMostWidth},
    {"conv_units_fp8", &Target::conv_units_fp8, 0, kMostWidth},
    {"conv_load_elements_fp16", &Target::conv_load_elements_fp16, 1, kMostWidth},
    {"conv_load_elements_fp32", &Target::conv_load_elements_fp32, 1, kMostWidth},
    {"conv_load_elements_fp8", &Target::conv_load_elements_fp8, 0, kMostWidth},
    {"weights_per_conv_unit_fp16", &Target::weights_per_conv_unit_fp16, 1, kMostWidth},
    {"weights_per_conv_unit_fp32", &Target::weights_per_conv_unit_fp32, 1, kMostWidth},
    {"weights_per_conv_unit_fp8", &Target::weights_per_conv_unit_fp8, 0, kMostWidth},
    {"coefficient_load_bytes_per_cycle", &Target::coefficient_load_bytes_per_cycle, 1, kMostWidth},
    {"coefficient_load_128bit_bytes_per_cycle", &Target::coefficient_load_128bit_bytes_per_cycle, 1,
     kMostWidth},
    {"accumulators_fp16", &Target::accumulators_fp16, 1, kMostWidth},
    {"accumulators_fp32", &Target::accumulators_fp32, 1, kMostWidth},
    {"atomic_store_bytes", &Target::atomic_store_bytes, 1, kMostWidth},
    {"internal_sync_cycles", &Target::internal_sync_cycles, 0, kMostCycles},
    {"global_sync_cycles", &Target::global_sync_cycles, 0, kMostCycles},
    {"compute_set_launch_cycles", &Target::compute_set_launch_cycles, 0, kMostCycles},
    {"amp_launch_cycles", &Target::amp_launch_cycles, 0, kMostCycles},
    {"elementwise_supervisor_cycles", &Target::elementwise_supervisor_cycles, 0, kMostCycles},
    {"exchange_phase_cycles", &Target::exchange_phase_cycles, 0, kMostCycles},
    {"exchange_fragmented_efficiency", &Target::exchange_fragmented_efficiency, 0.01, 1},
    {"exchange_send_cycles", &Target::exchange_send_cycles, 0, kMostCycles},
    {"exchange_receive_cycles", &Target::exchange_receive_cycles, 0, kMostCycles},
    {"exchange_pointer_change_cycles", &Target::exchange_pointer_change_cycles, 0, kMostCycles},
    {"exchange_send_bytes_max", &Target::exchange_send_bytes_max, 1, kMostSramBytes},
    {"exchange_send_code_bytes", &Target::exchange_send_code_bytes, 0, kMostCodeBytes},
    {"exchange_long_send_code_bytes", &Target::exchange_long_send_code_bytes, 0, kMostCodeBytes},
    {"exchange_receive_code_bytes", &Target::exchange_receive_code_bytes, 0, kMostCodeBytes},
    {"exchange_address_code_bytes", &Target::exchange_address_code_bytes, 0, kMostCodeBytes},
    {"exchange_phase_code_bytes", &Target::exchange_phase_code_bytes, 0, kMostCodeBytes},
    {"copy_call_cycles", &Target::copy_call_cycles, 0, kMostCycles},
    {"copy_cycles_per_byte_contiguous", &Target::copy_cycles_per_byte_contiguous, 0,
     kMostCyclesPerByte},
    {"copy_cycles_per_byte_8_byte_atoms", &Target::copy_cycles_per_byte_8_byte_atoms, 0,
     kMostCyclesPerByte},
    {"copy_cycles_per_byte_4_byte_atoms", &Target::copy_cycles_per_byte_4_byte_atoms, 0,
     kMostCyclesPerByte},
    {"copy_cycles_per_byte_2_byte_atoms", &Target::copy_cycles_per_byte_2_byte_atoms, 0,
     kMostCyclesPerByte},
    {"memory_base_address", &Target::memory_base_address, 0, 4294967295.0},
    {"memory_element_bytes", &Target::memory_element_bytes, 1, kMostSramBytes},
    {"executable_bytes", &Target::executable_bytes, 1, kMostSramBytes},
    {"interleaved_bytes", &Target::interleaved_bytes, 0, kMostSramBytes},
    {"unloadable_bytes", &Target::unloadable_bytes, 0, kMostSramBytes},
    {"default_platform", &Target::default_platform},
    {"ipu_links", &Target::ipu_links, 1, 1024},
    {"ipu_link_bits_per_second", &Target::ipu_link_bits_per_second, 1, kMostBytesPerSecond},
    {"ipu_link_efficiency", &Target::ipu_link_efficiency, 0.01, 1},
    {"ipu_sync_hop_nanoseconds", &Target::ipu_sync_hop_nanoseconds, 0, kMostCycles},
});

constexpr auto kPlatformFields = std::to_array<Field<Platform>>({
    {"clock_hz", &Platform::clock_hz, 1e6, 1e11},
    {"host_load_bytes_per_second", &Platform::host_load_bytes_per_second, 1, kMostBytesPerSecond},
    {"host_store_bytes_per_second", &Platform::host_store_bytes_per_second, 1, kMostBytesPerSecond},
    {"call_nanoseconds", &Platform::call_nanoseconds, 0, 1e9},
});

}  // namespace

std::span<const Field<Target>> TargetFields() { return kTargetFields; }

std::span<const Field<Platform>> PlatformFields() { return kPlatformFields; }

}  // namespace poprt::ipu
