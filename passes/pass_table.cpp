#include <algorithm>
#include <array>

#include "passes/conversion/add_checkpoints.hpp"
#include "passes/conversion/cancel_transpose.hpp"
#include "passes/conversion/constant_folding.hpp"
#include "passes/conversion/double_to_float.hpp"
#include "passes/conversion/eliminate_deadend.hpp"
#include "passes/conversion/eliminate_duplicate_initializer.hpp"
#include "passes/conversion/eliminate_duplicate_nodes.hpp"
#include "passes/conversion/eliminate_identity.hpp"
#include "passes/conversion/eliminate_nop_arithmetic.hpp"
#include "passes/conversion/eliminate_nop_cast.hpp"
#include "passes/conversion/eliminate_nop_expand.hpp"
#include "passes/conversion/eliminate_nop_flatten.hpp"
#include "passes/conversion/eliminate_nop_pad.hpp"
#include "passes/conversion/eliminate_nop_reshape.hpp"
#include "passes/conversion/eliminate_nop_slice.hpp"
#include "passes/conversion/eliminate_nop_transpose.hpp"
#include "passes/conversion/eliminate_unused_initializer.hpp"
#include "passes/conversion/final_check.hpp"
#include "passes/conversion/float_to_half.hpp"
#include "passes/conversion/fuse_bn_into_conv.hpp"
#include "passes/conversion/fuse_bn_into_gemm.hpp"
#include "passes/conversion/fuse_consecutive_affine.hpp"
#include "passes/conversion/fuse_consecutive_cast.hpp"
#include "passes/conversion/fuse_consecutive_reshape.hpp"
#include "passes/conversion/fuse_consecutive_squeeze.hpp"
#include "passes/conversion/fuse_consecutive_transpose.hpp"
#include "passes/conversion/fuse_consecutive_unsqueeze.hpp"
#include "passes/conversion/fuse_mul_into_matmul.hpp"
#include "passes/conversion/fuse_parallel_conv.hpp"
#include "passes/conversion/int64_to_int32.hpp"
#include "passes/conversion/manual_sharding.hpp"
#include "passes/conversion/remove_outputs.hpp"
#include "passes/conversion/replace_bn_with_mul_add.hpp"
#include "passes/conversion/replace_div_with_mul.hpp"
#include "passes/conversion/replace_pow.hpp"
#include "passes/conversion/replace_sum_with_add.hpp"
#include "passes/conversion/round_weights_to_half.hpp"
#include "passes/conversion/sink_transpose.hpp"
#include "passes/lowering/attention_pattern.hpp"
#include "passes/lowering/block_channels.hpp"
#include "passes/lowering/choose_integer_weights.hpp"
#include "passes/lowering/choose_short_weights.hpp"
#include "passes/lowering/choose_winograd.hpp"
#include "passes/lowering/enlarge_after_pointwise.hpp"
#include "passes/lowering/erf_gelu_pattern.hpp"
#include "passes/lowering/fuse_activation_into_fused.hpp"
#include "passes/lowering/fuse_bias_into_fused.hpp"
#include "passes/lowering/fuse_elementwise_chain.hpp"
#include "passes/lowering/fuse_margins_into_conv.hpp"
#include "passes/lowering/fuse_phases_into_conv.hpp"
#include "passes/lowering/fuse_pointwise_depthwise.hpp"
#include "passes/lowering/fuse_residual_into_fused.hpp"
#include "passes/lowering/fuse_scale_into_batched_matmul.hpp"
#include "passes/lowering/fuse_transpose_into_blocks.hpp"
#include "passes/lowering/fuse_transpose_into_recurrent.hpp"
#include "passes/lowering/gelu_pattern.hpp"
#include "passes/lowering/layer_norm_pattern.hpp"
#include "passes/lowering/lift_to_image.hpp"
#include "passes/lowering/lower_channel_matmul.hpp"
#include "passes/lowering/lower_conv3d.hpp"
#include "passes/lowering/lower_conv_transpose.hpp"
#include "passes/lowering/lower_conv_transpose_to_product.hpp"
#include "passes/lowering/lower_mean_to_pool.hpp"
#include "passes/lowering/lower_patch_conv.hpp"
#include "passes/lowering/lower_pixel_conv.hpp"
#include "passes/lowering/lower_quantize_pair.hpp"
#include "passes/lowering/lower_quantized_add.hpp"
#include "passes/lowering/lower_quantized_conv.hpp"
#include "passes/lowering/lower_quantized_matmul.hpp"
#include "passes/lowering/lower_quantized_move.hpp"
#include "passes/lowering/lower_thin_conv.hpp"
#include "passes/lowering/lower_to_batched_matmul.hpp"
#include "passes/lowering/lower_to_fused.hpp"
#include "passes/lowering/lower_to_fused_norm.hpp"
#include "passes/lowering/lower_to_integer_matmul.hpp"
#include "passes/lowering/merge_row_products.hpp"
#include "passes/lowering/sink_channel_shuffle.hpp"
#include "passes/lowering/unblock_before_enlarging.hpp"
#include "passes/lowering/widen_half_images.hpp"
#include "passes/pass.hpp"

