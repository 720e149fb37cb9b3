#include "runtime/kernels/einsum/einsum_equation.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

constexpr std::string_view kEllipsis = "...";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string Quoted(char c) { return {'\'', c, '\''}; }

/// A letter, or the ellipsis as '.', where it stands in the equation.
struct Symbol {
  char letter;
  std::size_t at;
};
using Term = std::vector<Symbol>;

struct Terms {
  std::vector<Term> inputs;
  std::optional<Term> output;
};

class Parser {
 public:
  explicit Parser(std::string_view equation) : text_(equation) {}

  [[noreturn]] void Fail(std::size_t at, const std::string& why) const {
    constexpr std::size_t kShown = 200;
    const std::string shown(text_.substr(0, kShown));
    throw KernelError("attribute 'equation' is \"" + shown + (text_.size() > kShown ? "..." : "") +
                      "\": at position " + std::to_string(at) + ", " + why);
  }

  Terms Parse() const {
    Terms terms;
    terms.inputs.emplace_back();
    for (std::size_t i = 0; i < text_.size();) {
      Term& term = terms.output ? *terms.output : terms.inputs.back();
      if (text_[i] == ' ') {
        ++i;
      } else if (IsLetter(text_[i])) {
        term.push_back({text_[i], i});
        ++i;
      } else if (text_.substr(i, 3) == kEllipsis) {
        if (HasEllipsis(term)) Fail(i, "a term has a second ellipsis");
        term.push_back({'.', i});
        i += 3;
      } else if (text_[i] == ',' && !terms.output) {
        terms.inputs.emplace_back();
        ++i;
      } else if (text_.substr(i, 2) == "->" && !terms.output) {
        terms.output.emplace();
        i += 2;
      } else {
        Fail(i, Quoted(text_[i]) +
                    " is not expected; terms of letters and \"...\" are separated by commas, and "
                    "\"->\" stands before the result");
      }
    }
    return terms;
  }

  static bool HasEllipsis(const Term& term) {
    return std::any_of(term.begin(), term.end(), [](const Symbol& s) { return s.letter == '.'; });
  }

 private:
  std::string_view text_;
};

/// Gives labels to letters and axes, in the order in which they turn up.
class Resolver {
 public:
  Resolver(std::string_view equation, std::span<const TensorType> operands)
      : parser_(equation), operands_(operands) {}

  EinsumEquation Run() {
    Terms terms = parser_.Parse();
    if (terms.inputs.size() != operands_.size()) {
      throw KernelError("attribute 'equation' has " + std::to_string(terms.inputs.size()) +
                        " terms for " + std::to_string(operands_.size()) + " operands");
    }
    for (std::size_t i = 0; i < operands_.size(); ++i) CountEllipsis(terms.inputs[i], i);
    for (std::size_t i = 0; i < operands_.size(); ++i) ReadInput(terms.inputs[i], i);
    if (!terms.output) terms.output = ImplicitOutput(terms);
    ReadOutput(*terms.output);
    return std::move(result_);
  }

 private:
  /// Axes that the ellipsis of a term stands for; the term must fit its operand.
  std::size_t EllipsisAxes(const Term& term, std::size_t operand) const {
    const std::size_t rank = operands_[operand].shape.size();
    const bool has = Parser::HasEllipsis(term);
    const std::size_t letters = term.size() - (has ? 1 : 0);
    if (letters > rank || (!has && letters < rank)) {
      parser_.Fail(term.empty() ? 0 : term.front().at,
                   "the term of operand " + std::to_string(operand) + " names " +
                       std::to_string(letters) + " axes of " + ToString(operands_[operand]));
    }
    return rank - letters;
  }

  void CountEllipsis(const Term& term, std::size_t operand) {
    ellipsis_axes_ = std::max(ellipsis_axes_, EllipsisAxes(term, operand));
  }

  std::size_t NewLabel() {
    result_.extents.push_back(1);
    if (result_.extents.size() > kMostEinsumLabels) {
      throw KernelError("attribute 'equation' has more than " + std::to_string(kMostEinsumLabels) +
                        " different axes");
    }
    return result_.extents.size() - 1;
  }

