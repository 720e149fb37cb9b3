#include "runtime/kernels/window/window.hpp"

#include <algorithm>
#include <string>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

// With these bounds every product and sum below stays inside int64.
constexpr std::int64_t kMaxParameter = (std::int64_t{1} << 30) - 1;
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;

Ints ReadInts(const Attributes& attributes, std::string_view name, std::size_t length,
              std::int64_t otherwise, std::int64_t least) {
  Ints values = attributes.get_ints(name);
  if (values.empty()) values.assign(length, otherwise);
  if (values.size() != length) {
    throw KernelError("attribute '" + std::string(name) + "' has " + std::to_string(values.size()) +
                      " numbers, expected " + std::to_string(length));
  }
  for (const std::int64_t value : values) {
    if (value >= least && value <= kMaxParameter) continue;
    throw KernelError("attribute '" + std::string(name) + "' holds " + std::to_string(value) +
                      ", allowed are " + std::to_string(least) + " to " +
                      std::to_string(kMaxParameter));
  }
  return values;
}

/// Everything but the pads.
Window ReadWindow(const Attributes& attributes, const Shape& input_spatial, const Ints& kernel) {
  const std::size_t rank = input_spatial.size();
  Require(rank >= 1, "needs at least one spatial axis");
  if (kernel.size() != rank) {
    throw KernelError("the window has " + std::to_string(kernel.size()) + " axes, the input has " +
                      std::to_string(rank) + " spatial axes");
  }
  for (std::size_t i = 0; i < rank; ++i) {
    if (kernel[i] < 1 || kernel[i] > kMaxParameter) {
      throw KernelError("the window's extent is " + std::to_string(kernel[i]) +
                        ", allowed are 1 to " + std::to_string(kMaxParameter));
    }
    if (input_spatial[i] < 0 || input_spatial[i] > kMaxExtent) {
      throw KernelError("a spatial extent is " + std::to_string(input_spatial[i]) +
                        ", allowed are 0 to " + std::to_string(kMaxExtent));
    }
  }
  return {.kernel = kernel,
          .strides = ReadInts(attributes, "strides", rank, 1, 1),
          .dilations = ReadInts(attributes, "dilations", rank, 1, 1),
          .pads_begin = Ints(rank, 0),
          .pads_end = Ints(rank, 0)};
}

std::string ReadAutoPad(const Attributes& attributes) {
  std::string mode = attributes.get_string("auto_pad", "NOTSET");
  if (mode.empty()) mode = "NOTSET";
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    throw KernelError("attribute 'auto_pad' is \"" + mode +
                      "\", allowed are NOTSET, VALID, SAME_UPPER, SAME_LOWER");
  }
  return mode;
}

void ReadPads(const Attributes& attributes, Window& window) {
  const std::size_t rank = window.kernel.size();
  const Ints pads = ReadInts(attributes, "pads", 2 * rank, 0, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    window.pads_begin[i] = pads[i];
    window.pads_end[i] = pads[rank + i];
  }
}

}  // namespace

Window ResolveWindow(const Attributes& attributes, const Shape& input_spatial, const Ints& kernel) {
  Window window = ReadWindow(attributes, input_spatial, kernel);
  const std::string mode = ReadAutoPad(attributes);
  if (mode == "NOTSET") {
    ReadPads(attributes, window);
  } else if (mode != "VALID") {
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const std::int64_t stride = window.strides[i];
      const std::int64_t extent = (input_spatial[i] + stride - 1) / stride;
      const std::int64_t total =
          std::max<std::int64_t>(0, (extent - 1) * stride + window.Reach(i) - input_spatial[i]);
      window.pads_begin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      window.pads_end[i] = total - window.pads_begin[i];
    }
  }
  return window;
}

Shape WindowOutputExtents(const Window& window, const Shape& input_spatial, bool ceil_mode) {
  Shape output(input_spatial.size());
  for (std::size_t i = 0; i < output.size(); ++i) {
    const std::int64_t padded = input_spatial[i] + window.pads_begin[i] + window.pads_end[i];
    const std::int64_t room = padded - window.Reach(i);
    if (room < 0) {
      throw KernelError("a window of " + std::to_string(window.Reach(i)) + " does not fit into " +
                        std::to_string(padded) + ", the padded input of spatial axis " +
                        std::to_string(i));
    }
    const std::int64_t stride = window.strides[i];
    output[i] = room / stride + 1;
    if (ceil_mode && room % stride != 0) ++output[i];
    if (ceil_mode && (output[i] - 1) * stride >= input_spatial[i] + window.pads_begin[i]) {
      --output[i];
    }
  }
  return output;
}

bool ReadsEveryPixelOnce(const Window& window) {
  const auto all = [](const Ints& numbers, std::int64_t wanted) {
    return std::ranges::all_of(numbers, [&](std::int64_t number) { return number == wanted; });
  };
  return all(window.kernel, 1) && all(window.strides, 1) && all(window.pads_begin, 0) &&
         all(window.pads_end, 0);
}

TransposedWindow ResolveTransposedWindow(const Attributes& attributes, const Shape& input_spatial,
                                         const Ints& kernel) {
  TransposedWindow result{ReadWindow(attributes, input_spatial, kernel), {}};
  Window& window = result.window;
  const std::size_t rank = kernel.size();
  const std::string mode = ReadAutoPad(attributes);
  const Ints output_padding = ReadInts(attributes, "output_padding", rank, 0, 0);
  const bool shape_given = !attributes.get_ints("output_shape").empty();
  if (shape_given) {
    result.output = ReadInts(attributes, "output_shape", rank, 0, 0);
  } else if (mode == "NOTSET") {
    ReadPads(attributes, window);
  }
  const bool pads_follow = shape_given || mode == "SAME_UPPER" || mode == "SAME_LOWER";
  result.output.resize(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t stride = window.strides[i];
    if (input_spatial[i] > kMaxExtent / stride) {
      throw KernelError("an extent of " + std::to_string(input_spatial[i]) + " with stride " +
                        std::to_string(stride) + " is too large");
    }
    const std::int64_t full = input_spatial[i] == 0 ? 0
                                                    : stride * (input_spatial[i] - 1) +
                                                          output_padding[i] + window.Reach(i);
    if (!pads_follow) {
      result.output[i] = full - window.pads_begin[i] - window.pads_end[i];
      if (input_spatial[i] == 0) result.output[i] = 0;
      if (result.output[i] < 0) {
        throw KernelError("the pads " + std::to_string(window.pads_begin[i]) + " and " +
                          std::to_string(window.pads_end[i]) +
                          " are larger than the output extent " + std::to_string(full) +
                          " of spatial axis " + std::to_string(i));
      }
      continue;
    }
    // Windows that leave gaps are not padded, as in ONNX's own shape inference.
    if (!shape_given) result.output[i] = std::min(input_spatial[i] * stride, full);
    const std::int64_t total = std::max<std::int64_t>(0, full - result.output[i]);
    window.pads_begin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.pads_end[i] = total - window.pads_begin[i];
  }
  return result;
}

}  // namespace poprt::kernels
