#include "compiler/frontend/proto/skim_model.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace poprt::frontend {
namespace {

onnx::ModelProto Model() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto* graph = model.mutable_graph();
  graph->set_name("g");
  graph->add_input()->set_name("x");
  onnx::TensorProto* raw = graph->add_initializer();
  raw->set_name("raw");
  raw->add_dims(3);
  raw->set_data_type(onnx::TensorProto::FLOAT);
  raw->set_raw_data(std::string(12, 'r'));
  onnx::TensorProto* external = graph->add_initializer();
  external->set_name("external");
  external->set_data_location(onnx::TensorProto::EXTERNAL);
  auto* location = external->add_external_data();
  location->set_key("location");
  location->set_value("weights.bin");
  onnx::TensorProto* numbers = graph->add_initializer();
  numbers->set_name("numbers");
  numbers->add_int64_data(7);
  numbers->add_float_data(7);
  onnx::NodeProto* node = graph->add_node();
  node->set_op_type("Constant");
  onnx::AttributeProto* value = node->add_attribute();
  value->set_f(2);
  value->mutable_t()->set_raw_data("kept");
  return model;
}

TEST(SkimModel, LeavesOutTheElementsOfInitializersOnly) {
  onnx::ModelProto expected = Model();
  onnx::ModelProto skimmed;
  ASSERT_TRUE(SkimModel(expected.SerializeAsString(), &skimmed));
  for (onnx::TensorProto& tensor : *expected.mutable_graph()->mutable_initializer()) {
    tensor.clear_raw_data();
    tensor.clear_int64_data();
    tensor.clear_float_data();
  }
  EXPECT_EQ(skimmed.SerializeAsString(), expected.SerializeAsString());
}

TEST(SkimModel, RefusesWhatIsTruncated) {
  const std::string bytes = Model().SerializeAsString();
  onnx::ModelProto model;
  int refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    // A prefix is a model if it ends between two fields of the outermost message.
    onnx::ModelProto parsed;
    const bool is_model = parsed.ParseFromString(bytes.substr(0, size));
    EXPECT_EQ(SkimModel(bytes.substr(0, size), &model), is_model) << size;
    if (!is_model) ++refused;
  }
  EXPECT_GT(refused, 100);
}

TEST(SkimModel, SurvivesAnyBytes) {
  const std::string bytes = Model().SerializeAsString();
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::string broken = bytes;
    for (int i = 0; i < 3; ++i) {
      broken[random() % broken.size()] = static_cast<char>(random() % 256);
    }
    onnx::ModelProto skimmed;
    onnx::ModelProto parsed;
    // Elements may be broken without notice, the rest not.
    if (parsed.ParseFromString(broken)) {
      EXPECT_TRUE(SkimModel(broken, &skimmed));
    } else {
      SkimModel(broken, &skimmed);
    }
  }
}

}  // namespace
}  // namespace poprt::frontend
