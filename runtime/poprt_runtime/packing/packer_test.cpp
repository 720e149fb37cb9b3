#include "runtime/poprt_runtime/packing/packer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace poprt::runtime {
namespace {

using popef::DataType;
using testing::ElementsAre;
using Ints = std::vector<std::int32_t>;

DataDesc Desc(const std::string& name, std::vector<std::int64_t> shape,
              DataType type = DataType::S32) {
  const popef::TensorInfo info(type, shape);
  return {name, info.sizeInBytes(), shape, type};
}

PackRunnerConfig Config() { return PackRunnerConfig(1000, 0, "ids"); }

ConstTensorMemoryView View(const Ints& values) {
  return {values.data(), values.size() * sizeof(std::int32_t)};
}
TensorMemoryView View(Ints& values) {
  return {values.data(), values.size() * sizeof(std::int32_t)};
}

template <typename Buffer>
Ints Content(std::span<const Buffer> buffers, std::string_view name) {
  for (const Buffer& buffer : buffers) {
    if (buffer.name != name) continue;
    Ints values(buffer.bytes / sizeof(std::int32_t));
    std::memcpy(values.data(), buffer.data, buffer.bytes);
    return values;
  }
  return {};
}

std::string LayoutError(const std::vector<DataDesc>& inputs, const std::vector<DataDesc>& outputs,
                        const PackRunnerConfig& config) {
  try {
    MakePackLayout(inputs, outputs, config);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

/// Composes the entries as one pack.
class PackerTest : public testing::Test {
 protected:
  void Make(const std::vector<DataDesc>& inputs, const std::vector<DataDesc>& outputs,
            const PackRunnerConfig& config) {
    layout_ = MakePackLayout(inputs, outputs, config);
    packer_.emplace(layout_);
    plan_.emplace(layout_.room);
  }

  void Add(const InputMemoryView& inputs, const OutputMemoryView& outputs) {
    entries_.push_back(MakePackEntry(layout_, inputs, outputs));
    ASSERT_TRUE(plan_->Add(entries_.back().length));
  }

  std::string EntryError(const InputMemoryView& inputs, const OutputMemoryView& outputs) {
    try {
      MakePackEntry(layout_, inputs, outputs);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  Ints Input(std::string_view name) { return Content(packer_->inputs(), name); }

  PackLayout layout_;
  std::optional<Packer> packer_;
  std::optional<PackPlan> plan_;
  std::vector<PackEntry> entries_;
};

TEST_F(PackerTest, EndToEndEntriesCrossRows) {
  Make({Desc("ids", {2, 4}), Desc("unpack_info", {5}), Desc("bias", {5, 2})},
       {Desc("y", {2, 4}), Desc("z", {5, 3})}, Config());
  const Ints a{1, 2, 3}, b{4, 5}, c{6}, ones{1, 1}, twos{2, 2}, threes{3, 3}, zeros(5);
  Ints y(8), z(3);
  const OutputMemoryView outputs{{"y", View(y)}, {"z", View(z)}};
  Add({{"ids", View(a)}, {"bias", View(ones)}, {"unpack_info", View(zeros)}}, outputs);
  Add({{"ids", View(b)}, {"bias", View(twos)}}, outputs);
  Add({{"ids", View(c)}, {"bias", View(threes)}}, outputs);
  packer_->Compose(entries_, *plan_);
  EXPECT_EQ(Input("ids"), (Ints{1, 2, 3, 4, 5, 6, 0, 0}));
  EXPECT_EQ(Input("unpack_info"), (Ints{3, 2, 1, 0, 0}));
  EXPECT_EQ(Input("bias"), (Ints{1, 1, 2, 2, 3, 3, 0, 0, 0, 0}));
}

TEST_F(PackerTest, SingleRowModeNumbersTheMaskAndTellsWhereEntriesBegin) {
  PackRunnerConfig config = Config();
  config.enableSingleRowMode("mask", "starts", 1);
  config.algo = PackAlgorithm::FirstFit;
  Make({Desc("ids", {2, 6}), Desc("mask", {2, 6}), Desc("starts", {4})}, {Desc("y", {4, 2})},
       config);
  const std::array<Ints, 4> ids{Ints{1, 2, 3}, Ints{4, 5, 6, 7, 8}, Ints{9}, Ints{10}};
  const std::array<Ints, 4> masks{Ints{1, 1, 1}, Ints{1, 1, 1, 1, 1}, Ints{1}, Ints{0}};
  std::array<Ints, 4> y;
  for (std::size_t i = 0; i < 3; ++i) {
    y[i].resize(2);
    Add({{"ids", View(ids[i])}, {"mask", View(masks[i])}}, {{"y", View(y[i])}});
  }
  packer_->Compose(entries_, *plan_);
  EXPECT_EQ(Input("ids"), (Ints{1, 2, 3, 0, 9, 0, 4, 5, 6, 7, 8, 0}));
  EXPECT_EQ(Input("mask"), (Ints{1, 1, 1, 0, 2, 0, 1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(Input("starts"), (Ints{4, 2, 6, 0}));
  Ints results{1, 2, 3, 4, 5, 6, 7, 8};
  std::memcpy(packer_->outputs()[0].data, results.data(), packer_->outputs()[0].bytes);
  packer_->CopyBack(entries_);
  EXPECT_EQ(y[0], (Ints{1, 2}));  // by the order in which entries lie: 0, 2, 1
  EXPECT_EQ(y[1], (Ints{5, 6}));
  EXPECT_EQ(y[2], (Ints{3, 4}));
}

TEST_F(PackerTest, PaddingIsLeftOut) {
  PackRunnerConfig config = Config();
  config.enablePaddingRemovePattern("mask", {"ids"});
  Make({Desc("ids", {1, 6, 2}), Desc("mask", {1, 6}), Desc("types", {1, 6})}, {Desc("y", {1, 6})},
       config);
  const Ints ids{1, 1, 2, 2, 3, 3, 4, 4}, mask{1, 0, 1, 0}, types{7, 8};
  const Ints other{5, 5}, one{1}, nine{9};
  Ints y(4, -1), z(1);
  Add({{"ids", View(ids)}, {"mask", View(mask)}, {"types", View(types)}}, {{"y", View(y)}});
  Add({{"ids", View(other)}, {"mask", View(one)}, {"types", View(nine)}}, {{"y", View(z)}});
  packer_->Compose(entries_, *plan_);
  EXPECT_EQ(Input("ids"), (Ints{1, 1, 3, 3, 5, 5, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Input("mask"), (Ints{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(Input("types"), (Ints{7, 8, 9, 0, 0, 0}));
  const Ints results{10, 20, 30, 0, 0, 0};
  std::memcpy(packer_->outputs()[0].data, results.data(), packer_->outputs()[0].bytes);
  packer_->CopyBack(entries_);
  EXPECT_EQ(y, (Ints{10, 20, -1, -1}));
  EXPECT_EQ(z, Ints{30});

  const Ints long_types{7, 8, 9, 10}, empty(4);
  EXPECT_EQ(EntryError({{"ids", View(ids)}, {"mask", View(mask)}, {"types", View(long_types)}}, {}),
            "input 'types' has 4 tokens, but input 'mask' has 2 without padding");
  EXPECT_THAT(EntryError({{"ids", View(ids)}, {"mask", View(empty)}, {"types", View(types)}}, {}),
              testing::HasSubstr("the request has no tokens: its mask is 0 everywhere"));
}

TEST_F(PackerTest, MasksOfFloatsAreNumbered) {
  for (const DataType type : {DataType::F16, DataType::F32, DataType::F64, DataType::S64}) {
    PackRunnerConfig config = Config();
    config.enableSingleRowMode("mask");
    entries_.clear();
    Make({Desc("ids", {1, 4}), Desc("mask", {1, 4}, type)}, {Desc("y", {1, 4})}, config);
    const Ints ids{1, 2};
    const std::uint64_t bytes = popef::sizeInBytes(type);
    const std::vector<unsigned char> mask(2 * bytes, 1);
    Ints y(2);
    for (int i = 0; i < 2; ++i) {
      Add({{"ids", View(ids)}, {"mask", {mask.data(), mask.size()}}}, {{"y", View(y)}});
    }
    packer_->Compose(entries_, *plan_);
    const auto* packed = static_cast<const std::byte*>(packer_->inputs()[1].data);
    std::array<double, 4> values{};
    for (std::size_t i = 0; i < 4; ++i) {
      const std::byte* element = packed + i * bytes;
      if (type == DataType::F16) values[i] = std::to_integer<int>(element[1]) == 0x3C ? 1 : 2;
      float single = 0;
      std::int64_t integer = 0;
      if (type == DataType::F32) values[i] = (std::memcpy(&single, element, 4), single);
      if (type == DataType::F64) std::memcpy(&values[i], element, 8);
      if (type == DataType::S64) {
        std::memcpy(&integer, element, 8);
        values[i] = static_cast<double>(integer);
      }
    }
    EXPECT_THAT(values, ElementsAre(1, 1, 2, 2)) << type;
  }
}

TEST_F(PackerTest, NamesEverythingThatIsWrongWithARequest) {
  PackRunnerConfig config = Config();
  config.enableSingleRowMode("mask");
  Make({Desc("ids", {2, 4}), Desc("mask", {2, 4}), Desc("types", {2, 4})}, {Desc("y", {2, 4})},
       config);
  const Ints three{1, 2, 3}, two{1, 2}, five{1, 2, 3, 4, 5};
  Ints y(2);
  EXPECT_EQ(EntryError({{"ids", View(three)}, {"position", View(two)}}, {}),
            "input 'position' does not exist, input names are: ids, mask, types\n"
            "mask input 'mask' is missing\n"
            "input 'types' is missing");
  EXPECT_EQ(EntryError({{"ids", View(three)}, {"mask", View(two)}, {"types", View(two)}}, {}),
            "input 'mask' has 2 tokens, but input 'ids' has 3\n"
            "input 'types' has 2 tokens, but input 'ids' has 3");
  EXPECT_EQ(EntryError({{"ids", View(five)}, {"mask", View(five)}, {"types", View(five)}}, {}),
            "the request has 5 tokens, a row of the model has 4");
  EXPECT_EQ(EntryError({{"ids", {three.data(), 7}}, {"mask", View(two)}, {"types", View(two)}}, {}),
            "input 'ids' has 7 bytes, allowed is a multiple of 4, the bytes of a token");
  const InputMemoryView good{{"ids", View(three)}, {"mask", View(three)}, {"types", View(three)}};
  EXPECT_EQ(EntryError(good, {{"y", View(y)}, {"z", View(y)}}),
            "output 'z' does not exist, output names are: y\n"
            "output 'y' has 8 bytes, allowed are 12 or more");
  EXPECT_EQ(EntryError(good, {}), "the request has no outputs, output names are: y");
}

TEST(PackLayoutTest, NamesEverythingThatIsWrongWithTheConfiguration) {
  const std::vector<DataDesc> inputs{Desc("ids", {2, 300}), Desc("mask", {2, 300}, DataType::U8),
                                     Desc("scale", {3})};
  const std::vector<DataDesc> outputs{Desc("y", {2, 300})};
  PackRunnerConfig config(0, -1);
  config.delimiterNum = -2;
  config.compileBatchSize = 0;
  config.enablePaddingRemove = true;
  EXPECT_EQ(
      LayoutError(inputs, outputs, config),
      "timeoutInMicroSeconds is 0, allowed is more than 0: how long the first entry of a pack "
      "waits for others\n"
      "maxValidNum is -1, allowed is 0 (no limit) or more\n"
      "delimiterNum is -2, allowed is 0 or more\n"
      "compileBatchSize is 0, allowed is -1 (the first dimension of the inputs) or more than "
      "0\n"
      "enablePaddingRemove needs maskName, the input that tells padding from tokens");
  config = PackRunnerConfig(1, 0, "idz", "info");
  config.maskName = "mosk";
  EXPECT_EQ(LayoutError(inputs, outputs, config),
            "unpackInfoInputName is 'info', which is no input of the model: ids, mask, scale\n"
            "maskName is 'mosk', which is no input of the model: ids, mask, scale\n"
            "dynamicInputName is 'idz', which is no input of the model: ids, mask, scale");
  config = PackRunnerConfig(1, 290, "ids");
  config.enableSingleRowMode("mask");
  config.dynamicGroup = {"scale", "q"};
  EXPECT_EQ(LayoutError(inputs, {Desc("y", {2, 2})}, config),
            "maxValidNum is 290, but the model has places for 3 entries\n"
            "input 'scale' is S32[3], allowed is a part for every token, [2, 300, ...], or for "
            "every entry of a pack, [290, ...]\n"
            "output 'y' is S32[2, 2], allowed is a part for every token, [2, 300, ...], or for "
            "every entry of a pack, [290, ...]\n"
            "dynamicGroup names input 'scale', which is S32[3] and has no tokens to leave out\n"
            "a name of dynamicGroup is 'q', which is no input of the model: ids, mask, scale\n"
            "mask 'mask' is U8[2, 300], which cannot number up to 290 entries of a row: it needs a "
            "wider type, or maxValidNum at most 255");
}

TEST(PackLayoutTest, FindsRows) {
  PackRunnerConfig config(1);
  const PackLayout found =
      MakePackLayout({Desc("scale", {7}), Desc("ids", {3, 5, 2})}, {Desc("y", {15, 4})}, config);
  EXPECT_EQ(found.length_input, 1U);
  EXPECT_EQ(found.row_length, 5U);
  EXPECT_EQ(found.room.row_length, 15U);
  EXPECT_EQ(found.room.most_entries, 7U);
  EXPECT_EQ(found.inputs[0].role, PackRole::kEntries);
  EXPECT_EQ(found.inputs[1].part_bytes, 8U);
  EXPECT_THAT(found.outputs[0].part_shape, ElementsAre(4));

  config.dynamicInputName = "ids";
  EXPECT_EQ(MakePackLayout({Desc("ids", {12})}, {Desc("y", {12})}, config).row_length, 12U);
  config.compileBatchSize = 3;
  config.disableDataAcrossRows = true;
  const PackLayout rows = MakePackLayout({Desc("ids", {12})}, {Desc("y", {12})}, config);
  EXPECT_EQ(rows.room.rows, 3U);
  EXPECT_EQ(rows.room.row_length, 4U);
  config.compileBatchSize = 5;
  EXPECT_EQ(
      LayoutError({Desc("ids", {12})}, {Desc("y", {12})}, config),
      "input 'ids' is S32[12], which has no rows of tokens, of which compileBatchSize says 5");
}

}  // namespace
}  // namespace poprt::runtime
