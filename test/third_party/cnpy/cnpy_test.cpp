// The public functions, on files.

#include "third_party/cnpy/cnpy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "test/third_party/cnpy/problem_of.h"

namespace {

using cnpy::problem_of;

class CnpyTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("cnpy_") + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }

  std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }

  size_t file_count() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                             std::filesystem::directory_iterator()));
  }

  std::filesystem::path folder_;
};

TEST_F(CnpyTest, NpyComesBack) {
  const std::vector<float> elements = {1, 2.5, -3, 4, 5, 6};
  cnpy::npy_save(path("a.npy"), elements.data(), {2, 3});
  const cnpy::NpyArray array = cnpy::npy_load(path("a.npy"));
  EXPECT_EQ(array.shape, (std::vector<size_t>{2, 3}));
  EXPECT_EQ(array.as_vec<float>(), elements);
}

TEST_F(CnpyTest, EveryElementTypeOfCppHasItsDescr) {
  const std::string order(1, cnpy::kNativeByteOrder);
  EXPECT_EQ(cnpy::descr_of<bool>(), "|b1");
  EXPECT_EQ(cnpy::descr_of<int8_t>(), "|i1");
  EXPECT_EQ(cnpy::descr_of<uint8_t>(), "|u1");
  EXPECT_EQ(cnpy::descr_of<int16_t>(), order + "i2");
  EXPECT_EQ(cnpy::descr_of<uint32_t>(), order + "u4");
  EXPECT_EQ(cnpy::descr_of<int64_t>(), order + "i8");
  EXPECT_EQ(cnpy::descr_of<float>(), order + "f4");
  EXPECT_EQ(cnpy::descr_of<double>(), order + "f8");
  EXPECT_EQ(cnpy::descr_of<std::complex<float>>(), order + "c8");
  EXPECT_EQ(cnpy::descr_of<std::complex<double>>(), order + "c16");
}

TEST_F(CnpyTest, VectorsAreOfRank1) {
  cnpy::npz_save(path("a.npz"), "flags", std::vector<bool>{true, false, true});
  const cnpy::NpyArray flags = cnpy::npz_load(path("a.npz"), "flags");
  EXPECT_EQ(flags.kind, 'b');
  EXPECT_EQ(flags.shape, std::vector<size_t>{3});
  EXPECT_EQ(flags.as_vec<bool>(), (std::vector<bool>{true, false, true}));
  cnpy::npy_save(path("a.npy"), std::vector<std::complex<float>>{{1, 2}});
  EXPECT_EQ(*cnpy::npy_load(path("a.npy")).data<std::complex<float>>(),
            (std::complex<float>(1, 2)));
}

