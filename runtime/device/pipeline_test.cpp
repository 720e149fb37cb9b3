// Programs of several stages on the model device.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/device/program_for_test.hpp"

namespace poprt::device {
namespace {

/// The branch with its steps in so many stages; in fewer if there are not enough of them.
Branch InStages(Branch branch, std::size_t stages, std::mt19937& random) {
  std::uint32_t stage = 0;
  for (std::size_t i = 1; i < branch.steps.size(); ++i) {
    const bool has_more = stage + 1 < stages;
    if (has_more && (random() % 3 == 0 || branch.steps.size() - i < stages - stage)) ++stage;
    branch.steps[i].stage = stage;
  }
  return branch;
}

/// Batches on their way through a program; who is next is left to chance.
class RandomTraffic {
 public:
  RandomTraffic(LoadedProgram& program, const std::vector<std::size_t>& branches,
                std::deque<TestBatch>& batches, std::mt19937& random)
      : program_(program),
        branches_(branches),
        batches_(batches),
        random_(random),
        left_(program.num_stages(), 0),
        is_taken_(program.num_stream_buffers(), false) {}

  void Run() {
    while (stored_ < batches_.size()) {
      switch (random_() % 3) {
        case 0:
          Load();
          break;
        case 1:
          Compute(random_() % left_.size());
          break;
        default:
          Store();
      }
    }
  }

 private:
  void Load() {
    const std::size_t buffer = random_() % is_taken_.size();
    if (buffers_.size() == batches_.size() || is_taken_[buffer]) return;
    is_taken_[buffer] = true;
    const std::size_t i = buffers_.size();
    buffers_.push_back(buffer);
    program_.Load(buffer, branches_[i], batches_[i].input_pointers);
  }

  void Compute(std::size_t stage) {
    const std::size_t i = left_[stage];
    if (i == (stage == 0 ? buffers_.size() : left_[stage - 1])) return;
    program_.Compute(buffers_[i], branches_[i], stage, nullptr);
    ++left_[stage];
  }

  void Store() {
    if (stored_ == left_.back()) return;
    TestBatch& batch = batches_[stored_];
    program_.Store(buffers_[stored_], branches_[stored_], batch.output_pointers, batch.extents);
    is_taken_[buffers_[stored_++]] = false;
  }

