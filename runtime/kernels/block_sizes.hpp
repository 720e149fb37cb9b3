#pragma once

#include <initializer_list>

#include "runtime/kernels/even_split.hpp"
#include "runtime/tensor/attributes.hpp"

/// Block sizes of a call are the largest sizes of the blocks into which a tuned kernel cuts its
/// work, one for every axis that it cuts, in an order of its own. Each kernel estimates good ones;
/// the compiler writes those it chose into the program, as an attribute.
namespace poprt::kernels {

/// The attribute's name.
inline constexpr const char* kBlockSizes = "block_sizes";

/// The attribute, or the estimate where it is absent. Throws KernelError unless it is a list of as
/// many numbers, each at least 1. Numbers above 2^24 become that, which keeps products of two and a
/// small number in range.
Ints BlockSizes(const Attributes& attributes, const Ints& estimate);

/// Cuts what is cut as estimated as the attribute says. Returns the sizes of the largest blocks,
/// with which the attribute would say the same.
Ints CutIntoBlocks(const Attributes& attributes, std::initializer_list<EvenSplit*> splits);

}  // namespace poprt::kernels
