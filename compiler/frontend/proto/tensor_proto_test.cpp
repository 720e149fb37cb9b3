#include "compiler/frontend/proto/tensor_proto.hpp"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

namespace poprt::frontend {
namespace {

onnx::TensorProto Proto(int type, int count) {
  onnx::TensorProto proto;
  proto.set_data_type(type);
  proto.add_dims(count);
  return proto;
}

template <typename T>
std::vector<T> Values(const onnx::TensorProto& proto) {
  const absl::StatusOr<Tensor> tensor = TensorFromProto(proto, nullptr);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  if (!tensor.ok()) return {};
  EXPECT_EQ(sizeof(T), ElementSize(tensor->element()));
  return {tensor->as<T>().begin(), tensor->as<T>().end()};
}

template <typename T>
std::vector<T> FromInt32(int type) {
  onnx::TensorProto proto = Proto(type, 2);
  proto.add_int32_data(-1);
  proto.add_int32_data(100);
  return Values<T>(proto);
}

TEST(TensorProto, SmallTypesShareOneField) {
  EXPECT_EQ(FromInt32<std::int8_t>(onnx::TensorProto::INT8), (std::vector<std::int8_t>{-1, 100}));
  EXPECT_EQ(FromInt32<std::uint8_t>(onnx::TensorProto::UINT8),
            (std::vector<std::uint8_t>{255, 100}));
  EXPECT_EQ(FromInt32<std::int16_t>(onnx::TensorProto::INT16),
            (std::vector<std::int16_t>{-1, 100}));
  EXPECT_EQ(FromInt32<std::uint16_t>(onnx::TensorProto::UINT16),
            (std::vector<std::uint16_t>{65535, 100}));
  EXPECT_EQ(FromInt32<std::int32_t>(onnx::TensorProto::INT32),
            (std::vector<std::int32_t>{-1, 100}));
  EXPECT_EQ(FromInt32<std::uint8_t>(onnx::TensorProto::BOOL), (std::vector<std::uint8_t>{1, 1}));
  EXPECT_EQ(FromInt32<std::uint16_t>(onnx::TensorProto::FLOAT16),
            (std::vector<std::uint16_t>{65535, 100}));
  EXPECT_EQ(FromInt32<std::uint16_t>(onnx::TensorProto::BFLOAT16),
            (std::vector<std::uint16_t>{65535, 100}));
}

TEST(TensorProto, WideTypes) {
  onnx::TensorProto doubles = Proto(onnx::TensorProto::DOUBLE, 1);
  doubles.add_double_data(0.1);
  EXPECT_EQ(Values<double>(doubles), std::vector<double>{0.1});
  onnx::TensorProto unsigned64 = Proto(onnx::TensorProto::UINT64, 1);
  unsigned64.add_uint64_data(~std::uint64_t{0});
  EXPECT_EQ(Values<std::uint64_t>(unsigned64), std::vector<std::uint64_t>{~std::uint64_t{0}});
  onnx::TensorProto unsigned32 = Proto(onnx::TensorProto::UINT32, 1);
  unsigned32.add_uint64_data(4294967295U);
  EXPECT_EQ(Values<std::uint32_t>(unsigned32), std::vector<std::uint32_t>{4294967295U});
  onnx::TensorProto signed64 = Proto(onnx::TensorProto::INT64, 1);
  signed64.add_int64_data(-5);
  EXPECT_EQ(Values<std::int64_t>(signed64), std::vector<std::int64_t>{-5});
}

TEST(TensorProto, RawBoolsBecomeZeroAndOne) {
  onnx::TensorProto proto = Proto(onnx::TensorProto::BOOL, 3);
  proto.set_raw_data(std::string("\0\1\7", 3));
  EXPECT_EQ(Values<std::uint8_t>(proto), (std::vector<std::uint8_t>{0, 1, 1}));
}

constexpr int kFloat8 = 17;
constexpr int kUint4 = 21;
constexpr int kInt4 = 22;
constexpr int kFloat4 = 23;
constexpr int kUint2 = 25;
constexpr int kInt2 = 26;

TEST(TensorProto, EightBitFloatsAreTheirCodes) {
  EXPECT_EQ(FromInt32<std::uint8_t>(kFloat8), (std::vector<std::uint8_t>{255, 100}));
  onnx::TensorProto raw = Proto(kFloat8, 2);
  raw.set_raw_data(std::string("\x7F\x81", 2));
  EXPECT_EQ(Values<std::uint8_t>(raw), (std::vector<std::uint8_t>{0x7F, 0x81}));
}

/// The bytes 0x9F and 0x07 in both fields.
std::vector<std::int8_t> Unpacked(int type, int count) {
  onnx::TensorProto raw = Proto(type, count);
  raw.set_raw_data(std::string("\x9F\x07", 2));
  onnx::TensorProto typed = Proto(type, count);
  typed.add_int32_data(0x9F);
  typed.add_int32_data(0x07);
  EXPECT_EQ(Values<std::int8_t>(raw), Values<std::int8_t>(typed));
  return Values<std::int8_t>(raw);
}

TEST(TensorProto, PackedElementsGetAByteEach) {
  EXPECT_EQ(Unpacked(kUint4, 3), (std::vector<std::int8_t>{15, 9, 7}));
  EXPECT_EQ(Unpacked(kInt4, 4), (std::vector<std::int8_t>{-1, -7, 7, 0}));
  EXPECT_EQ(Unpacked(kFloat4, 3), (std::vector<std::int8_t>{15, 9, 7}));
  EXPECT_EQ(Unpacked(kUint2, 6), (std::vector<std::int8_t>{3, 3, 1, 2, 3, 1}));
  EXPECT_EQ(Unpacked(kInt2, 5), (std::vector<std::int8_t>{-1, -1, 1, -2, -1}));
}

TEST(TensorProto, PackedElementsThereAndBack) {
  const std::int8_t values[] = {-2, 1, 0, -1, 1};
  for (const auto element : {ElementType::kInt4, ElementType::kInt2}) {
    const Tensor tensor({element, {5}}, values);
    onnx::TensorProto proto;
    TensorToProto(tensor, &proto);
    EXPECT_EQ(proto.raw_data().size(), element == ElementType::kInt4 ? 3U : 2U);
    const absl::StatusOr<Tensor> back = TensorFromProto(proto, nullptr);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, tensor);
  }
}

TEST(TensorProto, WrongNumberOfPackedBytes) {
  onnx::TensorProto proto = Proto(kInt4, 5);
  proto.set_raw_data("ab");
  EXPECT_EQ(TensorFromProto(proto, nullptr).status().message(),
            "has 2 packed bytes, but int4[5] has 3");
}

TEST(TensorProto, EmptyTensorsAndScalars) {
  EXPECT_EQ(Values<float>(Proto(onnx::TensorProto::FLOAT, 0)), std::vector<float>{});
  onnx::TensorProto scalar;
  scalar.set_data_type(onnx::TensorProto::FLOAT);
  scalar.add_float_data(2.0F);
  EXPECT_EQ(Values<float>(scalar), std::vector<float>{2.0F});
}

TEST(TensorProto, ThereAndBack) {
  const float values[] = {1.0F, -2.0F};
  const Tensor tensor({ElementType::kFloat32, {2, 1}}, values);
  onnx::TensorProto proto;
  TensorToProto(tensor, &proto);
  const absl::StatusOr<Tensor> back = TensorFromProto(proto, nullptr);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, tensor);
}

TEST(TensorProto, Errors) {
  onnx::TensorProto external = Proto(onnx::TensorProto::FLOAT, 1);
  external.set_data_location(onnx::TensorProto::EXTERNAL);
  EXPECT_EQ(TensorFromProto(external, nullptr).status().message(),
            "refers to external data, which is not allowed here");
  EXPECT_EQ(ElementTypeFromProto(14).status().message(), "element type COMPLEX64 is not supported");
  EXPECT_EQ(ElementTypeFromProto(0).status().message(), "element type 0 is no ONNX element type");
  EXPECT_EQ(ElementTypeFromProto(-1).status().message(), "element type -1 is no ONNX element type");
}

}  // namespace
}  // namespace poprt::frontend
