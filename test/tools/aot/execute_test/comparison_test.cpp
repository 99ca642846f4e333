#include "tools/aot/execute_test/comparison.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/aot/execute_test/owned_memref.h"

namespace plumbline {
namespace {

using testing::HasSubstr;
using testing::StrEq;

constexpr Tolerance kExact = {0, 0};

template <typename T>
OwnedMemRef<T, 1> Vector(const std::vector<T>& elements) {
  OwnedMemRef<T, 1> tensor({static_cast<std::int64_t>(elements.size())});
  for (std::size_t i = 0; i < elements.size(); ++i) tensor.data[i] = elements[i];
  return tensor;
}

template <typename T>
bool IsClose(T actual, T expected, const Tolerance& tolerance = kExact) {
  return AllClose("x", Vector<T>({actual}), Vector<T>({expected}), tolerance);
}

// The failure's message for a vector of one element.
template <typename T>
std::string Report(T actual, T expected, const Tolerance& tolerance = kExact) {
  const auto result = AllClose("x", Vector<T>({actual}), Vector<T>({expected}), tolerance);
  return result ? "close" : result.message();
}

template <typename T>
class ComplexComparison : public testing::Test {};
using ComplexTypes = testing::Types<Complex<float>, Complex<double>>;
TYPED_TEST_SUITE(ComplexComparison, ComplexTypes);

TYPED_TEST(ComplexComparison, DistancesAreInThePlane) {
  EXPECT_TRUE(IsClose<TypeParam>({3, 4}, {3, 4}));
  EXPECT_TRUE(IsClose<TypeParam>({0, 0}, {-0.0, -0.0}));
  EXPECT_TRUE(IsClose<TypeParam>({3.25, 4}, {3, 4}, {0, 0.25}));
  EXPECT_FALSE(IsClose<TypeParam>({3.25, 4.25}, {3, 4}, {0, 0.25}));
  // What a large part allows, a small one has too.
  EXPECT_TRUE(IsClose<TypeParam>({1024, 1}, {1024, 0}, {0x1p-10, 0}));
}

TYPED_TEST(ComplexComparison, NanAndInfinity) {
  constexpr auto nan = std::numeric_limits<typename TypeParam::Part>::quiet_NaN();
  constexpr auto infinity = std::numeric_limits<typename TypeParam::Part>::infinity();
  EXPECT_TRUE(IsClose<TypeParam>({nan, 1}, {2, nan}));
  EXPECT_FALSE(IsClose<TypeParam>({nan, 1}, {2, 1}, {1e9, 1e9}));
  EXPECT_TRUE(IsClose<TypeParam>({infinity, 1}, {infinity, 1}));
  EXPECT_FALSE(IsClose<TypeParam>({infinity, 1}, {infinity, 2}, {1, 1}));
  EXPECT_FALSE(IsClose<TypeParam>({infinity, 1}, {-infinity, 1}, {1, 1}));
}

TEST(ComplexReport, NamesBothParts) {
  EXPECT_THAT(Report<Complex<float>>({3, -1}, {0, 3}),
              StrEq("x, tensor<1xc64>: 1 of 1 elements differ (rtol 0, atol 0)\n"
                    "  worst at [0]: actual 3-1j, expected 0+3j\n"
                    "  absolute difference 5, relative 1.66667"));
}

TEST(ComplexMemRef, IsOneOfPartsAndBackAgain) {
  const OwnedMemRef<Complex<float>, 1> numbers = Vector<Complex<float>>({{1, 2}, {3, 4}});
  const AnyMemRef parts = AnyMemRef(numbers).Parts();
  EXPECT_EQ(parts.type, ElementType::kF32);
  const StridedMemRefType<float, 2> real = parts;
  EXPECT_EQ(real.sizes[0], 2);
  EXPECT_EQ(real.sizes[1], 2);
  EXPECT_EQ(real.data[real.strides[0] + 1], 4);
  EXPECT_TRUE(AllClose("x", AnyMemRef(real).Of(ElementType::kC64), numbers, kExact));
  // What has three parts is no complex number.
  StridedMemRefType<float, 2> wrong = real;
  wrong.sizes[1] = 3;
  EXPECT_EQ(AnyMemRef(wrong).Of(ElementType::kC64).type, ElementType::kF32);
}

template <typename T>
class FloatComparison : public testing::Test {};
using FloatTypes = testing::Types<float, double, Float16, BFloat16>;
TYPED_TEST_SUITE(FloatComparison, FloatTypes);

TYPED_TEST(FloatComparison, NanIsCloseToNanOnly) {
  const auto nan = static_cast<TypeParam>(std::numeric_limits<float>::quiet_NaN());
  const auto one = static_cast<TypeParam>(1.0f);
  EXPECT_TRUE(IsClose(nan, nan));
  EXPECT_FALSE(IsClose(nan, one, {1e9, 1e9}));
  EXPECT_FALSE(IsClose(one, nan, {1e9, 1e9}));
}

TYPED_TEST(FloatComparison, InfinityIsCloseToItselfOnly) {
  const auto infinity = static_cast<TypeParam>(std::numeric_limits<float>::infinity());
  const auto minus_infinity = static_cast<TypeParam>(-std::numeric_limits<float>::infinity());
  const auto one = static_cast<TypeParam>(1.0f);
  EXPECT_TRUE(IsClose(infinity, infinity));
  EXPECT_TRUE(IsClose(minus_infinity, minus_infinity));
  EXPECT_FALSE(IsClose(infinity, minus_infinity, {1, 1}));
  EXPECT_FALSE(IsClose(infinity, one, {1, 1}));
  EXPECT_FALSE(IsClose(one, infinity, {1, 1}));
}

TYPED_TEST(FloatComparison, ZerosOfBothSignsAreClose) {
  EXPECT_TRUE(IsClose(static_cast<TypeParam>(0.0f), static_cast<TypeParam>(-0.0f)));
}

TYPED_TEST(FloatComparison, ToleranceIncludesItsBoundary) {
  // Powers of two: 4 + 2 * 8 = 20 and every difference are exact in all types.
  const auto expected = static_cast<TypeParam>(8.0f);
  EXPECT_TRUE(IsClose(static_cast<TypeParam>(28.0f), expected, {2, 4}));
  EXPECT_TRUE(IsClose(static_cast<TypeParam>(-12.0f), expected, {2, 4}));
  EXPECT_FALSE(IsClose(static_cast<TypeParam>(28.25f), expected, {2, 4}));
  EXPECT_FALSE(IsClose(static_cast<TypeParam>(-12.25f), expected, {2, 4}));
}

TYPED_TEST(FloatComparison, RelativeToleranceIsOfTheExpectedValue) {
  const auto one = static_cast<TypeParam>(1.0f);
  const auto two = static_cast<TypeParam>(2.0f);
  EXPECT_TRUE(IsClose(one, two, {0.5, 0}));
  EXPECT_FALSE(IsClose(two, one, {0.5, 0}));
  EXPECT_TRUE(IsClose(static_cast<TypeParam>(-1.0f), static_cast<TypeParam>(-2.0f), {0.5, 0}));
}

TEST(DoubleComparison, DistanceBeyondTheRangeIsNotClose) {
  const double largest = std::numeric_limits<double>::max();
  EXPECT_FALSE(IsClose(largest, -largest, {1, 0}));
  EXPECT_FALSE(IsClose(largest, -largest, {4, 0}));
  EXPECT_TRUE(IsClose(largest, largest, {4, 0}));
}

TEST(DoubleComparison, SeesTheLastBit) {
  EXPECT_FALSE(IsClose(1.0 + 0x1p-52, 1.0));
  EXPECT_FALSE(IsClose(0x1p-1074, 0.0));
}

template <typename T>
class IntegerComparison : public testing::Test {};
using IntegerTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                    std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerComparison, IntegerTypes);

TYPED_TEST(IntegerComparison, IsExactAtBothEndsOfTheRange) {
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_TRUE(IsClose(Limits::max(), Limits::max()));
  EXPECT_TRUE(IsClose(Limits::min(), Limits::min()));
  EXPECT_FALSE(IsClose(Limits::max(), static_cast<TypeParam>(Limits::max() - 1)));
  EXPECT_FALSE(IsClose(Limits::min(), static_cast<TypeParam>(Limits::min() + 1)));
}

TYPED_TEST(IntegerComparison, DistanceDoesNotOverflow) {
  using Limits = std::numeric_limits<TypeParam>;
  const std::uint64_t distance =
      static_cast<std::uint64_t>(Limits::max()) - static_cast<std::uint64_t>(Limits::min());
  EXPECT_THAT(Report(Limits::min(), Limits::max()),
              HasSubstr("absolute difference " + std::to_string(distance) + ", relative"));
  EXPECT_THAT(Report(Limits::max(), Limits::min()),
              HasSubstr("absolute difference " + std::to_string(distance) + ", relative"));
}

TYPED_TEST(IntegerComparison, UsesATolerance) {
  EXPECT_TRUE(IsClose<TypeParam>(12, 10, {0.1, 1}));
  EXPECT_FALSE(IsClose<TypeParam>(13, 10, {0.1, 1}));
}

TEST(BoolComparison, IsExact) {
  EXPECT_TRUE(IsClose(true, true));
  EXPECT_TRUE(IsClose(false, false));
  EXPECT_FALSE(IsClose(false, true));
  EXPECT_THAT(Report(true, false), HasSubstr("actual true, expected false"));
}

TEST(BoolComparison, RefusesAByteThatIsNoBool) {
  auto actual = Vector<bool>({true});
  std::memset(actual.data, 255, 1);
  const auto result = AllClose("x", actual, Vector<bool>({true}), kExact);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.message(), HasSubstr("actual the byte 255, which is no bool, expected true"));
}

