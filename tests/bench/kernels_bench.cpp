// Speed of the packed kernels on the layers where networks spend their time. The counter GFLOP/s
// counts the operator's multiplications and additions; run with --benchmark_min_time=0.2
// --benchmark_repetitions=9 and take the best.

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/pack.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::kernels {
namespace {

Tensor Filled(const TensorType& type) {
  Tensor tensor(type);
  std::uint32_t state = 1;
  const auto next = [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8) * 0x1p-23F - 1.0F;
  };
  if (type.element == ElementType::kFloat16) {
    for (Float16& x : tensor.as_mutable<Float16>()) x = Float16(next());
  } else {
    for (float& x : tensor.as_mutable<float>()) x = next();
  }
  return tensor;
}

void RunKernel(benchmark::State& state, const std::string& name, const std::vector<Tensor>& inputs,
               const TensorType& output, const Attributes& attributes, double flops, int threads) {
  KernelCall call{.inputs = {}, .outputs = {output}, .attributes = attributes};
  std::vector<const std::byte*> sources;
  for (const Tensor& input : inputs) {
    call.inputs.push_back(input.type());
    sources.push_back(input.data());
  }
  const BoundKernel kernel = FindKernel(name)->bind(call);
  ThreadPool pool(threads);
  Tensor scratch(
      {ElementType::kUint8, {static_cast<std::int64_t>(kernel.scratch_bytes) * pool.size()}});
  Tensor result(output);
  const std::array<std::byte*, 1> targets{result.mutable_data()};
  const KernelArguments arguments{
      .inputs = sources, .outputs = targets, .scratch = scratch.mutable_data(), .pool = &pool};
  for (auto _ : state) kernel.run(arguments);
  state.counters["GFLOP/s"] = benchmark::Counter(
      flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

struct GemmSize {
  std::int64_t m, k, n;
  ElementType element = ElementType::kFloat32;
  ElementType stored = ElementType::kFloat32;
  const char* activation = "";
};

void Gemm(benchmark::State& state, const GemmSize& size, int threads) {
  const Tensor a = Filled({size.element, {size.m, size.k}});
  const Tensor w = Filled({size.stored, {size.k, size.n}});
  const Tensor bias = Filled({ElementType::kFloat32, {size.n}});
  RunKernel(state, "gemm", {a, PackGemmWeights(w, false, size.stored), bias},
            {size.element, {size.m, size.n}}, {{"n", size.n}, {"activation", size.activation}},
            2.0 * static_cast<double>(size.m * size.k * size.n), threads);
}

struct BatchSize {
  std::int64_t batch, m, k, n;
  bool transposed;
};

void BatchMatMul(benchmark::State& state, const BatchSize& size, int threads) {
  const Tensor a = Filled({ElementType::kFloat32, {size.batch, size.m, size.k}});
  const Tensor b =
      Filled({ElementType::kFloat32, size.transposed ? Shape{size.batch, size.n, size.k}
                                                     : Shape{size.batch, size.k, size.n}});
  RunKernel(state, "batch_matmul", {a, b}, {ElementType::kFloat32, {size.batch, size.m, size.n}},
            {{"trans_b", static_cast<std::int64_t>(size.transposed)}},
            2.0 * static_cast<double>(size.batch * size.m * size.k * size.n), threads);
}

struct ConvSize {
  std::int64_t channels, extent, outs, kernel, stride;
  bool depthwise = false;
  ElementType element = ElementType::kFloat32;
};

void Conv(benchmark::State& state, const ConvSize& size, int threads) {
  const std::int64_t pad = size.kernel / 2;
  const std::int64_t out = (size.extent + 2 * pad - size.kernel) / size.stride + 1;
  const std::int64_t channels = size.depthwise ? 1 : size.channels;
  const Tensor x = Filled({size.element, {1, size.channels, size.extent, size.extent}});
  const Tensor w = Filled({size.element, {size.outs, channels, size.kernel, size.kernel}});
  const Tensor bias = Filled({ElementType::kFloat32, {size.outs}});
  const Attributes attributes = {{"out_channels", size.outs},
                                 {"kernel_shape", Ints{size.kernel, size.kernel}},
                                 {"strides", Ints{size.stride, size.stride}},
                                 {"pads", Ints{pad, pad, pad, pad}},
                                 {"activation", "relu"}};
  const double flops =
      2.0 * static_cast<double>(size.outs * out * out * channels * size.kernel * size.kernel);
  RunKernel(state, size.depthwise ? "depthwise_conv2d" : "conv2d",
            {x,
             size.depthwise ? PackDepthwiseWeights(w, size.element)
                            : PackConv2dWeights(w, 1, size.element),
             bias},
            {size.element, {1, size.outs, out, out}}, attributes, flops, threads);
}

void RegisterAll() {
  constexpr auto kHalf = ElementType::kFloat16;
  constexpr auto kFloat = ElementType::kFloat32;
  const std::vector<std::pair<const char*, GemmSize>> gemms = {
      {"gemm/128x768x768", {128, 768, 768}},
      {"gemm/128x768x3072/gelu", {128, 768, 3072, kFloat, kFloat, "gelu_erf"}},
      {"gemm/128x3072x768", {128, 3072, 768}},
      {"gemm/128x768x768/weights_f16", {128, 768, 768, kFloat, kHalf}},
      {"gemm/128x768x768/f16", {128, 768, 768, kHalf, kHalf}},
      {"gemm/32x1024x1024", {32, 1024, 1024}},
      {"gemm/1x1024x1024", {1, 1024, 1024}},
      {"gemm/1x1024x1024/weights_f16", {1, 1024, 1024, kFloat, kHalf}},
      {"gemm/1x2048x1000", {1, 2048, 1000}},
      {"gemm/4x1024x1024", {4, 1024, 1024}},
  };
  const std::vector<std::pair<const char*, BatchSize>> batches = {
      {"batch_matmul/12x128x64x128/trans_b", {12, 128, 64, 128, true}},
      {"batch_matmul/12x128x128x64", {12, 128, 128, 64, false}},
  };
  const std::vector<std::pair<const char*, ConvSize>> convs = {
      {"conv2d/7x7s2/3x224/64", {3, 224, 64, 7, 2}},
      {"conv2d/3x3/64x56/64", {64, 56, 64, 3, 1}},
      {"conv2d/3x3/128x28/128", {128, 28, 128, 3, 1}},
      {"conv2d/3x3/256x14/256", {256, 14, 256, 3, 1}},
      {"conv2d/3x3/512x7/512", {512, 7, 512, 3, 1}},
      {"conv2d/3x3/512x7/512/f16", {512, 7, 512, 3, 1, false, kHalf}},
      {"conv2d/3x3s2/128x56/128", {128, 56, 128, 3, 2}},
      {"conv2d/1x1/64x56/256", {64, 56, 256, 1, 1}},
      {"conv2d/1x1/256x56/64", {256, 56, 64, 1, 1}},
      {"conv2d/1x1s2/256x56/512", {256, 56, 512, 1, 2}},
      {"conv2d/1x1/1024x14/256", {1024, 14, 256, 1, 1}},
      {"conv2d/1x1/256x14/1024", {256, 14, 1024, 1, 1}},
      {"conv2d/1x1/512x7/2048", {512, 7, 2048, 1, 1}},
      {"conv2d/1x1/2048x7/512", {2048, 7, 512, 1, 1}},
      {"depthwise/3x3/144x56", {144, 56, 144, 3, 1, true}},
      {"depthwise/3x3/960x7", {960, 7, 960, 3, 1, true}},
      {"depthwise/3x3s2/96x112", {96, 112, 96, 3, 2, true}},
      {"depthwise/3x3/144x56/f16", {144, 56, 144, 3, 1, true, kHalf}},
  };
  for (const int threads : {1, 2}) {
    const auto named = [threads](const char* name) {
      return std::string(name) + "/threads:" + std::to_string(threads);
    };
    for (const auto& [name, size] : gemms) {
      benchmark::RegisterBenchmark(named(name).c_str(), Gemm, size, threads)->UseRealTime();
    }
    for (const auto& [name, size] : batches) {
      benchmark::RegisterBenchmark(named(name).c_str(), BatchMatMul, size, threads)->UseRealTime();
    }
    for (const auto& [name, size] : convs) {
      benchmark::RegisterBenchmark(named(name).c_str(), Conv, size, threads)->UseRealTime();
    }
  }
}

}  // namespace
}  // namespace poprt::kernels

int main(int argc, char** argv) {
  poprt::kernels::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
