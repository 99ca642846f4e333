#include "tools/aot/execute_test/comparison.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace plumbline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A bool as compiled code may have left it: reading a byte other than 0 and 1 as bool is undefined.
struct BoolByte {
  std::uint8_t byte;
};

template <typename T>
constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
template <int Fraction, int Bias, bool HasInfinity, bool UnsignedZero>
constexpr bool kIsFloat<Float8<Fraction, Bias, HasInfinity, UnsignedZero>> = true;

template <typename T>
constexpr bool kIsComplex = false;
template <typename T>
constexpr bool kIsComplex<Complex<T>> = true;

template <typename T>
constexpr int kDigits = std::numeric_limits<T>::max_digits10;
template <>
constexpr int kDigits<Float16> = 5;
template <>
constexpr int kDigits<BFloat16> = 4;
// So many tell any two values apart: 1 + ceil(p log10(2)) for p bits of precision.
template <int Fraction, int Bias, bool HasInfinity, bool UnsignedZero>
constexpr int kDigits<Float8<Fraction, Bias, HasInfinity, UnsignedZero>> = Fraction == 3 ? 3 : 2;

std::string Text(double value, int digits) {
  if (std::isnan(value)) return "nan";  // Whose sign means nothing, but would be printed.
  char text[40];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

std::string Text(BoolByte value) {
  if (value.byte > 1) return "the byte " + std::to_string(value.byte) + ", which is no bool";
  return value.byte == 1 ? "true" : "false";
}

template <typename T>
std::string Text(Complex<T> value) {
  const std::string imaginary = Text(static_cast<double>(value.imaginary), kDigits<T>);
  const char* const plus = imaginary[0] == '-' ? "" : "+";
  return Text(static_cast<double>(value.real), kDigits<T>) + plus + imaginary + "j";
}

template <typename T>
std::string Text(T value) {
  if constexpr (kIsFloat<T>) {
    return Text(static_cast<double>(value), kDigits<T>);
  } else {
    return std::to_string(value);
  }
}

// |actual - expected| of integers, which a difference in their own type would overflow.
template <typename T>
std::uint64_t IntegerDistance(T actual, T expected) {
  const auto a = static_cast<std::uint64_t>(actual);
  const auto e = static_cast<std::uint64_t>(expected);
  return actual > expected ? a - e : e - a;
}

std::uint64_t IntegerDistance(BoolByte actual, BoolByte expected) {
  return IntegerDistance(actual.byte, expected.byte);
}

// Zero for what counts as equal; infinite or NaN where an infinity or a NaN takes part.
template <typename T>
double Distance(T actual, T expected) {
  if constexpr (kIsFloat<T>) {
    const auto a = static_cast<double>(actual);
    const auto e = static_cast<double>(expected);
    if (a == e || (std::isnan(a) && std::isnan(e))) return 0;
    return std::abs(a - e);
  } else {
    return static_cast<double>(IntegerDistance(actual, expected));
  }
}

// In the plane of complex numbers. One of which a part is NaN is as good as any other such.
template <typename T>
double Distance(Complex<T> actual, Complex<T> expected) {
  const auto is_nan = [](Complex<T> value) {
    return std::isnan(value.real) || std::isnan(value.imaginary);
  };
  if (is_nan(actual) && is_nan(expected)) return 0;
  if (actual.real == expected.real && actual.imaginary == expected.imaginary) return 0;
  const auto difference = [](T a, T e) { return static_cast<double>(a) - static_cast<double>(e); };
  return std::hypot(difference(actual.real, expected.real),
                    difference(actual.imaginary, expected.imaginary));
}

template <typename T>
double Magnitude(Complex<T> value) {
  return std::hypot(static_cast<double>(value.real), static_cast<double>(value.imaginary));
}
template <typename T>
double Magnitude(T value) {
  return std::abs(static_cast<double>(value));
}
double Magnitude(BoolByte value) { return value.byte; }

// How many representable values lie between the two, one of them included.
template <typename T>
std::string UlpText(T actual, T expected) {
  using Bits = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  if (std::isnan(static_cast<double>(actual)) || std::isnan(static_cast<double>(expected))) {
    return "undefined";
  }
  Bits a, e;
  std::memcpy(&a, &actual, sizeof(a));
  std::memcpy(&e, &expected, sizeof(e));
  // Without its sign, the bits of a floating-point value are its rank among the magnitudes.
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const std::uint64_t a_rank = a & static_cast<Bits>(~kSign);
  const std::uint64_t e_rank = e & static_cast<Bits>(~kSign);
  if ((a & kSign) != (e & kSign)) return std::to_string(a_rank + e_rank);
  return std::to_string(a_rank > e_rank ? a_rank - e_rank : e_rank - a_rank);
}

template <typename T>
std::string DistanceText(T actual, T expected) {
  const double distance = Distance(actual, expected);
  const std::string relative = Text(distance / Magnitude(expected), 6);
  if constexpr (kIsComplex<T>) {
    return "absolute difference " + Text(distance, 6) + ", relative " + relative;
  } else if constexpr (kIsFloat<T>) {
    return "absolute difference " + Text(distance, 6) + ", relative " + relative + ", ULP " +
           UlpText(actual, expected);
  } else {
    return "absolute difference " + std::to_string(IntegerDistance(actual, expected)) +
           ", relative " + relative;
  }
}

// Calls `visitor` with a value of the C++ type that elements of `type` are read as.
template <typename Visitor>
auto Visit(ElementType type, const Visitor& visitor) {
  switch (type) {
#define PLUMBLINE_CASE(enumerator, name, type, kind) \
  case ElementType::enumerator:                      \
    return visitor(std::conditional_t<std::is_same_v<type, bool>, BoolByte, type>{});
    PLUMBLINE_ELEMENT_TYPES(PLUMBLINE_CASE)
#undef PLUMBLINE_CASE
  }
  throw std::logic_error("not an element type");
}

template <typename T>
T Element(const TensorView& tensor, const std::vector<std::int64_t>& index) {
  std::int64_t offset = tensor.offset;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    offset += index[axis] * tensor.strides[axis];
  }
  T value;
  std::memcpy(&value, static_cast<const char*>(tensor.data) + offset * sizeof(T), sizeof(T));
  return value;
}