TEST(Report, HasEveryFieldForFloats) {
  OwnedMemRef<float, 2> actual({2, 3});
  OwnedMemRef<float, 2> expected({2, 3});
  for (int i = 0; i < 6; ++i) actual.data[i] = expected.data[i] = 1.0f;
  actual.data[1] = 1.125f;
  actual.data[5] = 1.5f;
  EXPECT_THAT(AllClose("Output1", actual, expected, {1e-3, 1e-5}).message(),
              StrEq("Output1, tensor<2x3xf32>: 2 of 6 elements differ (rtol 0.001, atol 1e-05)\n"
                    "  worst at [1, 2]: actual 1.5, expected 1\n"
                    "  absolute difference 0.5, relative 0.5, ULP 4194304"));
}

TEST(Report, HasEveryFieldForIntegers) {
  EXPECT_THAT(Report<std::int64_t>(-5, 4),
              StrEq("x, tensor<1xi64>: 1 of 1 elements differ (rtol 0, atol 0)\n"
                    "  worst at [0]: actual -5, expected 4\n"
                    "  absolute difference 9, relative 2.25"));
}

TEST(Report, WorstIsTheFurthestBeyondItsOwnTolerance) {
  // The first is further off, but 1000 allows more than 1 does.
  const auto actual = Vector<float>({1020.0f, 1.5f, 1.25f});
  const auto expected = Vector<float>({1000.0f, 1.0f, 1.0f});
  EXPECT_THAT(AllClose("x", actual, expected, {0.01, 0}).message(), HasSubstr("worst at [1]"));
}

