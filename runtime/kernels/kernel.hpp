#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/thread_pool.hpp"
#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"

/// A kernel computes one operator on the host CPU. Binding happens once, when a program is loaded
/// or a constant folded: it checks the operand types and attributes completely, since both may come
/// from a hostile file, and chooses the code for this processor. Running a bound kernel checks
/// nothing and allocates nothing.
namespace poprt::kernels {

/// What is wrong with a call, in one sentence without the name of the step, which the caller knows.
class KernelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Operands and attributes of one use of a kernel. An absent optional operand has an undefined
/// type. Shapes are valid (CheckedElementCount succeeds), but nothing else is known of them.
struct KernelCall {
  std::vector<TensorType> inputs;
  std::vector<TensorType> outputs;
  Attributes attributes;
};

/// Memory for one run. Pointers are null for absent operands, else aligned to 64 bytes, those to
/// memory of the caller to 16; inputs and outputs do not overlap unless the kernel said that they
/// may.
struct KernelArguments {
  std::span<const std::byte* const> inputs;
  std::span<std::byte* const> outputs;
  std::byte* scratch =
      nullptr;  ///< BoundKernel::scratch_bytes for every worker of the pool, in turn
  ThreadPool* pool = nullptr;

  template <typename T>
  const T* in(std::size_t i) const {
    return reinterpret_cast<const T*>(inputs[i]);
  }
  template <typename T>
  T* out(std::size_t i) const {
    return reinterpret_cast<T*>(outputs[i]);
  }
};

/// A kernel for fixed operand types. Immutable; run() may be called from several threads at once
/// with different memory.
struct BoundKernel {
  std::function<void(const KernelArguments&)> run;
  /// Scratch per worker of the pool, a multiple of 64.
  std::size_t scratch_bytes = 0;
  /// Inputs in whose memory output 0 may be computed. Such an input and the output are then the
  /// same bytes, at one address and of one size, and no input that is not listed shares them.
  std::vector<std::size_t> in_place_inputs = {};
  /// See block_sizes.hpp; empty when there is nothing to cut in another way.
  Ints block_sizes = {};
};

/// One row of the kernel table.
struct KernelDef {
  std::string_view name;
  /// Throws KernelError.
  BoundKernel (*bind)(const KernelCall& call);
};

/// The kernel of that name, or null.
const KernelDef* FindKernel(std::string_view name);

/// All kernels, ordered by name.
std::vector<KernelDef> AllKernels();

/// Binds by name and runs once into newly allocated outputs, on the calling thread. Throws
/// KernelError.
std::vector<Tensor> RunOnce(std::string_view name, const std::vector<Tensor>& inputs,
                            const std::vector<TensorType>& outputs, const Attributes& attributes);

// ---- What bind functions check with ---------------------------------------------------------

/// Throws KernelError with `message` unless `condition`.
void Require(bool condition, std::string_view message);

/// Throws unless the numbers of inputs and outputs are in range and all outputs are defined. A
/// missing trailing input counts as absent.
void RequireArity(const KernelCall& call, std::size_t min_inputs, std::size_t max_inputs,
                  std::size_t min_outputs = 1, std::size_t max_outputs = 1);

/// The type of input i, undefined when it is absent.
const TensorType& InputOrAbsent(const KernelCall& call, std::size_t i);

/// Throws unless `found` is `wanted`; `what` names the operand, e.g. "output 0".
void RequireType(const TensorType& found, const TensorType& wanted, std::string_view what);

}  // namespace poprt::kernels
