#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "popef/Writer.hpp"
#include "tools/popef_dump/dump_fixture.hpp"

namespace poprt::dump {
namespace {

using nlohmann::json;
using testing::Blobs;
using testing::kPayloads;
using testing::kSteps;
using testing::MetadataText;
using PopefDumpTest = testing::DumpTest;

TEST_F(PopefDumpTest, ShowsAFusedContainer) {
  const std::string path = Write("a.popef");
  EXPECT_EQ(Run({path}), 0);
  EXPECT_EQ(out_, MetadataText(path) + kPayloads);
  EXPECT_EQ(err_, "");
}

TEST_F(PopefDumpTest, ShowsMetadataOnly) {
  const std::string path = Write("a.popef");
  EXPECT_EQ(Run({"-m", path}), 0);
  EXPECT_EQ(out_, MetadataText(path));
  EXPECT_EQ(Run({"--metadata", path}), 0);
  EXPECT_EQ(out_, MetadataText(path));
}

TEST_F(PopefDumpTest, ShowsStepsAndBlobs) {
  const std::string path = Write("a.popef");
  EXPECT_EQ(Run({"--program", path}), 0);
  EXPECT_EQ(out_, MetadataText(path) + kPayloads + kSteps);
  EXPECT_EQ(Run({"--all", path}), 0);
  const std::string start = MetadataText(path) + kPayloads + kSteps +
                            "\nPlan for the IPU: none\n\n"
                            "Blobs (offsets from the start of the file):\n";
  ASSERT_EQ(out_.substr(0, start.size()), start);
  EXPECT_THAT(out_.substr(start.size()),
              ::testing::MatchesRegex(
                  "    #  Kind +Name +Version +Flags +Offset +Size +Info at +Info size +Payload at "
                  "+Payload size +Uncompressed +Alignment +Info hash +Payload hash\n"
                  "    0  METADATA +exe +1.0 +0x0/0x0 +0 .*\n"
                  "    1  POPLAR_EXECUTABLE +exe +1.0 .* 4288 +- +4096  [0-9a-f]+  [0-9a-f]+\n"
                  "    2  OPAQUE +poprt.fusion +1.0 .* 205 .*\n"
                  "    3  OPAQUE +note +1.0 .* 5 .*\n"));
}

TEST_F(PopefDumpTest, VerifyAcceptsWhatIsWhole) {
  const std::string path = Write("a.popef");
  EXPECT_EQ(Run({"-m", "--verify", path}), 0);
  EXPECT_EQ(out_, MetadataText(path) + "\nVerified: nothing has been altered\n");
}

TEST_F(PopefDumpTest, VerifyFindsAlteredWeights) {
  const std::string path = Write("a.popef");
  Alter(path, "wwwwwwww");
  EXPECT_EQ(Run({path}), 0);
  EXPECT_EQ(Run({"--verify", path}), 1);
  EXPECT_EQ(out_, MetadataText(path) + kPayloads + "\nVerified: failed, see the errors\n");
  EXPECT_THAT(err_, ::testing::MatchesRegex(
                        "error: " + path +
                        ": byte 4096: payload hash of POPLAR_EXECUTABLE \"exe\" is 0x[0-9a-f]+, "
                        "allowed is 0x[0-9a-f]+; the payload has been altered\n"));
  EXPECT_EQ(Run({"--verify", "--json", path}), 1);
  const json document = json::parse(out_);
  EXPECT_EQ(document["status"], "error");
  EXPECT_EQ(document["files"][0]["verified"], false);
  EXPECT_EQ(document["files"][0]["errors"].size(), 1U);
}

TEST_F(PopefDumpTest, ReportsAnAlteredProgram) {
  const std::string path = Write("a.popef");
  Alter(path, "graph1/");
  // The first place is an anchor, in the metadata: that is always verified.
  EXPECT_EQ(Run({path}), 1);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, ::testing::StartsWith("error: " + path + ": byte 128: info hash is "));