TEST(Report, WorstOfExactComparisonIsTheFurthest) {
  const auto actual = Vector<std::int32_t>({1, 102, 1000, 3});
  const auto expected = Vector<std::int32_t>({0, 100, 1009, 3});
  const std::string report = AllClose("x", actual, expected, kExact).message();
  EXPECT_THAT(report, HasSubstr("3 of 4 elements differ"));
  EXPECT_THAT(report, HasSubstr("worst at [2]: actual 1000, expected 1009"));
}

TEST(Report, WhereNothingIsAllowedAtZeroIsWorst) {
  const auto actual = Vector<float>({3.0f, 1e-20f});
  const auto expected = Vector<float>({1.0f, 0.0f});
  const std::string report = AllClose("x", actual, expected, {0.5, 0}).message();
  EXPECT_THAT(report, HasSubstr("worst at [1]"));
  EXPECT_THAT(report, HasSubstr("relative inf"));
}

TEST(Report, NanIsWorst) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto actual = Vector<float>({9e9f, nan, 8e9f});
  const auto expected = Vector<float>({1.0f, 1.0f, 1.0f});
  const std::string report = AllClose("x", actual, expected, {0.1, 0.1}).message();
  EXPECT_THAT(report, HasSubstr("3 of 3 elements differ"));
  EXPECT_THAT(report, HasSubstr("worst at [1]: actual nan, expected 1\n"
                                "  absolute difference nan, relative nan, ULP undefined"));
}

