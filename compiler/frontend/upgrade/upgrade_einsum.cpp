#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "runtime/kernels/einsum/einsum_equation.hpp"

namespace poprt::frontend {
namespace {

using ir::ValueId;
using Labels = std::vector<std::size_t>;

bool Has(const Labels& labels, std::size_t label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// The labels of which `keep` says so, in their order.
template <typename Keep>
Labels Filter(const Labels& labels, const Keep& keep) {
  Labels kept;
  std::copy_if(labels.begin(), labels.end(), std::back_inserter(kept), keep);
  return kept;
}

/// A value and the label of each of its axes.
struct Term {
  ValueId value;
  Labels labels;
};

/// Turns an equation into products of two terms at a time. After an error nothing more is added.
class EinsumSteps {
 public:
  EinsumSteps(const UpgradeCall& call, const kernels::EinsumEquation& equation)
      : call_(call), equation_(equation) {
    for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
      terms_.push_back(Distinct({call.input(i), equation.inputs[i]}));
    }
  }

  absl::Status Run() {
    while (terms_.size() > 1 && status_.ok()) {
      const auto [i, j] = CheapestPair();
      const Term second = terms_[j];
      terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(j));
      const Term first = terms_[i];
      terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(i));
      terms_.push_back(Multiply(first, second));
    }
    if (!status_.ok()) return status_;
    const Term result = SumOut(terms_[0], equation_.output);
    if (!status_.ok()) return status_;
    SourceNode& node = call_.node;
    node.inputs = {result.value};
    node.op = "Identity";
    node.attributes = {};
    if (result.labels != equation_.output) {
      node.op = "Transpose";
      node.attributes.set("perm", Order(result.labels, equation_.output));
    }
    return absl::OkStatus();
  }

 private:
  // ---- Single steps -----------------------------------------------------------------------

  ValueId Add(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
    if (!status_.ok()) return ir::kAbsent;
    auto value =
        call_.sink.Add(call_.node.name + "/" + op, op, std::move(inputs), std::move(attributes));
    status_ = value.status();
    return value.ok() ? *value : ir::kAbsent;
  }

  Shape ShapeOf(const Term& term) const {
    return status_.ok() ? call_.sink.graph().type(term.value).shape : Shape(term.labels.size(), 1);
  }
  static Ints Order(const Labels& from, const Labels& to) {
    Ints order;
    for (const std::size_t label : to) {
      order.push_back(std::find(from.begin(), from.end(), label) - from.begin());
    }
    return order;
  }

  /// Only diagonals of axes with one label need the general kernel.
  Term Distinct(Term term) {
    Labels once;
    for (const std::size_t label : term.labels) {
      if (!Has(once, label)) once.push_back(label);
    }
    if (once.size() == term.labels.size()) return term;
    const std::string equation = kernels::EinsumText(term.labels, once);
    return {Add("Einsum", {term.value}, {{"equation", equation}}), once};
  }

  Term Permuted(const Term& term, const Labels& labels) {
    if (term.labels == labels) return term;
    return {Add("Transpose", {term.value}, {{"perm", Order(term.labels, labels)}}), labels};
  }

  ValueId Reshaped(ValueId value, const Shape& shape) {
    if (!status_.ok() || call_.sink.graph().type(value).shape == shape) return value;
    return Add("Reshape", {value}, {{"shape", Ints(shape)}, {"allowzero", std::int64_t{1}}});
  }

