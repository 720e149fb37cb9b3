#include "runtime/kernels/packed/fused_activation.hpp"

#include <limits>
#include <string>
#include <string_view>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

struct NamedActivation {
  std::string_view name;
  Activation activation;
};

constexpr NamedActivation kActivations[] = {
    {"", Activation::kNone},
    {"relu", Activation::kRelu},
    {"clip", Activation::kClip},
    {"gelu_erf", Activation::kGeluErf},
    {"gelu_tanh", Activation::kGeluTanh},
    {"sigmoid", Activation::kSigmoid},
    {"tanh", Activation::kTanh},
    {"silu", Activation::kSilu},
    {"hardswish", Activation::kHardSwish},
    {"leaky_relu", Activation::kLeakyRelu},
};

Activation ParseActivation(const std::string& name) {
  std::string allowed;
  for (const NamedActivation& known : kActivations) {
    if (known.name == name) return known.activation;
    allowed += (allowed.empty() ? "'" : ", '") + std::string(known.name) + "'";
  }
  throw KernelError("attribute activation is '" + name + "', allowed are " + allowed);
}

}  // namespace

Epilogue EpilogueWithActivation(const Attributes& attributes) {
  Epilogue epilogue;
  epilogue.activation = ParseActivation(attributes.get_string("activation", ""));
  if (epilogue.activation == Activation::kClip) {
    epilogue.first = attributes.get_float("min", std::numeric_limits<float>::lowest());
    epilogue.second = attributes.get_float("max", std::numeric_limits<float>::max());
  } else if (epilogue.activation == Activation::kLeakyRelu) {
    epilogue.first = attributes.get_float("alpha", 0.01F);
  }
  return epilogue;
}

}  // namespace poprt::kernels
