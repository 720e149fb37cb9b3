#include "runtime/kernels/matmul/matmul.hpp"

#include <array>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/matmul/batch_offsets.hpp"
#include "runtime/kernels/matmul/matmul_block.hpp"

namespace poprt::kernels {
namespace {

struct MatMulPlan {
  GemmShape gemm;
  std::vector<std::int64_t> a_offsets;  // of every product of the batch, elements
  std::vector<std::int64_t> b_offsets;
};

template <typename T>
void RunMatMul(const MatMulPlan& plan, const KernelArguments& args) {
  const GemmShape& gemm = plan.gemm;
  const std::int64_t row_blocks = (gemm.rows - 1) / kGemmRows + 1;
  const std::int64_t column_blocks = (gemm.columns - 1) / kGemmColumns + 1;
  const std::int64_t per_product = row_blocks * column_blocks;
  const std::int64_t cost = std::min(gemm.rows, kGemmRows) * std::min(gemm.columns, kGemmColumns) *
                            std::max<std::int64_t>(1, gemm.depth / 4);
  ForWideRanges<T>(
      args.pool, static_cast<std::int64_t>(plan.a_offsets.size()) * per_product, GrainFor(cost),
      [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
          const auto product = static_cast<std::size_t>(i / per_product);
          const std::int64_t block = i % per_product;
          T* out = args.out<T>(0) + static_cast<std::int64_t>(product) * gemm.rows * gemm.columns;
          GemmBlock<T>::Run(gemm, args.in<T>(0) + plan.a_offsets[product],
                            args.in<T>(1) + plan.b_offsets[product],
                            block / column_blocks * kGemmRows, block % column_blocks * kGemmColumns,
                            [&](std::int64_t row, std::int64_t column, auto sum) {
                              out[row * gemm.columns + column] = static_cast<T>(sum);
                            });
        }
      });
}

}  // namespace

BoundKernel BindMatMul(const KernelCall& call) {
  RequireArity(call, 2, 2);
  const TensorType& a = call.inputs[0];
  const TensorType& b = call.inputs[1];
  RequireElement(a, kNumericTypes, "input 0");
  RequireType({b.element, {}}, {a.element, {}}, "the element type of input 1");
  RequireCount(a.shape, "input 0");
  RequireCount(b.shape, "input 1");
  Require(!a.shape.empty() && !b.shape.empty(), "the inputs of MatMul have rank 1 or more");
  Shape left = a.shape;
  Shape right = b.shape;
  if (a.shape.size() == 1) left.insert(left.begin(), 1);
  if (b.shape.size() == 1) right.push_back(1);
  MatMulPlan plan;
  GemmShape& gemm = plan.gemm;
  gemm.rows = left[left.size() - 2];
  gemm.depth = left.back();
  gemm.columns = right.back();
  const Shape left_batch(left.begin(), left.end() - 2);
  const Shape right_batch(right.begin(), right.end() - 2);
  const auto batch = Broadcast(left_batch, right_batch);
  if (!batch || right[right.size() - 2] != gemm.depth) {
    throw KernelError("inputs " + ToString(a) + " and " + ToString(b) + " cannot be multiplied");
  }
  TensorType wanted{a.element, *batch};
  if (a.shape.size() > 1) wanted.shape.push_back(gemm.rows);
  if (b.shape.size() > 1) wanted.shape.push_back(gemm.columns);
  RequireType(call.outputs[0], wanted, "output 0");
  if (RequireCount(wanted.shape, "the output") == 0) return NothingToRun();
  gemm.a = {gemm.depth, 1};
  gemm.b = {gemm.columns, 1};
  plan.a_offsets = BatchOffsets(left_batch, *batch, gemm.rows * gemm.depth);
  plan.b_offsets = BatchOffsets(right_batch, *batch, gemm.depth * gemm.columns);
  return VisitElement<BoundKernel, kNumericTypes>(a.element, [&]<typename T>(
                                                                 std::type_identity<T>) {
    return BoundKernel{.run = [plan](const KernelArguments& args) { RunMatMul<T>(plan, args); }};
  });
}

std::span<const KernelDef> MatMulKernels() {
  static constexpr std::array kTable{
      KernelDef{"Det", &GuardedBind<BindDet>},
      KernelDef{"Gemm", &GuardedBind<BindGemm>},
      KernelDef{"MatMul", &GuardedBind<BindMatMul>},
  };
  return kTable;
}

}  // namespace poprt::kernels
