// Weights as variables: from ONNX to results on the model device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <sstream>

#include "compiler/driver/compile.hpp"
#include "compiler/driver/convert.hpp"
#include "compiler/frontend/model_text.hpp"
#include "popef/Model.hpp"
#include "runtime/device/model_device.hpp"

namespace poprt::driver {
namespace {

using frontend::FloatsText;
using frontend::InputText;
using frontend::IntAttribute;
using frontend::NodeText;
using frontend::OutputText;
using testing::ElementsAre;
using testing::IsEmpty;

using Values = std::vector<float>;
using Named = std::map<std::string, Values>;

std::string Compile(const std::vector<std::string>& graphs, bool constant_weights,
                    const std::string& precision = "fp32") {
  std::vector<ModelOptions> models;
  for (const std::string& graph : graphs) {
    ModelOptions& model = models.emplace_back();
    model.bytes = frontend::ModelBytes(graph);
    model.precision = precision;
    model.constant_weights = constant_weights;
  }
  const Progress progress = [](const std::string&, int, int) {};
  auto converted = Convert(models, graphs.size() > 1, progress, [](const std::string&) {});
  EXPECT_TRUE(converted.ok()) << converted.status();
  if (!converted.ok()) return "";
  compiler::CompilerOptions options;
  options.constantWeights = constant_weights;
  std::stringstream container;
  const auto report =
      CompileToStream(*std::move(converted), options, container, progress, [](const auto&) {});
  EXPECT_TRUE(report.ok()) << report.status();
  return container.str();
}

/// A container on a device.
class Loaded {
 public:
  explicit Loaded(const std::string& container) {
    auto reader = std::make_shared<popef::Reader>();
    reader->parseStream(std::make_shared<std::istringstream>(container));
    model_ = popef::ModelBuilder(reader).createModel();
    const popef::PayloadView view = model_->executable.view();
    image_ = std::make_shared<device::Image>(
        device::Image{.owner = view.owner, .payload = program::ParsePayload(view.bytes())});
    program_ = device::MakeModelDevice(0)->Load(image_);
  }

  const popef::Model& model() const { return *model_; }
  const std::vector<program::Variable>& variables() const {
    return image_->payload.program.variables;
  }

  std::vector<std::string> VariableNames() const {
    std::vector<std::string> names;
    for (const program::Variable& variable : variables()) names.push_back(variable.name);
    return names;
  }

  /// The load program with the tensor data of the container.
  Loaded& Load() {
    std::vector<const void*> sources;
    for (const program::Variable& variable : variables()) {
      for (const popef::TensorReader& tensor : model_->tensors) {
        if (tensor.info.name() == variable.name) sources.push_back(tensor.view().data);
      }
    }
    EXPECT_EQ(sources.size(), variables().size());
    program_->LoadVariables(sources);
    return *this;
  }

  Loaded& Update(const Named& values) {
    std::vector<const void*> sources(variables().size(), nullptr);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto at = values.find(variables()[i].name);
      if (at != values.end()) sources[i] = at->second.data();
    }
    program_->LoadVariables(sources);
    return *this;
  }

  Named Save() {
    Named values;
    std::vector<void*> targets;
    for (const program::Variable& variable : variables()) {
      Values& target = values[variable.name];
      target.resize(variable.type.bytes() / sizeof(float));
      targets.push_back(target.data());
    }
    program_->SaveVariables(targets);
    return values;
  }

  Values Run(const std::vector<Values>& inputs, std::size_t index = 0) {
    const program::Branch& branch = image_->payload.program.branches[index];
    std::vector<const void*> from;
    for (const Values& input : inputs) from.push_back(input.data());
    EXPECT_EQ(from.size(), branch.inputs.size());
    Values result(branch.slots[branch.outputs[0].slot].type.bytes() / sizeof(float));
    std::vector<void*> to(branch.outputs.size(), nullptr);
    to[0] = result.data();
    std::vector<std::int64_t> extents(to.size());
    program_->Run(index, from, to, extents);
    return result;
  }

