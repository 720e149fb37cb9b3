#include "runtime/kernels/gather/gather.hpp"

#include <gtest/gtest.h>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

std::int64_t Clamped(double index, std::int64_t extent) {
  auto at = static_cast<std::int64_t>(index);
  if (at < 0) at += extent;
  return std::min(std::max<std::int64_t>(at, 0), extent - 1);
}

bool Inside(double index, std::int64_t extent) {
  const auto at = static_cast<std::int64_t>(index);
  return at >= -extent && at < extent;
}

Shape NonEmpty(std::mt19937& random, std::size_t rank) {
  Shape shape = SmallShape(random, rank, rank > 4 ? 3 : 5);
  for (auto& extent : shape) extent = std::max<std::int64_t>(1, extent);
  return shape;
}

/// Indices for extent n, some of them outside.
Tensor Indices(std::mt19937& random, const Shape& shape, double n) {
  return RandomTensor(random, random() % 2 == 0 ? kInt32 : kInt64, shape, -n - 3, n + 3);
}

TEST(GatherTest, TakesSlices) {
  ForSeeds(100, [](std::mt19937& random) {
    const Tensor data =
        RandomTensor(random, SomeType(random), NonEmpty(random, 1 + random() % 7), 0, 100);
    const auto rank = static_cast<std::int64_t>(data.shape().size());
    const std::int64_t axis = Draw(random, -rank, rank - 1);
    const auto a = static_cast<std::size_t>((axis + rank) % rank);
    const Tensor indices =
        Indices(random, SmallShape(random, random() % 3), static_cast<double>(data.shape()[a]));
    const Values where = ToValues(indices);
    const Values values = ToValues(data);
    Shape shape = data.shape();
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(a));
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(a), indices.shape().begin(),
                 indices.shape().end());
    const Values wanted = Fill(shape, [&](const Index& at) {
      const auto begin = at.begin() + static_cast<std::ptrdiff_t>(a);
      const auto end = begin + static_cast<std::ptrdiff_t>(indices.shape().size());
      Index from(at.begin(), begin);
      from.push_back(Clamped(where[Flat(indices.shape(), Index(begin, end))], data.shape()[a]));
      from.insert(from.end(), end, at.end());
      return values[Flat(data.shape(), from)];
    });
    EXPECT_EQ(ToValues(Run1("Gather", {data, indices}, {data.element(), shape}, {{"axis", axis}})),
              wanted);
  });
}

TEST(GatherTest, TakesAndScattersElements) {
  ForSeeds(150, [](std::mt19937& random) {
    const Tensor data = RandomTensor(random, kInt32, NonEmpty(random, 1 + random() % 7), 0, 9);
    const auto rank = static_cast<std::int64_t>(data.shape().size());
    const std::int64_t axis = Draw(random, -rank, rank - 1);
    const auto a = static_cast<std::size_t>((axis + rank) % rank);
    Shape shape = data.shape();
    for (auto& extent : shape) extent = Draw(random, random() % 9 == 0 ? 0 : 1, extent);
    const std::int64_t extent = data.shape()[a];
    const Tensor indices = Indices(random, shape, static_cast<double>(extent));
    const Values where = ToValues(indices);
    const Values values = ToValues(data);
    const Attributes along{{"axis", axis}};
    EXPECT_EQ(ToValues(Run1("GatherElements", {data, indices}, {kInt32, shape}, along)),
              Fill(shape, [&](Index at) {
                at[a] = Clamped(where[Flat(shape, at)], extent);
                return values[Flat(data.shape(), at)];
              }));
    const Tensor updates = RandomTensor(random, kInt32, shape, -9, 9);
    const Values news = ToValues(updates);
    for (const std::string reduction : {"none", "add", "mul", "max", "min"}) {
      SCOPED_TRACE(reduction);
      Values wanted = values;
      ForEach(shape, [&](Index at) {
        const std::size_t from = Flat(shape, at);
        if (!Inside(where[from], extent)) return;
        at[a] = Clamped(where[from], extent);
        double& to = wanted[Flat(data.shape(), at)];
        to = reduction == "none"  ? news[from]
             : reduction == "add" ? to + news[from]
             : reduction == "mul" ? to * news[from]
             : reduction == "max" ? std::max(to, news[from])
                                  : std::min(to, news[from]);
      });
      EXPECT_EQ(ToValues(Run1("ScatterElements", {data, indices, updates}, data.type(),
                              {{"axis", axis}, {"reduction", reduction}})),
                wanted);
    }
  });
}

