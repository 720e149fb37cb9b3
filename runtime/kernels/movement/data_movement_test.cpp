#include "runtime/kernels/movement/data_movement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/movement/slice_range.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

/// Runs `check` on many random tensors of random type and shape.
template <typename F>
void ForRandomTensors(std::size_t min_rank, unsigned count, int most, const F& check) {
  ForSeeds(count, [&](std::mt19937& random) {
    const std::size_t rank = min_rank + random() % (9 - min_rank);
    const int longest = std::min(most, rank > 6 ? 2 : rank > 4 ? 4 : most);
    const Tensor data =
        RandomTensor(random, SomeType(random), SmallShape(random, rank, longest), 0, 100);
    check(random, data, ToValues(data));
  });
}

TEST(DataMovementTest, ReshapesCopyTheBytes) {
  const Tensor data = FromValues(kInt32, {2, 3}, {1, 2, 3, 4, 5, 6});
  for (const char* name : {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"}) {
    EXPECT_EQ(ToValues(Run1(name, {data}, {kInt32, {3, 1, 2}})), ToValues(data)) << name;
  }
  EXPECT_EQ(BindError("Reshape", {{kInt32, {2, 3}}}, {{kInt32, {5}}}),
            "output 0 is int32[5], which has not as many elements as int32[2, 3]");
  EXPECT_EQ(BindError("Identity", {{kInt32, {2}}}, {{kInt64, {2}}}),
            "the output's element type is int64, expected int32 like the input's");
}

void CheckTranspose(const Tensor& data, const Ints& perm) {
  Shape shape;
  for (const auto axis : perm) shape.push_back(data.shape()[static_cast<std::size_t>(axis)]);
  const Values values = ToValues(data);
  const Values wanted = Fill(shape, [&](const Index& at) {
    Index from(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) from[static_cast<std::size_t>(perm[i])] = at[i];
    return values[Flat(data.shape(), from)];
  });
  EXPECT_EQ(ToValues(Run1("Transpose", {data}, {data.element(), shape}, {{"perm", perm}})), wanted);
}

TEST(DataMovementTest, Transposes) {
  ForRandomTensors(0, 150, 7, [](std::mt19937& random, const Tensor& data, const Values&) {
    Ints perm(data.shape().size());
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random);
    CheckTranspose(data, perm);
  });
  std::mt19937 random(5);
  for (const ElementType type : {kUint8, kFloat16, kFloat32, kFloat64}) {
    CheckTranspose(RandomTensor(random, type, {67, 129}, 0, 100), {1, 0});
    // A few elements side by side on either side, in more than one block.
    for (const std::int64_t few : {2, 3, 4, 5}) {
      CheckTranspose(RandomTensor(random, type, {2, few, 4103}, 0, 100), {0, 2, 1});
      CheckTranspose(RandomTensor(random, type, {2, 71, few}, 0, 100), {0, 2, 1});
      CheckTranspose(RandomTensor(random, type, {few, few, few, 9}, 0, 100), {2, 3, 1, 0});
    }
    CheckTranspose(RandomTensor(random, type, {3, 40, 5, 64}, 0, 100), {0, 2, 1, 3});
    CheckTranspose(RandomTensor(random, type, {2, 33, 50, 3}, 0, 100), {0, 3, 1, 2});
  }
  EXPECT_EQ(BindError("Transpose", {{kInt32, {2, 3}}}, {{kInt32, {2, 3}}}, {{"perm", Ints{0, 0}}}),
            "attribute 'perm' is [0, 0], which is not an order of the 2 axes of the input");
  EXPECT_EQ(BindError("Transpose", {{kInt32, {2, 3}}}, {{kInt32, {2, 3}}}),
            "output 0 is int32[2, 3], expected int32[3, 2]");
  EXPECT_EQ(BindError("Transpose", {{kInt32, {2}}}, {{kInt32, {2}}}, {{"perm", 0.5F}}),
            "attribute 'perm' is not a list of integers");
}

