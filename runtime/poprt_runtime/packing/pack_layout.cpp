#include "runtime/poprt_runtime/packing/pack_layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <sstream>

#include "runtime/poprt_runtime/problem_list.hpp"

namespace poprt::runtime {
namespace {

constexpr const char* kDefaultUnpackInfo = "unpack_info";

std::string Quoted(const std::string& name) { return "'" + name + "'"; }

/// "F32[3, 10]".
std::string TypeText(const DataDesc& desc) {
  std::ostringstream text;
  text << desc.dataType << "[";
  for (std::size_t i = 0; i < desc.shape.size(); ++i) text << (i > 0 ? ", " : "") << desc.shape[i];
  text << "]";
  return text.str();
}

std::string NamesOf(const std::vector<DataDesc>& descs) {
  std::string names;
  for (const DataDesc& desc : descs) names += (names.empty() ? "" : ", ") + desc.name;
  return names;
}

/// The largest number that a mask of this type can hold exactly; 0 for types masks cannot have.
std::uint64_t LargestNumber(popef::DataType type) {
  switch (type) {
    case popef::DataType::BOOL:
      return 1;
    case popef::DataType::S8:
      return 127;
    case popef::DataType::U8:
      return 255;
    case popef::DataType::BF16:
      return 256;
    case popef::DataType::F16:
      return 2048;
    case popef::DataType::S16:
      return 32767;
    case popef::DataType::U16:
      return 65535;
    case popef::DataType::F32:
      return std::uint64_t{1} << 24;
    case popef::DataType::S32:
    case popef::DataType::U32:
    case popef::DataType::S64:
    case popef::DataType::U64:
    case popef::DataType::F64:
      return 0x7FFFFFFF;
    default:
      return 0;
  }
}

bool IsInteger(popef::DataType type) {
  return LargestNumber(type) > 1 && type != popef::DataType::BF16 && type != popef::DataType::F16 &&
         type != popef::DataType::F32 && type != popef::DataType::F64;
}

/// Builds a layout step by step; `problems` collects what does not fit.
class LayoutBuilder {
 public:
  LayoutBuilder(const std::vector<InputDesc>& inputs, const std::vector<OutputDesc>& outputs,
                const PackRunnerConfig& config)
      : inputs_(inputs), outputs_(outputs), config_(config) {}

  PackLayout Build() {
    CheckConfig();
    problems_.Throw();
    layout_.unpack_info = FindUnpackInfo();
    layout_.mask = FindNamed("maskName", config_.maskName);
    FindRows();
    problems_.Throw();  // without rows, everything else would look wrong
    FindMostEntries();
    for (std::size_t i = 0; i < inputs_.size(); ++i) layout_.inputs.push_back(Input(i));
    for (const OutputDesc& output : outputs_) layout_.outputs.push_back(Output(output));
    CheckDynamicGroup();
    CheckMask();
    CheckUnpackInfo();
    FillRoom();
    problems_.Throw();
    return std::move(layout_);
  }

 private:
  void CheckConfig() {
    if (config_.timeoutInMicroSeconds <= 0) {
      problems_.Add(
          "timeoutInMicroSeconds is " + std::to_string(config_.timeoutInMicroSeconds) +
          ", allowed is more than 0: how long the first entry of a pack waits for others");
    }
    if (config_.maxValidNum < 0) {
      problems_.Add("maxValidNum is " + std::to_string(config_.maxValidNum) +
                    ", allowed is 0 (no limit) or more");
    }
    if (config_.delimiterNum < 0) {
      problems_.Add("delimiterNum is " + std::to_string(config_.delimiterNum) +
                    ", allowed is 0 or more");
    }
    if (config_.compileBatchSize == 0 || config_.compileBatchSize < -1) {
      problems_.Add("compileBatchSize is " + std::to_string(config_.compileBatchSize) +
                    ", allowed is -1 (the first dimension of the inputs) or more than 0");
    }
    if (config_.enablePaddingRemove && config_.maskName.empty()) {
      problems_.Add("enablePaddingRemove needs maskName, the input that tells padding from tokens");
    }
    for (const OutputDesc& output : outputs_) {
      if (!output.openAxis) continue;
      problems_.Add("output " + Quoted(output.name) +
                    " has an extent that depends on the data: a pack cannot be taken apart then");
    }
  }

  std::optional<std::size_t> Find(const std::string& name) const {
    const auto at = std::find_if(inputs_.begin(), inputs_.end(),
                                 [&](const InputDesc& input) { return input.name == name; });
    if (at == inputs_.end()) return std::nullopt;
    return at - inputs_.begin();
  }

  /// The input a field of the configuration names; nothing if it is empty.
  std::optional<std::size_t> FindNamed(const std::string& field, const std::string& name) {
    if (name.empty()) return std::nullopt;
    const auto found = Find(name);
    if (!found) {
      problems_.Add(field + " is " + Quoted(name) +
                    ", which is no input of the model: " + NamesOf(inputs_));
    }
    return found;
  }