  LoadedProgram& program_;
  const std::vector<std::size_t>& branches_;
  std::deque<TestBatch>& batches_;
  std::mt19937& random_;
  std::vector<std::size_t> left_;  ///< how many batches have left each stage
  std::vector<bool> is_taken_;
  std::vector<std::size_t> buffers_;  ///< of the batches that were loaded
  std::size_t stored_ = 0;
};

TEST(PipelineTest, RandomProgramsComputeTheSameInStages) {
  const unsigned first = std::random_device()();
  for (unsigned seed = first; seed != first + 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const std::vector<Branch> branches{RandomBranch(seed).branch(),
                                       RandomBranch(seed + 1'000'000).branch()};
    const std::uint32_t io_tiles = random() % 2 == 0 ? 0 : 64;
    const Program staged = ProgramOf({InStages(branches[0], 2 + random() % 2, random),
                                      InStages(branches[1], 2 + random() % 2, random)},
                                     io_tiles);
    const auto serial = Load(ProgramOf(branches, 0));
    const auto pipeline = Load(staged);
    ASSERT_EQ(pipeline->num_stages(), staged.NumStages());
    if (staged.NumStages() == 1) continue;
    ASSERT_EQ(pipeline->num_stream_buffers(), staged.NumStages() + (io_tiles > 0 ? 2 : 1));
    ASSERT_FALSE(pipeline->takes_inputs_before_store());
    std::vector<std::size_t> which;
    std::deque<TestBatch> batches;
    for (int i = 0; i < 12; ++i) {
      which.push_back(random() % 2);
      batches.emplace_back(branches[which.back()], random);
    }
    std::vector<std::vector<std::vector<std::byte>>> expected;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      TestBatch& batch = batches[i];
      serial->Run(which[i], batch.input_pointers, batch.output_pointers, batch.extents);
      expected.push_back(batch.outputs);
      for (auto& output : batch.outputs) std::ranges::fill(output, std::byte{0xEE});
    }
    RandomTraffic(*pipeline, which, batches, random).Run();
    for (std::size_t i = 0; i < batches.size(); ++i) {
      ASSERT_EQ(batches[i].outputs, expected[i]) << "batch " << i;
    }
  }
}

constexpr std::int64_t kLength = 1 << 16;

/// y = (x + the sum of x) * 2, a stage for each of the three.
Program Sums() {
  const TensorType type{ElementType::kFloat32, {kLength}};
  const TensorType sum{ElementType::kFloat32, {1}};
  const auto bytes = static_cast<std::uint64_t>(type.bytes());
  Branch branch{.name = "sums",
                .slots = {{type, Space::kArena, 0},
                          {sum, Space::kArena, bytes},
                          {type, Space::kArena, bytes + 64},
                          {type, Space::kArena, 0}},
                .inputs = {{"x", 0}},
                .outputs = {{"y", 3}},
                .steps = {{"sum",
                           "ReduceSum",
                           {0},
                           {1},
                           {{"axes", std::vector<std::int64_t>{0}}, {"keepdims", std::int64_t{1}}}},
                          {"add", "Add", {0, 1}, {2}, {}},
                          {"double", "Add", {2, 2}, {3}, {}}},
                .arena_bytes = 2 * bytes + 64};
  for (std::uint32_t i = 0; i < 3; ++i) branch.steps[i].stage = i;
  return ProgramOf({branch}, 0);
}

TEST(PipelineTest, StagesComputeAtTheSameTime) {
  constexpr std::size_t kBatches = 200;
  const auto program = Load(Sums());
  ASSERT_EQ(program->num_stages(), 3U);
  const std::size_t buffers = program->num_stream_buffers();
  const auto value = [](std::size_t batch) { return static_cast<float>(batch % 7); };
  std::array<std::atomic<std::size_t>, 5> done{};  // loaded, stages, stored
  // Batch i may enter when the one that has had its buffer is stored, and then what is before it.
  const auto serve = [&](std::size_t part, const auto& work) {
    for (std::size_t i = 0; i < kBatches; ++i) {
      while (part == 0 ? i >= done.back() + buffers : done[part - 1] <= i) {
        std::this_thread::yield();
      }
      work(i, i % buffers);
      ++done[part];
    }
  };
  std::vector<std::thread> threads;
  threads.emplace_back(serve, 0, [&](std::size_t batch, std::size_t buffer) {
    const std::vector<float> x(kLength, value(batch));
    program->Load(buffer, 0, std::array<const void*, 1>{x.data()});
  });
  for (std::size_t stage = 0; stage < 3; ++stage) {
    threads.emplace_back(serve, 1 + stage, [&, stage](std::size_t, std::size_t buffer) {
      program->Compute(buffer, 0, stage, nullptr);
    });
  }
  serve(4, [&](std::size_t batch, std::size_t buffer) {
    std::vector<float> y(kLength);
    std::array<std::int64_t, 1> extents{};
    program->Store(buffer, 0, std::array<void*, 1>{y.data()}, extents);
    const float expected = 2 * (value(batch) + value(batch) * static_cast<float>(kLength));
    EXPECT_EQ(y, std::vector<float>(kLength, expected)) << batch;
  });
  for (std::thread& thread : threads) thread.join();
}

TEST(PipelineTest, ObserversSeeTheStepsOfAllStages) {
  class Names : public StepObserver {
   public:
    void Begin(const Step& step) override { names += step.name + std::to_string(step.stage) + " "; }
    void End(const Step& /*step*/) override {}
    std::string names;
  };
  const auto program = Load(Sums());
  const std::vector<float> x(kLength, 1);
  std::vector<float> y(kLength);
  std::array<std::int64_t, 1> extents{};
  Names observer;
  program->RunObserved(0, std::array<const void*, 1>{x.data()}, std::array<void*, 1>{y.data()},
                       extents, observer);
  EXPECT_EQ(observer.names, "sum0 add1 double2 ");
  EXPECT_EQ(y, std::vector<float>(kLength, 2 * (1 + static_cast<float>(kLength))));
}

}  // namespace
}  // namespace poprt::device
