// How C and C++ call a compiled function: the memref C ABI of MLIR, free of MLIR's own headers.
//
// It is C11 and C++17. A function `foo` with the inputs tensor<f32> and tensor<?xf32> and the
// result tensor<?xf32> is
//
//   DECL_RANK_0_MEMREF_TYPE(float, Scalar);
//   DECL_RANK_1_MEMREF_TYPE(float, Vector);
//   Vector foo(DECL_RANK_0_MEMREF_ABI(float), DECL_RANK_1_MEMREF_ABI(float));
//
//   Vector result = foo(PASS_RANK_0_MEMREF(a), PASS_RANK_1_MEMREF(b));
//
// where a is a Scalar and b a Vector. In C++ declare foo as extern "C"; there Vector is another
// name of StridedMemRefType<float, 1>. Several results come back in one struct of them, in their
// order, that the caller declares. It has to be a plain struct: std::tuple may lay its members out
// in another order.
//
//   typedef struct {
//     Vector sum;
//     Vector product;
//   } FooResults;
//   FooResults foo(DECL_RANK_1_MEMREF_ABI(float), DECL_RANK_1_MEMREF_ABI(float));
//
// Element types: float, double, int8_t to int64_t, uint8_t to uint64_t, and bool, which is one byte
// of 0 or 1; of 16 bits plumbline::Float16 and plumbline::BFloat16, and in C uint16_t, which holds
// their bits; of 8 bits plumbline::Float8E4M3FN and its kin, and in C uint8_t.
//
// A tensor of complex numbers is passed as one of real numbers with one dimension more, the last,
// of size 2: the real and the imaginary part, as they lie in memory. So tensor<?xcomplex<f32>> is a
// StridedMemRefType<float, 2>, whose data a std::complex<float>* or a `float _Complex*` may point
// to.
//
// Inputs stay the caller's; the function reads them as row-major without gaps (strides as if made
// from sizes, offset 0) and does not change them. But for those that a program is compiled to write
// in place (its text has `plumbline.inout`): these have new values when it returns, and share no
// memory with another input.
//
// Results become the caller's: the basePtr of each comes from aligned_alloc, and the caller gives
// it back with free(), each distinct basePtr once. Two results may share one, at different offsets.
// A result may also alias an input: its basePtr is then that input's, and is not to be freed twice.

// The function takes sizes on trust. Beside it is one that does not, `foo_checked`:
//
//   char* foo_checked(FooResults*, DECL_RANK_1_MEMREF_ABI(float), DECL_RANK_1_MEMREF_ABI(float));
//
//   FooResults results;
//   char* refusal = foo_checked(&results, PASS_RANK_1_MEMREF(a), PASS_RANK_1_MEMREF(b));
//   if (refusal != NULL) {
//     fprintf(stderr, "%s\n", refusal);
//     free(refusal);
//   }
//
// It calls `foo`, writes what it returns to where the first argument points, and returns null; of
// one result the first argument is a pointer to a memref, and of none there is no such argument.
// But where a size is not the static one, is outside the range of its symbol, or disagrees with
// another (two sizes that are both n, or n and 2*n), or where the memory is not row-major without
// gaps, it computes nothing and returns a message that says which argument is wrong and why. So it
// does where an op cannot go on: memory that cannot be had, an index out of range, an integer
// divided by zero, an extreme of no elements. There `foo` ends the process with the same message.
// The message is the caller's, to give back with free(). Element types, ranks and pointers are as
// the caller declares them: no one can check those (docs/limits.md).

#ifndef TOOLS_AOT_ABI_H_
#define TOOLS_AOT_ABI_H_

#include <stdint.h>  // In C++ too: <cstdint> need not have int64_t outside of std.

// A tensor in memory: element (i0, i1, ...) is data[offset + i0 * strides[0] + i1 * strides[1]
// ...].
#ifdef __cplusplus

#include "tools/aot/complex.h"
#include "tools/aot/float8.h"
#include "tools/aot/half.h"

