// What a compiler could have made, written by hand: functions to run generated execute tests on.
// write_fake_archives.py writes what they should return.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "tools/aot/abi.h"

namespace {

using plumbline::BFloat16;
using plumbline::Float16;
using plumbline::Float8E4M3FN;
using plumbline::Float8E4M3FNUZ;
using plumbline::Float8E5M2;
using plumbline::Float8E5M2FNUZ;

// A row-major result in memory of its own.
template <typename T, int Rank, typename... Sizes>
StridedMemRefType<T, Rank> Allocate(Sizes... sizes) {
  static_assert(sizeof...(sizes) == Rank);
  const std::int64_t all[Rank + 1] = {sizes..., 1};
  StridedMemRefType<T, Rank> memref;
  std::int64_t count = 1;
  for (int axis = Rank - 1; axis >= 0; --axis) {
    if constexpr (Rank > 0) {
      memref.sizes[axis] = all[axis];
      memref.strides[axis] = count;
    }
    count *= all[axis];
  }
  memref.basePtr = static_cast<T*>(std::malloc(count * sizeof(T)));
  memref.data = memref.basePtr;
  memref.offset = 0;
  return memref;
}

void* volatile kept;
volatile float beside;

}  // namespace

// All the ways in which a result can come.
struct AliasingResults {
  StridedMemRefType<float, 2> product;     // Memory of its own.
  StridedMemRefType<float, 2> transposed;  // A strided view of the product.
  StridedMemRefType<float, 2> tensor;      // The input itself.
  StridedMemRefType<float, 1> last_row;    // A part of the product, at an offset.
  StridedMemRefType<BFloat16, 0> scale;
  StridedMemRefType<bool, 1> inverted;
  StridedMemRefType<std::int64_t, 2> empty;
};

extern "C" AliasingResults fake_aliasing(float* base, float* data, std::int64_t offset,
                                         std::int64_t rows, std::int64_t columns, std::int64_t,
                                         std::int64_t, BFloat16*, BFloat16* scale, std::int64_t,
                                         bool*, bool* flags, std::int64_t, std::int64_t flag_count,
                                         std::int64_t) {
  std::puts("fake_aliasing runs");
  AliasingResults results;
  results.product = Allocate<float, 2>(rows, columns);
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    results.product.data[i] = data[offset + i] * static_cast<float>(*scale);
  }
  results.transposed = {
      results.product.basePtr, results.product.data, 0, {columns, rows}, {1, columns}};
  results.tensor = {base, data, offset, {rows, columns}, {columns, 1}};
  results.last_row = {
      results.product.basePtr, results.product.data, (rows - 1) * columns, {columns}, {1}};
  results.scale = Allocate<BFloat16, 0>();
  *results.scale.data = *scale;
  results.inverted = Allocate<bool, 1>(flag_count);
  std::transform(flags, flags + flag_count, results.inverted.data, [](bool flag) { return !flag; });
  results.empty = Allocate<std::int64_t, 2>(0, 3);
  if (std::getenv("FAKE_CHANGES_ITS_INPUT") != nullptr) data[offset + columns] += 1;
  if (std::getenv("FAKE_READS_BEYOND") != nullptr) beside = data[rows * columns];
  if (std::getenv("FAKE_READS_BEFORE") != nullptr) beside = data[-1];
  if (std::getenv("FAKE_KEEPS_MEMORY") != nullptr) kept = std::aligned_alloc(64, 64);
  if (std::getenv("FAKE_LOSES_MEMORY") != nullptr) {
    kept = std::aligned_alloc(64, 64);
    kept = nullptr;
  }
  if (std::getenv("FAKE_READS_WHAT_NOBODY_WROTE") != nullptr) {
    kept = std::aligned_alloc(64, 64);
    results.product.data[0] += *static_cast<volatile float*>(kept);
    std::free(kept);
  }
  return results;
}

// Refuses all but three columns, as if the second size were static.
extern "C" char* fake_aliasing_checked(AliasingResults* results, float* base, float* data,
                                       std::int64_t offset, std::int64_t rows, std::int64_t columns,
                                       std::int64_t row_stride, std::int64_t column_stride,
                                       BFloat16* scale_base, BFloat16* scale,
                                       std::int64_t scale_offset, bool* flags_base, bool* flags,
                                       std::int64_t flags_offset, std::int64_t flag_count,
                                       std::int64_t flag_stride) {
  const bool refuses_all = std::getenv("FAKE_REFUSES_ALL") != nullptr;
  if ((columns != 3 || refuses_all) && std::getenv("FAKE_REFUSES_NOTHING") == nullptr) {
    char* message = static_cast<char*>(std::malloc(100));
    std::snprintf(message, 100, "argument 0 has size %d in dimension 1, not 3",
                  static_cast<int>(columns));
    return message;
  }
  *results =
      fake_aliasing(base, data, offset, rows, columns, row_stride, column_stride, scale_base, scale,
                    scale_offset, flags_base, flags, flags_offset, flag_count, flag_stride);
  return nullptr;
}