  /// Sums over the axes that are not needed.
  Term SumOut(const Term& term, const Labels& needed) {
    Ints axes;
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      if (!Has(needed, term.labels[i])) axes.push_back(static_cast<std::int64_t>(i));
    }
    if (axes.empty()) return term;
    const ValueId sum =
        Add("ReduceSum", {term.value}, {{"axes", axes}, {"keepdims", std::int64_t{0}}});
    return {sum, Filter(term.labels, [&](std::size_t label) { return Has(needed, label); })};
  }

  /// Without the axes of extent 1 that another term has longer.
  Term WithoutRepeated(const Term& term, const Term& other) {
    const Shape shape = ShapeOf(term);
    Term kept{term.value, {}};
    Shape kept_shape;
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      const std::size_t label = term.labels[i];
      if (shape[i] == 1 && equation_.extents[label] != 1 && Has(other.labels, label)) continue;
      kept.labels.push_back(label);
      kept_shape.push_back(shape[i]);
    }
    if (kept.labels.size() < term.labels.size()) kept.value = Reshaped(term.value, kept_shape);
    return kept;
  }

  // ---- Products -----------------------------------------------------------------------------

  /// The labels that the result and the terms not multiplied yet have.
  Labels NeededLater() const {
    Labels needed = equation_.output;
    for (const Term& term : terms_) {
      needed.insert(needed.end(), term.labels.begin(), term.labels.end());
    }
    return needed;
  }

  /// The two terms whose product takes the fewest multiplications, the first such ones.
  std::pair<std::size_t, std::size_t> CheapestPair() const {
    std::pair<std::size_t, std::size_t> best{0, 1};
    double least = -1;
    // With very many operands any order will do.
    const std::size_t most = std::min<std::size_t>(terms_.size(), 16);
    for (std::size_t i = 0; i < most; ++i) {
      for (std::size_t j = i + 1; j < most; ++j) {
        double work = 1;
        for (std::size_t label = 0; label < equation_.extents.size(); ++label) {
          if (!Has(terms_[i].labels, label) && !Has(terms_[j].labels, label)) continue;
          work *= static_cast<double>(equation_.extents[label]);
        }
        if (least < 0 || work < least) {
          least = work;
          best = {i, j};
        }
      }
    }
    return best;
  }

  Term Multiply(Term a, Term b) {
    const Labels needed = NeededLater();
    const Term whole_a = a;
    a = WithoutRepeated(a, b);
    b = WithoutRepeated(b, whole_a);
    const auto needed_or_in = [&](const Term& other) {
      Labels labels = needed;
      labels.insert(labels.end(), other.labels.begin(), other.labels.end());
      return labels;
    };
    const Labels in_a = needed_or_in(b);
    const Labels in_b = needed_or_in(a);
    a = SumOut(a, in_a);
    b = SumOut(b, in_b);
    const auto is_needed = [&](std::size_t label) { return Has(needed, label); };
    const auto in = [](const Term& term) {
      return [&term](std::size_t label) { return Has(term.labels, label); };
    };
    const Labels shared = Filter(a.labels, in(b));
    const Labels batch = Filter(shared, is_needed);
    const Labels summed = Filter(shared, [&](std::size_t label) { return !is_needed(label); });
    // Constants multiply from the right, where they are packed, else the term whose axes are the
    // later ones of the result.
    const bool packs_a = batch.empty() && IsConstant(a);
    const bool packs_b = batch.empty() && IsConstant(b);
    if (packs_a != packs_b ? packs_a : ComesLater(a, batch)) std::swap(a, b);
    return summed.empty() ? OuterProduct(a, b, batch) : MatrixProduct(a, b, batch, summed);
  }

  /// Whether the result begins, behind the batch axes, with an axis that only the other term has.
  bool ComesLater(const Term& term, const Labels& batch) const {
    const Labels own =
        Filter(equation_.output, [&](std::size_t label) { return !Has(batch, label); });
    return terms_.empty() && !own.empty() && !Has(term.labels, own.front());
  }

  bool IsConstant(const Term& term) const {
    return status_.ok() && call_.sink.graph().ConstantOf(term.value) != nullptr;
  }

  static Labels Concat(Labels first, const Labels& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  /// Elements of a term along some of its axes, each of which may be 1 where the label's is more.
  std::int64_t Extent(const Term& term, const Labels& labels) const {
    const Shape shape = ShapeOf(term);
    std::int64_t product = 1;
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      if (Has(labels, term.labels[i])) product *= shape[i];
    }
    return product;
  }
  Shape Extents(const Term& a, const Term& b, const Labels& labels) const {
    Shape extents;
    for (const std::size_t label : labels) {
      const Term& holder = Has(a.labels, label) ? a : b;
      extents.push_back(Extent(holder, {label}));
    }
    return extents;
  }

  /// [batch, rows, summed] * [batch, summed, columns]
  Term MatrixProduct(const Term& a, const Term& b, const Labels& batch, const Labels& summed) {
    const auto own = [](const Term& term, const Term& other) {
      return Filter(term.labels, [&](std::size_t label) { return !Has(other.labels, label); });
    };
    const Labels rows = own(a, b);
    const Labels columns = own(b, a);
    const ValueId left = AsMatrices(a, batch, rows, summed);
    ValueId right;
    if (b.labels == Concat(Concat(batch, columns), summed)) {
      // Products exchange two axes themselves, while there may be more of them here.
      right = AsMatrices(b, batch, columns, summed);
      right = Add("Transpose", {right}, {{"perm", batch.empty() ? Ints{1, 0} : Ints{0, 2, 1}}});
    } else {
      right = AsMatrices(b, batch, summed, columns);
    }
    const Labels labels = Concat(Concat(batch, rows), columns);
    const Shape shape = Extents(a, b, labels);
    return {Reshaped(Add("MatMul", {left, right}, {}), shape), labels};
  }

  /// A matrix, or a batch of them.
  ValueId AsMatrices(const Term& term, const Labels& batch, const Labels& rows,
                     const Labels& columns) {
    Shape shape{Extent(term, rows), Extent(term, columns)};
    if (!batch.empty()) shape.insert(shape.begin(), Extent(term, batch));
    return Reshaped(Permuted(term, Concat(Concat(batch, rows), columns)).value, shape);
  }

  /// Every element of one with every one of the other, element by element along the batch axes.
  Term OuterProduct(const Term& a, const Term& b, const Labels& batch) {
    const auto own = [&](const Term& term) {
      return Filter(term.labels, [&](std::size_t label) { return !Has(batch, label); });
    };
    const Labels rows = own(a);
    const Labels columns = own(b);
    const Labels labels = Concat(Concat(batch, rows), columns);
    const auto spread = [&](const Term& term) {
      const Term ordered = Permuted(
          term, Filter(labels, [&](std::size_t label) { return Has(term.labels, label); }));
      Shape shape;
      for (const std::size_t label : labels) shape.push_back(Extent(term, {label}));
      return Reshaped(ordered.value, shape);
    };
    return {Add("Mul", {spread(a), spread(b)}, {}), labels};
  }

  const UpgradeCall& call_;
  const kernels::EinsumEquation& equation_;
  std::vector<Term> terms_;
  absl::Status status_;
};

