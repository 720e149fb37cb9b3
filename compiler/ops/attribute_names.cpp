#include "compiler/ops/attribute_names.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "compiler/ops/op.hpp"

namespace poprt::ops {
namespace {

struct Row {
  std::string_view op;
  std::string_view domain;
  std::string_view attributes;  ///< separated by spaces
};

/// Ordered by operator.
constexpr Row kRows[] = {
    {"Abs", "", "consumed_inputs"},
    {"Acos", "", ""},
    {"Acosh", "", ""},
    {"Adagrad", kTrainingDomain, "decay_factor epsilon norm_coefficient"},
    {"Adam", kTrainingDomain, "alpha beta epsilon norm_coefficient norm_coefficient_post"},
    {"Add", "", "axis broadcast consumed_inputs"},
    {"Affine", "", "alpha beta"},
    {"AffineGrid", "", "align_corners"},
    {"And", "", "axis broadcast"},
    {"ArgMax", "", "axis keepdims select_last_index"},
    {"ArgMin", "", "axis keepdims select_last_index"},
    {"ArrayFeatureExtractor", kMlDomain, ""},
    {"Asin", "", ""},
    {"Asinh", "", ""},
    {"Atan", "", ""},
    {"Atanh", "", ""},
    {"Attention", "",
     "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size "
     "scale softcap softmax_precision"},
    {"AveragePool", "", "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"BatchNormalization", "", "consumed_inputs epsilon is_test momentum spatial training_mode"},
    {"Bernoulli", "", "dtype seed"},
    {"Binarizer", kMlDomain, "threshold"},
    {"BitCast", "", "to"},
    {"BitShift", "", "direction"},
    {"BitwiseAnd", "", ""},
    {"BitwiseNot", "", ""},
    {"BitwiseOr", "", ""},
    {"BitwiseXor", "", ""},
    {"BlackmanWindow", "", "output_datatype periodic"},
    {"Cast", "", "round_mode saturate to"},
    {"CastLike", "", "round_mode saturate"},
    {"CausalConvWithState", "", "activation"},
    {"Ceil", "", "consumed_inputs"},
    {"Celu", "", "alpha"},
    {"CenterCropPad", "", "axes"},
    {"Clip", "", "consumed_inputs max min"},
    {"Col2Im", "", "dilations pads strides"},
    {"Compress", "", "axis"},
    {"Concat", "", "axis"},
    {"ConcatFromSequence", "", "axis new_axis"},
    {"Constant", "",
     "sparse_value value value_float value_floats value_int value_ints value_string value_strings"},
    {"ConstantFill", "", "dtype extra_shape input_as_shape shape value"},
    {"ConstantOfShape", "", "value"},
    {"Conv", "", "auto_pad dilations group kernel_shape pads strides"},
    {"ConvInteger", "", "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose", "",
     "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
    {"Cos", "", ""},
    {"Cosh", "", ""},
    {"Crop", "", "border scale"},
    {"CumProd", "", "exclusive reverse"},
    {"CumSum", "", "exclusive reverse"},
    {"DFT", "", "axis inverse onesided"},
    {"DeformConv", "", "dilations group kernel_shape offset_group pads strides"},
    {"DepthToSpace", "", "blocksize mode"},
    {"DequantizeLinear", "", "axis block_size output_dtype"},
    {"Det", "", ""},
    {"Div", "", "axis broadcast consumed_inputs"},
    {"Dropout", "", "consumed_inputs is_test ratio seed"},
    {"DynamicQuantizeLinear", "", ""},
    {"Einsum", "", "equation"},
    {"Elu", "", "alpha consumed_inputs"},
    {"Equal", "", "axis broadcast"},
    {"Erf", "", ""},
    {"Exp", "", "consumed_inputs"},
    {"Expand", "", ""},
    {"EyeLike", "", "dtype k"},
    {"FeatureVectorizer", kMlDomain, "inputdimensions"},
    {"Flatten", "", "axis"},
    {"Floor", "", "consumed_inputs"},
    {"GRU", "",
     "activation_alpha activation_beta activations clip direction hidden_size layout "
     "linear_before_reset output_sequence"},
    {"Gather", "", "axis"},
    {"GatherElements", "", "axis"},
    {"GatherND", "", "batch_dims"},
    {"Gelu", "", "approximate"},
    {"Gemm", "", "alpha beta broadcast transA transB"},
    {"GivenTensorFill", "", "extra_shape input_as_shape shape values"},
    {"GlobalAveragePool", "", ""},
    {"GlobalLpPool", "", "p"},
    {"GlobalMaxPool", "", ""},
    {"Gradient", kTrainingDomain, "xs y zs"},
    {"Greater", "", "axis broadcast"},
    {"GreaterOrEqual", "", ""},
    {"GridSample", "", "align_corners mode padding_mode"},
    {"GroupNormalization", "", "epsilon num_groups stash_type"},
    {"HammingWindow", "", "output_datatype periodic"},
    {"HannWindow", "", "output_datatype periodic"},
    {"HardSigmoid", "", "alpha beta consumed_inputs"},
    {"HardSwish", "", ""},
    {"Hardmax", "", "axis"},
    {"Identity", "", ""},
    {"If", "", "else_branch then_branch"},
    {"ImageScaler", "", "bias scale"},
    {"Imputer", kMlDomain,
     "imputed_value_floats imputed_value_int64s replaced_value_float replaced_value_int64"},
    {"InstanceNormalization", "", "consumed_inputs epsilon"},
    {"IsInf", "", "detect_negative detect_positive"},
    {"IsNaN", "", ""},
    {"LRN", "", "alpha beta bias size"},
    {"LSTM", "",
     "activation_alpha activation_beta activations clip direction hidden_size input_forget layout "
     "output_sequence"},
    {"LabelEncoder", kMlDomain,
     "classes_strings default_float default_int64 default_string default_tensor keys_floats "
     "keys_int64s keys_strings keys_tensor values_floats values_int64s values_strings "
     "values_tensor"},
    {"LayerNormalization", "", "axis epsilon stash_type"},
    {"LeakyRelu", "", "alpha consumed_inputs"},
    {"Less", "", "axis broadcast"},
    {"LessOrEqual", "", ""},
    {"LinearAttention", "", "chunk_size kv_num_heads q_num_heads scale update_rule"},
    {"LinearClassifier", kMlDomain,
     "classlabels_ints classlabels_strings coefficients intercepts multi_class post_transform"},
    {"LinearRegressor", kMlDomain, "coefficients intercepts post_transform targets"},
    {"Log", "", "consumed_inputs"},
    {"LogSoftmax", "", "axis"},
    {"Loop", "", "body"},
    {"LpNormalization", "", "axis p"},
    {"LpPool", "", "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"MatMul", "", ""},
    {"MatMulInteger", "", ""},
    {"Max", "", "consumed_inputs"},
    {"MaxPool", "", "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"MaxRoiPool", "", "pooled_shape spatial_scale"},
    {"MaxUnpool", "", "kernel_shape pads strides"},
    {"Mean", "", "consumed_inputs"},
    {"MeanVarianceNormalization", "", "across_channels axes normalize_variance"},
    {"MelWeightMatrix", "", "output_datatype"},
    {"Min", "", "consumed_inputs"},
    {"Mish", "", ""},
    {"Mod", "", "fmod"},
    {"Momentum", kTrainingDomain, "alpha beta mode norm_coefficient"},
    {"Mul", "", "axis broadcast consumed_inputs"},
    {"Multinomial", "", "dtype sample_size seed"},
    {"Neg", "", "consumed_inputs"},
    {"NegativeLogLikelihoodLoss", "", "ignore_index reduction"},
    {"NonMaxSuppression", "", "center_point_box"},
    {"NonZero", "", ""},
    {"Normalizer", kMlDomain, "norm"},
    {"Not", "", ""},
    {"OneHot", "", "axis"},
    {"OneHotEncoder", kMlDomain, "cats_int64s cats_strings zeros"},
    {"Optional", "", "type"},
    {"OptionalGetElement", "", ""},
    {"OptionalHasElement", "", ""},
    {"Or", "", "axis broadcast"},
    {"PRelu", "", "consumed_inputs"},
    {"Pad", "", "mode paddings pads value"},
    {"ParametricSoftplus", "", "alpha beta"},
    {"Pow", "", "axis broadcast"},
    {"QLinearConv", "", "auto_pad dilations group kernel_shape pads strides"},
    {"QLinearMatMul", "", ""},
    {"QuantizeLinear", "", "axis block_size output_dtype precision saturate"},
    {"RMSNormalization", "", "axis epsilon stash_type"},
    {"RNN", "",
     "activation_alpha activation_beta activations clip direction hidden_size layout "
     "output_sequence"},
    {"RandomNormal", "", "dtype mean scale seed shape"},
    {"RandomNormalLike", "", "dtype mean scale seed"},
    {"RandomUniform", "", "dtype high low seed shape"},
    {"RandomUniformLike", "", "dtype high low seed"},
    {"Range", "", "stash_type"},
    {"Reciprocal", "", "consumed_inputs"},
    {"ReduceL1", "", "axes keepdims noop_with_empty_axes"},
    {"ReduceL2", "", "axes keepdims noop_with_empty_axes"},
    {"ReduceLogSum", "", "axes keepdims noop_with_empty_axes"},
    {"ReduceLogSumExp", "", "axes keepdims noop_with_empty_axes"},
    {"ReduceMax", "", "axes keepdims noop_with_empty_axes"},
    {"ReduceMean", "", "axes keepdims noop_with_empty_axes"},
    {"ReduceMin", "", "axes keepdims noop_with_empty_axes"},
    {"ReduceProd", "", "axes keepdims noop_with_empty_axes"},
    {"ReduceSum", "", "axes keepdims noop_with_empty_axes"},
    {"ReduceSumSquare", "", "axes keepdims noop_with_empty_axes"},
    {"RegexFullMatch", "", "pattern"},
    {"Relu", "", "consumed_inputs"},
    {"Reshape", "", "allowzero consumed_inputs shape"},
    {"Resize", "",
     "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
     "extrapolation_value keep_aspect_ratio_policy mode nearest_mode"},
    {"ReverseSequence", "", "batch_axis time_axis"},
    {"RoiAlign", "",
     "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale"},
    {"RotaryEmbedding", "", "interleaved num_heads rotary_embedding_dim"},
    {"Round", "", ""},
    {"STFT", "", "onesided"},
    {"SVMRegressor", kMlDomain,
     "coefficients kernel_params kernel_type n_supports one_class post_transform rho "
     "support_vectors"},
    {"Scale", "", "scale"},
    {"ScaledTanh", "", "alpha beta"},
    {"Scaler", kMlDomain, "offset scale"},
    {"Scan", "",
     "body directions num_scan_inputs scan_input_axes scan_input_directions scan_output_axes "
     "scan_output_directions"},
    {"Scatter", "", "axis"},
    {"ScatterElements", "", "axis reduction"},
    {"ScatterND", "", "reduction"},
    {"Selu", "", "alpha consumed_inputs gamma"},
    {"SequenceAt", "", ""},
    {"SequenceConstruct", "", ""},
    {"SequenceEmpty", "", "dtype"},
    {"SequenceErase", "", ""},
    {"SequenceInsert", "", ""},
    {"SequenceLength", "", ""},
    {"SequenceMap", "", "body"},
    {"Shape", "", "end start"},
    {"Shrink", "", "bias lambd"},
    {"Sigmoid", "", "consumed_inputs"},
    {"Sign", "", ""},
    {"Sin", "", ""},
    {"Sinh", "", ""},
    {"Size", "", ""},
    {"Slice", "", "axes ends starts"},
    {"Softmax", "", "axis"},
    {"SoftmaxCrossEntropyLoss", "", "ignore_index reduction"},
    {"Softplus", "", ""},
    {"Softsign", "", ""},
    {"SpaceToDepth", "", "blocksize"},
    {"Split", "", "axis num_outputs split"},
    {"SplitToSequence", "", "axis keepdims"},
    {"Sqrt", "", "consumed_inputs"},
    {"Squeeze", "", "axes"},
    {"StringConcat", "", ""},
    {"StringNormalizer", "", "case_change_action is_case_sensitive locale stopwords"},
    {"StringSplit", "", "delimiter maxsplit"},
    {"Sub", "", "axis broadcast consumed_inputs"},
    {"Sum", "", "consumed_inputs"},
    {"Swish", "", "alpha"},
    {"Tan", "", ""},
    {"Tanh", "", "consumed_inputs"},
    {"TensorScatter", "", "axis mode"},
    {"TfIdfVectorizer", "",
     "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s "
     "pool_strings weights"},
    {"ThresholdedRelu", "", "alpha"},
    {"Tile", "", ""},
    {"TopK", "", "axis k largest sorted"},
    {"Transpose", "", "perm"},
    {"TreeEnsemble", kMlDomain,
     "aggregate_function leaf_targetids leaf_weights membership_values n_targets nodes_falseleafs "
     "nodes_falsenodeids nodes_featureids nodes_hitrates nodes_missing_value_tracks_true "
     "nodes_modes nodes_splits nodes_trueleafs nodes_truenodeids post_transform tree_roots"},
    {"TreeEnsembleClassifier", kMlDomain,
     "base_values base_values_as_tensor class_ids class_nodeids class_treeids class_weights "
     "class_weights_as_tensor classlabels_int64s classlabels_strings nodes_falsenodeids "
     "nodes_featureids nodes_hitrates nodes_hitrates_as_tensor nodes_missing_value_tracks_true "
     "nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids nodes_values "
     "nodes_values_as_tensor post_transform"},
    {"TreeEnsembleRegressor", kMlDomain,
     "aggregate_function base_values base_values_as_tensor n_targets nodes_falsenodeids "
     "nodes_featureids nodes_hitrates nodes_hitrates_as_tensor nodes_missing_value_tracks_true "
     "nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids nodes_values "
     "nodes_values_as_tensor post_transform target_ids target_nodeids target_treeids "
     "target_weights target_weights_as_tensor"},
    {"Trilu", "", "upper"},
    {"Unique", "", "axis sorted"},
    {"Unsqueeze", "", "axes"},
    {"Upsample", "", "height_scale mode scales width_scale"},
    {"Where", "", ""},
    {"Xor", "", "axis broadcast"},
};

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

std::optional<std::vector<std::string>> AttributeNames(std::string_view op,
                                                       std::string_view domain) {
  const Row* row = std::lower_bound(
      std::begin(kRows), std::end(kRows), op,
      [](const Row& candidate, std::string_view name) { return candidate.op < name; });
  if (row == std::end(kRows) || row->op != op || row->domain != domain) return std::nullopt;
  return Split(row->attributes);
}

std::vector<std::string> OpsWithAttributeNames() {
  std::vector<std::string> names;
  for (const Row& row : kRows) {
    names.push_back((row.domain.empty() ? "" : std::string(row.domain) + ".") +
                    std::string(row.op));
  }
  return names;
}

}  // namespace poprt::ops
