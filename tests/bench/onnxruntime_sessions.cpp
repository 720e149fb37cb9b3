// The other side of compare_with_onnxruntime: creates a session for each model, runs them and
// prints one JSON object.
//
//   onnxruntime_sessions LIBRARY TASK.json
//
// TASK.json: {threads, seconds, optimization: "all" or "disabled",
//             models: [{path, inputs: [{name, type, shape, file}],
//                       save_outputs: folder or null, save_optimized: file or null}]}
//
// Calls the C API of ONNX Runtime by the positions of its functions, which no version may change.
// Outputs of the first run are written again by the later ones, so that nothing is allocated.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Json = nlohmann::json;
/// Whatever the API gives by a pointer.
using Handle = void*;

constexpr int kWarmUps = 3;
constexpr std::size_t kFewestRuns = 5;

/// Positions in the API's first version.
enum Function : std::size_t {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSession = 7,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetOptimizedModelFilePath = 11,
  kSetGraphOptimizationLevel = 23,
  kSetIntraOpNumThreads = 24,
  kSetInterOpNumThreads = 25,
  kSessionGetOutputCount = 31,
  kSessionGetOutputName = 37,
  kCreateTensorWithData = 49,
  kGetTensorMutableData = 51,
  kGetTensorElementType = 60,
  kGetDimensionsCount = 61,
  kGetDimensions = 62,
  kGetTensorTypeAndShape = 65,
  kCreateCpuMemoryInfo = 69,
  kGetDefaultAllocator = 78,
};

constexpr int kLogErrors = 3;
constexpr int kOptimizeAll = 99;
constexpr int kOptimizeNothing = 0;

/// Element types by their numbers there.
struct Element {
  const char* name;
  std::size_t bytes;
};
constexpr std::array<Element, 14> kElements{{{"", 0},
                                             {"float32", 4},
                                             {"uint8", 1},
                                             {"int8", 1},
                                             {"uint16", 2},
                                             {"int16", 2},
                                             {"int32", 4},
                                             {"int64", 8},
                                             {"", 0},
                                             {"bool", 1},
                                             {"float16", 2},
                                             {"float64", 8},
                                             {"uint32", 4},
                                             {"uint64", 8}}};

int NumberOf(const std::string& type) {
  for (std::size_t i = 1; i < kElements.size(); ++i) {
    if (kElements[i].name == type) return static_cast<int>(i);
  }
  throw std::runtime_error("tensors of " + type + " are not supported here");
}

class Api {
 public:
  explicit Api(const char* library) {
    struct Base {
      const Handle* (*get_api)(std::uint32_t version);
      const char* (*get_version)();
    };
    Handle loaded = dlopen(library, RTLD_NOW);
    if (loaded == nullptr) throw std::runtime_error(dlerror());
    const auto get_base = reinterpret_cast<const Base* (*)()>(dlsym(loaded, "OrtGetApiBase"));
    if (get_base == nullptr) throw std::runtime_error("this is not the library of ONNX Runtime");
    functions_ = get_base()->get_api(1);
  }

  template <typename... Arguments>
  void Call(Function function, Arguments... arguments) const {
    using Type = Handle (*)(Arguments...);
    const Handle status = reinterpret_cast<Type>(functions_[function])(arguments...);
    if (status == nullptr) return;
    using Message = const char* (*)(Handle);
    throw std::runtime_error(reinterpret_cast<Message>(functions_[kGetErrorMessage])(status));
  }

  /// What the function writes to its last argument.
  template <typename T, typename... Arguments>
  T Get(Function function, Arguments... arguments) const {
    T result{};
    Call(function, arguments..., &result);
    return result;
  }

 private:
  const Handle* functions_;
};