TEST(DataMovementTest, ConcatJoinsWhatSplitCuts) {
  ForRandomTensors(1, 100, 9, [](std::mt19937& random, const Tensor& data, const Values& values) {
    const auto rank = static_cast<std::int64_t>(data.shape().size());
    const std::int64_t axis = Draw(random, -rank, rank - 1);
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    std::vector<TensorType> types;
    std::int64_t left = data.shape()[at];
    while (left > 0 || types.empty()) {
      types.push_back(data.type());
      types.back().shape[at] = Draw(random, 0, left);
      left -= types.back().shape[at];
    }
    const Attributes attributes{{"axis", axis}};
    const std::vector<Tensor> parts = RunOnce("Split", {data}, types, attributes);
    std::int64_t begin = 0;
    for (const Tensor& part : parts) {
      EXPECT_EQ(ToValues(part), Fill(part.shape(), [&](Index from) {
                  from[at] += begin;
                  return values[Flat(data.shape(), from)];
                }));
      begin += part.shape()[at];
    }
    EXPECT_EQ(Run1("Concat", parts, data.type(), attributes), data);
  });
  EXPECT_EQ(BindError("Concat", {{kInt32, {2}}, {kInt32, {3}}}, {{kInt32, {6}}},
                      {{"axis", std::int64_t{0}}}),
            "the inputs have 5 of the 6 positions of axis 0");
  EXPECT_EQ(BindError("Split", {{kInt32, {2, 4}}}, {{kInt32, {2, 3}}, {kInt32, {1, 1}}},
                      {{"axis", std::int64_t{1}}}),
            "output 1 is int32[1, 1], expected int32[2, 1]");
  EXPECT_EQ(BindError("Concat", {{kInt32, {2}}}, {{kInt32, {2}}}, {{"axis", std::int64_t{1}}}),
            "attribute 'axis' names axis 1 of a tensor of rank 1");
}

TEST(DataMovementTest, Slices) {
  ForRandomTensors(1, 150, 9, [](std::mt19937& random, const Tensor& data, const Values& values) {
    Ints starts, ends, axes, steps;
    for (std::size_t i = 0; i < data.shape().size(); ++i) {
      if (random() % 3 == 0) continue;
      const std::int64_t extent = data.shape()[i];
      starts.push_back(Draw(random, -extent - 2, extent + 2));
      ends.push_back(Draw(random, -extent - 2, extent + 2));
      axes.push_back(static_cast<std::int64_t>(i));
      steps.push_back(Draw(random, 1, 3) * (random() % 2 == 0 ? 1 : -1));
    }
    const Attributes attributes{
        {"starts", starts}, {"ends", ends}, {"axes", axes}, {"steps", steps}};
    const std::vector<SliceRange> ranges = ResolveSlice(attributes, data.shape());
    const Shape shape = SliceOutputShape(ranges);
    EXPECT_EQ(ToValues(Run1("Slice", {data}, {data.element(), shape}, attributes)),
              Fill(shape, [&](Index from) {
                for (std::size_t i = 0; i < from.size(); ++i) {
                  from[i] = ranges[i].start + from[i] * ranges[i].step;
                }
                return values[Flat(data.shape(), from)];
              }));
  });
}

/// What Pad puts at `at` of an axis of `n`, or -1, by walking rather than by formula.
std::int64_t WalkPad(std::int64_t at, std::int64_t n, const std::string& mode) {
  while (at < 0 || at >= n) {
    if (mode == "constant") return -1;
    if (mode == "edge") return at < 0 ? 0 : n - 1;
    if (mode == "wrap") {
      at += at < 0 ? n : -n;
    } else if (n == 1) {
      return 0;
    } else {
      at = at < 0 ? -at : 2 * (n - 1) - at;
    }
  }
  return at;
}