  /// The label of the axis that is the i-th from the end of an ellipsis.
  std::size_t EllipsisLabel(std::size_t from_end) {
    while (ellipsis_.size() <= from_end) ellipsis_.push_back(NewLabel());
    return ellipsis_[from_end];
  }

  void ReadInput(const Term& term, std::size_t operand) {
    const Shape& shape = operands_[operand].shape;
    const std::size_t repeated = EllipsisAxes(term, operand);
    std::vector<std::size_t> labels;
    for (const Symbol& symbol : term) {
      if (symbol.letter == '.') {
        for (std::size_t i = repeated; i-- > 0;) labels.push_back(EllipsisLabel(i));
      } else {
        if (letters_.count(symbol.letter) == 0) letters_[symbol.letter] = NewLabel();
        labels.push_back(letters_[symbol.letter]);
      }
      while (checked_ < labels.size()) CheckAxis(labels, symbol, shape, operand);
    }
    checked_ = 0;
    result_.inputs.push_back(std::move(labels));
  }

  /// Joins the extent of axis `checked_` with those of the same label.
  void CheckAxis(const std::vector<std::size_t>& labels, const Symbol& symbol, const Shape& shape,
                 std::size_t operand) {
    const std::int64_t extent = shape[checked_];
    std::int64_t& common = result_.extents[labels[checked_]];
    const auto first = std::find(labels.begin(), labels.end(), labels[checked_]);
    const std::int64_t of_first = shape[static_cast<std::size_t>(first - labels.begin())];
    if (of_first != extent || (extent != common && extent != 1 && common != 1)) {
      const std::int64_t other = of_first != extent ? of_first : common;
      parser_.Fail(symbol.at, "axis " + std::to_string(checked_) + " of operand " +
                                  std::to_string(operand) + ", " + ToString(operands_[operand]) +
                                  ", must have the extent " + std::to_string(other));
    }
    if (common == 1) common = extent;
    ++checked_;
  }

  static Term ImplicitOutput(const Terms& terms) {
    std::map<char, int> uses;
    for (const Term& term : terms.inputs) {
      for (const Symbol& symbol : term) ++uses[symbol.letter];
    }
    Term output;
    if (uses.count('.') > 0) output.push_back({'.', 0});
    for (const auto& [letter, count] : uses) {
      if (count == 1 && letter != '.') output.push_back({letter, 0});
    }
    return output;
  }

  void ReadOutput(const Term& term) {
    for (const Symbol& symbol : term) {
      if (symbol.letter == '.') {
        for (std::size_t i = ellipsis_axes_; i-- > 0;) result_.output.push_back(EllipsisLabel(i));
        continue;
      }
      const auto found = letters_.find(symbol.letter);
      if (found == letters_.end()) {
        parser_.Fail(symbol.at, Quoted(symbol.letter) + " is in no operand");
      }
      if (std::find(result_.output.begin(), result_.output.end(), found->second) !=
          result_.output.end()) {
        parser_.Fail(symbol.at, Quoted(symbol.letter) + " is in the result twice");
      }
      result_.output.push_back(found->second);
    }
  }

  Parser parser_;
  std::span<const TensorType> operands_;
  EinsumEquation result_;
  std::map<char, std::size_t> letters_;
  std::vector<std::size_t> ellipsis_;  // labels, the last axis first
  std::size_t ellipsis_axes_ = 0;
  std::size_t checked_ = 0;  // axes of the current operand whose extents have been joined
};

char LetterOf(std::size_t label) {
  return static_cast<char>(label < 26 ? 'a' + label : 'A' + (label - 26));
}

}  // namespace

Shape EinsumEquation::OutputShape() const {
  Shape shape;
  for (const std::size_t label : output) shape.push_back(extents[label]);
  return shape;
}

EinsumEquation ResolveEinsum(std::string_view equation, std::span<const TensorType> operands) {
  return Resolver(equation, operands).Run();
}

std::string EinsumText(std::span<const std::size_t> input, std::span<const std::size_t> output) {
  std::map<std::size_t, char> letters;
  std::string text;
  const auto add = [&](std::size_t label) {
    text += letters.try_emplace(label, LetterOf(letters.size())).first->second;
  };
  std::for_each(input.begin(), input.end(), add);
  text += "->";
  std::for_each(output.begin(), output.end(), add);
  return text;
}

}  // namespace poprt::kernels