std::int64_t ResidentBytes() {
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

template <typename Action>
double Milliseconds(const Action& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  return time.count();
}

/// What memory of both sides is aligned to.
struct alignas(64) Line {
  std::array<char, 64> bytes;
};

struct Input {
  std::string name;
  int type = 0;
  std::vector<std::int64_t> shape;
  std::vector<Line> data;
  std::size_t bytes = 0;
};

Input ReadInput(const Json& json) {
  Input input{.name = json["name"],
              .type = NumberOf(json["type"]),
              .shape = json["shape"].get<std::vector<std::int64_t>>(),
              .data = {}};
  std::ifstream file(json["file"].get<std::string>(), std::ios::binary);
  const std::vector<char> read(std::istreambuf_iterator<char>(file), {});
  input.bytes = read.size();
  input.data.resize((read.size() + sizeof(Line) - 1) / sizeof(Line));
  if (!read.empty()) std::memcpy(input.data.data(), read.data(), read.size());
  return input;
}

class Session {
 public:
  /// The first session needs an environment, which takes most of the time of a small one.
  Session(const Api& api, Handle& environment, const Json& task, const Json& model) : api_(api) {
    const auto options = api.Get<Handle>(kCreateSessionOptions);
    const bool optimizes = task["optimization"] == "all";
    const std::string path = model["path"];
    api.Call(kSetIntraOpNumThreads, options, task["threads"].get<int>());
    api.Call(kSetInterOpNumThreads, options, 1);
    api.Call(kSetGraphOptimizationLevel, options, optimizes ? kOptimizeAll : kOptimizeNothing);
    if (!model["save_optimized"].is_null()) {
      const std::string file = model["save_optimized"];
      api.Call(kSetOptimizedModelFilePath, options, file.c_str());
    }
    create_ms_ = Milliseconds([&] {
      if (environment == nullptr) environment = api.Get<Handle>(kCreateEnv, kLogErrors, "bench");
      session_ = api.Get<Handle>(kCreateSession, environment, path.c_str(), options);
    });
    const auto allocator = api.Get<Handle>(kGetDefaultAllocator);
    const auto count = api.Get<std::size_t>(kSessionGetOutputCount, session_);
    for (std::size_t i = 0; i < count; ++i) {
      output_names_.push_back(api.Get<const char*>(kSessionGetOutputName, session_, i, allocator));
    }
    outputs_.resize(count);
  }

  void RunFirst(const Json& inputs) {
    const auto memory = api_.Get<Handle>(kCreateCpuMemoryInfo, 0, 0);
    for (const Json& json : inputs) inputs_.push_back(ReadInput(json));
    for (Input& input : inputs_) {
      input_names_.push_back(input.name.c_str());
      input_values_.push_back(api_.Get<Handle>(
          kCreateTensorWithData, memory, static_cast<void*>(input.data.data()), input.bytes,
          static_cast<const std::int64_t*>(input.shape.data()), input.shape.size(), input.type));
    }
    first_run_ms_ = Milliseconds([&] { Run(); });
  }

  void SaveOutputs(const std::string& folder) const {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const auto info = api_.Get<Handle>(kGetTensorTypeAndShape, outputs_[i]);
      const Element& element =
          kElements.at(static_cast<std::size_t>(api_.Get<int>(kGetTensorElementType, info)));
      std::vector<std::int64_t> shape(api_.Get<std::size_t>(kGetDimensionsCount, info));
      api_.Call(kGetDimensions, info, shape.data(), shape.size());
      std::size_t bytes = element.bytes;
      for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
      const std::string file = folder + "/" + std::to_string(i);
      std::ofstream(file + ".bin", std::ios::binary)
          .write(static_cast<const char*>(api_.Get<void*>(kGetTensorMutableData, outputs_[i])),
                 static_cast<std::streamsize>(bytes));
      std::ofstream(file + ".json")
          << Json{{"name", output_names_[i]}, {"type", element.name}, {"shape", shape}};
    }
  }

  /// Of requests one after the other, in milliseconds.
  double MedianLatency(double seconds) {
    for (int i = 0; i < kWarmUps; ++i) Run();
    std::vector<double> times;
    for (double spent = 0; spent < seconds * 1e3 || times.size() < kFewestRuns;) {
      times.push_back(Milliseconds([&] { Run(); }));
      spent += times.back();
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

  double create_ms() const { return create_ms_; }
  double first_run_ms() const { return first_run_ms_; }

 private:
  void Run() {
    api_.Call(kRun, session_, Handle{}, input_names_.data(), input_values_.data(),
              input_values_.size(), output_names_.data(), outputs_.size(), outputs_.data());
  }

  const Api& api_;
  Handle session_ = nullptr;
  std::vector<Input> inputs_;
  std::vector<const char*> input_names_;
  std::vector<Handle> input_values_;
  std::vector<const char*> output_names_;
  std::vector<Handle> outputs_;
  double create_ms_ = 0;
  double first_run_ms_ = 0;
};

Json Measure(const char* library, const Json& task) {
  const Api api(library);
  Handle environment = nullptr;
  const std::int64_t start = ResidentBytes();
  std::vector<Session> sessions;
  sessions.reserve(task["models"].size());
  for (const Json& model : task["models"]) sessions.emplace_back(api, environment, task, model);
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const Json& model = task["models"][i];
    sessions[i].RunFirst(model["inputs"]);
    if (!model["save_outputs"].is_null()) sessions[i].SaveOutputs(model["save_outputs"]);
  }
  const std::int64_t resident = ResidentBytes() - start;
  const double seconds = task["seconds"];
  Json models = Json::array();
  for (Session& session : sessions) {
    models.push_back({{"create_ms", session.create_ms()},
                      {"first_run_ms", session.first_run_ms()},
                      {"p50_ms", seconds > 0 ? Json(session.MedianLatency(seconds)) : Json()}});
  }
  return {{"models", std::move(models)}, {"resident_bytes", resident}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::runtime_error("expected a library and a task");
    std::ifstream file(argv[2]);
    if (!file) throw std::runtime_error("cannot read the task " + std::string(argv[2]));
    std::cout << Measure(argv[1], Json::parse(file)) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