 private:
  std::unique_ptr<popef::Model> model_;
  std::shared_ptr<device::Image> image_;
  std::unique_ptr<device::LoadedProgram> program_;
};

/// y = x W + b.
std::string Linear(const Values& w = {1, 2, 3, 4, 5, 6}, const Values& b = {10, 20, 30}) {
  return InputText("x", {"1", "2"}) + FloatsText("w", w, {2, 3}) + FloatsText("b", b, {3}) +
         NodeText("MatMul", {"x", "w"}, {"p"}) + NodeText("Add", {"p", "b"}, {"y"}) +
         OutputText("y");
}

void ExpectNear(const Values& found, const Values& wanted, float tolerance = 1e-5F) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], wanted[i], tolerance * (1 + std::abs(wanted[i]))) << i;
  }
}

TEST(VariablesTest, ResultsAreThoseOfConstants) {
  const std::string container = Compile({Linear()}, false);
  Loaded variable(container);
  EXPECT_THAT(variable.VariableNames(), ElementsAre("w", "b"));
  EXPECT_EQ(variable.Load().Run({{1, 2}}), (Values{19, 32, 45}));
  Loaded constant(Compile({Linear()}, true));
  EXPECT_EQ(constant.Run({{1, 2}}), (Values{19, 32, 45}));
  EXPECT_EQ(Compile({Linear()}, false), container);  // the same bytes
}

TEST(VariablesTest, NewValuesCountFromTheNextRun) {
  Loaded loaded(Compile({Linear()}, false));
  EXPECT_EQ(loaded.Load().Run({{1, 2}}), (Values{19, 32, 45}));
  EXPECT_EQ(loaded.Update({{"b", {0, 0, 1}}}).Run({{1, 2}}), (Values{9, 12, 16}));
  EXPECT_EQ(loaded.Update({{"w", {1, 0, 0, 0, 1, 0}}}).Run({{1, 2}}), (Values{1, 2, 1}));
  EXPECT_EQ(loaded.Load().Run({{1, 2}}), (Values{19, 32, 45}));
}

TEST(VariablesTest, SavesWhatWasLoaded) {
  Loaded loaded(Compile({Linear()}, false));
  EXPECT_EQ(loaded.Load().Save(), (Named{{"w", {1, 2, 3, 4, 5, 6}}, {"b", {10, 20, 30}}}));
  loaded.Update({{"b", {7, 8, 9}}});
  loaded.Run({{1, 2}});
  EXPECT_EQ(loaded.Save().at("b"), (Values{7, 8, 9}));
}

TEST(VariablesTest, ContainersHaveAnchorsAndTensorData) {
  const Loaded loaded(Compile({Linear()}, false));
  const popef::Model& model = loaded.model();
  std::vector<std::string> anchors;
  for (const popef::Anchor& anchor : model.metadata.anchors()) {
    std::ostringstream text;
    text << anchor.name() << ' ' << anchor.handle() << ' '
         << (anchor.type() == popef::TensorType::INPUT ? "in" : "out") << ' '
         << anchor.programs().at(0) << ' ' << anchor.tensorInfo().sizeInBytes();
    anchors.push_back(text.str());
  }
  EXPECT_THAT(anchors,
              ElementsAre("x h2d_x in 1 8", "y anchor_d2h_y out 1 12", "w h2d_w in 0 24",
                          "w weight_d2h_w out 2 24", "b h2d_b in 0 12", "b weight_d2h_b out 2 12"));
  EXPECT_THAT(model.metadata.programFlow().load(), ElementsAre(0));
  EXPECT_THAT(model.metadata.programFlow().main(), ElementsAre(1));
  EXPECT_THAT(model.metadata.programFlow().save(), ElementsAre(2));
  ASSERT_EQ(model.tensors.size(), 2U);
  EXPECT_EQ(model.tensors[1].info.name(), "b");
  EXPECT_EQ(model.tensors[1].info.tensorInfo(), popef::TensorInfo(popef::DataType::F32, {3}));
}