TEST(Report, InfinityHasADistanceInUlp) {
  EXPECT_THAT(Report(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max()),
              HasSubstr("absolute difference inf, relative inf, ULP 1"));
}

TEST(Report, NanHasNoSign) {
  EXPECT_THAT(Report(1.0, std::numeric_limits<double>::infinity()),
              HasSubstr("absolute difference inf, relative nan, ULP"));
  EXPECT_THAT(Report(-std::numeric_limits<double>::quiet_NaN(), 1.0), HasSubstr("actual nan, "));
}

TEST(Report, DigitsTellNeighboursApart) {
  EXPECT_THAT(Report(1.0f + 0x1p-23f, 1.0f), HasSubstr("actual 1.00000012, expected 1\n"));
  EXPECT_THAT(Report(1.0 + 0x1p-52, 1.0), HasSubstr("actual 1.0000000000000002, expected 1\n"));
  EXPECT_THAT(Report(Float16(1.0f + 0x1p-10f), Float16(1.0f)),
              HasSubstr("actual 1.001, expected 1\n"));
  EXPECT_THAT(Report(BFloat16(1.0f + 0x1p-7f), BFloat16(1.0f)),
              HasSubstr("actual 1.008, expected 1\n"));
  EXPECT_THAT(Report(Float8E4M3FN::FromBits(0x39), Float8E4M3FN::FromBits(0x38)),
              HasSubstr("actual 1.12, expected 1\n"));
  EXPECT_THAT(Report(Float8E5M2::FromBits(0x3d), Float8E5M2::FromBits(0x3c)),
              HasSubstr("actual 1.2, expected 1\n"));
}

TEST(Report, CountsUlpInTheTypesOwnSteps) {
  EXPECT_THAT(Report(1.0f + 0x1p-23f, 1.0f), HasSubstr("ULP 1"));
  EXPECT_THAT(Report(1.0 + 0x1p-51, 1.0), HasSubstr("ULP 2"));
  EXPECT_THAT(Report(Float16(1.0f + 3 * 0x1p-10f), Float16(1.0f)), HasSubstr("ULP 3"));
  EXPECT_THAT(Report(BFloat16(1.0f + 4 * 0x1p-7f), BFloat16(1.0f)), HasSubstr("ULP 4"));
  EXPECT_THAT(Report(Float8E4M3FN::FromBits(0x3d), Float8E4M3FN::FromBits(0x38)),
              HasSubstr("ULP 5"));
  // Through both zeros: -2 steps to -0, which is +0, to +1 step.
  EXPECT_THAT(Report(-0x1p-148f, 0x1p-149f), HasSubstr("ULP 3"));
  // The largest distance of all needs all 64 bits: from lowest to largest finite.
  EXPECT_THAT(Report(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()),
              HasSubstr("ULP 18437736874454810622"));
}