template <typename T, int Rank>
struct StridedMemRefType {
  T* basePtr;  // The start of the allocation.
  T* data;     // The same, aligned.
  int64_t offset;
  int64_t sizes[Rank];
  int64_t strides[Rank];
};

template <typename T>
struct StridedMemRefType<T, 0> {
  T* basePtr;
  T* data;
  int64_t offset;
};

// The size makes the type complete, without which it is no result of a C function.
#define PLUMBLINE_DECL_MEMREF_TYPE(N, type, Name) \
  using Name = StridedMemRefType<type, N>;        \
  static_assert(sizeof(Name) == 24 + 16 * N, "laid out as C does")
#define DECL_RANK_0_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(0, type, Name)

#else

#define PLUMBLINE_DECL_MEMREF_TYPE(N, type, Name) \
  typedef struct {                                \
    type* basePtr;                                \
    type* data;                                   \
    int64_t offset;                               \
    int64_t sizes[N];                             \
    int64_t strides[N];                           \
  } Name
#define DECL_RANK_0_MEMREF_TYPE(type, Name) \
  typedef struct {                          \
    type* basePtr;                          \
    type* data;                             \
    int64_t offset;                         \
  } Name

#endif

// DECL_RANK_N_MEMREF_TYPE(type, Name): names the type of a tensor of rank N.
#define DECL_RANK_1_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(1, type, Name)
#define DECL_RANK_2_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(2, type, Name)
#define DECL_RANK_3_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(3, type, Name)
#define DECL_RANK_4_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(4, type, Name)
#define DECL_RANK_5_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(5, type, Name)
#define DECL_RANK_6_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(6, type, Name)
#define DECL_RANK_7_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(7, type, Name)
#define DECL_RANK_8_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(8, type, Name)
#define DECL_RANK_9_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(9, type, Name)
#define DECL_RANK_10_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(10, type, Name)
#define DECL_RANK_11_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(11, type, Name)
#define DECL_RANK_12_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(12, type, Name)
#define DECL_RANK_13_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(13, type, Name)
#define DECL_RANK_14_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(14, type, Name)
#define DECL_RANK_15_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(15, type, Name)
#define DECL_RANK_16_MEMREF_TYPE(type, Name) PLUMBLINE_DECL_MEMREF_TYPE(16, type, Name)

// PLUMBLINE_EACH_N(M, x) is `, M(x, 0), M(x, 1) ... , M(x, N - 1)`.
#define PLUMBLINE_EACH_0(M, x)
#define PLUMBLINE_EACH_1(M, x) , M(x, 0)
#define PLUMBLINE_EACH_2(M, x) PLUMBLINE_EACH_1(M, x), M(x, 1)
#define PLUMBLINE_EACH_3(M, x) PLUMBLINE_EACH_2(M, x), M(x, 2)
#define PLUMBLINE_EACH_4(M, x) PLUMBLINE_EACH_3(M, x), M(x, 3)
#define PLUMBLINE_EACH_5(M, x) PLUMBLINE_EACH_4(M, x), M(x, 4)
#define PLUMBLINE_EACH_6(M, x) PLUMBLINE_EACH_5(M, x), M(x, 5)
#define PLUMBLINE_EACH_7(M, x) PLUMBLINE_EACH_6(M, x), M(x, 6)
#define PLUMBLINE_EACH_8(M, x) PLUMBLINE_EACH_7(M, x), M(x, 7)
#define PLUMBLINE_EACH_9(M, x) PLUMBLINE_EACH_8(M, x), M(x, 8)
#define PLUMBLINE_EACH_10(M, x) PLUMBLINE_EACH_9(M, x), M(x, 9)
#define PLUMBLINE_EACH_11(M, x) PLUMBLINE_EACH_10(M, x), M(x, 10)
#define PLUMBLINE_EACH_12(M, x) PLUMBLINE_EACH_11(M, x), M(x, 11)
#define PLUMBLINE_EACH_13(M, x) PLUMBLINE_EACH_12(M, x), M(x, 12)
#define PLUMBLINE_EACH_14(M, x) PLUMBLINE_EACH_13(M, x), M(x, 13)
#define PLUMBLINE_EACH_15(M, x) PLUMBLINE_EACH_14(M, x), M(x, 14)
#define PLUMBLINE_EACH_16(M, x) PLUMBLINE_EACH_15(M, x), M(x, 15)

