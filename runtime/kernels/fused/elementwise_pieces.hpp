#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/kernels/fused/element_functions.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"

namespace poprt::kernels {

/// What "fused_elementwise" runs, piece by piece. Immutable once it is bound.
struct FusedElementwise {
  static constexpr std::size_t kMostInputs = 16;
  static constexpr std::size_t kMostValues = 96;
  static constexpr std::size_t kMostRank = 63;
  /// Elements of a piece, at least.
  static constexpr std::int64_t kShortestPiece = 512;
  /// Shorter rows are gathered so that pieces may go across them.
  static constexpr std::int64_t kShortestRow = 48;
  /// Elements of gathered rows that are written at a time; buffers have room for as many more.
  static constexpr std::int64_t kChunk = 16;
  /// Elements of a cache line.
  static constexpr std::int64_t kLine = 16;

  /// How an operand lies along the output, of which adjacent dimensions are joined.
  enum class Access : std::uint8_t {
    kFlat,     ///< element by element
    kRow,      ///< rows are contiguous
    kRepeat,   ///< one element for a whole row
    kCycle,    ///< the same few elements again and again, for a whole row
    kGathered  ///< neither, or rows are short
  };

  struct Operand {
    ElementType element = ElementType::kFloat32;
    Access access = Access::kFlat;
    std::vector<std::int64_t> strides;  ///< per dimension, in elements
    std::int64_t buffer = -1;           ///< of float32 elements when they cannot be read in place
    std::int64_t period = 0;            ///< of kCycle
    std::int64_t count = 0;             ///< of all its elements
  };

  struct Instruction {
    ElementLoop loop = nullptr;
    std::size_t a = 0;
    std::size_t b = 0;
    bool binary = false;
    std::int64_t buffer = -1;  ///< none: the output itself
    bool is_single = false;    ///< of operands that are one element for the whole piece
  };

  /// Where a task is: the index of the current row, and each operand's first element of it. As many
  /// of them as there are dimensions and operands are set.
  struct Cursor {
    std::array<std::int64_t, kMostRank> index;
    std::array<std::int64_t, kMostInputs> offsets;
  };

  const GemmMicroKernels* kernels = nullptr;
  ElementType element = ElementType::kFloat32;  // of the output
  float point = 0;                              // of an output of bytes
  std::int64_t count = 0;
  std::vector<std::int64_t> extents;
  std::vector<Operand> operands;
  std::vector<float> constants;
  std::vector<Instruction> instructions;
  std::int64_t buffers = 0;
  std::int64_t piece = kShortestPiece;
  std::size_t scratch_bytes = 0;

  std::int64_t inner() const { return extents.empty() ? 1 : extents.back(); }
  bool by_row() const { return inner() >= kShortestRow; }
  bool writes_floats() const { return element == ElementType::kFloat32; }

  /// Those that are read element by element as the output is written.
  std::vector<std::size_t> InPlaceInputs() const;

  void Run(const KernelArguments& args) const;

  std::int64_t BufferFloats() const { return piece + kChunk + kLine; }

 private:
  float* Buffer(float* scratch, std::int64_t i) const { return scratch + i * BufferFloats(); }

  /// How far buffers are moved in scratch memory so that they lie to cache lines as the results
  /// do, which are stored in whole lines. The same for all pieces of a row.
  std::int64_t Shift(const KernelArguments& args, std::int64_t at) const;

  void RunRange(const KernelArguments& args, std::int64_t begin, std::int64_t end,
                float* scratch) const;

  void MoveTo(std::int64_t position, Cursor& cursor) const;

  void NextRow(Cursor& cursor) const;

  void RunPiece(const KernelArguments& args, const Cursor& cursor, std::int64_t at,
                std::int64_t column, std::int64_t n, bool new_row, float* scratch) const;

  void Store(const KernelArguments& args, const float* from, std::int64_t at, std::int64_t n) const;

  template <typename T>
  static void StoreBytes(const float* from, std::int64_t n, float point, T* to);

  /// Calls f with the elements of operand i.
  template <typename F>
  auto WithElements(const KernelArguments& args, std::size_t i, const F& f) const;

  /// Contiguous elements of operand i as floats.
  const float* Widened(const KernelArguments& args, std::size_t i, std::int64_t first,
                       std::int64_t n, float* buffer) const;

  const float* Load(const KernelArguments& args, std::size_t i, const Cursor& cursor,
                    std::int64_t at, std::int64_t column, std::int64_t n, bool new_row,
                    float* scratch) const;

  /// Writes whole chunks: what is too much is overwritten by the next row or lies behind the piece.
  template <typename F>
  static void WriteChunks(std::int64_t n, float* to, F value_at);

  /// n elements from `column` of the row of the cursor on, across rows.
  template <typename T>
  void Gather(const T* from, std::size_t i, const Cursor& cursor, std::int64_t column,
              std::int64_t n, float* to) const;
};

}  // namespace poprt::kernels