TEST(VariablesTest, ConstantWeightsAreNoVariables) {
  const Loaded loaded(Compile({Linear()}, true));
  EXPECT_THAT(loaded.variables(), IsEmpty());
  EXPECT_THAT(loaded.model().tensors, IsEmpty());
  EXPECT_EQ(loaded.model().metadata.anchors().size(), 2U);
}

TEST(VariablesTest, ExecutablesDoNotDependOnTheValues) {
  const Loaded one(Compile({Linear()}, false));
  Loaded other(Compile({Linear({1, 1, 1, 1, 1, 1}, {0, 0, 0})}, false));
  EXPECT_EQ(one.model().executable.name, other.model().executable.name);
  EXPECT_EQ(other.Load().Run({{1, 2}}), (Values{3, 3, 3}));
}

TEST(VariablesTest, WeightsThatMakeNoDifferenceStay) {
  // Neutral, equal and powers of two: passes on constants would do without them.
  const std::string graph =
      InputText("x", {"2"}) + FloatsText("zeros", {-0.0F, -0.0F}, {2}) +
      FloatsText("more_zeros", {-0.0F, -0.0F}, {2}) + FloatsText("ones", {1, 1}, {2}) +
      FloatsText("twos", {2, 2}, {2}) + NodeText("Add", {"x", "zeros"}, {"a"}) +
      NodeText("Mul", {"a", "ones"}, {"b"}) + NodeText("Div", {"b", "twos"}, {"c"}) +
      NodeText("Add", {"c", "more_zeros"}, {"d"}) + NodeText("Pow", {"d", "twos"}, {"y"}) +
      OutputText("y");
  Loaded loaded(Compile({graph}, false));
  EXPECT_THAT(loaded.VariableNames(), ElementsAre("zeros", "more_zeros", "ones", "twos"));
  EXPECT_EQ(loaded.Load().Run({{4, 6}}), (Values{4, 9}));
  loaded.Update({{"zeros", {2, 0}}, {"more_zeros", {1, 1}}, {"ones", {1, 2}}, {"twos", {2, 3}}});
  EXPECT_EQ(loaded.Run({{4, 6}}), (Values{16, 125}));
}

TEST(VariablesTest, FusedModelsHaveVariablesOfTheirOwn) {
  const std::vector<std::string> graphs{Linear(), Linear()};
  Loaded loaded(Compile(graphs, false));
  EXPECT_THAT(loaded.VariableNames(), ElementsAre("graph0/w", "graph0/b", "graph1/w", "graph1/b"));
  loaded.Load().Update({{"graph1/b", {1, 2, 3}}});
  EXPECT_EQ(loaded.Run({{1, 2}}, 0), (Values{19, 32, 45}));
  EXPECT_EQ(loaded.Run({{1, 2}}, 1), (Values{10, 14, 18}));
}

TEST(VariablesTest, HalfPrecisionHasHalfVariables) {
  const Loaded loaded(Compile({Linear()}, false, "fp16"));
  ASSERT_THAT(loaded.VariableNames(), ElementsAre("w", "b"));
  EXPECT_EQ(loaded.variables()[0].type, (TensorType{ElementType::kFloat16, {2, 3}}));
}