TEST_F(CnpyTest, NpzAppendsAndKeeps) {
  const int32_t one = 1;
  const double two[] = {2, 2};
  cnpy::npz_save(path("a.npz"), "one", &one, {}, "a");
  cnpy::npz_save(path("a.npz"), "two", two, {2}, "a");
  cnpy::npz_save(path("a.npz"), cnpy::npz_t{{"x", cnpy::NpyArray({0, 3}, "<f4")}}, "a");
  const cnpy::npz_t arrays = cnpy::npz_load(path("a.npz"));
  ASSERT_EQ(arrays.size(), 3u);
  EXPECT_EQ(*arrays.at("one").data<int32_t>(), 1);
  EXPECT_EQ(arrays.at("two").as_vec<double>(), (std::vector<double>{2, 2}));
  EXPECT_EQ(arrays.at("x").shape, (std::vector<size_t>{0, 3}));

  cnpy::npz_save(path("a.npz"), "one", &one, {}, "w");
  EXPECT_EQ(cnpy::npz_load(path("a.npz")).size(), 1u);
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(CnpyTest, NpzLoadsOneArrayByName) {
  cnpy::npz_save(path("a.npz"), "one", std::vector<int>{1});
  cnpy::npz_save(path("a.npz"), "two", std::vector<int>{2}, "a");
  EXPECT_EQ(cnpy::npz_load(path("a.npz"), "two").as_vec<int>(), std::vector<int>{2});
  EXPECT_EQ(problem_of([&] { cnpy::npz_load(path("a.npz"), "three"); }),
            path("a.npz") + ": has no array 'three'; its members are: 'one.npy', 'two.npy'");
}

TEST_F(CnpyTest, NpyAppendsAlongTheFirstAxis) {
  cnpy::npy_save(path("a.npy"), std::vector<int>{1, 2, 3, 4}.data(), {2, 2}, "a");
  cnpy::npy_save(path("a.npy"), std::vector<int>{5, 6}.data(), {1, 2}, "a");
  const cnpy::NpyArray array = cnpy::npy_load(path("a.npy"));
  EXPECT_EQ(array.shape, (std::vector<size_t>{3, 2}));
  EXPECT_EQ(array.as_vec<int>(), (std::vector<int>{1, 2, 3, 4, 5, 6}));

  const std::string before = content("a.npy");
  const auto append = [&](const cnpy::NpyArray& more) {
    return problem_of([&] { cnpy::npy_save(path("a.npy"), more, "a"); });
  };
  EXPECT_NE(append(cnpy::NpyArray({1, 3}, "<i4")).find("differs in more"), std::string::npos);
  EXPECT_NE(append(cnpy::NpyArray({2}, "<i4")).find("differs in more"), std::string::npos);
  EXPECT_NE(append(cnpy::NpyArray({}, "<i4")).find("differs in more"), std::string::npos);
  EXPECT_NE(append(cnpy::NpyArray({1, 2}, "<f4")).find("cannot be appended"), std::string::npos);
  EXPECT_NE(append(cnpy::NpyArray({1, 2}, "<i4", true)).find("C order"), std::string::npos);
  EXPECT_EQ(content("a.npy"), before);

  const cnpy::NpyArray scalar({}, "<i4");
  cnpy::npy_save(path("scalar.npy"), scalar);
  EXPECT_NE(
      problem_of([&] { cnpy::npy_save(path("scalar.npy"), scalar, "a"); }).find("differs in more"),
      std::string::npos);
}

TEST_F(CnpyTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  cnpy::npz_save(path("a.npz"), "one", std::vector<int>{1});
  const std::string before = content("a.npz");
  EXPECT_NE(problem_of([&] {
              cnpy::npz_save(path("a.npz"), "one", std::vector<int>{2}, "a");
            }).find(path("a.npz") + ": member 'one.npy' is there already"),
            std::string::npos);
  EXPECT_THROW(cnpy::npz_save(path("a.npz"), "\xff", std::vector<int>{2}, "a"), cnpy::Error);
  EXPECT_EQ(content("a.npz"), before);
  EXPECT_EQ(file_count(), 1u);

  std::filesystem::create_directory(path("folder.npz"));
  EXPECT_THROW(cnpy::npz_save(path("folder.npz"), "one", std::vector<int>{1}), cnpy::Error);
  EXPECT_EQ(file_count(), 2u);
}

TEST_F(CnpyTest, ModesAreWAndA) {
  EXPECT_EQ(problem_of([&] { cnpy::npy_save(path("a.npy"), std::vector<int>{1}, "r"); }),
            path("a.npy") + ": mode 'r' is neither 'w' nor 'a'");
  EXPECT_EQ(file_count(), 0u);
}

TEST_F(CnpyTest, NewFilesFollowTheUmask) {
  const mode_t old_mask = ::umask(027);
  cnpy::npy_save(path("a.npy"), std::vector<int>{1});
  ::umask(old_mask);
  struct stat status;
  ASSERT_EQ(::stat(path("a.npy").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(CnpyTest, FilesThatCannotBeReadOrWrittenAreNamed) {
  EXPECT_EQ(problem_of([&] { cnpy::npz_load(path("none.npz")); }),
            path("none.npz") + ": cannot be opened: No such file or directory");
  EXPECT_EQ(problem_of([&] { cnpy::npy_load(path("")); }), path("") + ": is not a regular file");
  EXPECT_EQ(problem_of([&] { cnpy::npy_save(path("none/a.npy"), std::vector<int>{1}); }),
            path("none/a.npy") + ": cannot be written: No such file or directory");
  // Renaming a file onto a device would replace it.
  EXPECT_EQ(problem_of([&] { cnpy::npy_save("/dev/full", std::vector<int>{1}); }),
            "/dev/full: cannot be written: it is not a regular file");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(problem_of([&] { cnpy::npy_load(path("pipe")); }),
            path("pipe") + ": is not a regular file");
}

}  // namespace
