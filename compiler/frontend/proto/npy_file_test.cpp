#include "compiler/frontend/proto/npy_file.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace poprt::frontend {
namespace {

std::string Npy(const std::string& header, const std::string& data, int major = 1) {
  std::string text = "\x93NUMPY";
  text.push_back(static_cast<char>(major));
  text.push_back('\0');
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    text.push_back(static_cast<char>(header.size() >> (8 * i)));
  }
  return text + header + data;
}

std::string Header(const std::string& descr, const std::string& shape, bool is_fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (is_fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }   \n";
}

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
std::vector<T> ElementsOf(const absl::StatusOr<HostValue>& value, const std::string& type) {
  if (!value.ok()) {
    ADD_FAILURE() << value.status().message();
    return {};
  }
  EXPECT_EQ(Describe(*value), type);
  const auto elements = value->tensor()->as<T>();
  return {elements.begin(), elements.end()};
}

std::string ErrorOf(const std::string& bytes) {
  const auto value = ParseNpy(bytes);
  return value.ok() ? "no error" : std::string(value.status().message());
}

TEST(NpyFile, ReadsEveryVersion) {
  for (int major : {1, 2, 3}) {
    const auto value =
        ParseNpy(Npy(Header("<f4", "(2, 3)"), Bytes<float>({1, 2, 3, 4, 5, 6}), major));
    EXPECT_EQ(ElementsOf<float>(value, "float32[2, 3]"), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  }
}

TEST(NpyFile, ReadsTypesAndShapes) {
  EXPECT_EQ(ElementsOf<std::int64_t>(ParseNpy(Npy(Header("<i8", "()"), Bytes<std::int64_t>({-7}))),
                                     "int64[]"),
            std::vector<std::int64_t>{-7});
  EXPECT_EQ(ElementsOf<std::uint8_t>(ParseNpy(Npy(Header("|b1", "(2L,)"), std::string("\0\2", 2))),
                                     "bool[2]"),
            (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(ElementsOf<std::uint16_t>(
                ParseNpy(Npy(Header("<f2", "(1,)"), Bytes<std::uint16_t>({0x3C00}))), "float16[1]"),
            std::vector<std::uint16_t>{0x3C00});
  EXPECT_EQ(ElementsOf<float>(ParseNpy(Npy(Header("<f4", "(0, 4)"), "")), "float32[0, 4]"),
            std::vector<float>{});
}

TEST(NpyFile, SwapsBytes) {
  const auto value = ParseNpy(Npy(Header(">i2", "(2,)"), std::string("\x01\x02\x00\x03", 4)));
  EXPECT_EQ(ElementsOf<std::int16_t>(value, "int16[2]"), (std::vector<std::int16_t>{0x102, 3}));
}

TEST(NpyFile, ReordersFortran) {
  const auto value =
      ParseNpy(Npy(Header("<i4", "(2, 3)", true), Bytes<std::int32_t>({1, 4, 2, 5, 3, 6})));
  EXPECT_EQ(ElementsOf<std::int32_t>(value, "int32[2, 3]"),
            (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
  const auto cube =
      ParseNpy(Npy(Header("<i4", "(2, 1, 2)", true), Bytes<std::int32_t>({1, 3, 2, 4})));
  EXPECT_EQ(ElementsOf<std::int32_t>(cube, "int32[2, 1, 2]"),
            (std::vector<std::int32_t>{1, 2, 3, 4}));
}

TEST(NpyFile, ReadsStrings) {
  const auto wide =
      ParseNpy(Npy(Header("<U2", "(2,)"), Bytes<char32_t>({U'a', 0, U'\u00e9', U'\U0001F600'})));
  ASSERT_TRUE(wide.ok()) << wide.status().message();
  EXPECT_EQ(*wide->strings(), (StringTensor{{2}, {"a", "\xC3\xA9\xF0\x9F\x98\x80"}}));
  const auto bytes = ParseNpy(Npy(Header("|S3", "(1, 2)"), std::string("ab\0xyz", 6)));
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_EQ(*bytes->strings(), (StringTensor{{1, 2}, {"ab", "xyz"}}));
}

TEST(NpyFile, RefusesHostileFiles) {
  const std::string good = Npy(Header("<f4", "(2,)"), Bytes<float>({1, 2}));
  EXPECT_EQ(ErrorOf(good), "no error");
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(ErrorOf(good.substr(0, size)), "no error") << size;
  }
  EXPECT_NE(ErrorOf(good + "x"), "no error");
  EXPECT_EQ(ErrorOf("PK\3\4"), "is no valid .npy file: at byte 0, there should be '\\x93NUMPY'");
  EXPECT_NE(ErrorOf(Npy(Header("<f4", "(2,)"), Bytes<float>({1, 2}), 4)), "no error");
  EXPECT_NE(ErrorOf(Npy(Header("<f4", "(-2,)"), "")), "no error");
  EXPECT_NE(ErrorOf(Npy(Header("<f4", "(4611686018427387904, 4)"), "")), "no error");
  EXPECT_NE(ErrorOf(Npy(Header("<f4", "(99999999999999999999,)"), "")), "no error");
  EXPECT_NE(ErrorOf(Npy(Header("<U0", "(4294967296,)"), "")), "no error");
  EXPECT_NE(ErrorOf(Npy(Header("<U1", "(1,)"), Bytes<char32_t>({char32_t{0xD800}}))), "no error");
  EXPECT_NE(ErrorOf(Npy(Header("|O", "(1,)"), "x")), "no error");
  EXPECT_NE(ErrorOf(Npy(Header("<c8", "(1,)"), "12345678")), "no error");
  EXPECT_NE(ErrorOf(Npy(Header("<f99999999999", "(1,)"), "")), "no error");
  EXPECT_NE(
      ErrorOf(Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234")),
      "no error");
  EXPECT_NE(ErrorOf(Npy("{'descr': '<f4', 'shape': (1,)}", "1234")), "no error");
  EXPECT_NE(ErrorOf(Npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
                        "1234")),
            "no error");
  EXPECT_NE(ErrorOf(Npy("{'shape': (1", "")), "no error");
}

}  // namespace
}  // namespace poprt::frontend
