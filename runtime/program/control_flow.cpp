#include "runtime/program/control_flow.hpp"

#include <string_view>

namespace poprt::program {
namespace {

const TensorType kTruth{ElementType::kBool, {}};
const TensorType kNumber{ElementType::kInt64, {}};

/// Collects the first problem of one step with bodies.
class BodyCheck {
 public:
  BodyCheck(const Branch& branch, const Step& step) : branch_(branch), step_(step) {}

  std::string Run() {
    const bool is_loop = step_.kernel == kLoop;
    if (!is_loop && step_.kernel != kIf) {
      Expect(step_.bodies.empty(), "has bodies, which only If and Loop may have");
      return problem_;
    }
    Expect(step_.bodies.size() == (is_loop ? 1U : 2U),
           "has " + std::to_string(step_.bodies.size()) + " bodies");
    Expect(is_loop ? step_.inputs.size() >= kLoopControls : step_.inputs.size() == 1,
           "has " + std::to_string(step_.inputs.size()) + " inputs");
    for (const Body& body : step_.bodies) CheckOperands(body);
    if (!problem_.empty()) return problem_;
    if (is_loop) {
      CheckLoop();
    } else {
      CheckIf();
    }
    return problem_;
  }

 private:
  void Expect(bool condition, std::string_view message) {
    if (!condition && problem_.empty()) problem_ = message;
  }

  const Slot& At(SlotIndex i) const { return branch_.slots[i]; }

  void CheckOperands(const Body& body) {
    const bool is_loop = step_.kernel == kLoop;
    Expect(body.inputs.size() == (is_loop ? kLoopControls : 0),
           "has a body with " + std::to_string(body.inputs.size()) + " inputs");
    Expect(body.outputs.size() == step_.outputs.size() + (is_loop ? 1 : 0),
           "has a body with " + std::to_string(body.outputs.size()) + " outputs");
    for (const auto* operands : {&body.inputs, &body.outputs}) {
      for (const SlotIndex i : *operands) {
        Expect(i < branch_.slots.size(), "has a body that uses slot " + std::to_string(i) + " of " +
                                             std::to_string(branch_.slots.size()));
      }
    }
  }

  void CheckScalar(SlotIndex i, const TensorType& wanted, const std::string& what) {
    if (i == kNoSlot) return Expect(false, "has no " + what);
    Expect(At(i).type == wanted,
           "has the " + what + " " + ToString(At(i).type) + ", it must be " + ToString(wanted));
  }

  void CheckSame(const TensorType& from, const TensorType& to) {
    Expect(from == to, "copies " + ToString(from) + " to " + ToString(to));
  }

  /// What is copied from is nowhere that something is copied to.
  void CheckCopies(const Body& body, std::size_t count, std::size_t offset) {
    for (std::size_t i = 0; i < count; ++i) {
      if (step_.outputs[i] == kNoSlot) continue;
      const Slot& to = At(step_.outputs[i]);
      const Slot& own = At(body.outputs[i + offset]);
      if (own.space == to.space && own.offset == to.offset) continue;  // in its place already
      for (std::size_t j = 0; j < count; ++j) {
        Expect(!Overlap(At(body.outputs[j + offset]), to), "copies results over each other");
      }
    }
  }

  void CheckIf() {
    CheckScalar(step_.inputs[0], kTruth, "condition");
    for (const Body& body : step_.bodies) {
      for (std::size_t i = 0; i < step_.outputs.size(); ++i) {
        if (step_.outputs[i] == kNoSlot) continue;
        CheckSame(At(body.outputs[i]).type, At(step_.outputs[i]).type);
      }
      CheckCopies(body, step_.outputs.size(), 0);
    }
  }

  void CheckLoop() {
    const Body& body = step_.bodies[0];
    if (step_.inputs[0] != kNoSlot) CheckScalar(step_.inputs[0], kNumber, "trip count");
    if (step_.inputs[1] != kNoSlot) CheckScalar(step_.inputs[1], kTruth, "condition");
    CheckScalar(body.inputs[0], kNumber, "iteration");
    CheckScalar(body.inputs[1], kTruth, "condition inside");
    CheckScalar(body.outputs[0], kTruth, "next condition");
    const std::size_t carried = step_.inputs.size() - kLoopControls;
    Expect(step_.outputs.size() >= carried, "has fewer outputs than it carries values");
    if (!problem_.empty()) return;
    for (const SlotIndex control : body.inputs) CheckControl(control);
    for (std::size_t i = 0; i < carried && problem_.empty(); ++i) {
      const SlotIndex initial = step_.inputs[i + kLoopControls];
      Expect(initial != kNoSlot && step_.outputs[i] != kNoSlot, "carries a value without a slot");
      if (!problem_.empty()) return;
      CheckSame(At(initial).type, At(step_.outputs[i]).type);
      CheckSame(At(body.outputs[i + 1]).type, At(step_.outputs[i]).type);
    }
    if (!problem_.empty()) return;
    CheckCopies(body, carried, 1);
    for (std::size_t i = carried; i < step_.outputs.size(); ++i) CheckStacked(i);
  }

  void CheckControl(SlotIndex control) {
    Expect(At(control).space == Space::kArena,
           "writes to the " + std::string(SpaceName(At(control).space)));
    for (const auto* operands : {&step_.inputs, &step_.outputs}) {
      for (const SlotIndex i : *operands) {
        Expect(i == kNoSlot || !Overlap(At(i), At(control)),
               "writes to memory of another of its operands");
      }
    }
  }

  void CheckStacked(std::size_t i) {
    if (step_.outputs[i] == kNoSlot) return;
    const Slot& stacked = At(step_.outputs[i]);
    const Slot& slice = At(step_.bodies[0].outputs[i + 1]);
    Expect(!stacked.type.shape.empty(), "stacks slices in a scalar");
    if (!problem_.empty()) return;
    CheckSame(slice.type,
              {stacked.type.element, {stacked.type.shape.begin() + 1, stacked.type.shape.end()}});
    Expect(!Overlap(slice, stacked), "copies a slice over itself");
  }

  const Branch& branch_;
  const Step& step_;
  std::string problem_;
};

}  // namespace

bool Overlap(const Slot& a, const Slot& b) {
  if (a.space != b.space) return false;
  return a.offset < b.offset + b.type.bytes() && b.offset < a.offset + a.type.bytes();
}

std::string FindBodyProblem(const Branch& branch, const Step& step) {
  return BodyCheck(branch, step).Run();
}

}  // namespace poprt::program
