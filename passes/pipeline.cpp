#include <string>
#include <vector>

#include "passes/pass.hpp"
#include "passes/unknown_names.hpp"

namespace poprt::passes {
namespace {

using Names = std::vector<std::string_view>;

/// What every conversion starts with: what the user asked for, then what is known already.
const Names kPrepare = {
    "manual_sharding",    // while nodes still have the model's names
    "remove_outputs",     // what nobody wants need not be converted
    "add_checkpoints",    // while values still have the model's names
    "constant_folding",   // at the precision of the model
    "double_to_float",    //
    "int64_to_int32",     //
    "eliminate_deadend",  //
};

/// Clean-up and fusion on single operators, in float32 so that products of constants round once.
const Names kSimplify = {
    "eliminate_identity",
    "eliminate_nop_cast",
    "eliminate_nop_expand",
    "eliminate_nop_pad",
    "eliminate_nop_slice",
    "fuse_consecutive_cast",
    "fuse_consecutive_squeeze",
    "fuse_consecutive_unsqueeze",
    "fuse_consecutive_reshape",
    "sink_transpose",
    "cancel_transpose",  // those that met by sinking, too
    "fuse_consecutive_transpose",
    "eliminate_nop_flatten",
    "eliminate_nop_reshape",
    "eliminate_nop_transpose",
    "replace_pow",
    "replace_sum_with_add",
    "replace_div_with_mul",
    "eliminate_nop_arithmetic",
    "fuse_bn_into_conv",
    "fuse_bn_into_gemm",
    "fuse_parallel_conv",
    "replace_bn_with_mul_add",
    "fuse_mul_into_matmul",
    "fuse_consecutive_affine",
};

const Names kToHalf = {
    "float_to_half",       //
    "eliminate_nop_cast",  // Casts between float32 and float16 have become Casts to the same type
};

const Names kFinish = {
    "constant_folding",  "eliminate_duplicate_initializer", "eliminate_duplicate_nodes",
    "eliminate_deadend", "eliminate_unused_initializer",    "final_check",
};

/// From ONNX's operators to those of the host backend.
const Names kLowering = {
    "lower_quantized_move",  // of rows, before some of these become images
    "layer_norm_pattern",
    "erf_gelu_pattern",
    "gelu_pattern",
    "attention_pattern",
    "fuse_margins_into_conv",
    "enlarge_after_pointwise",
    "lift_to_image",
    "fuse_consecutive_reshape",  // from an image to its row and back
    "eliminate_nop_reshape",
    "eliminate_duplicate_nodes",  // what quantises an image that several convolutions read
    "lower_quantized_move",
    "lower_quantized_conv",
    "lower_quantized_matmul",
    "lower_quantized_add",
    "lower_to_integer_matmul",
    "lower_quantize_pair",
    "lower_conv3d",
    "lower_conv_transpose",
    "lower_conv_transpose_to_product",
    "lower_mean_to_pool",
    "lower_thin_conv",
    "fuse_phases_into_conv",
    "lower_to_fused",
    "fuse_bias_into_fused",
    "eliminate_duplicate_initializer",  // biases, which are made for each product
    "merge_row_products",
    "fuse_residual_into_fused",
    "fuse_activation_into_fused",
    "lower_channel_matmul",
    "lower_to_fused_norm",
    "sink_channel_shuffle",
    "widen_half_images",
    "lower_pixel_conv",
    "lower_patch_conv",
    "block_channels",
    "fuse_transpose_into_blocks",
    "unblock_before_enlarging",
    "choose_winograd",
    "choose_integer_weights",
    "choose_short_weights",
    "fuse_transpose_into_recurrent",
    "fuse_pointwise_depthwise",
    "eliminate_duplicate_nodes",  // a value that several convolutions read is converted once
    "lower_to_batched_matmul",
    "fuse_scale_into_batched_matmul",
    "fuse_elementwise_chain",
    "eliminate_duplicate_initializer",
    "eliminate_deadend",
    "eliminate_unused_initializer",
};

/// To what the IPU has operators for.
const Names kIpuPlan = {
    "layer_norm_pattern",
    "erf_gelu_pattern",
    "gelu_pattern",
    "eliminate_deadend",
};

absl::StatusOr<Names> DefaultPasses(Stage stage, std::string_view precision) {
  if (precision != "fp32" && precision != "fp16") {
    return absl::InvalidArgumentError("precision '" + std::string(precision) +
                                      "' does not exist; use 'fp32' or 'fp16'");
  }
  if (stage == Stage::kLowering) return kLowering;
  if (stage == Stage::kIpuPlan) return kIpuPlan;
  Names names;
  const auto append = [&](const Names& part) {
    names.insert(names.end(), part.begin(), part.end());
  };
  append(kPrepare);
  append(kSimplify);
  if (precision == "fp16") append(kToHalf);
  append(kFinish);
  return names;
}

absl::Status CheckNames(const PipelineOptions& options) {
  std::vector<std::string> known;
  for (const PassDef& pass : AllPasses()) known.emplace_back(pass.name);
  UnknownNames unknown(std::move(known));
  for (const std::string& name : options.extra) unknown.Check(name);
  for (const std::string& name : options.skip) unknown.Check(name);
  return unknown.ToStatus("passes that do not exist");
}

}  // namespace

absl::StatusOr<std::vector<const PassDef*>> BuildPipeline(Stage stage,
                                                          const PipelineOptions& options) {
  absl::Status known = CheckNames(options);
  if (!known.ok()) return known;
  const absl::StatusOr<Names> defaults = DefaultPasses(stage, options.precision);
  if (!defaults.ok()) return defaults.status();

  std::vector<const PassDef*> pipeline;
  for (std::string_view name : *defaults) {
    if (options.skip.count(std::string(name)) == 0) pipeline.push_back(FindPass(name));
  }
  for (const std::string& name : options.extra) {
    const PassDef* pass = FindPass(name);
    if (pass->stage == stage) pipeline.push_back(pass);
  }
  return pipeline;
}

}  // namespace poprt::passes