  std::optional<std::size_t> FindUnpackInfo() {
    const auto found = config_.unpackInfoInputName.empty()
                           ? Find(kDefaultUnpackInfo)
                           : FindNamed("unpackInfoInputName", config_.unpackInfoInputName);
    if (!found) return found;
    const InputDesc& info = inputs_[*found];
    if (info.shape.empty() || info.sizeInBytes <= 0 || !IsInteger(info.dataType)) {
      problems_.Add("input " + Quoted(info.name) + " is " + TypeText(info) +
                    ", allowed are integers with a place for every entry");
    }
    return found;
  }

  void FindRows() {
    if (!config_.dynamicInputName.empty()) {
      const auto named = FindNamed("dynamicInputName", config_.dynamicInputName);
      if (!named) return;
      layout_.length_input = *named;
    } else if (layout_.mask) {
      layout_.length_input = *layout_.mask;
    } else {
      const auto at = std::find_if(inputs_.begin(), inputs_.end(), [&](const InputDesc& input) {
        return input.shape.size() >= 2 && !IsUnpackInfo(input);
      });
      if (at == inputs_.end()) {
        problems_.Add("no input has rows of tokens: set dynamicInputName to one of " +
                      NamesOf(inputs_));
        return;
      }
      layout_.length_input = at - inputs_.begin();
    }
    const InputDesc& input = inputs_[layout_.length_input];
    if (!SetRows(input.shape)) {
      problems_.Add("input " + Quoted(input.name) + " is " + TypeText(input) +
                    ", which has no rows of tokens" +
                    (config_.compileBatchSize > 0 ? ", of which compileBatchSize says " +
                                                        std::to_string(config_.compileBatchSize)
                                                  : ""));
    }
  }

  bool SetRows(const std::vector<std::int64_t>& shape) {
    if (shape.empty()) return false;
    const std::int64_t rows = config_.compileBatchSize;
    if (shape.size() >= 2 && (rows == -1 || rows == shape[0])) {
      rows_ = shape[0];
      layout_.row_length = shape[1];
    } else if (rows == -1) {
      rows_ = 1;
      layout_.row_length = shape[0];
    } else if (shape[0] % rows == 0) {
      rows_ = rows;
      layout_.row_length = shape[0] / rows;
    }
    return rows_ > 0 && layout_.row_length > 0;
  }

  bool IsUnpackInfo(const InputDesc& input) const {
    return layout_.unpack_info && &input == &inputs_[*layout_.unpack_info];
  }

  std::uint64_t Tokens() const { return rows_ * layout_.row_length; }

  /// The shape of one token's part; nothing if the tensor has no tokens.
  std::optional<std::vector<std::int64_t>> TokenShape(const DataDesc& desc) const {
    const std::vector<std::int64_t>& shape = desc.shape;
    std::size_t leading = 0;
    if (shape.size() >= 2 && static_cast<std::uint64_t>(shape[0]) == rows_ &&
        static_cast<std::uint64_t>(shape[1]) == layout_.row_length) {
      leading = 2;
    } else if (!shape.empty() && static_cast<std::uint64_t>(shape[0]) == Tokens()) {
      leading = 1;
    } else {
      return std::nullopt;
    }
    return std::vector<std::int64_t>(shape.begin() + static_cast<std::ptrdiff_t>(leading),
                                     shape.end());
  }

  /// The places for entries that the model has; nothing if it has no limit of its own.
  std::optional<std::uint64_t> Places() const {
    if (layout_.unpack_info) return inputs_[*layout_.unpack_info].shape[0];
    std::optional<std::uint64_t> least;
    for (const InputDesc& input : inputs_) {
      if (TokenShape(input) || input.shape.empty() || input.shape[0] < 1) continue;
      const auto places = static_cast<std::uint64_t>(input.shape[0]);
      least = std::min(least.value_or(places), places);
    }
    return least;
  }

  void FindMostEntries() {
    places_ = Places();
    const std::uint64_t wanted = config_.maxValidNum;
    layout_.room.most_entries = wanted > 0 ? wanted : places_.value_or(Tokens());
    if (!places_ || wanted <= *places_) return;
    problems_.Add("maxValidNum is " + std::to_string(wanted) + ", but the model has places for " +
                  std::to_string(*places_) + " entries");
  }

  PackTensor Tensor(const DataDesc& desc, PackRole role, std::vector<std::int64_t> part_shape) {
    PackTensor tensor{.name = desc.name,
                      .type = desc.dataType,
                      .role = role,
                      .bytes = static_cast<std::uint64_t>(desc.sizeInBytes),
                      .part_bytes = 0,
                      .part_shape = std::move(part_shape)};
    const std::int64_t elements = std::accumulate(
        tensor.part_shape.begin(), tensor.part_shape.end(), std::int64_t{1}, std::multiplies<>());
    tensor.part_bytes = static_cast<std::uint64_t>(elements * popef::sizeInBytes(desc.dataType));
    return tensor;
  }

