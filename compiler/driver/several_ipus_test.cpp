// Programs for several IPUs: from placed nodes to the plan and the container.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "compiler/driver/compile.hpp"
#include "compiler/driver/convert.hpp"
#include "compiler/frontend/model_text.hpp"
#include "popef/Model.hpp"

namespace poprt::driver {
namespace {

using frontend::InputText;
using frontend::IntAttribute;
using frontend::NodeText;
using frontend::OutputText;
using testing::ElementsAre;
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

Compiled Compile(std::int64_t num_ipus, std::int64_t auto_sharding = 0,
                 const std::string& graph = TwoStages()) {
  ModelOptions model;
  model.bytes = frontend::ModelBytes(graph);
  const Progress progress = [](const std::string&, int, int) {};
  Compiled compiled;
  const Log warn = [&](const std::string& text) { compiled.warnings.push_back(text); };
  auto converted = Convert({model}, false, progress, warn);
  EXPECT_TRUE(converted.ok()) << converted.status();
  compiler::CompilerOptions options;
  options.numIpus = num_ipus;
  options.autoSharding = auto_sharding;
  std::stringstream container;
  compiled.report = CompileToStream(*std::move(converted), options, container, progress, warn);
  compiled.container = container.str();
  return compiled;
}

std::uint32_t NumIpusOf(const std::string& container) {
  auto reader = std::make_shared<popef::Reader>();
  reader->parseStream(std::make_shared<std::istringstream>(container));
  return popef::ModelBuilder(reader).createModel()->metadata.numIpus();
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
  EXPECT_THAT(
      std::string(one.report.status().message()),
      testing::HasSubstr("node 'sin' (Sin) is placed on IPU 1, num_ipus is 1: raise it to 2"));
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

TEST(SeveralIpus, AutoShardingDoesNotMovePlacedNodes) {
  EXPECT_THAT(std::string(Compile(2, 2).report.status().message()),
              testing::HasSubstr("node 'abs' (Abs) says where it runs, and auto_sharding is to "
                                 "find that: leave out one of the two"));
}

}  // namespace
}  // namespace poprt::driver
