#include <gtest/gtest.h>

#include "runtime/kernels/kernel_test_index.hpp"

/// Random shapes for the kernels that move elements and that data_movement_test.cpp shows on known
/// values only.
namespace poprt::kernels::testing {
namespace {

using enum ElementType;

TEST(DataMovementTest, ReshapesOfAnyShapeCopyTheBytes) {
  ForSeeds(40, [](std::mt19937& random) {
    const Shape shape = AnyShape(random);
    const Tensor data = RandomTensor(random, SomeType(random), shape, 0, 100);
    // One extent of 1 more than there was, wherever.
    Shape other = shape;
    other.insert(other.begin() + Draw(random, 0, static_cast<std::int64_t>(shape.size())), 1);
    const TensorType reshaped{data.element(), other};
    for (const char* name : {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"}) {
      EXPECT_EQ(Run1(name, {data}, reshaped), data.WithType(reshaped)) << name;
    }
  });
}

TEST(DataMovementTest, BitCastsOfAnyShapeCopyTheBytes) {
  ForSeeds(40, [](std::mt19937& random) {
    const auto [from, to] =
        std::vector<std::pair<ElementType, ElementType>>{{kFloat32, kInt32},
                                                         {kInt64, kFloat64},
                                                         {kBFloat16, kUint16},
                                                         {kUint8, kInt8},
                                                         {kBool, kUint8}}[random() % 5];
    const Tensor data = RandomTensor(random, from, AnyShape(random), 0, 100);
    const TensorType wanted{to, data.shape()};
    EXPECT_EQ(Run1("BitCast", {data}, wanted), data.WithType(wanted));
  });
  EXPECT_EQ(BindError("BitCast", {{kFloat32, {2}}}, {{kInt64, {2}}}),
            "output 0 is int64[2], whose elements are not of the size of float32");
}

TEST(DataMovementTest, MovesBlocksOfAnySizeBetweenSpaceAndDepth) {
  ForSeeds(60, [](std::mt19937& random) {
    const std::int64_t block = Draw(random, 1, 4);
    const Shape space{Draw(random, random() % 9 == 0 ? 0 : 1, 3), Draw(random, 1, 4),
                      Draw(random, 1, 5) * block, Draw(random, 1, 5) * block};
    const Shape deep{space[0], space[1] * block * block, space[2] / block, space[3] / block};
    const Tensor data = RandomTensor(random, SomeType(random), deep, 0, 100);
    const Values values = ToValues(data);
    for (const std::string mode : {"DCR", "CRD"}) {
      SCOPED_TRACE(mode);
      const Attributes attributes{{"blocksize", block}, {"mode", mode}};
      const Tensor found = Run1("DepthToSpace", {data}, {data.element(), space}, attributes);
      EXPECT_EQ(ToValues(found), Fill(space, [&](const Index& at) {
                  const std::int64_t in_block = at[2] % block * block + at[3] % block;
                  const std::int64_t channel = mode == "DCR" ? in_block * space[1] + at[1]
                                                             : at[1] * block * block + in_block;
                  return values[Flat(deep, {at[0], channel, at[2] / block, at[3] / block})];
                }));
      if (mode == "DCR") {
        EXPECT_EQ(Run1("SpaceToDepth", {found}, data.type(), {{"blocksize", block}}), data);
      }
    }
  });
}

TEST(DataMovementTest, ShufflesSubpixelsOfCroppedImages) {
  ForSeeds(120, [](std::mt19937& random) {
    const Ints blocks{Draw(random, 1, 5), Draw(random, 1, 5)};
    const Ints crops{Draw(random, 0, 6), Draw(random, 0, 6)};
    const Shape y{Draw(random, random() % 9 == 0 ? 0 : 1, 2), Draw(random, 1, 3),
                  Draw(random, 1, 9), Draw(random, 1, 70)};
    const Shape x{y[0], y[1] * blocks[0] * blocks[1],
                  (y[2] + crops[0] - 1) / blocks[0] + Draw(random, 1, 2),
                  (y[3] + crops[1] - 1) / blocks[1] + Draw(random, 1, 2)};
    const Tensor data = RandomTensor(random, SomeType(random), x, 0, 100);
    const Values values = ToValues(data);
    const bool phases_first = random() % 2 == 0;
    const Attributes attributes{
        {"blocks", blocks}, {"crops", crops}, {"phases_first", std::int64_t{phases_first ? 1 : 0}}};
    EXPECT_EQ(ToValues(Run1("subpixel_shuffle", {data}, {data.element(), y}, attributes)),
              Fill(y, [&](const Index& at) {
                const std::int64_t row = at[2] + crops[0];
                const std::int64_t column = at[3] + crops[1];
                const std::int64_t phase = row % blocks[0] * blocks[1] + column % blocks[1];
                const std::int64_t channel =
                    phases_first ? phase * y[1] + at[1] : at[1] * blocks[0] * blocks[1] + phase;
                return values[Flat(x, {at[0], channel, row / blocks[0], column / blocks[1]})];
              }));
  });
  EXPECT_EQ(BindError("subpixel_shuffle", {{ElementType::kFloat32, {1, 4, 2, 2}}},
                      {{ElementType::kFloat32, {1, 1, 4, 4}}},
                      {{"blocks", Ints{2, 2}}, {"crops", Ints{1, 0}}}),
            "output 0 is float32[1, 1, 4, 4], which input 0, float32[1, 4, 2, 2], does not fill in "
            "blocks of 2 x 2");
}

TEST(DataMovementTest, ShufflesSubpixelsOfBlockedImages) {
  std::mt19937 random(5);
  const Shape x{2, 8, 3, 4, 16};  // two blocks of channels in four phases
  const Shape y{2, 2, 5, 6, 16};
  const Tensor data = RandomTensor(random, ElementType::kFloat32, x, 0, 100);
  const Values values = ToValues(data);
  const Attributes attributes{
      {"blocks", Ints{2, 2}}, {"crops", Ints{1, 1}}, {"phases_first", std::int64_t{1}}};
  EXPECT_EQ(ToValues(Run1("subpixel_shuffle", {data}, {data.element(), y}, attributes)),
            Fill(y, [&](const Index& at) {
              const std::int64_t row = at[2] + 1;
              const std::int64_t column = at[3] + 1;
              const std::int64_t block = (row % 2 * 2 + column % 2) * 2 + at[1];
              return values[Flat(x, {at[0], block, row / 2, column / 2, at[4]})];
            }));
}

TEST(DataMovementTest, ReversesSequencesOfAnyShape) {
  ForSeeds(60, [](std::mt19937& random) {
    const Shape shape = AnyShape(random, 2);
    const std::size_t time = random() % 2;
    const std::size_t batch = 1 - time;
    const Tensor data = RandomTensor(random, SomeType(random), shape, 0, 100);
    const Tensor lengths = RandomTensor(random, random() % 2 == 0 ? kInt64 : kInt32, {shape[batch]},
                                        0, static_cast<double>(shape[time]) + 1);
    const Values values = ToValues(data);
    const Values length = ToValues(lengths);
    EXPECT_EQ(ToValues(Run1("ReverseSequence", {data, lengths}, data.type(),
                            {{"batch_axis", static_cast<std::int64_t>(batch)},
                             {"time_axis", static_cast<std::int64_t>(time)}})),
              Fill(shape, [&](Index at) {
                const auto n =
                    static_cast<std::int64_t>(length[static_cast<std::size_t>(at[batch])]);
                if (at[time] < n) at[time] = n - 1 - at[time];
                return values[Flat(shape, at)];
              }));
  });
}

TEST(DataMovementTest, ConcatOfOneAndOfEmptyParts) {
  ForSeeds(60, [](std::mt19937& random) {
    const Shape shape = AnyShape(random, 1);
    const std::size_t axis = random() % shape.size();
    const Tensor data = RandomTensor(random, SomeType(random), shape, 0, 100);
    Shape nothing = shape;
    nothing[axis] = 0;
    const Tensor empty({data.element(), nothing});
    const Attributes attributes{{"axis", EitherSign(random, axis, shape.size())}};
    EXPECT_EQ(Run1("Concat", {data}, data.type(), attributes), data);
    EXPECT_EQ(Run1("Concat", {empty, data, empty}, data.type(), attributes), data);
    EXPECT_EQ(Run1("Concat", {empty, empty}, empty.type(), attributes), empty);
  });
}

/// The same bytes whether they are uint8 or of a type that no operator computes with.
TEST(DataMovementTest, MovesNarrowTypesAsBytes) {
  std::mt19937 random(3);
  const Tensor data = RandomTensor(random, kUint8, {3, 4}, 0, 100);
  const Tensor indices = FromValues(kInt64, {2, 4}, {0, 2, -1, 1, 1, 0, 2, 2});
  const Tensor updates = RandomTensor(random, kUint8, {2, 4}, 0, 100);
  const Tensor flags = FromValues(kBool, {3, 1}, {1, 0, 1});
  const Tensor pair = FromValues(kUint8, {2}, {3, 9});
  const Tensor classes = FromValues(kInt64, {2}, {1, 0});
  struct Case {
    const char* name;
    std::vector<Tensor> inputs;
    Shape output;
    Attributes attributes;
  };
  const std::vector<Case> cases{
      {"Identity", {data}, {3, 4}, {}},
      {"Transpose", {data}, {4, 3}, {}},
      {"Slice", {data}, {3, 2}, {{"starts", Ints{1}}, {"ends", Ints{3}}, {"axes", Ints{1}}}},
      {"Pad", {data}, {4, 4}, {{"pads", Ints{1, 0, 0, 0}}}},
      {"Concat", {data, data}, {6, 4}, {{"axis", std::int64_t{0}}}},
      {"Expand", {data}, {2, 3, 4}, {}},
      {"Tile", {data}, {3, 8}, {{"repeats", Ints{1, 2}}}},
      {"Gather", {data, classes}, {2, 4}, {}},
      {"GatherElements", {data, indices}, {2, 4}, {}},
      {"GatherND", {data, classes}, {}, {}},
      {"ScatterElements", {data, indices, updates}, {3, 4}, {}},
      {"Where", {flags, data, data}, {3, 4}, {}},
      {"Trilu", {data}, {3, 4}, {}},
      {"OneHot", {classes, pair}, {2, 2}, {{"depth", Ints{2}}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Tensor wanted = Run1(c.name, c.inputs, {kUint8, c.output}, c.attributes);
    for (const ElementType type : {kFloat8E4M3FN, kFloat8E5M2FNUZ, kInt4, kUint4, kFloat4E2M1}) {
      std::vector<Tensor> inputs = c.inputs;
      for (Tensor& input : inputs) {
        if (input.element() == kUint8) input = input.WithType({type, input.shape()});
      }
      const TensorType output{type, c.output};
      EXPECT_EQ(Run1(c.name, inputs, output, c.attributes), wanted.WithType(output));
    }
  }
}

}  // namespace
}  // namespace poprt::kernels::testing
