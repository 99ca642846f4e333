#include "tools/aot/float8.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "gtest/gtest.h"

namespace plumbline {
namespace {

template <typename T>
class Float8Test : public testing::Test {};
using Types = testing::Types<Float8E4M3FN, Float8E5M2, Float8E4M3FNUZ, Float8E5M2FNUZ>;
TYPED_TEST_SUITE(Float8Test, Types);

TYPED_TEST(Float8Test, IsOnePlainByte) {
  static_assert(sizeof(TypeParam) == 1 && alignof(TypeParam) == 1);
  static_assert(std::is_trivial_v<TypeParam> && std::is_standard_layout_v<TypeParam>);
}

template <typename T>
double Value(int bits) {
  return static_cast<double>(T::FromBits(static_cast<std::uint8_t>(bits)));
}

TYPED_TEST(Float8Test, MagnitudesGrowByStepsThatDoubleWithTheExponent) {
  const int count = 1 << TypeParam::kFraction;
  ASSERT_EQ(Value<TypeParam>(0), 0);
  for (int bits = 1; bits < 0x80 && std::isfinite(Value<TypeParam>(bits)); ++bits) {
    const double step = Value<TypeParam>(bits) - Value<TypeParam>(bits - 1);
    // Denormal numbers are as far apart as those of the first exponent.
    const int doublings = bits <= count ? 0 : (bits - 1) / count - 1;
    ASSERT_EQ(step, std::ldexp(Value<TypeParam>(1), doublings)) << bits;
    ASSERT_EQ(Value<TypeParam>(bits | 0x80), -Value<TypeParam>(bits)) << bits;
  }
}

TEST(Float8, LimitsAreThoseOfTheFormats) {
  EXPECT_EQ(Value<Float8E4M3FN>(0x01), 0x1p-9);
  EXPECT_EQ(Value<Float8E4M3FN>(0x7e), 448);
  EXPECT_TRUE(std::isnan(Value<Float8E4M3FN>(0x7f)));
  EXPECT_TRUE(std::signbit(Value<Float8E4M3FN>(0x80)));
  EXPECT_EQ(Value<Float8E5M2>(0x01), 0x1p-16);
  EXPECT_EQ(Value<Float8E5M2>(0x7b), 57344);
  EXPECT_EQ(Value<Float8E5M2>(0xfc), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(Value<Float8E5M2>(0x7d)));
  EXPECT_EQ(Value<Float8E4M3FNUZ>(0x01), 0x1p-10);
  EXPECT_EQ(Value<Float8E4M3FNUZ>(0x7f), 240);
  EXPECT_TRUE(std::isnan(Value<Float8E4M3FNUZ>(0x80)));
  EXPECT_EQ(Value<Float8E5M2FNUZ>(0x01), 0x1p-17);
  EXPECT_EQ(Value<Float8E5M2FNUZ>(0x7f), 57344);
  EXPECT_TRUE(std::isnan(Value<Float8E5M2FNUZ>(0x80)));
}

}  // namespace
}  // namespace plumbline
