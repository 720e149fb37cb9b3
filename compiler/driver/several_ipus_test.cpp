// Programs for several IPUs: from placed nodes to the plan and the container.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/driver/compile.hpp"
#include "compiler/driver/convert.hpp"
#include "compiler/frontend/model_text.hpp"
#include "popef/Model.hpp"
#include "runtime/device/model_device.hpp"

namespace poprt::driver {
namespace {

using frontend::InputText;
using frontend::IntAttribute;
using frontend::NodeText;
using frontend::OutputText;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// y = Sin(Abs(x)), the two nodes on two IPUs.
std::string TwoStages() {
  const auto place = [](std::int64_t number) {
    return IntAttribute("__ipu_number", number) + IntAttribute("__pipeline_stage", number);
  };
  return InputText("x", {"64", "64"}) + OutputText("y") +
         NodeText("Abs", {"x"}, {"a"}, "name: \"abs\" " + place(0)) +
         NodeText("Sin", {"a"}, {"y"}, "name: \"sin\" " + place(1));
}

struct Compiled {
  absl::StatusOr<CompileReport> report = absl::UnknownError("");
  std::string container;
  std::vector<std::string> warnings;
};

Compiled CompileWith(const compiler::CompilerOptions& options, const std::string& graph) {
  ModelOptions model;
  model.bytes = frontend::ModelBytes(graph);
  const Progress progress = [](const std::string&, int, int) {};
  Compiled compiled;
  const Log warn = [&](const std::string& text) { compiled.warnings.push_back(text); };
  auto converted = Convert({model}, false, progress, warn);
  EXPECT_TRUE(converted.ok()) << converted.status();
  std::stringstream container;
  compiled.report = CompileToStream(*std::move(converted), options, container, progress, warn);
  compiled.container = container.str();
  return compiled;
}

Compiled Compile(std::int64_t num_ipus, std::int64_t auto_sharding = 0,
                 const std::string& graph = TwoStages()) {
  compiler::CompilerOptions options;
  options.numIpus = num_ipus;
  options.autoSharding = auto_sharding;
  return CompileWith(options, graph);
}

std::shared_ptr<popef::Model> ModelOf(const std::string& container) {
  auto reader = std::make_shared<popef::Reader>();
  reader->parseStream(std::make_shared<std::istringstream>(container));
  return popef::ModelBuilder(reader).createModel();
}

std::uint32_t NumIpusOf(const std::string& container) {
  return ModelOf(container)->metadata.numIpus();
}

/// A container on a device.
class Loaded {
 public:
  explicit Loaded(const std::string& container) : model_(ModelOf(container)) {
    const popef::PayloadView view = model_->executable.view();
    image_ = std::make_shared<device::Image>(
        device::Image{.owner = view.owner, .payload = program::ParsePayload(view.bytes())});
    program_ = device::MakeModelDevice(0)->Load(image_);
  }

  std::size_t num_stages() const { return program_->num_stages(); }

  /// Kernels and stages of the steps, "fused_elementwise 0 Sin 1".
  std::string Steps() const {
    std::string text;
    for (const program::Step& step : image_->payload.program.branches[0].steps) {
      text += (text.empty() ? "" : " ") + step.kernel + " " + std::to_string(step.stage);
    }
    return text;
  }

  /// The first output of the graph.
  std::vector<float> Run(const std::vector<float>& x) {
    const program::Branch& branch = image_->payload.program.branches[0];
    std::vector<float> y(branch.slots[branch.outputs[0].slot].type.bytes() / sizeof(float));
    const std::vector<const void*> inputs{x.data()};
    const std::vector<void*> outputs{y.data()};
    std::vector<std::int64_t> extents(1);
    program_->Run(0, inputs, outputs, extents);
    return y;
  }

