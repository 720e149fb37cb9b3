#include "compiler/frontend/frozen_input.hpp"

#include <gtest/gtest.h>
#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compiler/frontend/import.hpp"
#include "compiler/frontend/model_text.hpp"
#include "compiler/frontend/proto/tensor_proto.hpp"

namespace poprt::frontend {
namespace {

Tensor Ints64(const Shape& shape, const std::vector<std::int64_t>& values) {
  return Tensor::Of<std::int64_t>(ElementType::kInt64, shape, values);
}

Tensor Floats32(const Shape& shape, const std::vector<float>& values) {
  return Tensor::Of<float>(ElementType::kFloat32, shape, values);
}

ImportOptions Freeze(const std::string& name, HostValue value) {
  ImportOptions options;
  options.frozen_inputs[name] = std::move(value);
  return options;
}

const std::string kReshape = InputText("x", {"2", "3"}) + InputText("shape", {"rank"}, 7) +
                             OutputText("y") + NodeText("Reshape", {"x", "shape"}, {"y"});

TEST(FrozenInput, BecomesAConstant) {
  const auto model = ImportText(kReshape, 17, Freeze("shape", {Ints64({2}, {3, 2})}));
  EXPECT_EQ(TextOf(model),
            "graph m(x)\n  y = Reshape(x) shape=[3, 2] : float32[3, 2]\n  return y\n");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->frozen_inputs,
            (std::vector<std::pair<std::string, std::string>>{{"shape", "int64[2]"}}));
}

TEST(FrozenInput, EverythingFrozenIsComputed) {
  ImportOptions options = Freeze("shape", {Ints64({1}, {-1})});
  options.frozen_inputs["x"] = HostValue{Floats32({2, 3}, {1, 2, 3, 4, 5, 6})};
  const auto model = ImportText(kReshape, 17, options);
  ASSERT_TRUE(model.ok()) << ErrorOf(model);
  EXPECT_TRUE(model->graph.inputs.empty());
  EXPECT_EQ(*model->graph.ConstantOf(model->graph.outputs[0]), Floats32({6}, {1, 2, 3, 4, 5, 6}));
}

TEST(FrozenInput, ReportsAllThatIsWrong) {
  ImportOptions options = Freeze("shap", {Ints64({1}, {6})});
  options.frozen_inputs["x"] = HostValue{Floats32({3, 3}, std::vector<float>(9))};
  options.frozen_inputs["shape"] = HostValue{Floats32({2}, {3, 2})};
  EXPECT_EQ(ErrorOf(ImportText(kReshape, 17, options)),
            "m: input 'x' cannot be frozen: the given value is float32[3, 3], but the model "
            "declares float32[2, 3]\n"
            "m: input 'shape' cannot be frozen: the given value is float32[2], but the model "
            "declares int64[rank]\n"
            "m: --freeze_input names 'shap', which is no input of the model; did you mean 'shape'? "
            "(inputs: 'x', 'shape')");
}

TEST(FrozenInput, MustFitTheShapeThatIsAskedFor) {
  ImportOptions options = Freeze("shape", {Ints64({2}, {3, 2})});
  options.input_shapes["shape"] = {1};
  EXPECT_EQ(
      ErrorOf(ImportText(kReshape, 17, options)),
      "m: input 'shape' cannot be frozen: the given value is int64[2], but --input_shape asks "
      "for [1]");
}

TEST(FrozenInput, IsAskedForWhereNothingElseWorks) {
  const std::string sequence =
      "input { name: \"s\" type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } } "
      "} ";
  EXPECT_EQ(
      ErrorOf(ImportText(sequence + OutputText("n") + NodeText("SequenceLength", {"s"}, {"n"}))),
      "m: input 's' is a sequence, which a compiled model cannot take; give its value with "
      "--freeze_input s=FILE");
  EXPECT_EQ(
      ErrorOf(
          ImportText(InputText("t", {"2"}, 8) + OutputText("n") + NodeText("Size", {"t"}, {"n"}))),
      "m: input 't' is a tensor of strings, which a compiled model cannot take; give its value "
      "with --freeze_input t=FILE");
}

/// A folder of files that goes with the test.
class FrozenFileTest : public ::testing::Test {
 protected:
  FrozenFileTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("frozen_input_test_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~FrozenFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& bytes) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  static absl::StatusOr<ImportedModel> Import(const std::string& path) {
    ImportOptions options;
    options.frozen_inputs["shape"] = FrozenFile{path};
    return ImportText(kReshape, 17, options);
  }

