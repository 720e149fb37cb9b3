#include "compiler/tuner/timing_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace poprt::tuner {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointee;

TimingKey Key(const std::string& processor, std::int64_t threads = 2) {
  return {.machine = {processor, threads}, .package = "v1", .candidates = {{"a", "2 x b"}, {"c"}}};
}

std::string Problem(std::string_view json) {
  const auto cache = TimingCache::FromJson(json);
  return cache.ok() ? "none" : std::string(cache.status().message());
}

/// A whole file with one choice.
std::string File(const std::string& choice) {
  return R"({"format": "poprt perf_tuner cache", "version": 1, "choices": [)" + choice + "]}";
}

TEST(TimingCacheTest, RoundTrip) {
  TimingCache cache;
  cache.Set(Key("one"), {1.5, 0.1 + 0.2});
  cache.Set(Key("one", 4), {3, 4});
  cache.Set(Key("two \"quoted\""), {5, 1e-3});
  cache.Set(Key("one"), {2.5, 0.1 + 0.2});
  const auto read = TimingCache::FromJson(cache.ToJson());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->size(), 3U);
  EXPECT_THAT(read->Find(Key("one")), Pointee(ElementsAre(2.5, 0.1 + 0.2)));
  EXPECT_THAT(read->Find(Key("one", 4)), Pointee(ElementsAre(3, 4)));
  EXPECT_THAT(read->Find(Key("two \"quoted\"")), Pointee(ElementsAre(5, 1e-3)));
  EXPECT_EQ(read->ToJson(), cache.ToJson());
}

TEST(TimingCacheTest, OtherMachinesVersionsAndCandidatesAreUnknown) {
  TimingCache cache;
  cache.Set(Key("one"), {1, 2});
  EXPECT_EQ(cache.Find(Key("other")), nullptr);
  EXPECT_EQ(cache.Find(Key("one", 1)), nullptr);
  TimingKey key = Key("one");
  key.package = "v2";
  EXPECT_EQ(cache.Find(key), nullptr);
  key = Key("one");
  key.candidates.pop_back();
  EXPECT_EQ(cache.Find(key), nullptr);
  EXPECT_NE(cache.Find(Key("one")), nullptr);
}

TEST(TimingCacheTest, DamagedFilesAreRefused) {
  EXPECT_EQ(Problem(""), "byte 1 is not what JSON allows there");
  EXPECT_THAT(Problem("{\"format\": 1e999}"), HasSubstr("1e999"));
  EXPECT_EQ(Problem("[]"), "the file: is [], allowed is an object");
  EXPECT_EQ(Problem("{}"), "the file: 'format' is missing");
  EXPECT_EQ(Problem(R"({"format": "a cache"})"),
            "'format' is \"a cache\", allowed is \"poprt perf_tuner cache\"");
  EXPECT_EQ(Problem(R"({"format": "poprt perf_tuner cache", "version": 2})"),
            "the file: 'version' is 2, allowed is an integer from 1 to 1");
  EXPECT_EQ(Problem(R"({"format": "poprt perf_tuner cache", "version": 1, "choices": 3})"),
            "the file: 'choices' is missing or no list");
  EXPECT_EQ(Problem(File("7")), "choice 0: is 7, allowed is an object");
  EXPECT_EQ(Problem(std::string(100000, '[')), "byte 100001 is not what JSON allows there");
}

TEST(TimingCacheTest, DamagedChoicesAreRefused) {
  const auto choice = [](const std::string& threads, const std::string& candidates) {
    return File(R"({"processor": "p", "package": "v", "threads": )" + threads +
                R"(, "candidates": )" + candidates + "}");
  };
  const std::string good = R"([{"kernels": ["k"], "microseconds": 2}])";
  EXPECT_EQ(Problem(choice("1", good)), "none");
  for (const char* threads : {"0", "-1", "1.5", "65537", "18446744073709551615", "\"2\""}) {
    EXPECT_EQ(Problem(choice(threads, good)), "choice 0: 'threads' is " + std::string(threads) +
                                                  ", allowed is an integer from 1 to 65536");
  }
  EXPECT_EQ(Problem(choice("1", "[]")),
            "choice 0: 'candidates' is [], allowed is a list that is not empty");
  EXPECT_EQ(Problem(choice("1", R"([{"kernels": [1], "microseconds": 2}])")),
            "choice 0, candidate 0: 'kernels' is 1, allowed is a string");
  for (const char* time : {"0", "-3", "null"}) {
    EXPECT_EQ(
        Problem(choice("1", R"([{"kernels": ["k"], "microseconds": )" + std::string(time) + "}]")),
        "choice 0, candidate 0: 'microseconds' is " + std::string(time) +
            ", allowed is a number greater than 0");
  }
  EXPECT_EQ(Problem(choice("1", R"([{"kernels": ["k"]}])")),
            "choice 0, candidate 0: 'microseconds' is missing");
  const std::string once =
      R"({"processor": "p", "package": "v", "threads": 1, "candidates": )" + good + "}";
  EXPECT_EQ(Problem(File(once + "," + once)), "choice 1: stands there twice");
}

TEST(TimingCacheTest, AMissingFileIsAnEmptyCache) {
  std::string name = (fs::temp_directory_path() / "cache-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  const std::string path = (folder / "t.json").string();
  const auto missing = ReadTimingCache(path);
  ASSERT_TRUE(missing.ok()) << missing.status();
  EXPECT_EQ(missing->size(), 0U);

  TimingCache cache;
  cache.Set(Key("one"), {1, 2});
  std::ofstream(path) << cache.ToJson();
  const auto found = ReadTimingCache(path);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->ToJson(), cache.ToJson());

  std::ofstream(path) << "{}";
  EXPECT_EQ(std::string(ReadTimingCache(path).status().message()),
            path +
                ": is no cache of --perf_tuner: the file: 'format' is missing; remove it or "
                "name another file");
  EXPECT_EQ(std::string(ReadTimingCache(folder.string()).status().message()),
            folder.string() + ": is no file");
  fs::resize_file(path, (std::uintmax_t{64} << 20) + 1);
  EXPECT_THAT(std::string(ReadTimingCache(path).status().message()),
              HasSubstr("has 67108865 bytes, allowed are 67108864"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace poprt::tuner