  Write("a.popef");
  Alter(path, "gem");
  EXPECT_EQ(Run({path}), 1);
  EXPECT_EQ(err_, "error: " + path +
                      ": executable \"exe\": the program at byte 64 of the executable payload does "
                      "not match its hash: the file was altered\n");
  EXPECT_THAT(out_,
              ::testing::EndsWith("    exe: 4288 bytes\n        The program cannot be read.\n"));
  EXPECT_EQ(Run({"-m", path}), 0);
  EXPECT_EQ(Run({"-m", "--verify", path}), 1);
}

TEST_F(PopefDumpTest, ReadsCompressedExecutables) {
  Blobs blobs;
  blobs.compress = true;
  const std::string path = Write("a.popef", blobs);
  EXPECT_EQ(Run({"--program", "--verify", path}), 0);
  EXPECT_THAT(out_, ::testing::HasSubstr("    exe: 4288 bytes, stored compressed\n"));
  EXPECT_THAT(out_, ::testing::HasSubstr(kSteps));
}

TEST_F(PopefDumpTest, ShowsExecutablesOfOthers) {
  Blobs blobs;
  blobs.executable = "somebody else's";
  const std::string path = Write("a.popef", blobs);
  EXPECT_EQ(Run({"--all", "--verify", path}), 0);
  EXPECT_EQ(err_, "");
  EXPECT_THAT(out_, ::testing::HasSubstr("    exe: 15 bytes\n"
                                         "        Not a program that poprt has written.\n"));
  EXPECT_EQ(Run({"--json", path}), 0);
  const json file = json::parse(out_)["files"][0];
  EXPECT_EQ(file["executables"][0]["by_poprt"], false);
  EXPECT_EQ(file["executables"][0]["program"], nullptr);
}

TEST_F(PopefDumpTest, ShowsTensorAndFeedData) {
  popef::FileWriter writer(Path("a.popef"), popef::FileWriter::Mode::CREATE);
  popef::TensorDataInfo tensor;
  tensor.setName("w");
  tensor.setTensorInfo({popef::DataType::S8, {3}});
  writer.createTensorData(tensor)->write("abc", 3);
  popef::FeedDataInfo feed;
  feed.setName("x");
  feed.setTensorInfo({popef::DataType::U16, {}});
  feed.setNumTensors(2);
  writer.createFeedData(feed)->write("abcd", 4);
  writer.createOpaqueBlob("note", "far")->write("", 0);
  writer.close();
  EXPECT_EQ(Run({Path("a.popef")}), 0);
  EXPECT_EQ(out_, "PopEF file: " + Path("a.popef") + R"(

Metadata: none

Opaques:
    note: 0 bytes, of executable far (not in this file)

Tensor data:
    Name  Type  Shape  Bytes
    w     S8    [3]        3

Feed data:
    Name  Type  Shape  Bytes each  Tensors
    x     U16   []              2        2

Executables: none
)");
  EXPECT_EQ(Run({"--json", Path("a.popef")}), 0);
  const json file = json::parse(out_)["files"][0];
  EXPECT_EQ(file["tensor_data"],
            json::parse(R"([{"name": "w", "type": "S8", "shape": [3], "bytes": 3}])"));
  EXPECT_EQ(file["feed_data"], json::parse(R"([{"name": "x", "type": "U16", "shape": [],
                                               "bytes": 2, "tensors": 2}])"));
}

TEST_F(PopefDumpTest, ShowsUnusualAnchors) {
  Blobs blobs;
  popef::Anchor unknown;
  unknown.setName("u");
  unknown.setIsPerReplica(true);
  unknown.setUseRemoteBuffers(true);
  unknown.setRepeats(3);
  blobs.metadata.setAnchors({unknown});
  EXPECT_EQ(Run({"-m", Write("a.popef", blobs)}), 0);
  EXPECT_THAT(out_, ::testing::EndsWith(R"(Anchors:
    Inputs: none
    Outputs: none
    Neither input nor output:
        Name  Type     Shape  Bytes  Programs  Handle  Transfer
        u     unknown  -          -  []        -       per replica, remote buffer with 3 blocks
)"));
}

TEST_F(PopefDumpTest, EscapesHostileNames) {
  Blobs blobs;
  blobs.note_name = "a\x1B[2J\nError: x\xFF";
  const std::string path = Write("a.popef", blobs);
  EXPECT_EQ(Run({path}), 0);
  EXPECT_THAT(out_, ::testing::HasSubstr("    a\\x1B[2J\\nError: x\\xFF: 5 bytes"));
  Alter(path, "hell");
  EXPECT_EQ(Run({"--verify", path}), 1);
  EXPECT_THAT(err_, ::testing::HasSubstr("OPAQUE \"a\\x1B[2J\\nError: x\\xFF\" is"));
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1);
  EXPECT_EQ(Run({"--json", path}), 0);
  EXPECT_EQ(json::parse(out_)["files"][0]["opaques"][1]["name"], "a\x1B[2J\nError: x\xEF\xBF\xBD");
  EXPECT_EQ(out_.find('\x1B'), std::string::npos);
}

