#include <gtest/gtest.h>

#include <cmath>

#include "runtime/kernels/kernel_test_index.hpp"

/// Scatter kernels with every reduction on every type, many updates for the same element.
namespace poprt::kernels::testing {
namespace {

using enum ElementType;

constexpr ElementType kTypes[] = {kFloat32, kInt8,  kFloat16, kUint64, kFloat64, kInt32,   kUint8,
                                  kUint16,  kInt64, kInt16,   kUint32, kBool,    kBFloat16};

double Reduced(const std::string& reduction, ElementType type, double a, double b) {
  const double exact = reduction == "none"              ? b
                       : reduction == "add"             ? a + b
                       : reduction == "mul"             ? a * b
                       : std::isnan(a) || std::isnan(b) ? NAN
                       : reduction == "max"             ? std::max(a, b)
                                                        : std::min(a, b);
  // Every update is rounded to what is stored; of integers the low bits remain.
  if (type == kBool) return double(exact != 0);
  if (type == kFloat32) return static_cast<double>(static_cast<float>(exact));
  if (type == kFloat16)
    return static_cast<double>(static_cast<float>(Float16(static_cast<float>(exact))));
  if (type == kBFloat16) {
    return static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(exact))));
  }
  return exact;
}

Tensor Draws(std::mt19937& random, ElementType type, const Shape& shape) {
  if (type == kBool) return RandomTensor(random, type, shape, -1, 1);
  // Three factors of at most 4 stay within an int8.
  return IsFloat(type) ? RandomSpecials(random, type, shape, 0, 4)
                       : RandomTensor(random, type, shape, 0, 4);
}

TEST(GatherTest, ScattersDuplicatesWithEveryReductionOfEveryType) {
  const std::vector<std::string> reductions{"none", "add", "mul", "max", "min"};
  ForSeeds(200, [&](std::mt19937& random) {
    const ElementType type = kTypes[random() % 13];
    const std::string reduction = reductions[random() % 5];
    SCOPED_TRACE(reduction + " " + std::string(ElementName(type)));
    const Shape shape = AnyShape(random, 1, 7);
    const Tensor data = Draws(random, type, shape);
    const std::size_t axis = random() % shape.size();
    Shape index_shape = shape;
    index_shape[axis] = Draw(random, 0, 2);
    const auto extent = static_cast<double>(shape[axis]);
    const Tensor indices = RandomTensor(random, random() % 2 == 0 ? kInt64 : kInt32, index_shape,
                                        -extent - 0.9, extent - 0.1);
    const Tensor updates = Draws(random, type, index_shape);
    const Values where = ToValues(indices), news = ToValues(updates);
    Values wanted = ToValues(data);
    ForEach(index_shape, [&](Index at) {
      const std::size_t from = Flat(index_shape, at);
      auto to = static_cast<std::int64_t>(where[from]);
      if (to < 0) to += shape[axis];
      if (to < 0 || to >= shape[axis]) return;
      at[axis] = to;
      double& element = wanted[Flat(shape, at)];
      element = Reduced(reduction, type, element, news[from]);
    });
    ExpectClose(Run1("ScatterElements", {data, indices, updates}, data.type(),
                     {{"axis", EitherSign(random, axis, shape.size())}, {"reduction", reduction}}),
                wanted, 0);
  });
}

TEST(GatherTest, ScattersSlicesWithEveryReductionOfEveryType) {
  const std::vector<std::string> reductions{"none", "add", "mul", "max", "min"};
  ForSeeds(200, [&](std::mt19937& random) {
    const ElementType type = kTypes[random() % 13];
    const std::string reduction = reductions[random() % 5];
    SCOPED_TRACE(reduction + " " + std::string(ElementName(type)));
    const Shape shape = AnyShape(random, 1, 7);
    const Tensor data = Draws(random, type, shape);
    const Shape rows{Draw(random, 0, 2), 1};
    const auto extent = static_cast<double>(shape[0]);
    const Tensor indices = RandomTensor(random, kInt64, rows, -extent - 0.9, extent - 0.1);
    Shape update_shape = shape;
    update_shape[0] = rows[0];
    const Tensor updates = Draws(random, type, update_shape);
    const Values where = ToValues(indices), news = ToValues(updates);
    Values wanted = ToValues(data);
    ForEach(update_shape, [&](Index at) {
      const std::size_t from = Flat(update_shape, at);
      auto to = static_cast<std::int64_t>(where[static_cast<std::size_t>(at[0])]);
      if (to < 0) to += shape[0];
      if (to < 0 || to >= shape[0]) return;
      at[0] = to;
      double& element = wanted[Flat(shape, at)];
      element = Reduced(reduction, type, element, news[from]);
    });
    ExpectClose(
        Run1("ScatterND", {data, indices, updates}, data.type(), {{"reduction", reduction}}),
        wanted, 0);
  });
}

}  // namespace
}  // namespace poprt::kernels::testing
