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
  static constexpr auto kNotes = "a sequence of length 0 ends in zeros, not in the initial state";
  static const OpDef rows[] = {
      {.name = "RNN",
       .types = TypeSet::kFloat,
       .inputs = {3, 6},
       .outputs = {1, 2},
       .infer = InferRecurrent<kRnn>,
       .notes = kNotes},
      {.name = "GRU",
       .types = TypeSet::kFloat,
       .inputs = {3, 6},
       .outputs = {1, 2},
       .infer = InferRecurrent<kGru>,
       .notes = kNotes},
      {.name = "LSTM",
       .types = TypeSet::kFloat,
       .inputs = {3, 8},
       .outputs = {1, 3},
       .infer = InferRecurrent<kLstm>,
       .notes = kNotes},
  };
  return rows;
}

}  // namespace poprt::ops
