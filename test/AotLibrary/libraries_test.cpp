// Several libraries in one program, called through their headers.

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "mlp.h"
#include "mlp_of_a_pool.h"
#include "mlp_of_arguments.h"
#include "scaled_rows.h"
#include "turned_rows.h"

namespace {

TEST(LibrariesTest, ComputeWhereTheCallerSays) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<float> scale = {10, 20, 30, 40, 50, 60};
  std::vector<float> out(6);
  ASSERT_EQ(0, scaled_rows(x.data(), scale.data(), out.data(), 2, 3));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(x[i] * scale[i], out[i]);
}

TEST(LibrariesTest, TakeAndGiveComplexNumbers) {
  using Complex = std::complex<float>;
  const std::vector<Complex> x = {{1, 2}, {3, 4}, {5, -6}, {-7, 8}, {0, 1}, {2, 0}};
  const Complex factors[3] = {{0, 1}, {2, 0}, {3, -4}};
  std::vector<Complex> turned(6);
  std::vector<float> lengths(6);
  ASSERT_EQ(0, turned_rows(x.data(), turned.data(), lengths.data(), 2));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(x[i] * factors[i % 3], turned[i]);
    EXPECT_FLOAT_EQ(std::abs(turned[i]), lengths[i]);
  }
  EXPECT_STREQ("rows is ...; it is at least 1 and at most 1000",
               turned_rows_error(turned_rows(x.data(), turned.data(), lengths.data(), 0)));
}

TEST(LibrariesTest, TellTheShapesOfResults) {
  std::int64_t shape[2] = {0, 0};
  scaled_rows_output_shape(0, 7, 9, shape);
  EXPECT_EQ(7, shape[0]);
  EXPECT_EQ(9, shape[1]);
  mlp_output_shape(0, 4, shape);
  EXPECT_EQ(4, shape[0]);
  EXPECT_EQ(6, shape[1]);
}

TEST(LibrariesTest, RefuseWhatTheyCannotWorkOn) {
  std::vector<float> x(6), out(6);
  EXPECT_STREQ("arg0 is null", scaled_rows_error(scaled_rows(nullptr, x.data(), out.data(), 2, 3)));
  EXPECT_STREQ("out0 is null", scaled_rows_error(scaled_rows(x.data(), x.data(), nullptr, 2, 3)));
  EXPECT_STREQ("rows is ...; it is at least 1 and at most 1000",
               scaled_rows_error(scaled_rows(x.data(), x.data(), out.data(), 1001, 3)));
  EXPECT_STREQ("success", scaled_rows_error(0));
  // Nothing of an empty tensor is touched.
  EXPECT_EQ(0, mlp(nullptr, nullptr, 0));
  EXPECT_STREQ("x is null", mlp_error(mlp(nullptr, out.data(), 1)));
}

TEST(LibrariesTest, HaveWeightsOfTheirOwn) {
  // The weights of the second are all zero, those of the first as the loader has drawn them.
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<float> own(6), given(6);
  ASSERT_EQ(0, mlp(x.data(), own.data(), 1));
  const std::vector<float> zeros(36), ones(36, 1.0f);
  const bool mask[6] = {true, false, true, false, true, false};
  ASSERT_EQ(
      0, mlp_with_weights(zeros.data(), zeros.data(), zeros.data(), ones.data(), zeros.data(),
                          ones.data(), mask, zeros.data(), ones.data(), x.data(), given.data(), 1));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(mask[i] ? 0.0f : 0.5f, given[i]);
    EXPECT_NE(given[i], own[i]);
  }
}

TEST(LibrariesTest, SeveralThreadsCallOneAtOnce) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<float> expected(6);
  ASSERT_EQ(0, mlp(x.data(), expected.data(), 1));
  std::vector<std::vector<float>> results(4, std::vector<float>(6));
  std::vector<std::thread> threads;
  for (std::vector<float>& result : results) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 1000; ++turn) mlp_unchecked(x.data(), result.data(), 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& result : results) EXPECT_EQ(expected, result);
}

TEST(LibrariesTest, EachThreadHasAWorkspaceOfItsOwn) {
  std::vector<float> x(6 * 50), expected(6 * 50);
  for (int i = 0; i < 6 * 50; ++i) x[i] = static_cast<float>(i % 7) - 3;
  ASSERT_EQ(0, mlp(x.data(), expected.data(), 50));
  std::vector<std::vector<float>> results(2, std::vector<float>(6 * 50));
  std::vector<std::thread> threads;
  for (std::vector<float>& result : results) {
    threads.emplace_back([&] {
      void* workspace = std::aligned_alloc(64, mlp_of_a_pool_workspace_size(50));
      for (int turn = 0; turn < 1000; ++turn) {
        mlp_of_a_pool_unchecked(x.data(), result.data(), 50, workspace);
      }
      std::free(workspace);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& result : results) EXPECT_EQ(expected, result);
}

}  // namespace