#define PLUMBLINE_INT64(x, i) int64_t
#define PLUMBLINE_SIZE(m, i) (m).sizes[i]
#define PLUMBLINE_STRIDE(m, i) (m).strides[i]

#define PLUMBLINE_DECL_MEMREF_ABI(N, type) \
  type*, type*, int64_t PLUMBLINE_EACH_##N(PLUMBLINE_INT64, ) PLUMBLINE_EACH_##N(PLUMBLINE_INT64, )
#define PLUMBLINE_PASS_MEMREF(N, m) \
  (m).basePtr, (m).data,            \
      (m).offset PLUMBLINE_EACH_##N(PLUMBLINE_SIZE, m) PLUMBLINE_EACH_##N(PLUMBLINE_STRIDE, m)

// DECL_RANK_N_MEMREF_ABI(type): the parameters that one tensor of rank N takes in a declaration.
#define DECL_RANK_0_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(0, type)
#define DECL_RANK_1_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(1, type)
#define DECL_RANK_2_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(2, type)
#define DECL_RANK_3_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(3, type)
#define DECL_RANK_4_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(4, type)
#define DECL_RANK_5_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(5, type)
#define DECL_RANK_6_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(6, type)
#define DECL_RANK_7_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(7, type)
#define DECL_RANK_8_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(8, type)
#define DECL_RANK_9_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(9, type)
#define DECL_RANK_10_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(10, type)
#define DECL_RANK_11_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(11, type)
#define DECL_RANK_12_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(12, type)
#define DECL_RANK_13_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(13, type)
#define DECL_RANK_14_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(14, type)
#define DECL_RANK_15_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(15, type)
#define DECL_RANK_16_MEMREF_ABI(type) PLUMBLINE_DECL_MEMREF_ABI(16, type)

// PASS_RANK_N_MEMREF(m): the arguments that stand for `m`, a tensor of rank N, in a call.
// `m` is evaluated many times: pass a variable.
#define PASS_RANK_0_MEMREF(m) PLUMBLINE_PASS_MEMREF(0, m)
#define PASS_RANK_1_MEMREF(m) PLUMBLINE_PASS_MEMREF(1, m)
#define PASS_RANK_2_MEMREF(m) PLUMBLINE_PASS_MEMREF(2, m)
#define PASS_RANK_3_MEMREF(m) PLUMBLINE_PASS_MEMREF(3, m)
#define PASS_RANK_4_MEMREF(m) PLUMBLINE_PASS_MEMREF(4, m)
#define PASS_RANK_5_MEMREF(m) PLUMBLINE_PASS_MEMREF(5, m)
#define PASS_RANK_6_MEMREF(m) PLUMBLINE_PASS_MEMREF(6, m)
#define PASS_RANK_7_MEMREF(m) PLUMBLINE_PASS_MEMREF(7, m)
#define PASS_RANK_8_MEMREF(m) PLUMBLINE_PASS_MEMREF(8, m)
#define PASS_RANK_9_MEMREF(m) PLUMBLINE_PASS_MEMREF(9, m)
#define PASS_RANK_10_MEMREF(m) PLUMBLINE_PASS_MEMREF(10, m)
#define PASS_RANK_11_MEMREF(m) PLUMBLINE_PASS_MEMREF(11, m)
#define PASS_RANK_12_MEMREF(m) PLUMBLINE_PASS_MEMREF(12, m)
#define PASS_RANK_13_MEMREF(m) PLUMBLINE_PASS_MEMREF(13, m)
#define PASS_RANK_14_MEMREF(m) PLUMBLINE_PASS_MEMREF(14, m)
#define PASS_RANK_15_MEMREF(m) PLUMBLINE_PASS_MEMREF(15, m)
#define PASS_RANK_16_MEMREF(m) PLUMBLINE_PASS_MEMREF(16, m)

#endif  // TOOLS_AOT_ABI_H_
