// The two floating-point types of 16 bits, as they lie in memory: storage with conversions, not
// arithmetic, which C++17 has no portable types for.

#ifndef TOOLS_AOT_HALF_H_
#define TOOLS_AOT_HALF_H_

#include <cstdint>
#include <cstring>

namespace plumbline {

namespace half_internal {

inline std::uint32_t Bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float FromBits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// value / 2^shift for 1 <= shift <= 31, rounded to nearest, ties to even.
inline std::uint32_t ShiftRightRounded(std::uint32_t value, int shift) {
  const std::uint32_t kept = value >> shift;
  const std::uint32_t lost = value & ((std::uint32_t{1} << shift) - 1);
  const std::uint32_t tie = std::uint32_t{1} << (shift - 1);
  return kept + (lost > tie || (lost == tie && (kept & 1) != 0) ? 1 : 0);
}

}  // namespace half_internal

// IEEE 754 binary16: 1 bit of sign, 5 of exponent (bias 15), 10 of fraction.
class Float16 {
 public:
  Float16() = default;

  // Rounds to nearest, ties to even; overflows to infinity; a NaN stays one and becomes quiet.
  explicit Float16(float value) {
    using half_internal::ShiftRightRounded;
    const std::uint32_t bits = half_internal::Bits(value);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    std::uint32_t result;
    if (magnitude > 0x7f800000) {
      result = 0x7e00 | (magnitude >> 13 & 0x3ff);
    } else if (magnitude >= 0x47800000) {  // 2^16, beyond what rounds to the largest finite value.
      result = 0x7c00;
    } else if (magnitude >= 0x38800000) {  // 2^-14, the smallest normal value.
      // Rounding carries from the fraction into the exponent, up to infinity, by itself.
      result = ShiftRightRounded(magnitude - ((127 - 15) << 23), 13);
    } else if (magnitude >= 0x33000000) {  // 2^-25, half of the smallest subnormal value.
      const int shift = 126 - static_cast<int>(magnitude >> 23);
      result = ShiftRightRounded((magnitude & 0x7fffff) | 0x800000, shift);
    } else {
      result = 0;
    }
    bits_ = static_cast<std::uint16_t>((bits >> 16 & 0x8000) | result);
  }

  static Float16 FromBits(std::uint16_t bits) {
    Float16 value;
    value.bits_ = bits;
    return value;
  }

  std::uint16_t bits() const { return bits_; }

  // Exact.
  explicit operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits_ & 0x8000) << 16;
    const std::uint32_t exponent = bits_ >> 10 & 0x1f;
    const std::uint32_t fraction = bits_ & 0x3ff;
    if (exponent == 0x1f) return half_internal::FromBits(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0) {
      const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
      return half_internal::FromBits(sign | half_internal::Bits(magnitude));
    }
    return half_internal::FromBits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
  }
  explicit operator double() const { return static_cast<float>(*this); }

 private:
  std::uint16_t bits_;
};

// bfloat16: the upper half of an IEEE 754 binary32.
class BFloat16 {
 public:
  BFloat16() = default;

  // Rounds to nearest, ties to even; overflows to infinity; a NaN stays one and becomes quiet.
  explicit BFloat16(float value) {
    const std::uint32_t bits = half_internal::Bits(value);
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    bits_ = static_cast<std::uint16_t>(is_nan ? bits >> 16 | 0x40
                                              : half_internal::ShiftRightRounded(bits, 16));
  }

  static BFloat16 FromBits(std::uint16_t bits) {
    BFloat16 value;
    value.bits_ = bits;
    return value;
  }

  std::uint16_t bits() const { return bits_; }

  // Exact.
  explicit operator float() const {
    return half_internal::FromBits(static_cast<std::uint32_t>(bits_) << 16);
  }
  explicit operator double() const { return static_cast<float>(*this); }

 private:
  std::uint16_t bits_;
};

}  // namespace plumbline

#endif  // TOOLS_AOT_HALF_H_
