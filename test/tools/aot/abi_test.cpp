#include "tools/aot/abi.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace {

template <std::size_t>
using Int64 = std::int64_t;

template <typename T, std::size_t... I>
auto SignatureOf(std::index_sequence<I...>) -> void (*)(T*, T*, Int64<I>...);

// What MLIR passes for a memref: two pointers, the offset, and the sizes and strides one by one.
template <typename T, int Rank>
using Signature = decltype(SignatureOf<T>(std::make_index_sequence<1 + 2 * Rank>()));

struct Arguments {
  template <typename T, typename... Integers>
  Arguments(T* base, T* data, Integers... rest)
      : base_pointer(base), data_pointer(data), integers{rest...} {}

  void* base_pointer;
  void* data_pointer;
  std::vector<std::int64_t> integers;
};

// Numbered through: offset 100, sizes 200, 201 ..., strides 300, 301 ...
template <int Rank>
StridedMemRefType<double, Rank> Numbered(double* base) {
  StridedMemRefType<double, Rank> memref;
  memref.basePtr = base;
  memref.data = base + 1;
  memref.offset = 100;
  if constexpr (Rank > 0) {
    for (int axis = 0; axis < Rank; ++axis) {
      memref.sizes[axis] = 200 + axis;
      memref.strides[axis] = 300 + axis;
    }
  }
  return memref;
}

void ExpectNumbered(const Arguments& arguments, const double* base, int rank) {
  std::vector<std::int64_t> expected = {100};
  for (int axis = 0; axis < rank; ++axis) expected.push_back(200 + axis);
  for (int axis = 0; axis < rank; ++axis) expected.push_back(300 + axis);
  EXPECT_EQ(arguments.base_pointer, base);
  EXPECT_EQ(arguments.data_pointer, base + 1);
  EXPECT_EQ(arguments.integers, expected);
}

#define TEST_RANK(N)                                                                         \
  TEST(Abi, Rank##N) {                                                                       \
    static_assert(                                                                           \
        std::is_same_v<void (*)(DECL_RANK_##N##_MEMREF_ABI(double)), Signature<double, N>>); \
    static_assert(sizeof(StridedMemRefType<double, N>) == 24 + 16 * N);                      \
    static_assert(std::is_trivial_v<StridedMemRefType<double, N>> &&                         \
                  std::is_standard_layout_v<StridedMemRefType<double, N>>);                  \
    double memory[2];                                                                        \
    const auto memref = Numbered<N>(memory);                                                 \
    ExpectNumbered(Arguments(PASS_RANK_##N##_MEMREF(memref)), memory, N);                    \
  }

TEST_RANK(0)
TEST_RANK(1)
TEST_RANK(2)
TEST_RANK(3)
TEST_RANK(4)
TEST_RANK(5)
TEST_RANK(6)
TEST_RANK(7)
TEST_RANK(8)
TEST_RANK(9)
TEST_RANK(10)
TEST_RANK(11)
TEST_RANK(12)
TEST_RANK(13)
TEST_RANK(14)
TEST_RANK(15)
TEST_RANK(16)

TEST(Abi, LayoutIsThatOfTheDescriptor) {
  using MemRef = StridedMemRefType<float, 3>;
  static_assert(offsetof(MemRef, basePtr) == 0);
  static_assert(offsetof(MemRef, data) == 8);
  static_assert(offsetof(MemRef, offset) == 16);
  static_assert(offsetof(MemRef, sizes) == 24);
  static_assert(offsetof(MemRef, strides) == 48);
}

struct BothResults {
  StridedMemRefType<float, 2> tensor;
  StridedMemRefType<float, 0> scalar;
};

// Written in C, with every parameter and member spelled out.
extern "C" StridedMemRefType<float, 0> abi_test_scalar(DECL_RANK_0_MEMREF_ABI(float));
extern "C" BothResults abi_test_both(DECL_RANK_0_MEMREF_ABI(float), DECL_RANK_2_MEMREF_ABI(float));

TEST(Abi, ResultComesBackByValueFromC) {
  float memory[2];
  const StridedMemRefType<float, 0> scalar = {memory, memory + 1, 7};
  const StridedMemRefType<float, 0> result = abi_test_scalar(PASS_RANK_0_MEMREF(scalar));
  EXPECT_EQ(result.basePtr, memory);
  EXPECT_EQ(result.data, memory + 1);
  EXPECT_EQ(result.offset, 7);
}

TEST(Abi, SeveralResultsComeBackAsAStructFromC) {
  float memory[4];
  const StridedMemRefType<float, 0> scalar = {memory, memory + 1, 7};
  const StridedMemRefType<float, 2> tensor = {memory + 2, memory + 3, 8, {9, 10}, {11, 12}};
  const BothResults results = abi_test_both(PASS_RANK_0_MEMREF(scalar), PASS_RANK_2_MEMREF(tensor));
  EXPECT_EQ(results.scalar.basePtr, memory);
  EXPECT_EQ(results.scalar.data, memory + 1);
  EXPECT_EQ(results.scalar.offset, 7);
  EXPECT_EQ(results.tensor.basePtr, memory + 2);
  EXPECT_EQ(results.tensor.data, memory + 3);
  EXPECT_EQ(results.tensor.offset, 8);
  EXPECT_EQ(results.tensor.sizes[0], 9);
  EXPECT_EQ(results.tensor.sizes[1], 10);
  EXPECT_EQ(results.tensor.strides[0], 11);
  EXPECT_EQ(results.tensor.strides[1], 12);
}

}  // namespace