 private:
  std::shared_ptr<popef::Model> model_;
  std::shared_ptr<device::Image> image_;
  std::unique_ptr<device::LoadedProgram> program_;
};

std::vector<float> Wave(std::size_t length) {
  std::vector<float> values(length);
  for (std::size_t i = 0; i < length; ++i) values[i] = std::sin(static_cast<float>(i));
  return values;
}

TEST(SeveralIpus, StagesRunWhereTheirNodesSay) {
  const Compiled compiled = Compile(2);
  ASSERT_TRUE(compiled.report.ok()) << compiled.report.status();
  EXPECT_THAT(compiled.warnings, IsEmpty());
  std::vector<std::string> operators;
  for (const ipu::OperatorPlan& op : compiled.report->ipu.graphs.at(0).operators) {
    operators.push_back(op.op + "@" + std::to_string(op.ipu) + "/" + std::to_string(op.stage));
  }
  EXPECT_THAT(operators, ElementsAre("HostLoad@0/0", "Abs@0/0", "IpuSend@0/0", "IpuReceive@1/1",
                                     "Sin@1/1", "HostStore@0/0", "HostStore@1/0"));
  EXPECT_EQ(compiled.report->ipu.memory.tiles.size(), 2U * 1472);
  EXPECT_EQ(NumIpusOf(compiled.container), 2U);
}

TEST(SeveralIpus, ThereAreAsManyAsTheOptionSays) {
  const Compiled one = Compile(1);
  EXPECT_EQ(one.report.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(one.report.status().message()),
              HasSubstr("node 'sin' (Sin) is placed on IPU 1, num_ipus is 1: raise it to 2"));
  const Compiled four = Compile(4);
  ASSERT_TRUE(four.report.ok()) << four.report.status();
  EXPECT_THAT(
      four.warnings,
      ElementsAre("num_ipus is 4, the nodes are placed on 2 IPUs: the others stay idle; "
                  "nodes say where they run by __ipu_number, and auto_sharding finds a place "
                  "for them"));
  EXPECT_EQ(NumIpusOf(four.container), 4U);
}

TEST(SeveralIpus, AutoShardingFindsStages) {
  const std::string graph = InputText("x", {"512", "512"}) + OutputText("y") +
                            NodeText("Sin", {"x"}, {"a"}) + NodeText("Cos", {"a"}, {"b"}) +
                            NodeText("Sin", {"b"}, {"c"}) + NodeText("Cos", {"c"}, {"y"});
  const Compiled compiled = Compile(1, 2, graph);
  ASSERT_TRUE(compiled.report.ok()) << compiled.report.status();
  EXPECT_THAT(compiled.warnings, IsEmpty());
  std::vector<std::uint32_t> stages;
  for (const ipu::OperatorPlan& op : compiled.report->ipu.graphs.at(0).operators) {
    if (op.op == "Sin" || op.op == "Cos") stages.push_back(op.stage);
  }
  EXPECT_THAT(stages, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(NumIpusOf(compiled.container), 2U);
}

TEST(SeveralIpus, StagesAreThoseOfTheRuntime) {
  const Compiled pipeline = Compile(2);
  ASSERT_TRUE(pipeline.report.ok()) << pipeline.report.status();
  Loaded loaded(pipeline.container);
  EXPECT_EQ(loaded.Steps(), "fused_elementwise 0 Sin 1");
  EXPECT_EQ(loaded.num_stages(), 2U);
  const std::string unplaced = InputText("x", {"64", "64"}) + OutputText("y") +
                               NodeText("Abs", {"x"}, {"a"}) + NodeText("Sin", {"a"}, {"y"});
  const Compiled serial = Compile(1, 0, unplaced);
  ASSERT_TRUE(serial.report.ok()) << serial.report.status();
  Loaded serial_loaded(serial.container);
  EXPECT_EQ(serial_loaded.num_stages(), 1U);
  const std::vector<float> x = Wave(64 * 64);
  EXPECT_EQ(loaded.Run(x), serial_loaded.Run(x));
}

TEST(SeveralIpus, AutoShardingMakesAPipelineOfTheRuntimeToo) {
  const std::string graph =
      InputText("x", {"512", "512"}) + OutputText("y") + NodeText("MatMul", {"x", "x"}, {"a"}) +
      NodeText("Softmax", {"a"}, {"b"}) + NodeText("MatMul", {"b", "x"}, {"c"}) +
      NodeText("Softmax", {"c"}, {"y"});
  const Compiled pipeline = Compile(1, 2, graph);
  ASSERT_TRUE(pipeline.report.ok()) << pipeline.report.status();
  const Compiled serial = Compile(1, 0, graph);
  ASSERT_TRUE(serial.report.ok()) << serial.report.status();
  Loaded loaded(pipeline.container);
  EXPECT_EQ(loaded.num_stages(), 2U);
  const std::vector<float> x = Wave(512 * 512);
  EXPECT_EQ(loaded.Run(x), Loaded(serial.container).Run(x));
}

/// y = Sin(Abs(x)), the second node on IPU 1, neither in a stage.
std::string TwoIpus() {
  return InputText("x", {"64", "64"}) + OutputText("y") + NodeText("Abs", {"x"}, {"a"}) +
         NodeText("Sin", {"a"}, {"y"}, "name: \"sin\" " + IntAttribute("__ipu_number", 1));
}

TEST(SeveralIpus, EnablePipeliningMakesIpusStages) {
  compiler::CompilerOptions options;
  options.numIpus = 2;
  EXPECT_EQ(Loaded(CompileWith(options, TwoIpus()).container).Steps(), "fused_elementwise 0 Sin 0");
  options.enablePipelining = true;
  EXPECT_EQ(Loaded(CompileWith(options, TwoIpus()).container).Steps(), "fused_elementwise 0 Sin 1");
  const std::string what_to_do =
      "by __ipu_number or --manual_sharding_config, or let --auto_sharding N find N stages";
  const std::string unplaced =
      InputText("x", {"64", "64"}) + OutputText("y") + NodeText("Abs", {"x"}, {"y"});
  EXPECT_EQ(
      CompileWith(options, unplaced).report.status().message(),
      "enable_pipelining is true and all nodes are on IPU 0: place some on others " + what_to_do);
  options.numIpus = 1;
  EXPECT_EQ(CompileWith(options, unplaced).report.status().message(),
            "enable_pipelining is true and num_ipus is 1: raise it and place nodes " + what_to_do);
}

TEST(SeveralIpus, VirtualGraphModeAutoShardsOverAllIpus) {
  const std::string graph = InputText("x", {"512", "512"}) + OutputText("y") +
                            NodeText("MatMul", {"x", "x"}, {"a"}) +
                            NodeText("MatMul", {"a", "x"}, {"y"});
  compiler::CompilerOptions options;
  options.numIpus = 2;
  EXPECT_EQ(Loaded(CompileWith(options, graph).container).num_stages(), 1U);
  options.virtualGraphMode = "auto";
  EXPECT_EQ(Loaded(CompileWith(options, graph).container).num_stages(), 2U);
}

TEST(SeveralIpus, APipelineHasOnlySoManyStages) {
  std::string graph = InputText("v0", {"4"}) + OutputText("v65");
  for (int i = 0; i < 65; ++i) {
    graph += NodeText(i % 2 == 0 ? "Sin" : "Cos", {"v" + std::to_string(i)},
                      {"v" + std::to_string(i + 1)}, IntAttribute("__pipeline_stage", i));
  }
  EXPECT_THAT(std::string(Compile(1, 0, graph).report.status().message()),
              HasSubstr("the nodes name 65 stages of a pipeline, allowed are 64"));
}

TEST(SeveralIpus, AutoShardingDoesNotMovePlacedNodes) {
  EXPECT_THAT(std::string(Compile(2, 2).report.status().message()),
              HasSubstr("node 'abs' (Abs) says where it runs, and auto_sharding is to "
                        "find that: leave out one of the two"));
}

}  // namespace
}  // namespace poprt::driver