TEST(VariablesTest, EveryKindOfLayerTakesThem) {
  const auto some = [](std::size_t count) {
    Values values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>((i * 7 + count) % 11) * 0.25F - 1;
    }
    return values;
  };
  const Values x = some(32);
  const std::string graph =
      InputText("x", {"1", "2", "4", "4"}) + FloatsText("conv_w", some(54), {3, 2, 3, 3}) +
      FloatsText("conv_b", some(3), {3}) + FloatsText("scale", some(3), {3}) +
      FloatsText("shift", some(3), {3}) + FloatsText("mean", some(3), {3}) +
      FloatsText("variance", {1, 2, 3}, {3}) + FloatsText("depth_w", some(12), {3, 1, 2, 2}) +
      FloatsText("gemm_w", some(15), {5, 3}) + FloatsText("gemm_b", some(5), {5}) +
      FloatsText("norm_w", some(5), {5}) + FloatsText("norm_b", some(5), {5}) +
      FloatsText("lstm_w", some(40), {1, 8, 5}) + FloatsText("lstm_r", some(16), {1, 8, 2}) +
      NodeText("Conv", {"x", "conv_w", "conv_b"}, {"c"}) +
      NodeText("BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, {"n"}) +
      NodeText("Relu", {"n"}, {"r"}) +
      NodeText("Conv", {"r", "depth_w"}, {"d"}, IntAttribute("group", 3)) +
      NodeText("Flatten", {"d"}, {"f"}) +
      NodeText("Gemm", {"f", "gemm_w", "gemm_b"}, {"g"}, IntAttribute("transB", 1)) +
      NodeText("LayerNormalization", {"g", "norm_w", "norm_b"}, {"l"}) +
      NodeText("Unsqueeze", {"l", "axes"}, {"s"}) + frontend::IntsText("axes", {0}, {1}) +
      NodeText("LSTM", {"s", "lstm_w", "lstm_r"}, {"y"}, IntAttribute("hidden_size", 2)) +
      OutputText("y");
  Loaded constant(Compile({graph}, true));
  Loaded variable(Compile({graph}, false));
  EXPECT_THAT(variable.VariableNames(),
              testing::UnorderedElementsAre("conv_w", "conv_b", "scale", "shift", "mean",
                                            "variance", "depth_w", "gemm_w", "gemm_b", "norm_w",
                                            "norm_b", "lstm_w", "lstm_r"));
  const Values wanted = constant.Run({x});
  ExpectNear(variable.Load().Run({x}), wanted, 1e-4F);
  variable.Update({{"gemm_b", {1, -1, 1, -1, 1}}});
  EXPECT_NE(variable.Run({x}), wanted);
}

TEST(VariablesTest, WeightsInsideControlFlow) {
  const auto region = [](const std::string& name, const std::string& body) {
    return "attribute { name: \"" + name + "\" type: GRAPH g { name: \"" + name + "\" " + body +
           "} } ";
  };
  const std::string graph =
      InputText("x", {"2"}) + FloatsText("w", {1, 2}, {2}) + FloatsText("limit", {0}, {}) +
      NodeText("ReduceSum", {"x"}, {"s"}, IntAttribute("keepdims", 0)) +
      NodeText("Greater", {"s", "limit"}, {"cond"}) +
      NodeText("If", {"cond"}, {"y"},
               region("then_branch", NodeText("Mul", {"x", "w"}, {"a"}) + OutputText("a")) +
                   region("else_branch",
                          FloatsText("v", {5, 6}, {2}) + NodeText("Add", {"x", "v"}, {"b"}) +
                              NodeText("Add", {"b", "w"}, {"c"}) + OutputText("c"))) +
      OutputText("y");
  Loaded loaded(Compile({graph}, false));
  EXPECT_THAT(loaded.VariableNames(), testing::UnorderedElementsAre("w", "v"));
  loaded.Load();
  EXPECT_EQ(loaded.Run({{1, 2}}), (Values{1, 4}));
  EXPECT_EQ(loaded.Run({{-1, -2}}), (Values{5, 6}));
  loaded.Update({{"w", {10, 20}}});
  EXPECT_EQ(loaded.Run({{1, 2}}), (Values{10, 40}));
  EXPECT_EQ(loaded.Run({{-1, -2}}), (Values{14, 24}));
}

}  // namespace
}  // namespace poprt::driver