  static std::vector<std::int64_t> WithoutFirst(const DataDesc& desc) {
    return {desc.shape.begin() + 1, desc.shape.end()};
  }

  std::string NoPart(const std::string& kind, const DataDesc& desc) const {
    return kind + " " + Quoted(desc.name) + " is " + TypeText(desc) +
           ", allowed is a part for every token, [" + std::to_string(rows_) + ", " +
           std::to_string(layout_.row_length) + ", ...], or for every entry of a pack, [" +
           std::to_string(layout_.room.most_entries) + ", ...]";
  }

  PackTensor Input(std::size_t i) {
    const InputDesc& input = inputs_[i];
    if (IsUnpackInfo(input)) return Tensor(input, PackRole::kUnpackInfo, WithoutFirst(input));
    if (auto part = TokenShape(input)) {
      const bool is_mask = layout_.mask == i;
      PackTensor tensor = Tensor(input, is_mask ? PackRole::kMask : PackRole::kTokens, *part);
      const auto& group = config_.dynamicGroup;
      tensor.strip = config_.enablePaddingRemove &&
                     (is_mask || group.empty() ||
                      std::find(group.begin(), group.end(), input.name) != group.end());
      return tensor;
    }
    if (input.shape.empty() ||
        static_cast<std::uint64_t>(input.shape[0]) < layout_.room.most_entries) {
      problems_.Add(NoPart("input", input));
      return {};
    }
    return Tensor(input, PackRole::kEntries, WithoutFirst(input));
  }

  PackTensor Output(const OutputDesc& output) {
    const bool has_places =
        places_ && !output.shape.empty() && static_cast<std::uint64_t>(output.shape[0]) == *places_;
    if (has_places && (layout_.unpack_info || !TokenShape(output))) {
      return Tensor(output, PackRole::kEntries, WithoutFirst(output));
    }
    if (auto part = TokenShape(output)) return Tensor(output, PackRole::kTokens, *part);
    problems_.Add(NoPart("output", output));
    return {};
  }

  void CheckDynamicGroup() {
    for (const std::string& name : config_.dynamicGroup) {
      const auto found = FindNamed("a name of dynamicGroup", name);
      if (!found || TokenShape(inputs_[*found])) continue;
      problems_.Add("dynamicGroup names input " + Quoted(name) + ", which is " +
                    TypeText(inputs_[*found]) + " and has no tokens to leave out");
    }
  }

  void CheckMask() {
    layout_.number_mask = config_.disableDataAcrossRows && layout_.mask;
    if (!layout_.mask) return;
    const InputDesc& mask = inputs_[*layout_.mask];
    const auto part = TokenShape(mask);
    if (!part || std::any_of(part->begin(), part->end(), [](auto extent) { return extent != 1; })) {
      problems_.Add("mask " + Quoted(mask.name) + " is " + TypeText(mask) +
                    ", allowed is one element for every token");
      return;
    }
    if (!layout_.number_mask) return;
    const std::uint64_t largest = std::min(layout_.room.most_entries, layout_.row_length);
    if (largest <= LargestNumber(mask.dataType)) return;
    problems_.Add("mask " + Quoted(mask.name) + " is " + TypeText(mask) +
                  ", which cannot number up to " + std::to_string(largest) +
                  " entries of a row: it needs a wider type, or maxValidNum at most " +
                  std::to_string(LargestNumber(mask.dataType)));
  }

  void CheckUnpackInfo() {
    if (!layout_.unpack_info) return;
    const InputDesc& info = inputs_[*layout_.unpack_info];
    if (layout_.row_length <= LargestNumber(info.dataType)) return;
    problems_.Add("input " + Quoted(info.name) + " is " + TypeText(info) +
                  ", which cannot hold the length of a row, " + std::to_string(layout_.row_length) +
                  ": it needs a wider type");
  }

  void FillRoom() {
    PackRoom& room = layout_.room;
    layout_.crosses_rows = !config_.disableDataAcrossRows;
    room.rows = layout_.crosses_rows ? 1 : rows_;
    room.row_length = layout_.crosses_rows ? Tokens() : layout_.row_length;
    room.delimiter = config_.delimiterNum;
    room.algorithm = config_.algo;
  }

  const std::vector<InputDesc>& inputs_;
  const std::vector<OutputDesc>& outputs_;
  const PackRunnerConfig& config_;
  ProblemList problems_;
  PackLayout layout_;
  std::uint64_t rows_ = 0;
  std::optional<std::uint64_t> places_;
};

}  // namespace

PackLayout MakePackLayout(const std::vector<InputDesc>& inputs,
                          const std::vector<OutputDesc>& outputs, const PackRunnerConfig& config) {
  return LayoutBuilder(inputs, outputs, config).Build();
}

}  // namespace poprt::runtime
