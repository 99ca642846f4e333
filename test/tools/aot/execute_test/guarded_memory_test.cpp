#include "tools/aot/execute_test/guarded_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "gtest/gtest.h"

namespace plumbline {
namespace {

constexpr std::size_t kPage = 4096;

class GuardedMemoryTest : public testing::TestWithParam<std::size_t> {
 protected:
  ~GuardedMemoryTest() override { SetGuardedEnd(GuardedEnd::kBack); }
};

volatile char sink;

char* New(std::size_t bytes, std::size_t alignment = 1) {
  return static_cast<char*>(AllocateGuarded(bytes, alignment, "Input7"));
}

TEST_P(GuardedMemoryTest, EndsBeforeAPage) {
  char* const memory = New(GetParam());
  std::fill(memory, memory + GetParam(), 'x');
  EXPECT_DEATH(memory[GetParam()] = 'x',
               "touches memory that is not its own, 1 bytes beyond the end of Input7");
  EXPECT_DEATH(sink = memory[GetParam() + 100], "101 bytes beyond the end of Input7");
  std::free(memory);
}

TEST_P(GuardedMemoryTest, BeginsAfterAPage) {
  SetGuardedEnd(GuardedEnd::kFront);
  char* const memory = New(GetParam());
  std::fill(memory, memory + GetParam(), 'x');
  EXPECT_DEATH(sink = memory[-1],
               "touches memory that is not its own, 1 bytes before the start of Input7");
  std::free(memory);
}

TEST_P(GuardedMemoryTest, IsAligned) {
  for (const GuardedEnd end : {GuardedEnd::kBack, GuardedEnd::kFront}) {
    SetGuardedEnd(end);
    for (const std::size_t alignment : {1, 8, 64}) {
      char* const memory = New(GetParam(), alignment);
      EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(memory) % alignment);
      std::free(memory);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, GuardedMemoryTest, testing::Values(0, 1, 100, kPage, kPage + 8));

TEST_F(GuardedMemoryTest, IsGoneOnceItIsGivenBack) {
  const std::int64_t before = GuardedAllocations();
  char* const memory = New(100);
  EXPECT_EQ(before + 1, GuardedAllocations());
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  std::free(memory);
  EXPECT_EQ(before, GuardedAllocations());
  EXPECT_DEATH(sink = *reinterpret_cast<char*>(address), "");
}

TEST_F(GuardedMemoryTest, IsWhatAlignedAllocGives) {
  const std::int64_t before = GuardedAllocations();
  char* const memory = static_cast<char*>(std::aligned_alloc(64, 128));
  EXPECT_EQ(before + 1, GuardedAllocations());
  EXPECT_NE(0, memory[0]);
  EXPECT_DEATH(memory[128] = 0, "1 bytes beyond the end of a temporary or a result");
  std::free(memory);
  EXPECT_EQ(before, GuardedAllocations());
}

TEST_F(GuardedMemoryTest, MayBeRefused) {
  EXPECT_EQ(nullptr, std::aligned_alloc(64, SIZE_MAX / 4));
  EXPECT_EQ(nullptr, std::aligned_alloc(64, SIZE_MAX - 100));
  EXPECT_THROW(New(SIZE_MAX / 4), std::bad_alloc);
}

}  // namespace
}  // namespace plumbline
