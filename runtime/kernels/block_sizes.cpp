#include "runtime/kernels/block_sizes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 24;

Ints LargestOf(std::initializer_list<EvenSplit*> splits) {
  Ints sizes;
  for (const EvenSplit* split : splits) {
    sizes.push_back(std::max<std::int64_t>(1, split->largest()));
  }
  return sizes;
}

}  // namespace

Ints BlockSizes(const Attributes& attributes, const Ints& estimate) try {
  Ints sizes = attributes.get_ints(kBlockSizes, estimate);
  const bool are_positive = std::ranges::all_of(sizes, [](std::int64_t size) { return size >= 1; });
  if (sizes.size() != estimate.size() || !are_positive) {
    throw KernelError("attribute 'block_sizes' is " + ToString(sizes) + ", expected are " +
                      std::to_string(estimate.size()) + " numbers of at least 1");
  }
  for (std::int64_t& size : sizes) size = std::min(size, kLargest);
  return sizes;
} catch (const std::invalid_argument& error) {
  throw KernelError(error.what());
}

Ints CutIntoBlocks(const Attributes& attributes, std::initializer_list<EvenSplit*> splits) {
  const Ints sizes = BlockSizes(attributes, LargestOf(splits));
  auto size = sizes.begin();
  for (EvenSplit* split : splits) *split = split->WithLargest(*size++);
  return LargestOf(splits);
}

}  // namespace poprt::kernels