TEST_F(PopefDumpTest, ReportsAMalformedFusionDescription) {
  const auto error_of = [&](const std::string& fusion) {
    Blobs blobs;
    blobs.fusion = fusion;
    EXPECT_EQ(Run({Write("a.popef", blobs)}), 1) << fusion;
    EXPECT_THAT(out_, ::testing::HasSubstr("    poprt.fusion: "));
    const std::string start = "error: " + Path("a.popef") +
                              ": opaque blob \"poprt.fusion\": not a description of fused graphs: ";
    EXPECT_EQ(err_.substr(0, start.size()), start);
    return err_.substr(start.size());
  };
  EXPECT_EQ(error_of("{"), "it is not JSON\n");
  EXPECT_EQ(error_of("[]"), "the document has no \"version\"\n");
  EXPECT_EQ(error_of(R"({"version": 2})"), "it has version 2, this tool reads version 1\n");
  EXPECT_EQ(error_of(R"({"version": 1, "graphs": {}})"),
            "the document has a \"graphs\" that is no list\n");
  EXPECT_EQ(error_of(R"({"version": 1, "graphs": [{"index": -1}]})"),
            "graph number 0 has a \"index\" that is no integer from 0 on\n");
  EXPECT_EQ(error_of(R"({"version": 1, "graphs": [{"index": 0, "name": "g", "inputs": [7]}]})"),
            "graph number 0 has a \"inputs\" that is no text\n");
}

TEST_F(PopefDumpTest, ShowsTheOthersWhenOneIsBad) {
  const std::string a = Write("a.popef");
  const std::string c = Write("c.popef");
  const std::string missing = Path("b\n.popef");
  EXPECT_EQ(Run({"-m", a, missing, c}), 1);
  EXPECT_EQ(out_, MetadataText(a) + "\n" + MetadataText(c));
  EXPECT_EQ(err_, "error: " + Path("b\\n.popef") + ": opening failed: No such file or directory\n");
  EXPECT_EQ(Run({"--json", a, missing}), 1);
  const json document = json::parse(out_);
  EXPECT_EQ(document["status"], "error");
  EXPECT_EQ(document["files"][1],
            json({{"file", missing}, {"errors", {"opening failed: No such file or directory"}}}));
}

TEST_F(PopefDumpTest, ReportsTruncatedFiles) {
  const std::string path = Write("a.popef");
  std::filesystem::resize_file(path, 1000);
  EXPECT_EQ(Run({path}), 1);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, ::testing::StartsWith("error: " + path + ": byte "));
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1);
}

TEST_F(PopefDumpTest, RefusesWrongUsage) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(err_, "error: FILE is required; see popef_dump --help\n");
  EXPECT_EQ(Run({"--wrong", "x"}), 2);
  EXPECT_EQ(err_,
            "error: The following argument was not expected: --wrong; see popef_dump --help\n");
  EXPECT_EQ(Run({"-m", "--all", "x"}), 2);
  EXPECT_EQ(err_, "error: --metadata excludes --all; see popef_dump --help\n");
  EXPECT_EQ(out_, "");
}

TEST_F(PopefDumpTest, PrintsVersionAndHelp) {
  EXPECT_EQ(Run({"-v"}), 0);
  EXPECT_THAT(out_, ::testing::MatchesRegex("popef_dump [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_, ::testing::HasSubstr("--verify"));
}

}  // namespace
}  // namespace poprt::dump
