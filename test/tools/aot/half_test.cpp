#include "tools/aot/half.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "gtest/gtest.h"

namespace plumbline {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Float16Format {
  using Type = Float16;
  static constexpr int kFractionBits = 10;
  static constexpr int kExponentBits = 5;
};

struct BFloat16Format {
  using Type = BFloat16;
  static constexpr int kFractionBits = 7;
  static constexpr int kExponentBits = 8;
};

template <typename Format>
class Half : public testing::Test {
 protected:
  using Type = typename Format::Type;

  static constexpr std::uint16_t kInfinityBits =
      static_cast<std::uint16_t>(((1 << Format::kExponentBits) - 1) << Format::kFractionBits);

  // The definition of IEEE 754, section 3.4, in other arithmetic than that of the header.
  static float Decode(std::uint16_t bits) {
    const int fraction = bits & ((1 << Format::kFractionBits) - 1);
    const int exponent = (bits & 0x7fff) >> Format::kFractionBits;
    const int bias = (1 << (Format::kExponentBits - 1)) - 1;
    const double significand =
        std::ldexp(fraction, -Format::kFractionBits) + (exponent > 0 ? 1 : 0);
    const double magnitude = std::ldexp(significand, (exponent > 0 ? exponent : 1) - bias);
    return static_cast<float>((bits & 0x8000) != 0 ? -magnitude : magnitude);
  }

  static std::uint16_t Encode(float value) { return Type(value).bits(); }
};

using Formats = testing::Types<Float16Format, BFloat16Format>;
TYPED_TEST_SUITE(Half, Formats);

TYPED_TEST(Half, IsTwoPlainBytes) {
  using Type = typename TypeParam::Type;
  static_assert(sizeof(Type) == 2 && alignof(Type) == 2);
  static_assert(std::is_trivial_v<Type> && std::is_standard_layout_v<Type>);
}

TYPED_TEST(Half, EveryValueWidensExactlyAndComesBack) {
  using Type = typename TypeParam::Type;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const Type half = Type::FromBits(static_cast<std::uint16_t>(bits));
    const float wide = static_cast<float>(half);
    const int magnitude = bits & 0x7fff;
    if (magnitude > this->kInfinityBits) {
      ASSERT_TRUE(std::isnan(wide)) << bits;
      // Quiet NaNs keep their payload; signalling ones become quiet.
      const int quiet = bits | 1 << (TypeParam::kFractionBits - 1);
      ASSERT_EQ(this->Encode(wide), quiet);
    } else {
      ASSERT_EQ(wide, magnitude == this->kInfinityBits
                          ? (bits == magnitude ? kInfinity : -kInfinity)
                          : this->Decode(bits))
          << bits;
      ASSERT_EQ(std::signbit(wide), bits != magnitude) << bits;
      ASSERT_EQ(this->Encode(wide), bits);
      ASSERT_EQ(static_cast<double>(half), static_cast<double>(wide));
    }
  }
}

// Conversion being monotonic, the points around the middle of each gap decide all values in it.
TYPED_TEST(Half, RoundsToNearestTiesToEven) {
  for (std::uint16_t low = 0; low + 1 < this->kInfinityBits; ++low) {
    const std::uint16_t high = low + 1;
    const float middle =
        static_cast<float>((static_cast<double>(this->Decode(low)) + this->Decode(high)) / 2);
    ASSERT_EQ(this->Encode(middle), low % 2 == 0 ? low : high);
    ASSERT_EQ(this->Encode(std::nextafter(middle, 0.0f)), low);
    ASSERT_EQ(this->Encode(std::nextafter(middle, kInfinity)), high);
    ASSERT_EQ(this->Encode(-middle), 0x8000 | (low % 2 == 0 ? low : high));
  }
}

TYPED_TEST(Half, OverflowsToInfinity) {
  const std::uint16_t largest = this->kInfinityBits - 1;
  // Half a unit above the largest finite value is the tie with what would come next: infinity,
  // even.
  const double unit = static_cast<double>(this->Decode(largest)) -
                      this->Decode(static_cast<std::uint16_t>(largest - 1));
  const auto tie = static_cast<float>(this->Decode(largest) + unit / 2);
  EXPECT_EQ(this->Encode(std::nextafter(tie, 0.0f)), largest);
  EXPECT_EQ(this->Encode(tie), this->kInfinityBits);
  EXPECT_EQ(this->Encode(std::numeric_limits<float>::max()), this->kInfinityBits);
  EXPECT_EQ(this->Encode(-std::numeric_limits<float>::max()), 0x8000 | this->kInfinityBits);
}

TYPED_TEST(Half, NanStaysNan) {
  // Its payload lies in bits that narrowing drops.
  float nan;
  const std::uint32_t bits = 0x7f800001;
  std::memcpy(&nan, &bits, sizeof(nan));
  EXPECT_GT(this->Encode(nan) & 0x7fff, this->kInfinityBits);
  EXPECT_GT(this->Encode(-nan) & 0x7fff, this->kInfinityBits);
}

}  // namespace
}  // namespace plumbline
