#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"
#include "runtime/kernels/signal/signal_shape.hpp"

namespace poprt::ops {
namespace {

Types InferDft(const InferenceCall& call) {
  const TensorType& input = call.input(0);
  return {{input.element, kernels::ResolveDft(call.attributes, input.shape).output}};
}

Types InferStft(const InferenceCall& call) {
  RequireSameElements(call);
  RequireAttribute(call.attributes, "frame_step");
  const TensorType& signal = call.input(0);
  return {
      {signal.element, kernels::ResolveStft(call.attributes, signal.shape, call.input(1)).output}};
}

ElementType OutputType(const InferenceCall& call) {
  const ElementType element =
      ElementAttribute(call.attributes, "output_datatype", ElementType::kFloat32);
  Require(Contains(TypeSet::kNumeric, element), "attribute 'output_datatype' names ", element,
          ", it must be a type of numbers");
  return element;
}

std::int64_t Count(const InferenceCall& call, std::string_view name) {
  const std::int64_t count = StaticInt(call.attributes, name);
  Require(count >= 0, "attribute '", name, "' is ", count, ", it must not be negative");
  return count;
}

Types InferWindow(const InferenceCall& call) { return {{OutputType(call), {Count(call, "size")}}}; }

Types InferMelWeightMatrix(const InferenceCall& call) {
  RequireAttribute(call.attributes, "sample_rate");
  const std::int64_t rate = StaticInt(call.attributes, "sample_rate");
  Require(rate >= 1, "attribute 'sample_rate' is ", rate, ", it must be at least 1");
  for (const char* name : {"lower_edge_hertz", "upper_edge_hertz"}) {
    const Floats edge = call.attributes.get_floats(name);
    Require(edge.size() == 1 && edge[0] >= 0.0F, "attribute '", name,
            "' must be one number of at least 0");
  }
  return {{OutputType(call), {Count(call, "dft_length") / 2 + 1, Count(call, "num_mel_bins")}}};
}

OpDef Window(std::string_view name) {
  return {.name = name,
          .since = 17,
          .type_only = true,
          .inputs = {0, 0},
          .static_inputs = {{.index = 0, .attribute = "size", .input_since = 17}},
          .infer = InferWindow};
}

}  // namespace

std::span<const OpDef> SignalOps() {
  static const OpDef rows[] = {
      {.name = "DFT",
       .since = 17,
       .types = TypeSet::kFloat,
       .static_inputs = {{.index = 1, .attribute = "dft_length", .input_since = 17},
                         {.index = 2, .attribute = "axis", .input_since = 20}},
       .infer = InferDft},
      {.name = "STFT",
       .since = 17,
       .types = TypeSet::kFloat,
       .inputs = {1, 2},
       .static_inputs = {{.index = 1, .attribute = "frame_step", .input_since = 17},
                         {.index = 3, .attribute = "frame_length", .input_since = 17}},
       .infer = InferStft},
      Window("HannWindow"),
      Window("HammingWindow"),
      Window("BlackmanWindow"),
      {.name = "MelWeightMatrix",
       .since = 17,
       .type_only = true,
       .inputs = {0, 0},
       .static_inputs = {{.index = 0, .attribute = "num_mel_bins", .input_since = 17},
                         {.index = 1, .attribute = "dft_length", .input_since = 17},
                         {.index = 2, .attribute = "sample_rate", .input_since = 17},
                         {.index = 3, .attribute = "lower_edge_hertz", .input_since = 17},
                         {.index = 4, .attribute = "upper_edge_hertz", .input_since = 17}},
       .infer = InferMelWeightMatrix},
  };
  return rows;
}

}  // namespace poprt::ops