namespace poprt::passes {
namespace {

/// Ordered by name.
constexpr auto kPasses = std::to_array<PassDef>({
    {"add_checkpoints", "Makes the values that --checkpoints names outputs of the graph.",
     Stage::kConversion, AddCheckpoints, Regions::kNo},
    {"attention_pattern", "Finds attention written as single operators.", Stage::kLowering,
     AttentionPattern},
    {"block_channels", "Computes convolution networks in blocks of 16 channels.", Stage::kLowering,
     BlockChannels},
    {"cancel_transpose",
     "Leaves out orders of axes that are taken back behind operators that need none.",
     Stage::kConversion, CancelTranspose},
    {"choose_integer_weights",
     "Multiplies by weights that were quantised, or rounded to float16, in integers.",
     Stage::kLowering, ChooseIntegerWeights},
    {"choose_short_weights",
     "Stores large weights of products of few rows or many, and of convolutions, in 16 bits.",
     Stage::kLowering, ChooseShortWeights},
    {"choose_winograd", "Chooses Winograd's algorithm where it makes a convolution faster.",
     Stage::kLowering, ChooseWinograd},
    {"constant_folding", "Computes what depends on constants and shapes only.", Stage::kConversion,
     ConstantFolding},
    {"double_to_float", "Turns float64 into float32 everywhere, inputs and outputs included.",
     Stage::kConversion, DoubleToFloat},
    {"eliminate_deadend", "Removes nodes whose results nobody uses.", Stage::kConversion,
     EliminateDeadend},
    {"eliminate_duplicate_initializer",
     "Keeps one of several constants of the same type and content.", Stage::kConversion,
     EliminateDuplicateInitializer},
    {"eliminate_duplicate_nodes", "Computes the same operator on the same inputs once.",
     Stage::kConversion, EliminateDuplicateNodes},
    {"eliminate_identity", "Removes Identity, and Dropout, which does nothing at inference.",
     Stage::kConversion, EliminateIdentity},
    {"eliminate_nop_arithmetic", "Removes x + 0, x - 0, x * 1, x / 1 and x ^ 1.",
     Stage::kConversion, EliminateNopArithmetic},
    {"eliminate_nop_cast", "Removes Cast to the type that its input has.", Stage::kConversion,
     EliminateNopCast},
    {"eliminate_nop_expand", "Removes Expand that does not change the shape.", Stage::kConversion,
     EliminateNopExpand},
    {"eliminate_nop_flatten", "Removes Flatten that does not change the shape.", Stage::kConversion,
     EliminateNopFlatten},
    {"eliminate_nop_pad", "Removes Pad by nothing.", Stage::kConversion, EliminateNopPad},
    {"eliminate_nop_reshape",
     "Removes Reshape, Squeeze and Unsqueeze that do not change the shape.", Stage::kConversion,
     EliminateNopReshape},
    {"eliminate_nop_slice", "Removes Slice that takes all.", Stage::kConversion, EliminateNopSlice},
    {"eliminate_nop_transpose", "Removes Transpose that does not reorder anything.",
     Stage::kConversion, EliminateNopTranspose},
    {"eliminate_unused_initializer", "Removes constants that nobody reads.", Stage::kConversion,
     EliminateUnusedInitializer},
    {"enlarge_after_pointwise",
     "Computes a Conv of single pixels before the image that it reads is enlarged.",
     Stage::kLowering, EnlargeAfterPointwise},
    {"erf_gelu_pattern", "Finds GELU written with Erf.", Stage::kLowering, ErfGeluPattern},
    {"final_check", "Checks that every node fits its operator's rule.", Stage::kConversion,
     FinalCheck},
    {"float_to_half", "Turns float32 into float16 everywhere, inputs and outputs included.",
     Stage::kConversion, FloatToHalf},
    {"fuse_activation_into_fused", "Applies an activation inside the fused operator before it.",
     Stage::kLowering, FuseActivationIntoFused},
    {"fuse_bias_into_fused", "Adds a constant vector inside the fused operator before it.",
     Stage::kLowering, FuseBiasIntoFused},
    {"fuse_bn_into_conv",
     "Multiplies BatchNormalization into the weights of the Conv or ConvTranspose before it.",
     Stage::kConversion, FuseBnIntoConv},
    {"fuse_bn_into_gemm", "Multiplies BatchNormalization into the weights of the Gemm before it.",
     Stage::kConversion, FuseBnIntoGemm},
    {"fuse_consecutive_affine", "Makes Muls and Adds by constants one Mul and one Add.",
     Stage::kConversion, FuseConsecutiveAffine},
    {"fuse_consecutive_cast", "Makes two Casts in a row one where the first loses nothing.",
     Stage::kConversion, FuseConsecutiveCast},
    {"fuse_consecutive_reshape", "Makes Reshape of something reshaped one Reshape.",
     Stage::kConversion, FuseConsecutiveReshape},
    {"fuse_consecutive_squeeze", "Makes two Squeezes in a row one.", Stage::kConversion,
     FuseConsecutiveSqueeze},
    {"fuse_consecutive_transpose", "Makes two Transposes in a row one.", Stage::kConversion,
     FuseConsecutiveTranspose},
    {"fuse_consecutive_unsqueeze", "Makes two Unsqueezes in a row one.", Stage::kConversion,
     FuseConsecutiveUnsqueeze},
    {"fuse_elementwise_chain", "Makes trees of element-wise operators one pass over the data.",
     Stage::kLowering, FuseElementwiseChain},
    {"fuse_margins_into_conv",
     "Pads with zeros inside a Conv, and computes only what a Slice takes of it.", Stage::kLowering,
     FuseMarginsIntoConv},
    {"fuse_mul_into_matmul", "Multiplies a constant factor into the constant weights of a MatMul.",
     Stage::kConversion, FuseMulIntoMatmul},
    {"fuse_parallel_conv",
     "Makes the sum of convolutions of one value, and of the value itself, one Conv.",
     Stage::kConversion, FuseParallelConv},
    {"fuse_phases_into_conv",
     "Reads an image with larger strides where a Conv reads its phases as channels.",
     Stage::kLowering, FusePhasesIntoConv},
    {"fuse_pointwise_depthwise",
     "Computes convolutions of single pixels and depthwise ones after them piece by piece.",
     Stage::kLowering, FusePointwiseDepthwise},
    {"fuse_residual_into_fused",
     "Adds a tensor of equal shape inside the fused operator before it.", Stage::kLowering,
     FuseResidualIntoFused},
    {"fuse_scale_into_batched_matmul", "Multiplies a scalar factor into BatchMatMul.",
     Stage::kLowering, FuseScaleIntoBatchedMatmul},
    {"fuse_transpose_into_blocks",
     "Reads and writes images whose channels come last where they become blocks of channels.",
     Stage::kLowering, FuseTransposeIntoBlocks},
    {"fuse_transpose_into_recurrent",
     "Has RNN, GRU and LSTM read and write sequences in the order in which they are.",
     Stage::kLowering, FuseTransposeIntoRecurrent},
    {"gelu_pattern", "Finds GELU written with Tanh.", Stage::kLowering, GeluPattern},
    {"int64_to_int32", "Turns int64 into int32 everywhere, inputs and outputs included.",
     Stage::kConversion, Int64ToInt32},
    {"layer_norm_pattern", "Finds layer and RMS normalisation written as single operators.",
     Stage::kLowering, LayerNormPattern},
    {"lift_to_image", "Makes convolutions of one spatial axis those of images of one row.",
     Stage::kLowering, LiftToImage},
    {"lower_channel_matmul",
     "Makes MatMul over channels that are brought to the end and back a Conv of single pixels.",
     Stage::kLowering, LowerChannelMatMul},
    {"lower_conv3d", "Makes Conv of volumes a Conv of images whose channels are slices.",
     Stage::kLowering, LowerConv3d},
    {"lower_conv_transpose",
     "Makes ConvTranspose a Conv of the phases of its result, which are then put in place.",
     Stage::kLowering, LowerConvTranspose},
    {"lower_conv_transpose_to_product",
     "Makes ConvTranspose, most often by computed weights, a product and Col2Im.", Stage::kLowering,
     LowerConvTransposeToProduct},
    {"lower_mean_to_pool", "Makes means over height and width poolings.", Stage::kLowering,
     LowerMeanToPool},
    {"lower_patch_conv", "Makes convolutions that cut an image into patches products of matrices.",
     Stage::kLowering, LowerPatchConv},
    {"lower_pixel_conv", "Makes large convolutions of images of one pixel products of matrices.",
     Stage::kLowering, LowerPixelConv},
    {"lower_quantize_pair", "Makes quantisation that is undone at once the rounding that it is.",
     Stage::kLowering, LowerQuantizePair},
    {"lower_quantized_add", "Adds quantised numbers in one step.", Stage::kLowering,
     LowerQuantizedAdd},
    {"lower_quantized_conv",
     "Makes convolutions with simulated quantisation the integer ones that they simulate.",
     Stage::kLowering, LowerQuantizedConv},
    {"lower_quantized_matmul",
     "Makes products with simulated quantisation the integer ones that they simulate.",
     Stage::kLowering, LowerQuantizedMatMul},
    {"lower_quantized_move", "Moves quantised numbers as they are.", Stage::kLowering,
     LowerQuantizedMove},
    {"lower_thin_conv",
     "Makes the few channels of a Conv those of several neighbouring pixels at once.",
     Stage::kLowering, LowerThinConv},
    {"lower_to_batched_matmul",
     "Makes the MatMuls that have no constant weights operators of the backend.", Stage::kLowering,
     LowerToBatchedMatmul},
    {"lower_to_fused",
     "Makes MatMul, Gemm and Conv with constant weights operators of the backend.",
     Stage::kLowering, LowerToFused},
    {"lower_to_fused_norm",
     "Makes normalisations of rows, with an Add before them, operators of the backend.",
     Stage::kLowering, LowerToFusedNorm},
    {"lower_to_integer_matmul",
     "Makes MatMulInteger with constant weights, what scales it and adds to it an operator of the "
     "backend.",
     Stage::kLowering, LowerToIntegerMatmul},
    {"manual_sharding", "Places nodes on IPUs as --manual_sharding_config says.",
     Stage::kConversion, ManualSharding, Regions::kNo},
    {"merge_row_products",
     "Multiplies parts of one value, as steps of an unrolled cell, by the same weights at once.",
     Stage::kLowering, MergeRowProducts},
    {"remove_outputs", "Drops the outputs that --remove_outputs names and what only they need.",
     Stage::kConversion, RemoveOutputs, Regions::kNo},
    {"replace_bn_with_mul_add",
     "Writes BatchNormalization with constant statistics as Mul and Add.", Stage::kConversion,
     ReplaceBnWithMulAdd},
    {"replace_div_with_mul", "Writes division by constant powers of two as multiplication.",
     Stage::kConversion, ReplaceDivWithMul},
    {"replace_pow", "Writes the square as a product.", Stage::kConversion, ReplacePow},
    {"replace_sum_with_add", "Writes Sum as Adds.", Stage::kConversion, ReplaceSumWithAdd},
    {"round_weights_to_half", "Rounds the weights of MatMul and Gemm to float16.",
     Stage::kConversion, RoundWeightsToHalf},
    {"sink_channel_shuffle",
     "Moves shuffles of channels behind depthwise convolutions, to those that sum over channels.",
     Stage::kLowering, SinkChannelShuffle},
    {"sink_transpose", "Moves an order of axes behind element-wise operators and reductions.",
     Stage::kConversion, SinkTranspose},
    {"unblock_before_enlarging",
     "Makes images planes before they are enlarged, where they are only made planes after it.",
     Stage::kLowering, UnblockBeforeEnlarging},
    {"widen_half_images",
     "Computes convolution networks of float16 as those of float32, with results rounded.",
     Stage::kLowering, WidenHalfImages},
});

}  // namespace

std::span<const PassDef> AllPasses() { return kPasses; }

const PassDef* FindPass(std::string_view name) {
  const auto* row = std::ranges::lower_bound(kPasses, name, {}, &PassDef::name);
  return row != kPasses.end() && row->name == name ? row : nullptr;
}

}  // namespace poprt::passes
