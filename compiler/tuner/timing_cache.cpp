#include "compiler/tuner/timing_cache.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace poprt::tuner {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "poprt perf_tuner cache";
constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMostThreads = 65536;
constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;

absl::Status Bad(const std::string& message) { return absl::InvalidArgumentError(message); }

/// Text of a value for a message, not too long.
std::string Found(const Json& value) {
  constexpr std::size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

/// Reads members of one object; keeps the first problem.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string where) : where_(std::move(where)) {
    if (object.is_object()) {
      object_ = &object;
    } else {
      Refuse("", object, "an object");
    }
  }

  std::string Text(const char* name) {
    const Json* const value = Member(name);
    if (value == nullptr) return "";
    if (value->is_string()) return value->get<std::string>();
    Refuse(name, *value, "a string");
    return "";
  }

  std::int64_t Integer(const char* name, std::int64_t least, std::int64_t most) {
    const Json* const value = Member(name);
    if (value == nullptr) return least;
    // Numbers beyond int64 are unsigned.
    if (value->is_number_integer() && *value >= least && *value <= most) {
      return value->get<std::int64_t>();
    }
    Refuse(name, *value, absl::StrCat("an integer from ", least, " to ", most));
    return least;
  }

  double PositiveNumber(const char* name) {
    const Json* const value = Member(name);
    if (value == nullptr) return 1;
    const double number = value->is_number() ? value->get<double>() : 0;
    if (number > 0 && std::isfinite(number)) return number;
    Refuse(name, *value, "a number greater than 0");
    return 1;
  }

  const Json& List(const char* name) {
    static const Json none = Json::array();
    const Json* const value = Member(name);
    if (value == nullptr) return none;
    if (value->is_array() && !value->empty()) return *value;
    Refuse(name, *value, "a list that is not empty");
    return none;
  }

  Kernels Texts(const char* name) {
    Kernels texts;
    for (const Json& item : List(name)) {
      if (!item.is_string()) {
        Refuse(name, item, "a string");
        break;
      }
      texts.push_back(item.get<std::string>());
    }
    return texts;
  }

  const absl::Status& status() const { return status_; }

 private:
  const Json* Member(const char* name) {
    if (object_ == nullptr) return nullptr;
    const auto found = object_->find(name);
    if (found != object_->end()) return &*found;
    if (status_.ok()) status_ = Bad(absl::StrCat(where_, ": '", name, "' is missing"));
    return nullptr;
  }

  void Refuse(const std::string& name, const Json& value, const std::string& allowed) {
    if (!status_.ok()) return;
    status_ = Bad(absl::StrCat(where_, ": ", name.empty() ? "" : "'" + name + "' ", "is ",
                               Found(value), ", allowed is ", allowed));
  }

  std::string where_;
  const Json* object_ = nullptr;
  absl::Status status_;
};

/// What one entry of the file says.
struct Timing {
  TimingKey key;
  std::vector<double> microseconds;
};

absl::StatusOr<Timing> ReadTiming(const Json& json, const std::string& where) {
  Timing timing;
  ObjectReader reader(json, where);
  timing.key.machine.processor = reader.Text("processor");
  timing.key.machine.threads = reader.Integer("threads", 1, kMostThreads);
  timing.key.package = reader.Text("package");
  for (const Json& candidate : reader.List("candidates")) {
    ObjectReader inner(candidate, absl::StrCat(where, ", candidate ", timing.microseconds.size()));
    timing.key.candidates.push_back(inner.Texts("kernels"));
    timing.microseconds.push_back(inner.PositiveNumber("microseconds"));
    if (!inner.status().ok()) return inner.status();
  }
  if (!reader.status().ok()) return reader.status();
  return timing;
}

absl::StatusOr<Json> ParseJson(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return Bad(absl::StrCat("byte ", error.byte, " is not what JSON allows there"));
  } catch (const Json::exception& error) {
    return Bad(error.what());
  }
}

absl::StatusOr<TimingCache> Read(const Json& json) {
  ObjectReader reader(json, "the file");
  const std::string format = reader.Text("format");
  if (reader.status().ok() && format != kFormat) {
    return Bad(absl::StrCat("'format' is ", Found(format), ", allowed is \"", kFormat, "\""));
  }
  reader.Integer("version", kVersion, kVersion);
  if (!reader.status().ok()) return reader.status();
  TimingCache cache;
  std::size_t position = 0;
  if (!json.contains("choices") || !json["choices"].is_array()) {
    return Bad("the file: 'choices' is missing or no list");
  }
  for (const Json& choice : json["choices"]) {
    const std::string where = absl::StrCat("choice ", position++);
    absl::StatusOr<Timing> timing = ReadTiming(choice, where);
    if (!timing.ok()) return timing.status();
    if (cache.Find(timing->key) != nullptr) return Bad(where + ": stands there twice");
    cache.Set(std::move(timing->key), std::move(timing->microseconds));
  }
  return cache;
}

}  // namespace

absl::StatusOr<TimingCache> TimingCache::FromJson(std::string_view text) {
  const absl::StatusOr<Json> json = ParseJson(text);
  if (!json.ok()) return json.status();
  return Read(*json);
}

std::string TimingCache::ToJson() const {
  Json choices = Json::array();
  for (const auto& [key, microseconds] : times_) {
    Json candidates = Json::array();
    for (std::size_t i = 0; i < microseconds.size(); ++i) {
      candidates.push_back({{"kernels", key.candidates[i]}, {"microseconds", microseconds[i]}});
    }
    choices.push_back({{"processor", key.machine.processor},
                       {"threads", key.machine.threads},
                       {"package", key.package},
                       {"candidates", std::move(candidates)}});
  }
  const Json json = {{"format", kFormat}, {"version", kVersion}, {"choices", std::move(choices)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

const std::vector<double>* TimingCache::Find(const TimingKey& key) const {
  const auto found = times_.find(key);
  return found == times_.end() ? nullptr : &found->second;
}

void TimingCache::Set(TimingKey key, std::vector<double> microseconds) {
  times_.insert_or_assign(std::move(key), std::move(microseconds));
}

absl::StatusOr<TimingCache> ReadTimingCache(const std::string& path) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& reason) {
    return Bad(absl::StrCat(path, ": ", reason));
  };
  std::error_code error;
  if (!fs::exists(path, error)) {
    return error ? absl::StatusOr<TimingCache>(refuse(error.message())) : TimingCache();
  }
  if (!fs::is_regular_file(path, error)) return refuse("is no file");
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) return refuse(error.message());
  if (bytes > kMostBytes) {
    return refuse(absl::StrCat("has ", bytes, " bytes, allowed are ", kMostBytes));
  }
  std::string text(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(bytes))) return refuse("cannot be read");
  absl::StatusOr<TimingCache> cache = TimingCache::FromJson(text);
  if (cache.ok()) return cache;
  return refuse(absl::StrCat("is no cache of --perf_tuner: ", cache.status().message(),
                             "; remove it or name another file"));
}

}  // namespace poprt::tuner