TEST(GatherTest, TakesAndScattersTuples) {
  ForSeeds(150, [](std::mt19937& random) {
    const std::size_t rank = 1 + random() % 7;
    const Tensor data = RandomTensor(random, kFloat32, NonEmpty(random, rank), 0, 9);
    const std::size_t batch = random() % rank;
    const std::size_t arity = 1 + random() % (rank - batch);
    Shape outer(data.shape().begin(), data.shape().begin() + static_cast<std::ptrdiff_t>(batch));
    const Shape tuples = SmallShape(random, random() % 3, 4);
    outer.insert(outer.end(), tuples.begin(), tuples.end());
    Shape index_shape = outer;
    index_shape.push_back(static_cast<std::int64_t>(arity));
    const Tensor indices = Indices(random, index_shape, 4);
    const Values where = ToValues(indices);
    const Values values = ToValues(data);
    const auto inner = data.shape().begin() + static_cast<std::ptrdiff_t>(batch + arity);
    Shape shape = outer;
    shape.insert(shape.end(), inner, data.shape().end());
    const auto source = [&](const Index& at, std::size_t batches, bool* inside) {
      Index from(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(batches));
      Index tuple(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(outer.size()));
      tuple.push_back(0);
      for (std::size_t k = 0; k < arity; ++k) {
        tuple.back() = static_cast<std::int64_t>(k);
        const double index = where[Flat(index_shape, tuple)];
        const std::int64_t extent = data.shape()[batches + k];
        *inside = *inside && Inside(index, extent);
        from.push_back(Clamped(index, extent));
      }
      from.insert(from.end(), at.begin() + static_cast<std::ptrdiff_t>(outer.size()), at.end());
      return Flat(data.shape(), from);
    };
    EXPECT_EQ(ToValues(Run1("GatherND", {data, indices}, {kFloat32, shape},
                            {{"batch_dims", static_cast<std::int64_t>(batch)}})),
              Fill(shape, [&](const Index& at) {
                bool inside = true;
                return values[source(at, batch, &inside)];
              }));
    if (batch != 0) return;
    const Tensor updates = RandomTensor(random, kFloat32, shape, 0, 9);
    const Values news = ToValues(updates);
    Values wanted = values;
    ForEach(shape, [&](const Index& at) {
      bool inside = true;
      const std::size_t to = source(at, 0, &inside);
      if (inside) wanted[to] = news[Flat(shape, at)];
    });
    EXPECT_EQ(ToValues(Run1("ScatterND", {data, indices, updates}, data.type())), wanted);
  });
}

TEST(GatherTest, ReducesInOrderAndRoundsHalves) {
  const Tensor data = FromValues(kFloat16, {2}, {2048, 1});
  const Tensor updates = FromValues(kFloat16, {3}, {1, 1, 3});
  const Tensor indices = FromValues(kInt64, {3, 1}, {0, 0, -1});
  EXPECT_EQ(ToValues(Run1("ScatterND", {data, indices, updates}, data.type(),
                          {{"reduction", std::string("add")}})),
            (Values{2048, 4}));
}

TEST(GatherTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(BindError("Gather", {{kInt8, {3}}, {kFloat32, {2}}}, {{kInt8, {2}}}),
            "input 1 is float32[2], allowed element types are int32, int64");
  EXPECT_EQ(BindError("Gather", {{kInt8, {0}}, {kInt32, {2}}}, {{kInt8, {2}}}),
            "input 0 is int8[0], which has no elements to gather");
  EXPECT_EQ(BindError("GatherElements", {{kInt8, {3, 2}}, {kInt32, {2, 3}}}, {{kInt8, {2, 3}}}),
            "input 1 is int32[2, 3], which does not lie inside input 0, int8[3, 2]");
  EXPECT_EQ(BindError("GatherND", {{kInt8, {3}}, {kInt32, {2}}}, {{kInt8, {}}}),
            "the last extent of input 1 is 2, allowed are 1 to 1");
  EXPECT_EQ(BindError("ScatterND", {{kInt8, {3}}, {kInt32, {1}}, {kInt8, {}}}, {{kInt8, {3}}},
                      {{"reduction", std::string("xor")}}),
            "attribute 'reduction' is \"xor\", allowed are none, add, mul, max, min");
  EXPECT_EQ(
      BindError("ScatterElements", {{kInt8, {3}}, {kInt32, {1}}, {kInt8, {2}}}, {{kInt8, {3}}}),
      "input 2 is int8[2], expected int8[1]");
}

}  // namespace
}  // namespace poprt::kernels::testing
