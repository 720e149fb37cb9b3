#include "runtime/popef/example_container.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "popef/Writer.hpp"

namespace popef::testing {

TensorInfo MakeInfo(DataType type, const std::vector<std::int64_t>& shape) {
  TensorInfo info;
  info.setDataType(type);
  info.setShape(shape);
  return info;
}

TensorDataInfo MakeTensorData(const std::string& name, const TensorInfo& info) {
  TensorDataInfo data;
  data.setName(name);
  data.setTensorInfo(info);
  return data;
}

FeedDataInfo MakeFeedData(const std::string& name, const TensorInfo& info, std::uint32_t count) {
  FeedDataInfo data;
  data.setName(name);
  data.setTensorInfo(info);
  data.setNumTensors(count);
  return data;
}

Anchor MakeAnchor(const std::string& name, TensorType type, const TensorInfo& info) {
  Anchor anchor;
  anchor.setName(name);
  anchor.setType(type);
  anchor.setTensorInfo(info);
  return anchor;
}

Metadata MakeMetadata() {
  Metadata metadata;
  metadata.setReplicationFactor(2);
  metadata.setNumIpus(4);
  metadata.setIpuVersion(21);
  metadata.setExecutable("exe");
  metadata.setNumProcesses(3);
  metadata.setIsPOD(true);
  metadata.setIsInference(true);
  metadata.setSeedHandle("seed");
  metadata.engineOptions().emplace_back("engine", "fast");
  metadata.deviceOptions().emplace_back("device", "");
  metadata.programFlow().setLoad({0, 1});
  metadata.programFlow().setMain({5});
  metadata.programFlow().setSave({7});
  metadata.setProgramsMap({{7, "save"}, {0, "load"}, {5, "main"}});
  metadata.setDeviceIterations(16);
  Anchor in = MakeAnchor("in", TensorType::INPUT, MakeInfo(DataType::F32, {2, 3}));
  in.setHandle("h2d_in");
  in.setPrograms({5});
  in.setIsPerReplica(true);
  in.setUseRemoteBuffers(true);
  in.setRepeats(9);
  metadata.anchors() = {in, MakeAnchor("out", TensorType::OUTPUT, MakeInfo(DataType::F16, {4})),
                        MakeAnchor("weights", TensorType::UNKNOWN, MakeInfo(DataType::U8, {3})),
                        MakeAnchor("weights", TensorType::OUTPUT, TensorInfo())};
  return metadata;
}

std::string MakeContainer(bool compress) {
  std::ostringstream out;
  Writer writer(out);
  writer.write(MakeMetadata());
  writer.createExecutable("exe", compress)->stream << "program";
  writer.createOpaqueBlob("notes", "exe")->stream << "hello";
  const auto weights =
      writer.createTensorData(MakeTensorData("weights", MakeInfo(DataType::U8, {3})));
  weights->write("\7\10\11", 3);
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), 0.0F);
  const auto feed = writer.createFeedData(MakeFeedData("in", MakeInfo(DataType::F32, {2, 3}), 2));
  feed->write(values.data(), values.size() * sizeof(float));
  writer.close();
  return out.str();
}

std::string MakeSmallContainer() {
  std::ostringstream out;
  Writer writer(out);
  writer.createOpaqueBlob("o", "e")->stream << "abc";
  writer.close();
  return out.str();
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "popef_test.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "cannot create a temporary folder";
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string ReadFile(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

}  // namespace popef::testing
