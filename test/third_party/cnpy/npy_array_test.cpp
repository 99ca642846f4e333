#include "third_party/cnpy/npy_array.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace {

TEST(NpyArray, KnowsItsSizes) {
  const cnpy::NpyArray array({2, 3}, "<f4");
  EXPECT_EQ(array.shape, (std::vector<size_t>{2, 3}));
  EXPECT_EQ(array.kind, 'f');
  EXPECT_EQ(array.word_size, 4u);
  EXPECT_EQ(array.num_vals, 6u);
  EXPECT_EQ(array.num_bytes(), 24u);
  EXPECT_EQ(array.as_vec<float>(), std::vector<float>(6, 0.0f));
}

TEST(NpyArray, OfRank0HasOneElement) {
  const cnpy::NpyArray array({}, "<i8");
  EXPECT_EQ(array.num_vals, 1u);
  EXPECT_EQ(*array.data<int64_t>(), 0);
}

TEST(NpyArray, ThatIsEmptyHasAPointer) {
  for (const cnpy::NpyArray& array : {cnpy::NpyArray({4, 0}, "|u1"), cnpy::NpyArray()}) {
    EXPECT_EQ(array.num_vals, 0u);
    EXPECT_NE(array.data<uint8_t>(), nullptr);
    EXPECT_TRUE(array.as_vec<uint8_t>().empty());
  }
}

TEST(NpyArray, IsAligned) {
  for (size_t size = 0; size < 40; ++size) {
    const cnpy::NpyArray array({size}, "<f16");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array.bytes()) % cnpy::NpyArray::kAlignment, 0u);
  }
}

TEST(NpyArray, GivesDataOfItsElementSizeOnly) {
  cnpy::NpyArray array({3}, "|V2");
  EXPECT_NO_THROW(array.data<uint16_t>());
  EXPECT_THROW(array.data<float>(), cnpy::Error);
  EXPECT_THROW(array.as_vec<uint8_t>(), cnpy::Error);
  const cnpy::NpyArray& constant = array;
  EXPECT_THROW(constant.data<uint8_t>(), cnpy::Error);
  try {
    constant.data<uint8_t>();
    FAIL();
  } catch (const cnpy::Error& error) {
    EXPECT_STREQ(error.what(),
                 "NpyArray: data of 1 bytes an element was asked for, but '|V2' has 2");
  }
}

TEST(NpyArray, SharesElementsWithItsCopies) {
  cnpy::NpyArray array({2}, "<i4");
  const cnpy::NpyArray copy = array;
  array.data<int32_t>()[1] = 7;
  EXPECT_EQ(copy.as_vec<int32_t>(), (std::vector<int32_t>{0, 7}));
}

TEST(NpyArray, HasNoFortranOrderWhereThereIsOneOrder) {
  EXPECT_FALSE(cnpy::NpyArray({}, "<i4", true).fortran_order);
  EXPECT_FALSE(cnpy::NpyArray({4}, "<i4", true).fortran_order);
  EXPECT_TRUE(cnpy::NpyArray({4, 1}, "<i4", true).fortran_order);
}

TEST(NpyArray, OfTooManyBytesIsRefused) {
  constexpr size_t kHuge = std::numeric_limits<size_t>::max() / 2;
  EXPECT_THROW(cnpy::NpyArray({kHuge, 3}, "|u1"), cnpy::Error);
  EXPECT_THROW(cnpy::NpyArray({kHuge}, "<i2"), cnpy::Error);
  EXPECT_THROW(cnpy::NpyArray({kHuge, kHuge}, "|V0"), cnpy::Error);
  EXPECT_THROW(cnpy::NpyArray({0, kHuge, kHuge}, "<i2"), cnpy::Error);
}

}  // namespace
