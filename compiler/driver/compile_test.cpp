#include "compiler/driver/compile.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "compiler/driver/convert.hpp"
#include "compiler/frontend/model_text.hpp"

namespace poprt::driver {
namespace {

using frontend::InputText;
using frontend::NodeText;
using frontend::OutputText;

TEST(CompileToFile, KeepsTheOldFileUnlessTheNewOneMayAppear) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "may_appear";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "m.popef").string();
  std::ofstream(path) << "old";
  const auto compile = [&](const absl::Status& may_appear) {
    ModelOptions model;
    model.bytes = frontend::ModelBytes(InputText("x", {"4"}) + OutputText("y") +
                                       NodeText("Abs", {"x"}, {"y"}));
    const Progress progress = [](const std::string&, int, int) {};
    const Log warn = [](const std::string&) {};
    auto converted = Convert({model}, false, progress, warn);
    EXPECT_TRUE(converted.ok()) << converted.status();
    return CompileToFile(*std::move(converted), {}, path, progress, warn, nullptr,
                         [&] { return may_appear; })
        .status();
  };
  const auto content = [&] {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(compile(absl::DataLossError("no room")), absl::DataLossError("no room"));
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(compile(absl::OkStatus()), absl::OkStatus());
  EXPECT_GT(content().size(), 1000U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace poprt::driver
