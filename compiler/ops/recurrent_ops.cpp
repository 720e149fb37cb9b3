#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"
#include "runtime/kernels/recurrent/recurrent_options.hpp"

namespace poprt::ops {
namespace {

template <kernels::RecurrentKind kKind>
Types InferRecurrent(const InferenceCall& call) {
  const kernels::RecurrentOptions options = ReadRecurrentOptions(kKind, call.attributes);
  const kernels::RecurrentShape shape =
      CheckRecurrentOperands(kKind, options, call.attributes, call.inputs);
  Types types = shape.Outputs(options, call.input(0).element);
  if (kKind != kernels::RecurrentKind::kLstm) types.pop_back();
  return types;
}

}  // namespace

std::span<const OpDef> RecurrentOps() {
  using enum kernels::RecurrentKind;
  static const OpDef rows[] = {
      {.name = "RNN",
       .types = TypeSet::kFloat,
       .inputs = {3, 6},
       .outputs = {1, 2},
       .infer = InferRecurrent<kRnn>},
      {.name = "GRU",
       .types = TypeSet::kFloat,
       .inputs = {3, 6},
       .outputs = {1, 2},
       .infer = InferRecurrent<kGru>},
      {.name = "LSTM",
       .types = TypeSet::kFloat,
       .inputs = {3, 8},
       .outputs = {1, 3},
       .infer = InferRecurrent<kLstm>},
  };
  return rows;
}

}  // namespace poprt::ops