TEST(DataMovementTest, Pads) {
  for (const std::string mode : {"constant", "reflect", "edge", "wrap"}) {
    SCOPED_TRACE(mode);
    ForRandomTensors(0, 60, 5, [&](std::mt19937& random, const Tensor& data, const Values& values) {
      const std::size_t rank = data.shape().size();
      if (values.empty() && mode != "constant") return;
      Ints pads(2 * rank);
      Shape shape = data.shape();
      for (std::size_t i = 0; i < rank; ++i) {
        // Cropping keeps at least one position, which the other modes need.
        const std::int64_t widest = rank > 4 ? 1 : 4;
        pads[i] = Draw(random, -(data.shape()[i] - 1) / 2, widest);
        pads[rank + i] = Draw(random, -(data.shape()[i] - 1) / 2, widest);
        shape[i] += pads[i] + pads[rank + i];
      }
      const Tensor constant = FromValues(data.element(), {}, {1});
      const std::vector<Tensor> inputs =
          random() % 2 == 0 ? std::vector<Tensor>{data} : std::vector<Tensor>{data, constant};
      const double filler = inputs.size() == 2 ? 1 : 0;
      const Values wanted = Fill(shape, [&](Index at) {
        for (std::size_t i = 0; i < rank; ++i) {
          const std::int64_t crop = std::max<std::int64_t>(0, -pads[i]);
          const std::int64_t kept =
              data.shape()[i] - crop - std::max<std::int64_t>(0, -pads[rank + i]);
          at[i] = WalkPad(at[i] - std::max<std::int64_t>(0, pads[i]), kept, mode);
          if (at[i] < 0) return filler;
          at[i] += crop;
        }
        return values[Flat(data.shape(), at)];
      });
      const Attributes attributes{{"pads", pads}, {"mode", mode}};
      EXPECT_EQ(ToValues(Run1("Pad", inputs, {data.element(), shape}, attributes)), wanted);
    });
  }
  const Tensor data = FromValues(kFloat32, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(
      ToValues(Run1("Pad", {data}, {kFloat32, {2, 3}}, {{"pads", Ints{1, 0}}, {"axes", Ints{-1}}})),
      (Values{0, 1, 2, 0, 3, 4}));
  EXPECT_EQ(BindError("Pad", {{kInt32, {2}}}, {{kInt32, {2}}}, {{"pads", Ints{1}}}),
            "attribute 'pads' has 1 numbers, expected 2, two for every padded axis");
  EXPECT_EQ(BindError("Pad", {{kInt32, {2}}}, {{kInt32, {2}}}, {{"pads", Ints{-3, 0}}}),
            "attribute 'pads' holds -3 and 0 for an axis of extent 2");
  EXPECT_EQ(BindError("Pad", {{kInt32, {2}}, {kFloat32, {}}}, {{kInt32, {2}}}, {}),
            "input 1 is float32[], expected one element of int32");
}

TEST(DataMovementTest, Expands) {
  ForRandomTensors(0, 80, 4, [](std::mt19937& random, const Tensor& data, const Values&) {
    Shape small = data.shape();
    for (auto& extent : small) extent = random() % 2 == 0 ? extent : 1;
    Shape large(random() % 2, 3);
    for (std::size_t i = 0; i < small.size(); ++i) {
      large.push_back(small[i] == 1 ? Draw(random, 0, 5) : small[i]);
    }
    const Tensor source = RandomTensor(random, data.element(), small, 0, 100);
    const Values values = ToValues(source);
    EXPECT_EQ(ToValues(Run1("Expand", {source}, {source.element(), large})),
              Fill(large, [&](const Index& at) {
                Index from(at.end() - static_cast<std::ptrdiff_t>(small.size()), at.end());
                for (std::size_t i = 0; i < small.size(); ++i) from[i] %= small[i];
                return values[Flat(small, from)];
              }));
  });
  EXPECT_EQ(BindError("Expand", {{kInt32, {2}}}, {{kInt32, {3}}}),
            "input int32[2] does not broadcast to output int32[3]");
}

TEST(DataMovementTest, ExpandsRowsManyTimes) {
  ForSeeds(20, [](std::mt19937& random) {
    // Repeats with and without divisors, of rows that a kilobyte holds many of, few of or none.
    const std::int64_t row = Draw(random, 1, random() % 3 == 0 ? 700 : 40);
    const std::int64_t repeats = Draw(random, 1, random() % 2 == 0 ? 1200 : 211);
    const Shape large{2, repeats, row};
    const Tensor source = RandomTensor(random, kFloat32, {2, 1, row}, 0, 1000);
    const Values values = ToValues(source);
    EXPECT_EQ(ToValues(Run1("Expand", {source}, {kFloat32, large})),
              Fill(large, [&](const Index& at) {
                return values[static_cast<std::size_t>(at[0] * row + at[2])];
              }));
  });
}

TEST(DataMovementTest, Tiles) {
  ForRandomTensors(0, 80, 3, [](std::mt19937& random, const Tensor& data, const Values& values) {
    Ints repeats;
    Shape shape = data.shape();
    for (auto& extent : shape) {
      repeats.push_back(Draw(random, random() % 8 == 0 ? 0 : 1, 3));
      extent *= repeats.back();
    }
    EXPECT_EQ(ToValues(Run1("Tile", {data}, {data.element(), shape}, {{"repeats", repeats}})),
              Fill(shape, [&](Index at) {
                for (std::size_t i = 0; i < at.size(); ++i) at[i] %= data.shape()[i];
                return values[Flat(data.shape(), at)];
              }));
  });
  EXPECT_EQ(BindError("Tile", {{kInt32, {2}}}, {{kInt32, {2}}}, {{"repeats", Ints{-1}}}),
            "attribute 'repeats' holds -1, allowed are numbers >= 0 that keep the output's extent "
            "in int64");
}

TEST(DataMovementTest, MovesBlocksBetweenSpaceAndDepth) {
  Values values(16);
  std::iota(values.begin(), values.end(), 0);
  const Tensor data = FromValues(kFloat32, {1, 8, 1, 2}, values);
  const Attributes two{{"blocksize", std::int64_t{2}}};
  const Tensor dcr = Run1("DepthToSpace", {data}, {kFloat32, {1, 2, 2, 4}}, two);
  EXPECT_EQ(ToValues(dcr), (Values{0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15}));
  EXPECT_EQ(Run1("SpaceToDepth", {dcr}, data.type(), two), data);
  EXPECT_EQ(ToValues(Run1("DepthToSpace", {data}, {kFloat32, {1, 2, 2, 4}},
                          {{"blocksize", std::int64_t{2}}, {"mode", std::string("CRD")}})),
            (Values{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15}));
  EXPECT_EQ(BindError("SpaceToDepth", {{kInt8, {1, 1, 3, 2}}}, {{kInt8, {1, 4, 1, 1}}}, two),
            "axis 2 has extent 3, which is not a multiple of 2");
}

TEST(DataMovementTest, ReversesSequencesAndClampsTheirLengths) {
  const Tensor data = FromValues(kInt16, {2, 3}, {0, 1, 2, 10, 11, 12});
  const Attributes batch_first{{"batch_axis", std::int64_t{0}}, {"time_axis", std::int64_t{1}}};
  EXPECT_EQ(ToValues(Run1("ReverseSequence", {data, FromValues(kInt64, {2}, {2, 99})}, data.type(),
                          batch_first)),
            (Values{1, 0, 2, 12, 11, 10}));
  EXPECT_EQ(
      ToValues(Run1("ReverseSequence", {data, FromValues(kInt32, {3}, {2, -5, 1})}, data.type())),
      (Values{10, 1, 2, 0, 11, 12}));
  EXPECT_EQ(BindError("ReverseSequence", {data.type(), {kInt64, {3}}}, {data.type()}, batch_first),
            "input 1 is int64[3], expected int64[2]");
}

}  // namespace
}  // namespace poprt::kernels::testing
