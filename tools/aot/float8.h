// Floating-point types of 8 bits, as they lie in memory: storage that can be read.

#ifndef TOOLS_AOT_FLOAT8_H_
#define TOOLS_AOT_FLOAT8_H_

#include <cmath>
#include <cstdint>
#include <limits>

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

  // Exact.
  explicit operator float() const {
    constexpr int kFirstNotFinite = HasInfinity    ? 0x80 - (1 << Fraction)
                                    : UnsignedZero ? 0x80
                                                   : 0x7f;
    const int magnitude = bits_ & 0x7f;
    const int exponent = magnitude >> Fraction;
    const int fraction = magnitude & ((1 << Fraction) - 1);
    float value;
    if (magnitude >= kFirstNotFinite || (UnsignedZero && bits_ == 0x80)) {
      value = HasInfinity && fraction == 0 ? std::numeric_limits<float>::infinity()
                                           : std::numeric_limits<float>::quiet_NaN();
    } else if (exponent == 0) {
      value = std::ldexp(static_cast<float>(fraction), 1 - Bias - Fraction);
    } else {
      value =
          std::ldexp(static_cast<float>(fraction + (1 << Fraction)), exponent - Bias - Fraction);
    }
    return bits_ >= 0x80 ? -value : value;
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
