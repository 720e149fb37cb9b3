#include <algorithm>
#include <array>
#include <memory>

#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/families.hpp"
#include "runtime/kernels/recurrent/recurrent_kernels.hpp"
#include "runtime/kernels/recurrent/recurrent_run.hpp"

namespace poprt::kernels {

namespace {

/// Threads share out parts of the batch, or what each step of all sequences computes.
template <typename T>
void RunParts(const RecurrentPlan& plan, const KernelArguments& args) {
  const bool is_alone = args.pool == nullptr || args.pool->size() == 1;
  const std::int64_t sequences = is_alone ? plan.sequences_alone : plan.sequences;
  if (sequences == plan.shape.batch) return RecurrentRun<T>(plan, args, 0, sequences).Run();
  const std::int64_t parts = CeilDiv(plan.shape.batch, sequences);
  ForRanges(args.pool, parts, 1, [&](std::int64_t part, std::int64_t, int worker) {
    KernelArguments own = args;
    own.scratch += static_cast<std::size_t>(worker) * plan.scratch_bytes;
    own.pool = nullptr;
    const std::int64_t first = part * sequences;
    RecurrentRun<T>(plan, own, first, std::min(sequences, plan.shape.batch - first)).Run();
  });
}

}  // namespace

BoundKernel BindRecurrent(RecurrentKind kind, const KernelCall& call, const InnerLoops& loops) {
  const bool is_lstm = kind == RecurrentKind::kLstm;
  RequireArity(call, 3, is_lstm ? 8 : 6, 0, is_lstm ? 3 : 2);
  const TensorType& x = call.inputs[0];
  RequireElement(x, kFloatTypes, "input 0");
  const auto plan = std::make_shared<RecurrentPlan>(kind, call, loops);
  Require(!plan->packed || x.element == ElementType::kFloat32 || plan->half_weights,
          "packed weights are " + ToString(call.inputs[1]) + ", allowed are float32 and float16");
  const std::vector<TensorType> outputs = plan->shape.Outputs(plan->options, x.element);
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    if (!call.outputs[i].defined()) continue;
    RequireType(call.outputs[i], outputs[i], "output " + std::to_string(i));
  }
  if (plan->shape.batch == 0) return NothingToRun();
  return VisitElement<BoundKernel, kFloatTypes>(
      x.element, [&]<typename T>(std::type_identity<T>) -> BoundKernel {
        return {.run = [plan](const KernelArguments& args) { RunParts<T>(*plan, args); },
                .scratch_bytes = plan->scratch_bytes,
                .block_sizes = {plan->chunk}};
      });
}

namespace {

/// The same bits on every processor.
template <RecurrentKind kKind>
BoundKernel BindAnywhere(const KernelCall& call) {
  return BindRecurrent(kKind, call, PortableInnerLoops());
}

/// With the inner loops that are fastest on this one.
template <RecurrentKind kKind>
BoundKernel BindTuned(const KernelCall& call) {
  return BindRecurrent(kKind, call, BestInnerLoops());
}

}  // namespace

std::span<const KernelDef> RecurrentKernels() {
  static constexpr std::array kTable{
      KernelDef{"GRU", &GuardedBind<BindAnywhere<RecurrentKind::kGru>>},
      KernelDef{"LSTM", &GuardedBind<BindAnywhere<RecurrentKind::kLstm>>},
      KernelDef{"RNN", &GuardedBind<BindAnywhere<RecurrentKind::kRnn>>},
      KernelDef{"gru", &GuardedBind<BindTuned<RecurrentKind::kGru>>},
      KernelDef{"lstm", &GuardedBind<BindTuned<RecurrentKind::kLstm>>},
      KernelDef{"rnn", &GuardedBind<BindTuned<RecurrentKind::kRnn>>},
  };
  return kTable;
}

}  // namespace poprt::kernels