  std::filesystem::path folder_;
};

std::string ShapeBytes() {
  onnx::TensorProto proto;
  TensorToProto(Ints64({2}, {3, 2}), &proto);
  return proto.SerializeAsString();
}

TEST_F(FrozenFileTest, ReadsProtobufAndNumpy) {
  EXPECT_TRUE(Import(Write("shape.pb", ShapeBytes())).ok());
  std::string npy = "\x93NUMPY\x01";
  npy += '\0';
  const std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n";
  npy += static_cast<char>(header.size());
  npy += '\0';
  npy += header;
  npy += std::string("\3\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16);
  EXPECT_TRUE(Import(Write("shape.npy", npy)).ok()) << ErrorOf(Import(Write("shape.npy", npy)));
}

TEST_F(FrozenFileTest, NamesFilesThatAreWrong) {
  const std::string missing = (folder_ / "none.pb").string();
  EXPECT_NE(ErrorOf(Import(missing)).find("m: input 'shape' cannot be frozen: "),
            std::string::npos);
  EXPECT_NE(ErrorOf(Import(missing)).find(missing), std::string::npos);
  const std::string text = Write("shape.txt", "3 2");
  EXPECT_EQ(ErrorOf(Import(text)), "m: input 'shape' cannot be frozen: '" + text +
                                       "' must be a .pb file (a TensorProto, SequenceProto or "
                                       "OptionalProto of ONNX) or a .npy file");
  const std::string truncated = Write("cut.pb", ShapeBytes().substr(0, 7));
  EXPECT_EQ(ErrorOf(Import(truncated)),
            "m: input 'shape' cannot be frozen: '" + truncated +
                "' is truncated or not an ONNX TensorProto, which the type of the input asks for");
  const std::string nothing = Write("empty.pb", "");
  EXPECT_EQ(ErrorOf(Import(nothing)), "m: input 'shape' cannot be frozen: '" + nothing +
                                          "' element type 0 is no ONNX element type");
  onnx::TensorProto proto;
  proto.set_data_type(onnx::TensorProto::INT64);
  proto.add_dims(2);
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  auto* location = proto.add_external_data();
  location->set_key("location");
  location->set_value("/etc/passwd");
  const std::string external = Write("external.pb", proto.SerializeAsString());
  EXPECT_EQ(ErrorOf(Import(external)), "m: input 'shape' cannot be frozen: '" + external +
                                           "' refers to external data, which is not allowed here");
}

TEST(FrozenProto, SequencesAndOptionals) {
  onnx::SequenceProto sequence;
  sequence.set_elem_type(onnx::SequenceProto::TENSOR);
  TensorToProto(Ints64({1}, {5}), sequence.add_tensor_values());
  TensorToProto(Ints64({}, {6}), sequence.add_tensor_values());
  onnx::TypeProto type;
  type.mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(7);
  const auto value = ParseFrozenProto(sequence.SerializeAsString(), type);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(Describe(*value), "sequence of 2 (int64[1], int64[])");
  EXPECT_TRUE(FitTo(*value, type).ok());

  onnx::TypeProto optional_type;
  *optional_type.mutable_optional_type()->mutable_elem_type() = type;
  const auto wrapped = FitTo(*value, optional_type);
  ASSERT_TRUE(wrapped.ok());
  EXPECT_EQ(Describe(*wrapped), "optional sequence of 2 (int64[1], int64[])");
  const auto empty = ParseFrozenProto("", optional_type);
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(Describe(*empty), "empty optional");

  type.mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  const auto misfit = FitTo(*value, type);
  ASSERT_FALSE(misfit.ok());
  EXPECT_EQ(misfit.status().message(),
            "has an element 0 that is int64[1], but the model declares float32");
  sequence.mutable_tensor_values(1)->set_data_type(99);
  EXPECT_EQ(ParseFrozenProto(sequence.SerializeAsString(), type).status().message(),
            "has an element 1 that element type 99 is no ONNX element type");
}

TEST(FrozenProto, NestingIsBounded) {
  onnx::SequenceProto sequence;
  sequence.set_elem_type(onnx::SequenceProto::SEQUENCE);
  onnx::TypeProto type;
  type.mutable_sequence_type();
  for (int i = 0; i < 500; ++i) {
    onnx::SequenceProto outer;
    outer.set_elem_type(onnx::SequenceProto::SEQUENCE);
    outer.add_sequence_values()->Swap(&sequence);
    sequence.Swap(&outer);
  }
  EXPECT_FALSE(ParseFrozenProto(sequence.SerializeAsString(), type).ok());
}

}  // namespace
}  // namespace poprt::frontend
