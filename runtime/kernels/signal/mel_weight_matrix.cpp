#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/signal/signal.hpp"

namespace poprt::kernels {
namespace {

struct MelPlan {
  std::int64_t spectrum = 0;        ///< rows
  std::vector<std::int64_t> edges;  ///< left end, centre and right end of the triangles, in rows
};

double Hertz(const KernelCall& call, std::string_view name) {
  const Floats values = call.attributes.get_floats(name);
  Require(values.size() == 1 && values[0] >= 0 && std::isfinite(values[0]),
          "attribute '" + std::string(name) + "' must be one number of at least 0");
  return static_cast<double>(values[0]);
}

/// ONNX computes these in float32; which row an edge falls into may hang on that.
float MelOf(double hertz) {
  const float ratio = 1.0F + static_cast<float>(hertz) / 700.0F;
  return 2595.0F * static_cast<float>(std::log10(static_cast<double>(ratio)));
}

/// Rows where the triangles begin and end: equal distances on the mel scale.
std::vector<std::int64_t> Edges(const KernelCall& call, std::int64_t bins, std::int64_t length) {
  const std::int64_t rate = ScalarAttribute(call, "sample_rate", 0);
  Require(rate >= 1,
          "attribute 'sample_rate' is " + std::to_string(rate) + ", it must be at least 1");
  const float low = MelOf(Hertz(call, "lower_edge_hertz"));
  const float high = MelOf(Hertz(call, "upper_edge_hertz"));
  const float step = (high - low) / static_cast<float>(bins + 2);
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < bins + 2; ++i) {
    const double mel =
        static_cast<double>(i) * static_cast<double>(step) + static_cast<double>(low);
    const double hertz = 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0);
    const double row =
        std::floor((static_cast<double>(length) + 1) * hertz / static_cast<double>(rate));
    // Far beyond the spectrum nothing differs any more.
    edges.push_back(static_cast<std::int64_t>(std::clamp(row, -0x1p40, 0x1p40)));
  }
  return edges;
}

/// Calls set(row, weight) for the rows of a triangle.
template <typename Set>
void Triangle(std::int64_t left, std::int64_t centre, std::int64_t right, std::int64_t rows,
              const Set& set) {
  if (left == centre && centre >= 0 && centre < rows) set(centre, 1.0);
  for (std::int64_t row = std::max<std::int64_t>(left, 0);
       left != centre && row <= std::min(centre, rows - 1); ++row) {
    set(row, static_cast<double>(row - left) / static_cast<double>(centre - left));
  }
  for (std::int64_t row = std::max<std::int64_t>(centre, 0); row < std::min(right, rows); ++row) {
    set(row, static_cast<double>(right - row) / static_cast<double>(right - centre));
  }
}

template <typename T>
void RunMel(const MelPlan& plan, const KernelArguments& args) {
  const auto bins = static_cast<std::int64_t>(plan.edges.size()) - 2;
  T* out = args.out<T>(0);
  std::fill_n(out, plan.spectrum * bins, T{});
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    const std::int64_t* edge = plan.edges.data() + bin;
    Triangle(edge[0], edge[1], edge[2], plan.spectrum, [&](std::int64_t row, double weight) {
      out[row * bins + bin] = FromDouble<T>(weight);
    });
  }
}

}  // namespace

BoundKernel BindMelWeightMatrix(const KernelCall& call) {
  RequireArity(call, 0, 0);
  const TensorType& output = call.outputs[0];
  RequireElement(output, kNumericTypes, "output 0");
  const std::int64_t bins = ScalarAttribute(call, "num_mel_bins", -1);
  const std::int64_t length = ScalarAttribute(call, "dft_length", -1);
  Require(bins >= 0 && length >= 0, "attributes 'num_mel_bins' and 'dft_length' are " +
                                        std::to_string(bins) + " and " + std::to_string(length) +
                                        ", they must be given and not negative");
  const Shape shape{length / 2 + 1, bins};
  RequireType(output, {output.element, shape}, "output 0");
  if (RequireCount(shape, "output 0") == 0) return NothingToRun();
  const MelPlan plan{shape[0], Edges(call, bins, length)};
  return VisitElement<BoundKernel, kNumericTypes>(
      output.element, [&]<typename T>(std::type_identity<T>) {
        return BoundKernel{.run = [plan](const KernelArguments& args) { RunMel<T>(plan, args); }};
      });
}

}  // namespace poprt::kernels
