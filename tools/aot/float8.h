// Floating-point types of 8 bits, as they lie in memory: storage that can be read.

#ifndef TOOLS_AOT_FLOAT8_H_
#define TOOLS_AOT_FLOAT8_H_

#include <cstdint>

#include "tools/aot/half.h"

namespace plumbline {

// From the top: a sign, an exponent that is stored with Bias added, and a fraction of Fraction
// bits. Where HasInfinity, the greatest exponent is that of infinity and NaN, as in IEEE 754. Else
// NaN is what would be -0, where UnsignedZero, or the greatest magnitude.
template <int Fraction, int Bias, bool HasInfinity, bool UnsignedZero>
class Float8 {
 public:
  static constexpr int kFraction = Fraction;

  Float8() = default;

  static Float8 FromBits(std::uint8_t bits) {
    Float8 value;
    value.bits_ = bits;
    return value;
  }

  std::uint8_t bits() const { return bits_; }

  // Exact. All are normal numbers of float, but 0.
  explicit operator float() const {
    constexpr int kFirstNotFinite = HasInfinity    ? 0x80 - (1 << Fraction)
                                    : UnsignedZero ? 0x80
                                                   : 0x7f;
    const std::uint32_t sign = static_cast<std::uint32_t>(bits_ & 0x80) << 24;
    const std::uint32_t magnitude = bits_ & 0x7f;
    const std::uint32_t exponent = magnitude >> Fraction;
    const std::uint32_t fraction = magnitude & ((1 << Fraction) - 1);
    if (magnitude >= kFirstNotFinite || (UnsignedZero && bits_ == 0x80)) {
      const bool is_infinity = HasInfinity && fraction == 0;
      return half_internal::FromBits(sign | (is_infinity ? 0x7f800000 : 0x7fc00000));
    }
    if (exponent == 0) {
      // A fraction of 1 is the least that there is.
      const float least = half_internal::FromBits((127 + 1 - Bias - Fraction) << 23);
      const float value = static_cast<float>(fraction) * least;
      return half_internal::FromBits(sign | half_internal::Bits(value));
    }
    return half_internal::FromBits(sign | (exponent + 127 - Bias) << 23 |
                                   fraction << (23 - Fraction));
  }
  explicit operator double() const { return static_cast<float>(*this); }

 private:
  std::uint8_t bits_;
};

using Float8E4M3FN = Float8<3, 7, false, false>;
using Float8E5M2 = Float8<2, 15, true, false>;
using Float8E4M3FNUZ = Float8<3, 8, false, true>;
using Float8E5M2FNUZ = Float8<2, 16, false, true>;

}  // namespace plumbline

#endif  // TOOLS_AOT_FLOAT8_H_
