#include "runtime/kernels/quantized/integer_rows_avx512.hpp"

namespace poprt::kernels {
namespace {

struct Avx512Wide : Avx512 {
  static constexpr int kRows = 12;
  static constexpr bool kIsWide = true;
};

}  // namespace

const IntegerRowKernels kAvx512IntegerRows = kIntegerRows<Avx512>;
const IntegerRowKernels kAvx512WideIntegerRows = kIntegerRows<Avx512Wide>;

}  // namespace poprt::kernels
