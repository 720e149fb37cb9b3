#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"
#include "runtime/kernels/transpose_block.hpp"

namespace poprt::kernels {

/// Lines that are handled side by side.
inline constexpr std::int64_t kLines = 64;

/// The lines of a tensor along one axis, kLines at a time: element k of line i stands at
/// k * stride + i, so that loops over lines are vectors however short lines are and however they
/// lie. C is the type that is computed in. Built at bind time.
template <typename C>
class LineBlocks {
 public:
  LineBlocks(const AxisSplit& split, ElementType element)
      : split_(split), load_(element, kElementOf<C>), store_(kElementOf<C>, element) {}

  /// What Load and Store need for that many elements of each line.
  std::size_t scratch_bytes(std::int64_t rows) const {
    return ScratchBytes(static_cast<std::size_t>(kLines * rows) * sizeof(C)) *
           (load_.is_copy() ? 1 : 2);
  }

  /// Whether the lines [first, first + kLines) lie in the tensor as those of a block do, the inner
  /// extent from row to row.
  bool IsBlock(std::int64_t first) const {
    return load_.is_copy() && first % split_.inner + kLines <= split_.inner;
  }
  /// Where line `line` begins, in elements.
  std::int64_t StartOf(std::int64_t line) const {
    return line / split_.inner * split_.length * split_.inner + line % split_.inner;
  }

  /// Copies the lines [first, first + n), n <= kLines, to `scratch`, as a block of stride kLines;
  /// its other lines are zeros.
  void Load(const std::byte* tensor, std::int64_t first, std::int64_t n, C* scratch) const {
    if (n < kLines) std::fill_n(scratch, kLines * split_.length, C(0));
    if (split_.inner == 1) return LoadRows(tensor, first, n, scratch);
    LoadPart(tensor, first, n, 0, split_.length, scratch);
  }

  /// As Load, the elements [row, row + rows) of lines that have neighbours. The other lines of the
  /// block are left as they are.
  void LoadPart(const std::byte* tensor, std::int64_t first, std::int64_t n, std::int64_t row,
                std::int64_t rows, C* scratch) const {
    const Pieces pieces = PiecesOf(first, n);
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::byte* from = tensor + Bytes((row + k) * split_.inner, load_.from_bytes());
      for (const Piece& piece : pieces) {
        const std::byte* at = from + Bytes(piece.start, load_.from_bytes());
        C* to = scratch + k * kLines + piece.line;
        if (load_.is_copy()) {
          CopyFew(reinterpret_cast<const C*>(at), to, piece.count);
        } else {
          load_(at, reinterpret_cast<std::byte*>(to), piece.count);
        }
      }
    }
  }

  /// The way back. Overwrites `scratch`.
  void Store(C* scratch, std::int64_t first, std::int64_t n, std::byte* tensor) const {
    if (split_.inner == 1) return StoreRows(scratch, first, n, tensor);
    const Pieces pieces = PiecesOf(first, n);
    for (std::int64_t k = 0; k < split_.length; ++k) {
      std::byte* to = tensor + Bytes(k * split_.inner, store_.to_bytes());
      for (const Piece& piece : pieces) {
        const C* from = scratch + k * kLines + piece.line;
        std::byte* at = to + Bytes(piece.start, store_.to_bytes());
        if (store_.is_copy()) {
          CopyFew(from, reinterpret_cast<C*>(at), piece.count);
        } else {
          store_(reinterpret_cast<const std::byte*>(from), at, piece.count);
        }
      }
    }
  }

 private:
  static std::size_t Bytes(std::int64_t elements, std::size_t size) {
    return static_cast<std::size_t>(elements) * size;
  }

  /// Neighbouring lines: the first of them in the block, where it begins in the tensor.
  struct Piece {
    std::int64_t line;
    std::int64_t start;
    std::int64_t count;
  };
  struct Pieces {
    Piece all[kLines];
    std::int64_t count = 0;
    const Piece* begin() const { return all; }
    const Piece* end() const { return all + count; }
  };

  Pieces PiecesOf(std::int64_t first, std::int64_t n) const {
    Pieces pieces;
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t count = std::min(n - i, split_.inner - (first + i) % split_.inner);
      pieces.all[pieces.count++] = {i, StartOf(first + i), count};
      i += count;
    }
    return pieces;
  }

  /// Without a call, since there often are fewer than a vector's.
  static void CopyFew(const C* from, C* to, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4) std::memcpy(to + i, from + i, 4 * sizeof(C));
    for (; i < count; ++i) std::memcpy(to + i, from + i, sizeof(C));
  }

  C* Converted(C* scratch) const { return scratch + kLines * split_.length; }

  void LoadRows(const std::byte* tensor, std::int64_t first, std::int64_t n, C* scratch) const {
    const std::int64_t length = split_.length;
    const std::byte* from = tensor + Bytes(first * length, load_.from_bytes());
    const C* rows = reinterpret_cast<const C*>(from);
    if (!load_.is_copy()) {
      load_(from, reinterpret_cast<std::byte*>(Converted(scratch)), n * length);
      rows = Converted(scratch);
    }
    TransposeBlock(rows, length, n, length, scratch, kLines);
  }

  void StoreRows(C* scratch, std::int64_t first, std::int64_t n, std::byte* tensor) const {
    const std::int64_t length = split_.length;
    std::byte* to = tensor + Bytes(first * length, store_.to_bytes());
    if (store_.is_copy()) {
      return TransposeBlock(scratch, kLines, length, n, reinterpret_cast<C*>(to), length);
    }
    TransposeBlock(scratch, kLines, length, n, Converted(scratch), length);
    store_(reinterpret_cast<const std::byte*>(Converted(scratch)), to, n * length);
  }

  AxisSplit split_;
  Converter load_;
  Converter store_;
};

}  // namespace poprt::kernels