std::int64_t ElementCount(const TensorView& tensor) {
  std::int64_t count = 1;
  for (std::int64_t size : tensor.sizes) count *= size;
  return count;
}

// Steps to the next index in row-major order; past the last one comes the first again.
void Advance(const std::vector<std::int64_t>& sizes, std::vector<std::int64_t>& index) {
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    if (++index[axis] < sizes[axis]) return;
    index[axis] = 0;
  }
}

std::string IndexText(const std::vector<std::int64_t>& index) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(index[axis]);
  }
  return text + "]";
}

std::string CountText(std::int64_t some, std::int64_t all) {
  return std::to_string(some) + " of " + std::to_string(all) + " elements";
}

// How many times the allowed distance `distance` is; where none is allowed, the distance itself.
double Excess(double distance, double allowed, const Tolerance& tolerance) {
  return tolerance.rtol == 0 && tolerance.atol == 0 ? distance : distance / allowed;
}

template <typename T>
testing::AssertionResult AllCloseElements(const std::string& name, const TensorView& actual,
                                          const TensorView& expected, const Tolerance& tolerance) {
  const std::int64_t count = ElementCount(expected);
  std::int64_t mismatches = 0;
  double worst_excess = 0;
  std::vector<std::int64_t> worst;
  std::vector<std::int64_t> index(expected.sizes.size(), 0);
  for (std::int64_t i = 0; i < count; ++i, Advance(expected.sizes, index)) {
    const T e = Element<T>(expected, index);
    const double distance = Distance(Element<T>(actual, index), e);
    if (distance == 0) continue;
    const double allowed = tolerance.atol + tolerance.rtol * Magnitude(e);
    if (distance <= allowed && std::isfinite(distance)) continue;
    const double excess =
        std::isfinite(distance) ? Excess(distance, allowed, tolerance) : kInfinity;
    if (mismatches == 0 || excess > worst_excess) {
      worst_excess = excess;
      worst = index;
    }
    ++mismatches;
  }
  if (mismatches == 0) return testing::AssertionSuccess();

  const T a = Element<T>(actual, worst);
  const T e = Element<T>(expected, worst);
  return testing::AssertionFailure()
         << name << ", " << TypeText(expected.type, expected.sizes) << ": "
         << CountText(mismatches, count) << " differ (rtol " << Text(tolerance.rtol, 6) << ", atol "
         << Text(tolerance.atol, 6) << ")\n"
         << "  worst at " << IndexText(worst) << ": actual " << Text(a) << ", expected " << Text(e)
         << "\n  " << DistanceText(a, e);
}

template <typename T>
testing::AssertionResult IsUnmodifiedElements(const std::string& name, const TensorView& now,
                                              const TensorView& before) {
  const std::int64_t count = ElementCount(before);
  std::int64_t changes = 0;
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> index(before.sizes.size(), 0);
  for (std::int64_t i = 0; i < count; ++i, Advance(before.sizes, index)) {
    const T n = Element<T>(now, index);
    const T b = Element<T>(before, index);
    if (std::memcmp(&n, &b, sizeof(T)) == 0) continue;
    if (changes == 0) first = index;
    ++changes;
  }
  if (changes == 0) return testing::AssertionSuccess();

  return testing::AssertionFailure()
         << name << ", " << TypeText(before.type, before.sizes)
         << ": the compiled function changed " << CountText(changes, count)
         << " of its input\n  first at " << IndexText(first) << ": was "
         << Text(Element<T>(before, first)) << ", is " << Text(Element<T>(now, first));
}

}  // namespace

testing::AssertionResult AllClose(const std::string& name, const TensorView& actual,
                                  const TensorView& expected, const Tolerance& tolerance) {
  if (actual.type != expected.type || actual.sizes != expected.sizes) {
    return testing::AssertionFailure() << name << " is " << TypeText(actual.type, actual.sizes)
                                       << ", expected " << TypeText(expected.type, expected.sizes);
  }
  if (actual.data == nullptr && ElementCount(expected) > 0) {
    return testing::AssertionFailure() << name << " has elements, but its data pointer is null";
  }
  return Visit(expected.type, [&](auto zero) {
    return AllCloseElements<decltype(zero)>(name, actual, expected, tolerance);
  });
}

testing::AssertionResult IsUnmodified(const std::string& name, const TensorView& now,
                                      const TensorView& before) {
  return Visit(before.type,
               [&](auto zero) { return IsUnmodifiedElements<decltype(zero)>(name, now, before); });
}

}  // namespace plumbline
