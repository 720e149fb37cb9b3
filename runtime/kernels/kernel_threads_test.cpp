#include <gtest/gtest.h>

#include "runtime/kernels/kernel_test_tensors.hpp"

namespace poprt::kernels {
namespace {

using testing::RandomTensor;
using enum ElementType;

struct Case {
  const char* name;
  std::vector<TensorType> inputs;
  TensorType output;
  Attributes attributes;
};

/// Large enough that every kernel cuts its work into many tasks.
const std::vector<Case>& Cases() {
  static const TensorType image{kFloat32, {2, 8, 40, 40}};
  static const Attributes window{{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}};
  static const std::vector<Case> cases{
      {"Identity", {{kFloat32, {300000}}}, {kFloat32, {300000}}, {}},
      {"Transpose", {{kFloat32, {300, 400}}}, {kFloat32, {400, 300}}, {}},
      {"Transpose",
       {{kFloat32, {8, 200, 64}}},
       {kFloat32, {200, 8, 64}},
       {{"perm", Ints{1, 0, 2}}}},
      {"Concat",
       {{kFloat32, {500, 60}}, {kFloat32, {500, 90}}},
       {kFloat32, {500, 150}},
       {{"axis", std::int64_t{1}}}},
      {"Slice",
       {{kFloat32, {400, 400}}},
       {kFloat32, {400, 200}},
       {{"starts", Ints{399}}, {"ends", Ints{0}}, {"axes", Ints{1}}, {"steps", Ints{-2}}}},
      {"Pad", {image}, {kFloat32, {2, 8, 44, 40}}, {{"pads", Ints{0, 0, 1, 0, 0, 0, 3, 0}}}},
      {"ReduceSum", {{kFloat32, {300001}}}, {kFloat32, {1}}, {}},
      {"ReduceMax", {{kFloat16, {3, 2, 150000}}}, {kFloat16, {3, 1, 1}}, {{"axes", Ints{1, 2}}}},
      {"ReduceLogSumExp", {{kFloat32, {90001, 5}}}, {kFloat32, {1, 5}}, {{"axes", Ints{0}}}},
      {"ReduceProd", {{kFloat64, {2, 70000, 3}}}, {kFloat64, {2, 1, 3}}, {{"axes", Ints{1}}}},
      {"ArgMax", {{kFloat16, {40, 3000}}}, {kInt64, {40, 1}}, {{"axis", std::int64_t{1}}}},
      {"CumSum", {{kFloat32, {40, 3000}}}, {kFloat32, {40, 3000}}, {{"axis", Ints{1}}}},
      {"TopK", {{kFloat32, {40, 3000}}}, {kFloat32, {40, 9}}, {{"k", Ints{9}}}},
      {"Softmax", {{kFloat32, {200, 300}}}, {kFloat32, {200, 300}}, {}},
      {"LayerNormalization",
       {{kFloat32, {200, 300}}, {kFloat32, {300}}},
       {kFloat32, {200, 300}},
       {}},
      {"Gather", {{kFloat32, {50, 64}}, {kInt32, {3000}}}, {kFloat32, {3000, 64}}, {}},
      {"MatMul", {{kFloat32, {3, 150, 70}}, {kFloat32, {70, 90}}}, {kFloat32, {3, 150, 90}}, {}},
      {"Gemm", {{kFloat16, {150, 70}}, {kFloat16, {70, 90}}}, {kFloat16, {150, 90}}, {}},
      {"Einsum",
       {{kFloat32, {60, 50}}, {kFloat32, {50, 70}}},
       {kFloat32, {70, 60}},
       {{"equation", std::string("ab,bc->ca")}}},
      {"Det", {{kFloat32, {900, 9, 9}}}, {kFloat32, {900}}, {}},
      {"DFT", {{kFloat32, {64, 101, 2}}}, {kFloat32, {64, 101, 2}}, {}},
      {"STFT",
       {{kFloat32, {3, 4000, 1}}, {kFloat32, {256}}},
       {kFloat32, {3, 59, 129, 2}},
       {{"frame_step", Ints{64}}}},
      {"Conv", {image, {kFloat32, {11, 8, 3, 3}}}, {kFloat32, {2, 11, 38, 38}}, {}},
      {"Conv", {image, {kFloat32, {40, 8, 3, 3}}}, {kFloat32, {2, 40, 38, 38}}, {}},
      {"Conv",
       {{kFloat32, {1, 18, 25, 25}}, {kFloat32, {36, 2, 3, 3}}},
       {kFloat32, {1, 36, 23, 23}},
       {{"group", std::int64_t{9}}}},
      {"ConvInteger",
       {{kUint8, {2, 8, 40, 40}}, {kInt8, {40, 8, 3, 3}}, {kUint8, {}}},
       {kInt32, {2, 40, 38, 38}},
       {}},
      {"MatMulInteger", {{kUint8, {3, 150, 70}}, {kInt8, {70, 400}}}, {kInt32, {3, 150, 400}}, {}},
      {"ConvTranspose", {image, {kFloat32, {8, 5, 3, 3}}}, {kFloat32, {2, 5, 42, 42}}, {}},
      {"MaxPool", {image}, image, window},
      {"AveragePool", {image}, image, window},
      {"LpPool", {image}, image, window},
      {"GlobalAveragePool", {{kFloat32, {4, 64, 30, 30}}}, {kFloat32, {4, 64, 1, 1}}, {}},
      {"Resize",
       {image},
       {kFloat32, {2, 8, 70, 90}},
       {{"sizes", Ints{2, 8, 70, 90}}, {"mode", std::string("cubic")}}},
  };
  return cases;
}

Tensor RunWith(int threads, const Case& c, const std::vector<Tensor>& inputs) {
  const BoundKernel kernel = FindKernel(c.name)->bind({c.inputs, {c.output}, c.attributes});
  ThreadPool pool(threads);
  Tensor output(c.output);
  Tensor scratch({kUint8, {static_cast<std::int64_t>(kernel.scratch_bytes) * threads}});
  std::vector<const std::byte*> sources;
  for (const Tensor& input : inputs) sources.push_back(input.data());
  std::byte* target = output.mutable_data();
  kernel.run({.inputs = sources,
              .outputs = {&target, 1},
              .scratch = scratch.mutable_data(),
              .pool = &pool});
  return output;
}

TEST(KernelThreadsTest, ResultsDoNotDependOnTheNumberOfThreads) {
  std::mt19937 random(31);
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    std::vector<Tensor> inputs;
    for (const TensorType& type : c.inputs) {
      const double most = type.element == kUint8 || type.element == kInt8 ? 100 : 1;
      inputs.push_back(RandomTensor(random, type.element, type.shape, -most, most));
    }
    EXPECT_EQ(RunWith(3, c, inputs), RunWith(1, c, inputs));
  }
}

}  // namespace
}  // namespace poprt::kernels