TEST(Report, ShapesMustBeEqual) {
  EXPECT_THAT(
      AllClose("Output0", Vector<float>({1, 2}), Vector<float>({1, 2, 3}), kExact).message(),
      StrEq("Output0 is tensor<2xf32>, expected tensor<3xf32>"));
  EXPECT_THAT(
      AllClose("Output0", OwnedMemRef<float, 2>({0, 3}), OwnedMemRef<float, 2>({3, 0}), kExact)
          .message(),
      StrEq("Output0 is tensor<0x3xf32>, expected tensor<3x0xf32>"));
}

TEST(Report, ElementTypesMustBeEqual) {
  EXPECT_THAT(
      AllClose("Output0", Vector<std::uint8_t>({1}), Vector<std::int8_t>({1}), kExact).message(),
      StrEq("Output0 is tensor<1xu8>, expected tensor<1xi8>"));
}

TEST(Comparison, EmptyTensorsAreClose) {
  EXPECT_TRUE(
      AllClose("x", OwnedMemRef<float, 3>({2, 0, 3}), OwnedMemRef<float, 3>({2, 0, 3}), kExact));
  const StridedMemRefType<float, 1> null = {nullptr, nullptr, 0, {0}, {1}};
  EXPECT_TRUE(AllClose("x", null, Vector<float>({}), kExact));
}

TEST(Comparison, NullDataWithElementsFails) {
  const StridedMemRefType<float, 1> null = {nullptr, nullptr, 0, {1}, {1}};
  EXPECT_THAT(AllClose("x", null, Vector<float>({1}), kExact).message(),
              StrEq("x has elements, but its data pointer is null"));
}

TEST(Comparison, RankZero) {
  OwnedMemRef<std::int16_t, 0> actual({});
  OwnedMemRef<std::int16_t, 0> expected({});
  EXPECT_TRUE(AllClose("x", actual, expected, kExact));
  *actual.data = 3;
  EXPECT_THAT(AllClose("x", actual, expected, kExact).message(),
              HasSubstr("tensor<i16>: 1 of 1 elements differ (rtol 0, atol 0)\n"
                        "  worst at []: actual 3, expected 0"));
}

TEST(Comparison, FollowsOffsetAndStrides) {
  // A transposed 2x3 view of every second element of `memory`, from its third on.
  std::int32_t memory[] = {-1, -1, 0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5};
  const StridedMemRefType<std::int32_t, 2> strided = {memory, memory + 1, 1, {2, 3}, {2, 4}};
  OwnedMemRef<std::int32_t, 2> expected({2, 3});
  for (int i = 0; i < 6; ++i) expected.data[i] = i;
  EXPECT_TRUE(AllClose("x", strided, expected, kExact));
  memory[8] = 40;
  EXPECT_THAT(AllClose("x", strided, expected, kExact).message(),
              HasSubstr("worst at [1, 1]: actual 40, expected 4"));
}

TEST(Comparison, FollowsNegativeAndZeroStrides) {
  std::int32_t memory[] = {2, 1, 0};
  const StridedMemRefType<std::int32_t, 2> strided = {memory, memory, 2, {2, 3}, {0, -1}};
  OwnedMemRef<std::int32_t, 2> expected({2, 3});
  for (int i = 0; i < 6; ++i) expected.data[i] = i % 3;
  EXPECT_TRUE(AllClose("x", strided, expected, kExact));
}

TEST(IsUnmodified, ComparesBits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(IsUnmodified("x", Vector<float>({nan, 0.0f}), Vector<float>({nan, 0.0f})));
  EXPECT_FALSE(IsUnmodified("x", Vector<float>({-0.0f}), Vector<float>({0.0f})));
  EXPECT_FALSE(IsUnmodified("x", Vector<float>({-nan}), Vector<float>({nan})));
}

TEST(IsUnmodified, SaysWhatChanged) {
  EXPECT_THAT(
      IsUnmodified("Input0", Vector<std::uint8_t>({1, 7, 8}), Vector<std::uint8_t>({1, 2, 3}))
          .message(),
      StrEq("Input0, tensor<3xu8>: the compiled function changed 2 of 3 elements of its input\n"
            "  first at [1]: was 2, is 7"));
}

}  // namespace
}  // namespace plumbline
