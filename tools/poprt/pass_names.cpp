#include "tools/poprt/pass_names.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ir/nearest_name.hpp"
#include "compiler/ops/op.hpp"
#include "passes/pass.hpp"

namespace poprt::cli {
namespace {

// Passes of PopRT; those that passes::AllPasses() holds too are there.
constexpr std::string_view kPassesOfPopRT[] = {
    "apply_host_concat_split",
    "attention_padding",
    "auto_insert_remap",
    "check_unsupported_attribute",
    "check_with_fake_data",
    "const_batch_size",
    "const_input_shape",
    "eight_bits_io",
    "eliminate_nop_if",
    "expand_if",
    "extract_constant_to_initializer",
    "fill_squeeze_axes",
    "float_to_fp8",
    "float_to_int8",
    "float_to_mixed",
    "fold_periodic_initializer",
    "fuse_consecutive_arithmetic",
    "fused_attention",
    "layer_precision_compare",
    "matmul_rotary_embedding",
    "merge_if_with_same_cond",
    "merge_matmul",
    "merge_matmul_add",
    "merge_moe",
    "merge_multi_slice",
    "merge_variant_if",
    "model_io_info_stat",
    "model_overview",
    "overlap_io",
    "packed_transformer",
    "post_expand",
    "pre_scale",
    "remove_duplicated_initializer",
    "remove_initializer_from_input",
    "remove_input_cast",
    "replace_castlike",
    "replace_clip_empty_inputs",
    "replace_consecutive_cast_with_notzero",
    "replace_einsum_with_matmul",
    "replace_erf_with_erfv2",
    "replace_gemm_with_matmul",
    "replace_greater_or_equal",
    "replace_groupnorm_with_fast_norm",
    "replace_half_reducemean",
    "replace_hardswish",
    "replace_isinf",
    "replace_less_or_equal",
    "replace_nonzero",
    "replace_round",
    "replace_softmax",
    "replace_where_mask",
    "replace_where_with_mul_add",
    "replace_where_with_wherev2",
    "serialize_matmul",
    "serialize_matmul_add",
    "shape_inference",
    "sort_graph",
    "trace_folding",
};

// Rows of a table by their names.
template <typename Table>
absl::Status Unknown(const char* what, const std::string& name, const Table& table,
                     const char* advice) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  const std::optional<std::string> nearest = ir::NearestName(name, names);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown ", what, " '", name, "'; ",
                   nearest ? absl::StrCat("did you mean '", *nearest, "'?") : advice));
}

}  // namespace

absl::Status CheckPassName(const std::string& name) {
  if (passes::FindPass(name) != nullptr) return absl::OkStatus();
  if (std::ranges::find(kPassesOfPopRT, name) != std::end(kPassesOfPopRT)) {
    return absl::UnimplementedError(absl::StrCat(
        "pass '", name, "' of PopRT is not there yet; --list_all_passes shows those that are"));
  }
  return Unknown("pass", name, passes::AllPasses(), "--list_all_passes shows all passes");
}

absl::Status CheckOperatorName(const std::string& name) {
  if (ops::FindOp(name) != nullptr) return absl::OkStatus();
  return Unknown("operator", name, ops::AllOps(), "docs/operators.md lists the operators");
}

}  // namespace poprt::cli
