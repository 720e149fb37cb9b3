#pragma once

#include <cstdint>

/// The algebra of Winograd's minimal filtering F(m, 3), which packing and kernels share. A
/// convolution of m + 2 inputs with 3 taps is a product of polynomials; it is found from the values
/// of both at m + 1 points and at infinity.
namespace poprt::kernels {

/// Points other than 0 and infinity for m = 2: plus and minus this.
inline constexpr double kWinogradPoint2 = 1.0;

/// The same for m = 4. Compared with the usual 1 and 2 these lower the largest error to a quarter,
/// as the transforms grow numbers less; all coefficients made from them are exact in float32.
inline constexpr double kWinogradPoint4Near = 0.75;
inline constexpr double kWinogradPoint4Far = 1.5;

}  // namespace poprt::kernels
