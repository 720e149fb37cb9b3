#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/control_flow/loop_form.hpp"
#include "compiler/frontend/import_time/import_time_call.hpp"

/// LinearAttention as a loop over the sequence that carries the state.
namespace poprt::frontend {
namespace {

using ir::kAbsent;
using ir::ValueId;

constexpr std::size_t kQuery = 0;
constexpr std::size_t kKey = 1;
constexpr std::size_t kValue = 2;
constexpr std::size_t kPastState = 3;
constexpr std::size_t kDecay = 4;
constexpr std::size_t kBeta = 5;

bool IsAllowed(ElementType element) {
  return element == ElementType::kFloat32 || element == ElementType::kFloat16 ||
         element == ElementType::kBFloat16;
}

/// One node. Computes in float32, whatever the operands are.
class LinearAttention {
 public:
  explicit LinearAttention(ImportTimeCall& call) : call_(call) {}

  std::vector<ImportValue> Run() {
    ReadAttributes();
    ReadTypes();
    // [sequence, batch, head, ...], so that a step takes a slice.
    query_ = Arranged(kQuery, {heads_, query_heads_ / heads_, key_size_});
    key_ = Arranged(kKey, {heads_, key_size_, 1});
    value_ = Arranged(kValue, {heads_, 1, value_size_});
    if (has_decay_) {
      decay_ = Do("Exp", {Arranged(kDecay, {heads_, LastOf(kDecay) / heads_, 1})});
    }
    if (has_beta_) beta_ = Arranged(kBeta, {LastOf(kBeta), 1, 1});
    std::vector<ValueId> results = Loop();
    const ValueId turned = Do("Transpose", {results[1]}, {{"perm", Ints{1, 0, 2, 3, 4}}});
    const ValueId packed = Reshape(turned, {batch_, length_, query_heads_ * value_size_});
    const ValueId output = Do("Mul", {packed, Scale()});
    return {{Cast(output, type(kQuery).element)}, {Cast(results[0], state_element_)}};
  }

 private:
  TensorType type(std::size_t i) const { return call_.graph().type(call_.tensor(i)); }
  std::int64_t LastOf(std::size_t i) const { return type(i).shape[2]; }

  ValueId Do(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) const {
    return call_.Add(op, op, std::move(inputs), std::move(attributes));
  }

  ValueId Cast(ValueId value, ElementType element) const {
    if (call_.graph().type(value).element == element) return value;
    return Do("Cast", {value}, {{"to", static_cast<std::int64_t>(element)}});
  }

  ValueId Reshape(ValueId value, const Shape& shape) const {
    return Do("Reshape", {value}, {{"shape", Ints(shape)}, {"allowzero", std::int64_t{1}}});
  }

  void ReadAttributes() {
    const std::string rule = call_.attributes.get_string("update_rule", "gated_delta");
    RequireImport(rule == "linear" || rule == "gated" || rule == "delta" || rule == "gated_delta",
                  "attribute 'update_rule' is '" + rule +
                      "', allowed are linear, gated, delta and gated_delta");
    has_decay_ = rule == "gated" || rule == "gated_delta";
    has_beta_ = rule == "delta" || rule == "gated_delta";
    for (const auto& [i, is_wanted] :
         {std::pair(kDecay, has_decay_), std::pair(kBeta, has_beta_)}) {
      if (is_wanted) call_.required(i);
      RequireImport(
          is_wanted || call_.input(i) == nullptr,
          "input " + std::to_string(i) + " is given, update rule " + rule + " does not take it");
    }
    query_heads_ = call_.attributes.get_int("q_num_heads", 0);
    heads_ = call_.attributes.get_int("kv_num_heads", 0);
    RequireImport(heads_ > 0 && query_heads_ > 0 && query_heads_ % heads_ == 0,
                  "attributes 'q_num_heads' and 'kv_num_heads' are " +
                      std::to_string(query_heads_) + " and " + std::to_string(heads_) +
                      ", the first must be a positive multiple of the second");
  }

  void ReadTypes() {
    const TensorType query = type(kQuery);
    if (!IsAllowed(query.element)) call_.WrongInput(kQuery, "of float32, float16 or bfloat16");
    if (query.shape.size() != 3) call_.WrongInput(kQuery, "of 3 dimensions");
    batch_ = query.shape[0];
    length_ = query.shape[1];
    key_size_ = query.shape[2] / query_heads_;
    RequirePacked(kQuery, {query_heads_ * key_size_});
    RequirePacked(kKey, {heads_ * key_size_});
    const TensorType value = type(kValue);
    value_size_ = value.shape.size() == 3 ? value.shape[2] / heads_ : 0;
    RequirePacked(kValue, {heads_ * value_size_});
    if (has_decay_) RequirePacked(kDecay, {heads_, heads_ * key_size_});
    if (has_beta_) RequirePacked(kBeta, {1, heads_});
    state_element_ = query.element;
    if (call_.input(kPastState) == nullptr) return;
    const TensorType state = type(kPastState);
    if (!IsAllowed(state.element) || state.shape != StateShape()) {
      call_.WrongInput(kPastState,
                       "of float32, float16 or bfloat16 and the shape " + ToString(StateShape()));
    }
    state_element_ = state.element;
  }

  Shape StateShape() const { return {batch_, heads_, key_size_, value_size_}; }

