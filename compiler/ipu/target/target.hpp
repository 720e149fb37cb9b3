#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

/// The IPU a container is made for.
namespace poprt::ipu {

/// A machine with IPUs of one architecture: what turns cycles into seconds (sections 1.1, 7.1.5).
struct Platform {
  std::string name;
  std::uint64_t clock_hz = 0;                     ///< of the tiles
  std::uint64_t host_load_bytes_per_second = 0;   ///< host to IPU, sustained
  std::uint64_t host_store_bytes_per_second = 0;  ///< IPU to host, sustained
  std::uint64_t call_nanoseconds = 0;  ///< host cost of one call, shared by the batches of a step
};

/// Constants of one IPU architecture, of one tile where nothing else is said. They are data:
/// configs/targets/<ipu_version>.yaml, built into the compiler; a field is the key of the same name
/// there, which also names its source. "FP16 to FP32" means half operands with float partials; a
/// number format that the architecture can't multiply has no units (0).
struct Target {
  std::string ipu_version;
  std::string architecture;  ///< name of the chip, for reports

  // The tiles (section 1.1).
  std::uint32_t tiles = 0;  ///< of one IPU
  std::uint64_t sram_bytes_per_tile = 0;
  std::uint64_t worker_threads = 0;
  std::uint64_t vector_bytes = 0;  ///< natural vector: 4 half or 2 float
  std::uint64_t tiles_per_exchange_bus = 0;
  std::uint64_t exchange_bytes_per_cycle = 0;  ///< received
  /// Received when the tiles of an exchange bus receive the same data.
  std::uint64_t shared_exchange_bytes_per_cycle = 0;
  std::uint64_t memcpy_bytes_per_cycle = 0;

  // Multiplying (section 1.2).
  std::uint64_t conv_units_fp16_to_fp16 = 0;
  std::uint64_t conv_units_fp16_to_fp32 = 0;
  std::uint64_t conv_units_fp32 = 0;
  std::uint64_t conv_units_fp8 = 0;
  std::uint64_t conv_load_elements_fp16 = 0;  ///< inputs that a unit multiplies in a cycle
  std::uint64_t conv_load_elements_fp32 = 0;
  std::uint64_t conv_load_elements_fp8 = 0;
  std::uint64_t weights_per_conv_unit_fp16 = 0;  ///< input channels of a group
  std::uint64_t weights_per_conv_unit_fp32 = 0;
  std::uint64_t weights_per_conv_unit_fp8 = 0;
  std::uint64_t coefficient_load_bytes_per_cycle = 0;
  std::uint64_t coefficient_load_128bit_bytes_per_cycle = 0;  ///< use_128bit_conv_unit_load
  std::uint64_t accumulators_fp16 = 0;                        ///< elements of an accumulator vector
  std::uint64_t accumulators_fp32 = 0;
  std::uint64_t atomic_store_bytes = 0;

  // Synchronising and starting work (sections 1.2, 7.1).
  std::uint64_t internal_sync_cycles = 0;  ///< largest delay of a sync inside the IPU
  std::uint64_t global_sync_cycles = 0;    ///< of a sync with the host or other IPUs
  std::uint64_t compute_set_launch_cycles = 0;
  std::uint64_t amp_launch_cycles = 0;  ///< of a compute set of AMP vertices
  std::uint64_t elementwise_supervisor_cycles = 0;

  // Exchange (sections 1.4, 7.1).
  std::uint64_t exchange_phase_cycles = 0;    ///< overhead of a phase, its sync included; fitted
  double exchange_fragmented_efficiency = 0;  ///< of the bandwidth, with many fragments
  std::uint64_t exchange_send_cycles = 0;
  std::uint64_t exchange_receive_cycles = 0;
  std::uint64_t exchange_pointer_change_cycles = 0;
  std::uint64_t exchange_send_bytes_max = 0;  ///< of one send instruction
  std::uint64_t exchange_send_code_bytes = 0;
  std::uint64_t exchange_long_send_code_bytes = 0;  ///< more, for what exceeds a send instruction
  std::uint64_t exchange_receive_code_bytes = 0;
  std::uint64_t exchange_address_code_bytes = 0;  ///< of a receive address that does not follow on
  std::uint64_t exchange_phase_code_bytes = 0;

  // Copies on a tile (sections 1.2, 2.10).
  std::uint64_t copy_call_cycles = 0;
  double copy_cycles_per_byte_contiguous = 0;
  double copy_cycles_per_byte_8_byte_atoms = 0;
  double copy_cycles_per_byte_4_byte_atoms = 0;
  double copy_cycles_per_byte_2_byte_atoms = 0;  ///< fitted, also for smaller atoms

  // Memory map (section 1.3).
  std::uint64_t memory_base_address = 0;
  std::uint64_t memory_element_bytes = 0;
  std::uint64_t executable_bytes = 0;   ///< region 0, the only one that code can lie in
  std::uint64_t interleaved_bytes = 0;  ///< region 1
  std::uint64_t unloadable_bytes = 0;   ///< at the end, not filled when a program is loaded

  std::string default_platform;
  std::vector<Platform> platforms;  ///< in the order of the file

  // Other IPUs (sections 1.1 and 1.4).
  std::uint64_t ipu_links = 0;                 ///< of an IPU
  std::uint64_t ipu_link_bits_per_second = 0;  ///< of a link, in each direction
  double ipu_link_efficiency = 0;              ///< of that, sustained
  std::uint64_t ipu_sync_hop_nanoseconds = 0;  ///< of a sync from one IPU to the next
};

/// The target of that name. InvalidArgument lists the known ones.
absl::StatusOr<Target> FindTarget(std::string_view ipu_version);

/// The target that a file describes: all keys of configs/targets, or `base: <ipu_version>` and the
/// keys to change. `path` is named in messages. NotFound when it can't be read; InvalidArgument
/// lists every unknown, missing, doubled or senseless key with file, line, what was found and what
/// is allowed.
absl::StatusOr<Target> LoadTargetFile(const std::string& path);

/// The platform of that name, the target's default one when `name` is empty. InvalidArgument lists
/// those the target has.
absl::StatusOr<Platform> FindPlatform(const Target& target, std::string_view name);

/// Seconds that cycles of a tile take there.
double Seconds(const Platform& platform, std::uint64_t cycles);

/// How the tiles of an IPU are divided: tiles [0, io_tiles) hold host buffers, so that transfers
/// overlap with what the others compute.
struct TilePartition {
  std::uint32_t io_tiles = 0;
  std::uint32_t compute_tiles = 0;
};

/// `num_io_tiles` is 0 (no I/O tiles) or even, at least 32 and less than all tiles; anything else
/// is InvalidArgument.
absl::StatusOr<TilePartition> PartitionTiles(const Target& target, std::int64_t num_io_tiles);

}  // namespace poprt::ipu
