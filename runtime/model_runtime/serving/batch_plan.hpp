#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/program/program.hpp"

namespace model_runtime {

/// A tensor of shape [..., rows, ...] in memory: `outer` blocks, each of which has `row_bytes` for
/// every row.
struct RowLayout {
  std::uint64_t outer = 1;
  std::uint64_t row_bytes = 0;
};

/// Some rows of a tensor that has `rows` of them.
template <typename Byte>
struct RowRange {
  Byte* tensor = nullptr;
  std::uint64_t rows = 0;
  std::uint64_t first = 0;
};

/// Copies `count` rows. The tensors must not overlap.
void CopyRows(const RowLayout& layout, const RowRange<const std::byte>& from,
              const RowRange<std::byte>& to, std::uint64_t count);
void ZeroRows(const RowLayout& layout, const RowRange<std::byte>& to, std::uint64_t count);

/// How the tensors of a model fall into rows along the batching dimension.
class BatchPlan {
 public:
  struct Branch {
    std::uint64_t rows = 0;  ///< of a batch
    /// Of the branch's streams; nothing for an input that does not fall into rows because it is
    /// frozen.
    std::vector<std::optional<RowLayout>> inputs;
    std::vector<std::optional<RowLayout>> outputs;
    /// Rows of every tensor lie one after the other, so whole batches run where they lie.
    bool contiguous = true;
  };

  /// `frozen`: the inputs that every request has alike, by their names in the program. Throws Error
  /// that lists every other tensor which has no such dimension, has another number of rows than
  /// those of its graph before it, or has an open axis.
  BatchPlan(const poprt::program::Program& program, std::uint32_t dim,
            const std::set<std::string_view>& frozen);

  std::uint32_t dim() const { return dim_; }
  const Branch& branch(std::size_t index) const { return branches_[index]; }

 private:
  RowLayout LayoutOf(const poprt::program::Branch& branch, const poprt::program::Stream& stream,
                     Branch& plan, std::string& problems) const;

  std::uint32_t dim_;
  std::vector<Branch> branches_;
};

}  // namespace model_runtime