/// Sums of small integers are no operator of ONNX.
bool CanReduce(ElementType element) { return IsFloat(element) || ElementSize(element) >= 4; }

absl::Status UpgradeEinsum(const UpgradeCall& call) {
  std::vector<TensorType> operands;
  for (std::size_t i = 0; i < call.node.inputs.size(); ++i) {
    operands.push_back(call.type(i));
    // What does not fit is reported by the operator's own rule.
    if (!operands.back().defined() || operands.back().element != operands[0].element ||
        !CanReduce(operands.back().element)) {
      return absl::OkStatus();
    }
  }
  if (!call.node.attributes.has("equation")) {
    return absl::InvalidArgumentError("attribute 'equation' is missing");
  }
  std::optional<kernels::EinsumEquation> equation;
  try {
    equation = kernels::ResolveEinsum(call.node.attributes.get_string("equation", ""), operands);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
  // A lone diagonal stays as it is.
  if (operands.size() == 1) {
    Labels labels = equation->inputs[0];
    std::sort(labels.begin(), labels.end());
    if (std::adjacent_find(labels.begin(), labels.end()) != labels.end()) return absl::OkStatus();
  }
  return EinsumSteps(call, *equation).Run();
}

constexpr UpgradeRow kRows[] = {{"Einsum", kAlways, UpgradeEinsum}};

}  // namespace

std::span<const UpgradeRow> EinsumUpgrades() { return kRows; }

}  // namespace poprt::frontend