  /// Input i must be [batch, sequence, one of `last`], of the type of the query.
  void RequirePacked(std::size_t i, const std::vector<std::int64_t>& last) const {
    const TensorType found = type(i);
    std::string allowed;
    for (const std::int64_t extent : last) {
      const TensorType wanted{type(kQuery).element, {batch_, length_, extent}};
      if (found == wanted) return;
      allowed += (allowed.empty() ? "" : " or ") + ToString(wanted);
    }
    call_.WrongInput(i, allowed + " as the query and the numbers of heads say");
  }

  /// [batch, sequence, packed] as [sequence, batch, ...] in float32.
  ValueId Arranged(std::size_t i, const Shape& shape) const {
    const ValueId wide = Cast(call_.tensor(i), ElementType::kFloat32);
    const ValueId turned = Do("Transpose", {wide}, {{"perm", Ints{1, 0, 2}}});
    Shape whole{length_, batch_};
    whole.insert(whole.end(), shape.begin(), shape.end());
    return Reshape(turned, whole);
  }

  ValueId Scale() const {
    float scale = call_.attributes.get_float("scale", 0.0F);
    if (scale == 0.0F) scale = 1.0F / std::sqrt(static_cast<float>(key_size_));
    return call_.AddConstant("scale", Tensor({ElementType::kFloat32, {}}, &scale));
  }

  ValueId FirstState() const {
    if (call_.input(kPastState) != nullptr) {
      return Cast(call_.tensor(kPastState), ElementType::kFloat32);
    }
    return call_.AddConstant("state", Tensor({ElementType::kFloat32, StateShape()}));
  }

  /// The last state, and what the queries read, one after the other.
  std::vector<ValueId> Loop() const {
    LoopForm loop{.name = call_.import.name,
                  .where = call_.importer.Where(call_.import.node, &call_.import.builder)};
    loop.trip_count = call_.AddConstant("trip_count", Tensor({ElementType::kInt64, {}}, &length_));
    loop.carried = {{FirstState()}};
    loop.carried_names = {"state"};
    loop.slices = 1;
    loop.body = [&](GraphBuilder& builder, ValueId iteration, ValueId,
                    const std::vector<ImportValue>& carried,
                    Problems& problems) -> std::optional<Iteration> {
      absl::StatusOr<Iteration> done = Step(builder, iteration, *carried[0].tensor());
      if (done.ok()) return *std::move(done);
      problems.Add(done.status(), loop.where);
      return std::nullopt;
    };
    const auto results = AddLoop(loop, call_.import.builder, call_.import.problems);
    if (!results) throw ImportTimeError{absl::OkStatus()};  // its problems are known
    return {*(*results)[0].tensor(), *(*results)[1].tensor()};
  }

  /// One position of the sequence, in the graph of `builder`.
  absl::StatusOr<Iteration> Step(GraphBuilder& builder, ValueId iteration, ValueId state) const {
    absl::Status status;
    const auto step = [&](const std::string& op, std::vector<ValueId> inputs,
                          Attributes attributes = {}) {
      if (!status.ok()) return kAbsent;
      const auto value =
          builder.Add(call_.import.name + "/" + op, op, std::move(inputs), std::move(attributes));
      if (value.ok()) return *value;
      status = value.status();
      return kAbsent;
    };
    const auto slice = [&](ValueId whole) {
      const bool is_region = &builder != &call_.import.builder;
      return step("Gather", {is_region ? builder.Capture(whole) : whole, iteration},
                  {{"axis", std::int64_t{0}}});
    };
    if (has_decay_) state = step("Mul", {state, slice(decay_)});
    const ValueId key = slice(key_);
    ValueId row = slice(value_);
    if (has_beta_) {
      const ValueId key_row =
          step("Reshape", {key},
               {{"shape", Ints{batch_, heads_, 1, key_size_}}, {"allowzero", std::int64_t{1}}});
      const ValueId known = step("MatMul", {key_row, state});
      row = step("Mul", {slice(beta_), step("Sub", {row, known})});
    }
    state = step("Add", {state, step("Mul", {key, row})});
    const ValueId read = step("MatMul", {slice(query_), state});
    if (!status.ok()) return status;
    return Iteration{.condition = kAbsent, .carried = {{state}}, .slices = {{read}}};
  }

  ImportTimeCall& call_;
  bool has_decay_ = false;
  bool has_beta_ = false;
  std::int64_t query_heads_ = 0;
  std::int64_t heads_ = 0;  ///< of keys and values
  std::int64_t batch_ = 0;
  std::int64_t length_ = 0;
  std::int64_t key_size_ = 0;
  std::int64_t value_size_ = 0;
  ElementType state_element_ = ElementType::kFloat32;
  ValueId query_ = kAbsent;
  ValueId key_ = kAbsent;
  ValueId value_ = kAbsent;
  ValueId decay_ = kAbsent;
  ValueId beta_ = kAbsent;
};

std::vector<ImportValue> ImportLinearAttention(ImportTimeCall& call) {
  call.RequireInputs(3, 6);
  return LinearAttention(call).Run();
}

constexpr ImportTimeOp kRows[] = {{"LinearAttention", "", Always, ImportLinearAttention}};

}  // namespace

std::span<const ImportTimeOp> LinearAttentionImportOps() { return kRows; }

}  // namespace poprt::frontend
