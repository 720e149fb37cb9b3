#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

/// A test that compares kernels with a plain reference on random shapes.
struct PropertyTest {
  std::string_view name;  ///< of the test, with its suite
  std::vector<std::string_view> kernels;
};

/// A new kernel is added here beside the test that proves it, on all ranks from 0 to 8 that it
/// allows, broadcasting, empty extents, axes of either sign, NaN and infinities, as far as it has
/// any of them (see kernel_test_index.hpp for what draws such operands).
const std::vector<PropertyTest>& PropertyTests() {
  static const std::vector<PropertyTest> tests{
      {"ElementwiseTest.UnaryMatchesDouble",
       {"Abs",       "Acos",       "Acosh",      "Asin",      "Asinh", "Atan",
        "Atanh",     "BitwiseNot", "Ceil",       "Celu",      "Cos",   "Cosh",
        "Elu",       "Erf",        "Exp",        "Floor",     "Gelu",  "HardSigmoid",
        "HardSwish", "IsInf",      "IsNaN",      "LeakyRelu", "Log",   "Mish",
        "Neg",       "Not",        "Reciprocal", "Relu",      "Round", "Selu",
        "Shrink",    "Sigmoid",    "Sign",       "Sin",       "Sinh",  "Softplus",
        "Softsign",  "Sqrt",       "Swish",      "Tan",       "Tanh",  "ThresholdedRelu"}},
      {"ElementwiseTest.BinaryMatchesDoubleWithBroadcasting",
       {"Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal",
        "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Mod", "Mul", "Or", "PRelu", "Pow",
        "Sub", "Xor"}},
      {"ElementwiseTest.FoldsManyOperands", {"Max", "Mean", "Min", "Sum"}},
      {"ElementwiseTest.ClipsAnyShapeOfAnyType", {"Clip"}},
      {"ElementwiseTest.WhereBroadcastsAllThreeOperands", {"Where"}},
      {"CastTest.CastsAnyShape", {"Cast"}},
      {"ReductionTest.NanAndInfinitiesReduceAsInDouble",
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
        "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"}},
      {"ReductionTest.ArgMaxAndArgMinOfAnyShapeAndNan", {"ArgMax", "ArgMin"}},
      {"ReductionTest.RunningResultsOfAnyShape", {"CumProd", "CumSum"}},
      {"NormalizationTest.LinesOfAnyShapeWithNan",
       {"Hardmax", "LogSoftmax", "LpNormalization", "Softmax"}},
      {"NormalizationTest.LayersOfAnyShape", {"LayerNormalization", "RMSNormalization"}},
      {"NormalizationTest.ChannelsOfAnyShape",
       {"BatchNormalization", "GroupNormalization", "InstanceNormalization", "LRN"}},
      {"NormalizationTest.MeanAndVarianceOverAnyAxes", {"MeanVarianceNormalization"}},
      {"DataMovementTest.ReshapesOfAnyShapeCopyTheBytes",
       {"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"}},
      {"DataMovementTest.BitCastsOfAnyShapeCopyTheBytes", {"BitCast"}},
      {"DataMovementTest.Transposes", {"Transpose"}},
      {"DataMovementTest.ConcatJoinsWhatSplitCuts", {"Concat", "Split"}},
      {"DataMovementTest.Slices", {"Slice"}},
      {"DataMovementTest.Pads", {"Pad"}},
      {"DataMovementTest.Expands", {"Expand"}},
      {"DataMovementTest.Tiles", {"Tile"}},
      {"DataMovementTest.MovesBlocksOfAnySizeBetweenSpaceAndDepth",
       {"DepthToSpace", "SpaceToDepth"}},
      {"DataMovementTest.ShufflesSubpixelsOfCroppedImages", {"subpixel_shuffle"}},
      {"DataMovementTest.ReversesSequencesOfAnyShape", {"ReverseSequence"}},
      {"GatherTest.TakesSlices", {"Gather"}},
      {"GatherTest.TakesAndScattersElements", {"GatherElements"}},
      {"GatherTest.TakesAndScattersTuples", {"GatherND"}},
      {"GatherTest.ScattersDuplicatesWithEveryReductionOfEveryType", {"ScatterElements"}},
      {"GatherTest.ScattersSlicesWithEveryReductionOfEveryType", {"ScatterND"}},
      {"TopKTest.SortsLinesOfAnyShapeWithNan", {"TopK"}},
      {"OneHotTest.MarksPositionsOfAnyShape", {"OneHot"}},
      {"TriluTest.MasksMatricesOfAnyShape", {"Trilu"}},
      {"GeneratorTest.EyeLikeAndConstantOfShapeOfAnySize", {"ConstantOfShape", "EyeLike"}},
      {"GeneratorTest.RangesOfAnyLengthAndSign", {"Range"}},
      {"MatMulTest.BatchesOfAnyRankWithNan", {"MatMul"}},
      {"MatMulTest.GemmScalesTransposesAndAdds", {"Gemm"}},
      {"DetTest.EqualsTheSumOverPermutations", {"Det"}},
      {"EinsumTest.SumsProductsOfRandomTerms", {"Einsum"}},
      {"ConvolutionTest.Convolves", {"Conv"}},
      {"ConvolutionTest.ConvolvesTransposed", {"ConvTranspose"}},
      {"PoolingTest.PoolsLikeTheReference", {"AveragePool", "LpPool", "MaxPool"}},
      {"PoolingTest.PoolsPlanesOfAnyRank", {"GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"}},
      {"ResizeTest.ResizesAnyRankLikeTheReference", {"Resize"}},
      {"RecurrentTest.MatchesTheEquations", {"GRU", "LSTM", "RNN"}},
      {"RecurrentTest.TunedFormsTakePackedWeights", {"gru", "lstm", "rnn"}},
      {"SignalTest.DftOfAnyAxis", {"DFT"}},
      {"SignalTest.StftOfFrames", {"STFT"}},
      {"SignalTest.WindowsOfAnySize", {"BlackmanWindow", "HammingWindow", "HannWindow"}},
      {"SignalTest.MelWeightMatrixOfAnySize", {"MelWeightMatrix"}},
      {"NonZeroTest.MatchesReference", {"NonZero"}},
      {"CompressTest.MatchesReference", {"Compress"}},
      {"UniqueTest.MatchesReference", {"Unique"}},
      {"NonMaxSuppressionTest.MatchesReference", {"NonMaxSuppression"}},
      {"PackedGemm.AgreesWithNaiveProductOnRandomSizes", {"gemm"}},
      {"WeightOnlyGemm.AgreesWithNaiveProductOnRandomSizes", {"weight_only_gemm"}},
      {"PackedBatchMatMul.AgreesWithNaiveProductOnRandomSizes", {"batch_matmul"}},
      {"PackedConv2d.AgreesWithNaiveConvolutionOnRandomSizes", {"conv2d"}},
      {"PackedDepthwise.AgreesWithNaiveConvolutionOnRandomSizes", {"depthwise_conv2d"}},
      {"BlockedConv2d.AgreesWithNaiveConvolutionOnRandomSizes", {"blocked_conv2d"}},
      {"BlockedPlanes.AgreesWithNaiveConvolutionOnRandomSizes", {"blocked_conv2d_planes"}},
      {"BlockedPointwise.AgreesWithNaiveConvolutionOnRandomSizes", {"blocked_pointwise_conv2d"}},
      {"BlockedPointwiseDepthwise.AgreesWithBothConvolutions", {"blocked_pointwise_depthwise"}},
      {"BlockedDepthwise.AgreesWithNaiveConvolutionOnRandomSizes", {"blocked_depthwise_conv2d"}},
      {"BlockedPool.AgreesWithNaivePoolingOnRandomSizes",
       {"blocked_average_pool", "blocked_max_pool"}},
      {"BlockedLrn.AgreesWithNaiveLrnOnRandomSizes", {"blocked_lrn"}},
      {"BlockedMoments.AgreesWithNaiveMomentsOnRandomSizes", {"blocked_moments"}},
      {"BlockedLayout.BlocksAndUnblocksAnyImage", {"block_channels", "unblock_channels"}},
      {"JoinChannelsTest.TakesChannelsInTheirOrder", {"join_channels"}},
      {"WinogradConv2d.AgreesWithNaiveConvolutionOnRandomSizes", {"blocked_winograd_conv2d"}},
      {"Attention.AgreesWithDoubleOnRandomSizesLayoutsAndMasks", {"attention"}},
      {"RowNorms.NormalizesRowsOfAnyShape", {"norm_rows"}},
      {"RowNorms.SoftmaxOfRowsOfAnyShape", {"log_softmax_rows", "softmax_rows"}},
      {"FusedElementwise.AgreesWithTheFunctionsOnRandomTrees", {"fused_elementwise"}},
      {"SoftmaxColumns.AgreesWithTheDefinitionOnRandomShapes", {"softmax_columns"}},
      {"LabelEncoderTest.MatchesAMap", {"LabelEncoder"}},
      {"TreeEnsembleTest.RandomForests", {"TreeEnsemble"}},
      {"TfIdfVectorizerTest.MatchesTheDefinition", {"TfIdfVectorizer"}},
      {"QuantizeLinearTest.MatchesTheFormula", {"QuantizeLinear"}},
      {"DequantizeLinearTest.MatchesTheFormula", {"DequantizeLinear"}},
      {"DynamicQuantizeLinearTest.MatchesTheFormula", {"DynamicQuantizeLinear"}},
      {"MatMulIntegerTest.MatchesTheFormula", {"MatMulInteger"}},
      {"IntegerGemmTest.IsMatMulIntegerThenCastScaleBiasAndQuantizeLinear", {"integer_gemm"}},
      {"QLinearMatMulTest.MatchesTheFormula", {"QLinearMatMul"}},
      {"ConvIntegerTest.MatchesTheFormula", {"ConvInteger"}},
      {"QLinearConvTest.MatchesTheFormula", {"QLinearConv"}},
      {"AddBytesTest.IsTheSumOfWhatIsDequantised", {"add_bytes"}},
      {"ByteMaxPoolTest.IsMaxPoolOfRandomSizes", {"blocked_byte_max_pool"}},
      {"ByteConv2dTest.IsQLinearConvOfRandomSizes",
       {"blocked_byte_conv2d", "blocked_byte_depthwise_conv2d"}},
      {"ByteConv2dTest.IsQLinearConvOfFewPlanes", {"blocked_byte_conv2d_planes"}},
      {"RandomTest.AnyShapeHoldsOneSequence", {"RandomNormal", "RandomUniform"}},
      {"RandomTest.MultinomialMatchesTheDefinition", {"Multinomial"}},
      {"RoiAlignTest.PoolsLikeTheReference", {"RoiAlign"}},
      {"MaxRoiPoolTest.PoolsLikeTheReference", {"MaxRoiPool"}},
      {"GridSampleTest.SamplesLikeTheReference", {"GridSample"}},
      {"Col2ImTest.AddsBlocksLikeTheReference", {"Col2Im"}},
      {"MaxUnpoolTest.UndoesMaxPool", {"MaxUnpool"}},
      {"DeformConvTest.ConvolvesLikeTheReference", {"DeformConv"}},
      {"NegativeLogLikelihoodTest.RandomShapes", {"NegativeLogLikelihoodLoss"}},
  };
  return tests;
}

std::set<std::string> TestsOfThisProgram() {
  std::set<std::string> names;
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      names.insert(std::string(suite.name()) + "." + suite.GetTestInfo(k)->name());
    }
  }
  return names;
}

TEST(KernelPropertyTestsTest, EveryKernelHasOne) {
  std::set<std::string_view> proven;
  for (const PropertyTest& test : PropertyTests()) {
    proven.insert(test.kernels.begin(), test.kernels.end());
  }
  for (const KernelDef& kernel : AllKernels()) {
    EXPECT_TRUE(proven.contains(kernel.name))
        << "kernel '" << kernel.name << "' stands in no row of PropertyTests()";
  }
  for (const std::string_view name : proven) {
    EXPECT_NE(FindKernel(name), nullptr) << "there is no kernel '" << name << "'";
  }
}

TEST(KernelPropertyTestsTest, AllExist) {
  const std::set<std::string> existing = TestsOfThisProgram();
  for (const PropertyTest& test : PropertyTests()) {
    EXPECT_TRUE(existing.contains(std::string(test.name))) << "there is no test " << test.name;
  }
}

}  // namespace
}  // namespace poprt::kernels
