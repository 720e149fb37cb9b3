#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/plan/product_planner.hpp"

/// The planner finds the plans that poplin's own one finds. These were obtained by running it:
/// poplibs of SDK 2.3 with a stand-in for Poplar's target (1,472 tiles, 16 units for either format,
/// pass INFERENCE_FWD or FC_INFERENCE_FWD, half partials), with the estimate of the spatial vertex
/// of the latest poplibs, which is that of spatial_amp_vertex.cpp.
namespace poprt::ipu {
namespace {

// Of EfficientNet-EdgeTPU-L (two images, float32), ResNet50 (one image), and matrix products of
// SigLIP, BERT-large (one sequence), BERT-base (128) and BERT-large (18). Columns: name, format,
// available memory proportion, convolution or matrix product; batch, field (rows of a matrix),
// input channels, output channels, groups, kernel, stride; the plan: groups combined, operands
// swapped, input and output grain, parts of batch, height, width, output channels, serial ones,
// input channels, kernel rows, groups; cycles as poplin expects them.
constexpr char kPlans[] = R"plans(
stem               f  0.6 c 2   224    3   32    1 3 2 1 0  8 16 1  1 717   2  1  1 1    1   5419
b0expand           f  0.6 c 2   112   32  128    1 3 1 1 0  8 16 2 23   2   8  1  2 1    1  66800
b0project          f  0.6 c 2   112  128   32    1 1 1 1 0  8 16 1  1 364   2  1  2 1    1  12251
b2expand           f  0.6 c 2   112   32  256    1 3 1 1 0  8 16 2 23   2  16  1  1 1    1 115414
b2project          f  0.6 c 2   112  256   40    1 1 2 1 1  8 16 1  1   1 196  1  7 1    1  13071
b3expand           f  0.6 c 2    56   40  320    1 3 1 1 0  8 16 2  7   1  20  1  5 1    1  59105
b3project          f  0.6 c 2    56  320   40    1 1 1 1 0  8 16 1  1  97   3  1  5 1    1  13047
b5project          f  0.6 c 2    56  320   56    1 1 2 1 1  8 16 1  1   1  98  1 14 1    1   6025
b6expand           f  0.6 c 2    28   56  448    1 3 1 1 0  8 16 1  7   1  28  1  7 1    1  30927
b6project          f  0.6 c 2    28  448   56    1 1 1 1 0  8 16 1  1  25   4  1 14 1    1   6885
b11expand          f  0.6 c 2    28   56  448    1 1 1 1 0  8 16 1  1  51  28  1  1 1    1   6547
b11dw              f  0.6 c 2    28    1    1  448 5 2 8 0  8  8 1  5   1   1  1  1 5   56   8811
b11project         f  0.6 c 2    14  448  112    1 1 1 1 0  8 16 1  1  14   7  1 14 1    1   4488
b12expand          f  0.6 c 2    14  112  896    1 1 1 1 0  8 16 1  1  13  56  1  2 1    1   7169
b12dw              f  0.6 c 2    14    1    1  896 5 1 8 0  8  8 1  5   1   1  1  1 5   56  15514
b12project         f  0.6 c 2    14  896  112    1 1 1 1 0  8 16 1  1  14   7  1 14 1    1   7635
b18project         f  0.6 c 2    14  896  176    1 1 1 1 0  8 16 1  1  11  11  1 12 1    1  10641
b19expand          f  0.6 c 2    14  176 1408    1 1 1 1 0  8 16 1  1   8  88  1  2 1    1  13417
b19dw              f  0.6 c 2    14    1    1 1408 5 1 1 1  8 16 1  1   1   1  1  1 1 1408  22367
b19project         f  0.6 c 2    14 1408  176    1 1 1 1 0  8 16 1  1   6  11  1 22 1    1  14288
b24dw              f  0.6 c 2    14    1    1 1408 5 2 8 0  8  8 1  3   1   1  1  1 5   88  10511
b24project         f  0.6 c 2     7 1408  232    1 1 1 1 0  8 16 1  1   3  15  1 30 1    1   7709
b25expand          f  0.6 c 2     7  232 1856    1 1 1 1 0  8 16 1  1   2 116  1  6 1    1   7093
b25dw              f  0.6 c 2     7    1    1 1856 5 1 1 1  2 16 1  1   1   1  1  3 1  464   9386
b25project         f  0.6 c 2     7 1856  232    1 1 1 1 0  8 16 1  1   2  15  1 47 1    1   9025
head               f  0.6 c 2     7  232 1536    1 1 1 1 0  8 16 1  1   3  96  1  5 1    1   6251
r_stem             h  0.6 c 1   224    3   64    1 7 2 1 0 16 16 1  1 182   4  1  2 1    1   8294
r_r64_0a           h  0.6 c 1    56   64   64    1 1 1 1 0 16 16 1  1  88   4  1  4 1    1   1417
r_r64_0b           h  0.6 c 1    56   64   64    1 3 1 1 0 16 16 1 10   3   4  1  4 3    1   6090
r_r64_0d           h  0.6 c 1    56   64  256    1 1 1 1 0 16 16 1  1  90  16  1  1 1    1   2909
r_r64_1a           h  0.6 c 1    56  256   64    1 1 1 1 0 16 16 1  1  44   4  1  8 1    1   2979
r_r128_0a          h  0.6 c 1    56  256  128    1 1 1 1 0 16 16 1  1  45   8  1  4 1    1   4907
r_r128_0b          h  0.6 c 1    56  128  128    1 3 2 1 0 16 16 1  1  12   8  1 15 1    1   6953
r_r128_0d          h  0.6 c 1    56  256  512    1 1 2 1 0 16 16 1  1  11  32  1  4 1    1   5495
r_r128_0c          h  0.6 c 1    28  128  512    1 1 1 1 0 16 16 1  1  11  32  1  4 1    1   3213
r_r128_1a          h  0.6 c 1    28  512  128    1 1 1 1 0 16 16 1  1  16   8  1 11 1    1   3201
r_r128_1b          h  0.6 c 1    28  128  128    1 3 1 1 0 16 16 1 14   1   8  1  4 3    1   6270
r_r256_0a          h  0.6 c 1    28  512  256    1 1 1 1 0 16 16 1  1  11  16  1  8 1    1   4918
r_r256_0b          h  0.6 c 1    28  256  256    1 3 2 1 0 16 16 1  1   3  16  1 29 1    1   7373
r_r256_0d          h  0.6 c 1    28  512 1024    1 1 2 1 0 16 16 1  1   2  64  1 11 1    1   6050
r_r256_0c          h  0.6 c 1    14  256 1024    1 1 1 1 0 16 16 1  1   5  64  1  4 1    1   3566
r_r256_1a          h  0.6 c 1    14 1024  256    1 1 1 1 0 16 16 1  1   7  16  1 13 1    1   3629
r_r256_1b          h  0.6 c 1    14  256  256    1 3 1 1 0 16 16 1  1   3  16  1 29 1    1   7373
r_r512_0a          h  0.6 c 1    14 1024  512    1 1 1 1 0 16 16 1  1   4  32  1 11 1    1   5398
r_r512_0b          h  0.6 c 1    14  512  512    1 3 2 1 0 16 16 1  1   1  32  1 32 1    1   8668
r_r512_0d          h  0.6 c 1    14 1024 2048    1 1 2 1 0 16 16 1  1   1 128  1 11 1    1   7519
r_r512_0c          h  0.6 c 1     7  512 2048    1 1 1 1 0 16 16 1  1   1 128  1 11 1    1   2910
r_r512_1a          h  0.6 c 1     7 2048  512    1 1 1 1 0 16 16 1  1   1  32  1 43 1    1   3483
r_r512_1b          h  0.6 c 1     7  512  512    1 3 1 1 0 16 16 1  1   1  32  1 32 1    1   8098
siglip_qkv         h  0.6 m 1   729 1152 3456    1 1 1 1 0 16 16 1  1   3  54  1  9 1    1  70811
siglip_out         h  0.6 m 1   729 1152 1152    1 1 1 1 0 16 16 1  1   5  24  1 12 1    1  29652
siglip_up          h  0.6 m 1   729 1152 4304    1 1 1 1 1 16 16 1  1  15  12  1  8 1    1  84668
siglip_down        h  0.6 m 1   729 4304 1152    1 1 1 1 1 16 16 1  1   6  16  1 15 1    1  86876
siglip_scores      h  0.6 m 1   729   72  729   16 1 1 1 1 16 16 1  1   2  46  1  1 1   16  33825
siglip_values      h  0.6 m 1   729  729   72   16 1 1 1 0 16 16 1  1   9   1  1 10 1   16  34914
bl1_qkv            h  0.6 m 1   128 1024 3072    1 1 1 1 1 16 16 1  1  28   4  1 13 1    1  13355
bl1_out            h  0.6 m 1   128 1024 1024    1 1 1 1 1 16 16 1  1  14   8  1 13 1    1   6055
bl1_up             h  0.6 m 1   128 1024 4096    1 1 1 1 1 16 16 1  1  46   4  1  8 1    1  16428
bl1_down           h  0.6 m 1   128 4096 1024    1 1 1 1 1 16 16 1  1   7   4  1 52 1    1  16702
bl1_scores         h  0.6 m 1   128   64  128   16 1 1 1 1 16 16 1  1   5   8  1  2 1   16   1867
bl1_values         h  0.6 m 1   128  128   64   16 1 1 1 1 16 16 1  1   2   8  1  4 1   16   1868
bert768_128_qkv    h  0.4 m 1 16384  768  768    1 1 1 1 1 16 16 1  1   3 114  1  4 1    1 196866
bert768_128_up     h  0.4 m 1 16384  768 3072    1 1 1 1 1 16 16 1  1  11  64 16  2 1    1 716138
bert768_128_down   h  0.4 m 1 16384 3072  768    1 1 1 1 1 16 16 1  1   3  32  8 15 1    1 768670
bert768_128_scores h  0.4 m 1   128   64  128 1536 1 1 1 1 16 16 1  1   1   4  1  1 1  308  47879
bert768_128_values h  0.4 m 1   128  128   64 1536 1 1 1 1 16 16 1  1   1   4  1  1 1  308  51539
bert1024_18_qkv    h 0.15 m 1  2304 1024 1024    1 1 1 1 1 16 16 1  1   5  36  1  8 1    1  54897
bert1024_18_up     h 0.15 m 1  2304 1024 4096    1 1 1 1 1 16 16 1  1  15  12 12  8 1    1 218253
bert1024_18_down   h 0.15 m 1  2304 4096 1024    1 1 1 1 1 16 16 1  1   7   8  6 26 1    1 244254
bert1024_18_scores h 0.15 m 1   128   64  128  288 1 1 1 1 16 16 1  1   1   4  1  1 1  288   9635
bert1024_18_values h 0.15 m 1   128  128   64  288 1 1 1 1 16 16 1  1   1   4  1  1 1  288  10367
)plans";

/// Cycles that poplin expects are met to that: slices of serial steps are not priced alike.
constexpr double kAlike = 0.025;

struct PoplinPlan {
  std::string name;
  NumberFormat format = NumberFormat::kFloat16;
  double proportion = 0;
  Product product = {};
  std::uint64_t combined = 1;
  bool swapped = false;
  std::uint64_t in_grain = 1;
  std::uint64_t out_grain = 1;
  ProductSplits splits = {};
  double cycles = 0;
};

Product Convolution(std::istringstream& row, bool matrix, NumberFormat format) {
  std::uint64_t batch = 0;
  std::uint64_t field = 0;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint64_t groups = 0;
  std::uint64_t kernel = 0;
  std::uint64_t stride = 0;
  row >> batch >> field >> in >> out >> groups >> kernel >> stride;
  if (matrix) return MatrixProduct(format, format, groups, field, in, out);
  Product product{.input = format,
                  .output = format,
                  .groups = groups,
                  .batch = batch,
                  .in_channels = in,
                  .out_channels = out,
                  .kernel_height = kernel,
                  .kernel_width = kernel,
                  .stride_height = stride,
                  .stride_width = stride,
                  .input_height = field,
                  .input_width = field};
  product.height = product.width = CeilDivide(field, stride);
  return product;
}

PoplinPlan Parse(const std::string& line) {
  std::istringstream row(line);
  PoplinPlan plan;
  char format = 0;
  char kind = 0;
  row >> plan.name >> format >> plan.proportion >> kind;
  plan.format = format == 'f' ? NumberFormat::kFloat32 : NumberFormat::kFloat16;
  plan.product = Convolution(row, kind == 'm', plan.format);
  ProductSplits& splits = plan.splits;
  row >> plan.combined >> plan.swapped >> plan.in_grain >> plan.out_grain >> splits.batch >>
      splits.height >> splits.width >> splits.out >> splits.out_serial >> splits.in >>
      splits.kernel >> splits.groups >> plan.cycles;
  EXPECT_TRUE(row) << line;
  return plan;
}

bool IsThat(const ProductPlan& plan, const PoplinPlan& poplin) {
  return plan.variant.combined_groups == poplin.combined &&
         plan.variant.swapped == poplin.swapped && plan.vertex.in_grain == poplin.in_grain &&
         plan.vertex.out_grain == poplin.out_grain && plan.splits == poplin.splits;
}

TEST(PoplinPlansTest, PlansAsPoplinDoes) {
  std::istringstream table(kPlans);
  std::uint64_t plans = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.empty()) continue;
    const PoplinPlan poplin = Parse(line);
    PlanOptions options;
    options.available_memory_proportion = poplin.proportion;
    ProductPlanner planner(*FindTarget("ipu2"), options, 1472);
    const ProductPlan& plan = planner.Plan(poplin.product);
    EXPECT_TRUE(IsThat(plan, poplin)) << line << "\n" << plan.Grid();
    EXPECT_NEAR(static_cast<double>(plan.estimate.cycles) / poplin.cycles, 1, kAlike) << line;
    ++plans;
  }
  EXPECT_EQ(plans, 71U);
}

}  // namespace
}  // namespace poprt::ipu