// Has no results, but writes to its first argument.
extern "C" void fake_accumulate(float*, float* total, std::int64_t, std::int64_t size, std::int64_t,
                                float*, float* x, std::int64_t, std::int64_t, std::int64_t) {
  if (std::getenv("FAKE_FORGETS_TO_WRITE") != nullptr) return;
  for (std::int64_t i = 0; i < size; ++i) total[i] += x[i];
  if (std::getenv("FAKE_CHANGES_ITS_INPUT") != nullptr) x[1] += 1;
}

extern "C" char* fake_accumulate_checked(float* total_base, float* total, std::int64_t total_offset,
                                         std::int64_t size, std::int64_t stride, float* x_base,
                                         float* x, std::int64_t offset, std::int64_t x_size,
                                         std::int64_t x_stride) {
  fake_accumulate(total_base, total, total_offset, size, stride, x_base, x, offset, x_size,
                  x_stride);
  return nullptr;
}

// No inputs, every element type, every rank from 0 to 14: each is {0, 1}, or at rank 0 one number.
struct EveryTypeResults {
  StridedMemRefType<double, 0> f64;
  StridedMemRefType<float, 1> f32;
  StridedMemRefType<Float16, 2> f16;
  StridedMemRefType<BFloat16, 3> bf16;
  StridedMemRefType<std::int8_t, 4> i8;
  StridedMemRefType<std::int16_t, 5> i16;
  StridedMemRefType<std::int32_t, 6> i32;
  StridedMemRefType<std::int64_t, 7> i64;
  StridedMemRefType<std::uint8_t, 8> u8;
  StridedMemRefType<std::uint16_t, 9> u16;
  StridedMemRefType<std::uint32_t, 10> u32;
  StridedMemRefType<std::uint64_t, 11> u64;
  StridedMemRefType<bool, 12> i1;
  // Of complex numbers, the parts.
  StridedMemRefType<float, 14> c64;
  StridedMemRefType<double, 15> c128;
  // The bits 0 and 1.
  StridedMemRefType<Float8E4M3FN, 0> f8e4m3fn;
  StridedMemRefType<Float8E5M2, 1> f8e5m2;
  StridedMemRefType<Float8E4M3FNUZ, 2> f8e4m3fnuz;
  StridedMemRefType<Float8E5M2FNUZ, 3> f8e5m2fnuz;
};

namespace {

// A shape of `Ones` ones after a 2.
template <typename T, int Ones, typename... Sizes>
auto ZeroOne(Sizes... ones) {
  if constexpr (sizeof...(ones) < Ones) {
    return ZeroOne<T, Ones>(1, ones...);
  } else {
    auto result = Allocate<T, Ones + 1>(2, ones...);
    if constexpr (std::is_constructible_v<T, float>) {
      result.data[0] = static_cast<T>(0.0f);
      result.data[1] = static_cast<T>(1.0f);
    } else {
      result.data[0] = T::FromBits(0);
      result.data[1] = T::FromBits(1);
    }
    return result;
  }
}

// The same of complex numbers.
template <typename T, int Ones, typename... Sizes>
auto ComplexZeroOne(Sizes... ones) {
  if constexpr (sizeof...(ones) < Ones) {
    return ComplexZeroOne<T, Ones>(1, ones...);
  } else {
    auto result = Allocate<T, Ones + 2>(2, ones..., 2);
    const T parts[] = {0, 0, 1, 0};
    std::copy(parts, parts + 4, result.data);
    return result;
  }
}

}  // namespace

extern "C" EveryTypeResults fake_every_type() {
  EveryTypeResults results;
  results.f64 = Allocate<double, 0>();
  *results.f64.data = 1;
  results.f32 = ZeroOne<float, 0>();
  results.f16 = ZeroOne<Float16, 1>();
  results.bf16 = ZeroOne<BFloat16, 2>();
  results.i8 = ZeroOne<std::int8_t, 3>();
  results.i16 = ZeroOne<std::int16_t, 4>();
  results.i32 = ZeroOne<std::int32_t, 5>();
  results.i64 = ZeroOne<std::int64_t, 6>();
  results.u8 = ZeroOne<std::uint8_t, 7>();
  results.u16 = ZeroOne<std::uint16_t, 8>();
  results.u32 = ZeroOne<std::uint32_t, 9>();
  results.u64 = ZeroOne<std::uint64_t, 10>();
  results.i1 = ZeroOne<bool, 11>();
  results.c64 = ComplexZeroOne<float, 12>();
  results.c128 = ComplexZeroOne<double, 13>();
  results.f8e4m3fn = Allocate<Float8E4M3FN, 0>();
  *results.f8e4m3fn.data = Float8E4M3FN::FromBits(1);
  results.f8e5m2 = ZeroOne<Float8E5M2, 0>();
  results.f8e4m3fnuz = ZeroOne<Float8E4M3FNUZ, 1>();
  results.f8e5m2fnuz = ZeroOne<Float8E5M2FNUZ, 2>();
  return results;
}

extern "C" char* fake_every_type_checked(EveryTypeResults* results) {
  *results = fake_every_type();
  return nullptr;
}
