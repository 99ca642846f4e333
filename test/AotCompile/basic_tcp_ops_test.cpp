// Calls the functions of basic_tcp_ops.mlir as a C++ program would, on several sizes.

#include <array>
#include <cstdint>

#include "gtest/gtest.h"
#include "tools/aot/abi.h"
#include "tools/aot/execute_test/owned_memref.h"
#include "tools/aot/execute_test/refusal.h"
#include "tools/aot/execute_test/result_buffers.h"

using Matrix = StridedMemRefType<float, 2>;
using Vector = StridedMemRefType<float, 1>;

struct SumAndProduct {
  Matrix sum;
  Matrix product;
};

extern "C" Matrix add_mul(DECL_RANK_2_MEMREF_ABI(float), DECL_RANK_2_MEMREF_ABI(float),
                          DECL_RANK_2_MEMREF_ABI(float));
extern "C" SumAndProduct add_mul_both(DECL_RANK_2_MEMREF_ABI(float), DECL_RANK_2_MEMREF_ABI(float),
                                      DECL_RANK_2_MEMREF_ABI(float));
extern "C" Matrix take(DECL_RANK_2_MEMREF_ABI(float), DECL_RANK_2_MEMREF_ABI(std::int64_t));
extern "C" char* take_checked(Matrix*, DECL_RANK_2_MEMREF_ABI(float),
                              DECL_RANK_2_MEMREF_ABI(std::int64_t));
extern "C" Vector broadcast_add(DECL_RANK_0_MEMREF_ABI(float), DECL_RANK_1_MEMREF_ABI(float));

namespace {

using plumbline::OwnedMemRef;
using plumbline::Refusal;
using plumbline::ResultBuffers;

using Sizes = std::array<std::int64_t, 2>;

// Counts up from `first`, so that no two elements that may be mixed up are equal. All sums and
// products of the tests are small whole numbers, which a float holds exactly.
OwnedMemRef<float, 2> Counting(const Sizes& sizes, float first) {
  OwnedMemRef<float, 2> matrix(sizes);
  for (std::int64_t i = 0; i < sizes[0] * sizes[1]; ++i) matrix.data[i] = first + float(i);
  return matrix;
}

float At(const Matrix& matrix, std::int64_t row, std::int64_t column) {
  return matrix.data[matrix.offset + row * matrix.strides[0] + column * matrix.strides[1]];
}

class BasicTcpOpsTest : public testing::TestWithParam<Sizes> {
 protected:
  void ExpectSizes(const Matrix& matrix) {
    ASSERT_EQ(matrix.sizes[0], GetParam()[0]);
    ASSERT_EQ(matrix.sizes[1], GetParam()[1]);
  }

  const OwnedMemRef<float, 2> a_ = Counting(GetParam(), 1);
  const OwnedMemRef<float, 2> b_ = Counting(GetParam(), 100);
  const OwnedMemRef<float, 2> c_ = Counting(GetParam(), -3);
};

TEST_P(BasicTcpOpsTest, AddMul) {
  const Matrix result =
      add_mul(PASS_RANK_2_MEMREF(a_), PASS_RANK_2_MEMREF(b_), PASS_RANK_2_MEMREF(c_));
  const ResultBuffers buffers({result.basePtr}, {a_.basePtr, b_.basePtr, c_.basePtr});
  ASSERT_NO_FATAL_FAILURE(ExpectSizes(result));
  for (std::int64_t row = 0; row < GetParam()[0]; ++row) {
    for (std::int64_t column = 0; column < GetParam()[1]; ++column) {
      EXPECT_EQ(At(result, row, column),
                (At(a_, row, column) + At(b_, row, column)) * At(c_, row, column));
    }
  }
}

TEST_P(BasicTcpOpsTest, AddMulBoth) {
  const SumAndProduct results =
      add_mul_both(PASS_RANK_2_MEMREF(a_), PASS_RANK_2_MEMREF(b_), PASS_RANK_2_MEMREF(c_));
  const ResultBuffers buffers({results.sum.basePtr, results.product.basePtr},
                              {a_.basePtr, b_.basePtr, c_.basePtr});
  ASSERT_NO_FATAL_FAILURE(ExpectSizes(results.sum));
  ASSERT_NO_FATAL_FAILURE(ExpectSizes(results.product));
  for (std::int64_t row = 0; row < GetParam()[0]; ++row) {
    for (std::int64_t column = 0; column < GetParam()[1]; ++column) {
      const float sum = At(a_, row, column) + At(b_, row, column);
      EXPECT_EQ(At(results.sum, row, column), sum);
      EXPECT_EQ(At(results.product, row, column), sum * At(c_, row, column));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SeveralSizes, BasicTcpOpsTest,
                         testing::Values(Sizes{1, 1}, Sizes{2, 3}, Sizes{5, 1}, Sizes{0, 4},
                                         Sizes{17, 33}));

class BroadcastAddTest : public testing::TestWithParam<std::int64_t> {};

TEST_P(BroadcastAddTest, AddsTheScalarToEach) {
  OwnedMemRef<float, 0> scalar({});
  scalar.data[0] = 10;
  OwnedMemRef<float, 1> vector({GetParam()});
  for (std::int64_t i = 0; i < GetParam(); ++i) vector.data[i] = float(i);

  const Vector result = broadcast_add(PASS_RANK_0_MEMREF(scalar), PASS_RANK_1_MEMREF(vector));
  const ResultBuffers buffers({result.basePtr}, {scalar.basePtr, vector.basePtr});
  ASSERT_EQ(result.sizes[0], GetParam());
  for (std::int64_t i = 0; i < GetParam(); ++i) {
    EXPECT_EQ(result.data[result.offset + i * result.strides[0]], 10 + float(i));
  }
}

INSTANTIATE_TEST_SUITE_P(SeveralSizes, BroadcastAddTest, testing::Values(0, 1, 2, 7, 1000));

class TakeTest : public testing::Test {
 protected:
  TakeTest() { rows_.data[0] = 4; }

  const OwnedMemRef<float, 2> matrix_ = Counting({5, 3}, 1);
  OwnedMemRef<std::int64_t, 2> rows_{{2, 1}};
  Matrix taken_ = {};
};

TEST_F(TakeTest, TakesRows) {
  const Refusal refusal(
      take_checked(&taken_, PASS_RANK_2_MEMREF(matrix_), PASS_RANK_2_MEMREF(rows_)));
  ASSERT_EQ(refusal.message(), "");
  const ResultBuffers buffers({taken_.basePtr}, {matrix_.basePtr, rows_.basePtr});
  EXPECT_EQ(At(taken_, 0, 2), 15);
  EXPECT_EQ(At(taken_, 1, 0), 1);
}

constexpr char kOutOfRange[] =
    "basic_tcp_ops.mlir:29:12: error: 'tcp.gather_nd' op index -7 is out of range for dimension 0 "
    "of size 5";

TEST_F(TakeTest, RefusesAnIndexThatIsOutOfRange) {
  rows_.data[1] = -7;
  const Refusal refusal(
      take_checked(&taken_, PASS_RANK_2_MEMREF(matrix_), PASS_RANK_2_MEMREF(rows_)));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, kOutOfRange, refusal.message());
  EXPECT_EQ(taken_.basePtr, nullptr);
}

TEST_F(TakeTest, EndsTheProcessWhereNobodyIsToldOfARefusal) {
  rows_.data[1] = -7;
  EXPECT_DEATH(take(PASS_RANK_2_MEMREF(matrix_), PASS_RANK_2_MEMREF(rows_)), kOutOfRange);
}

}  // namespace
