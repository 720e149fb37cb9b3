#include <gtest/gtest.h>

#include "runtime/kernels/kernel_test_index.hpp"

/// Random shapes for the elementwise kernels of more than two operands and for Cast.
namespace poprt::kernels::testing {
namespace {

using enum ElementType;

constexpr ElementType kTypes[] = {kFloat32, kInt8,   kFloat16, kUint64, kFloat64, kInt32,
                                  kUint8,   kUint16, kInt64,   kInt16,  kUint32,  kBFloat16};

TEST(ElementwiseTest, WhereBroadcastsAllThreeOperands) {
  ForSeeds(80, [](std::mt19937& random) {
    const Shape shape = AnyShape(random);
    const ElementType type = random() % 8 == 0 ? kBool : kTypes[random() % 12];
    const Tensor condition = RandomTensor(random, kBool, Narrowed(random, shape), -1, 1);
    const Shape yes_shape = Narrowed(random, shape);
    const Tensor yes = IsFloat(type) ? RandomSpecials(random, type, yes_shape, 0, 9)
                                     : RandomTensor(random, type, yes_shape, 0, 9);
    const Tensor no = RandomTensor(random, type, Narrowed(random, shape), 0, 9);
    const Shape both = *Broadcast(*Broadcast(condition.shape(), yes.shape()), no.shape());
    const Values c = ToValues(condition), x = ToValues(yes), y = ToValues(no);
    Values wanted;
    for (std::int64_t i = 0; i < ElementCount(both); ++i) {
      wanted.push_back(c[BroadcastIndex(both, condition.shape(), i)] != 0
                           ? x[BroadcastIndex(both, yes.shape(), i)]
                           : y[BroadcastIndex(both, no.shape(), i)]);
    }
    ExpectClose(Run1("Where", {condition, yes, no}, {type, both}), wanted, 0);
  });
}

TEST(ElementwiseTest, ClipsAnyShapeOfAnyType) {
  ForSeeds(60, [](std::mt19937& random) {
    const Shape shape = AnyShape(random);
    const ElementType type = kTypes[random() % 12];
    const Tensor x = IsFloat(type) ? RandomSpecials(random, type, shape, 0, 100)
                                   : RandomTensor(random, type, shape, 0, 100);
    const auto low = static_cast<double>(Draw(random, 10, 60));
    const auto high = static_cast<double>(Draw(random, 40, 90));
    const bool has_low = random() % 4 != 0;
    const bool has_high = random() % 4 != 0;
    std::vector<Tensor> inputs{x, has_low ? FromValues(type, {}, {low}) : Tensor()};
    if (has_high) inputs.push_back(FromValues(type, {}, {high}));
    Values wanted = ToValues(x);
    for (double& value : wanted) {
      if (has_low && value < low) value = low;
      if (has_high && value > high) value = high;
    }
    ExpectClose(Run1("Clip", inputs, x.type()), wanted, 0);
  });
}

TEST(ElementwiseTest, FoldsManyOperands) {
  ForSeeds(60, [](std::mt19937& random) {
    const Shape shape = AnyShape(random);
    const char* name = std::vector<const char*>{"Max", "Min", "Sum", "Mean"}[random() % 4];
    const bool extremum = name[0] == 'M' && name[1] != 'e';
    const ElementType type = extremum ? kTypes[random() % 12] : kFloat32;
    std::vector<Tensor> inputs;
    Shape both;
    for (auto left = Draw(random, 1, 5); left > 0; --left) {
      inputs.push_back(RandomTensor(random, type, Narrowed(random, shape), 0, 9));
      both = *Broadcast(both, inputs.back().shape());
    }
    Values wanted;
    for (std::int64_t i = 0; i < ElementCount(both); ++i) {
      double fold = 0;
      for (const Tensor& input : inputs) {
        const double x = ToValues(input)[BroadcastIndex(both, input.shape(), i)];
        const bool first = &input == &inputs.front();
        fold = first            ? x
               : !extremum      ? fold + x
               : name[1] == 'a' ? std::max(fold, x)
                                : std::min(fold, x);
      }
      wanted.push_back(name[1] == 'e' ? fold / static_cast<double>(inputs.size()) : fold);
    }
    ExpectClose(Run1(name, inputs, {type, both}), wanted, 3);
  });
}

TEST(CastTest, CastsAnyShape) {
  ForSeeds(80, [](std::mt19937& random) {
    const Shape shape = AnyShape(random);
    const ElementType from = kTypes[random() % 12];
    const ElementType to = kTypes[random() % 12];
    SCOPED_TRACE(ToString(TensorType{from, shape}) + " to " + std::string(ElementName(to)));
    if (IsFloat(from) && IsFloat(to)) {
      const Tensor x = RandomSpecials(random, from, shape, -100, 100);
      ExpectClose(Run1("Cast", {x}, {to, shape}), ToValues(x), 0.5);
    } else {
      // All types but bfloat16 hold these whole numbers, and that one rounds them when made.
      const Tensor x = RandomTensor(random, from, shape, 0, 127);
      Values wanted = ToValues(x);
      if (!IsFloat(to)) {
        for (double& value : wanted) value = std::trunc(value);
      }
      ExpectClose(Run1("Cast", {x}, {to, shape}), wanted, 0.51);
    }
  });
}

}  // namespace
}  // namespace poprt::kernels::testing
