#include "third_party/cnpy/npy_format.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/third_party/cnpy/problem_of.h"
#include "third_party/cnpy/cnpy.h"

namespace {

using cnpy::problem_of;
using std::string_literals::operator""s;

cnpy::NpyHeader parse(const std::string& text) { return cnpy::parse_npy_header(text, "here"); }

void expect_problem(const std::string& actual, const std::string& expected) {
  EXPECT_NE(actual.find(expected), std::string::npos)
      << "actual:   " << actual << "\nexpected: " << expected;
}

// A .npy file of version 1.0.
std::string npy_file(const std::string& header, const std::string& elements) {
  std::string file = "\x93NUMPY\x01\x00"s;
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + elements;
}

cnpy::NpyArray load(const std::string& file) {
  return cnpy::npy_load_from_memory(file.data(), file.size(), "here");
}

TEST(NpyHeader, IsReadAsNumpyWritesIt) {
  const cnpy::NpyHeader header =
      parse("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n");
  EXPECT_EQ(header.element_type.kind, 'f');
  EXPECT_EQ(header.element_type.word_size, 4u);
  EXPECT_FALSE(header.fortran_order);
  EXPECT_EQ(header.shape, (std::vector<size_t>{2, 3}));
}

TEST(NpyHeader, MayBeSpelledAsPythonAllows) {
  const std::vector<std::pair<std::string, std::vector<size_t>>> cases = {
      {"{'shape': (), 'descr': '<f4', 'fortran_order': True}", {}},
      {"{'fortran_order':True,'shape':(3,),'descr':\"<f4\"}", {3}},
      {" {\n'descr'\t: '<f4' , 'fortran_order' : True , 'shape' : ( 3 , 4 , ) , } \n", {3, 4}},
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (3L, 0L)}", {3, 0}},
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (9223372036854775807, 0), }",
       {9223372036854775807u, 0}},
  };
  for (const auto& [text, shape] : cases) {
    SCOPED_TRACE(text);
    const cnpy::NpyHeader header = parse(text);
    EXPECT_EQ(header.shape, shape);
    EXPECT_TRUE(header.fortran_order);
  }
}

TEST(NpyHeader, IsRefusedWithTheReasonOtherwise) {
  const std::string type = "{'descr': '<f4', ";
  const std::string start = type + "'fortran_order': False, ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "at character 0: '{' is expected"},
      {"{", "a string is expected"},
      {"{}", "one of the keys"},
      {"\0"s, "'{' is expected"},
      {start + "}", "one of the keys descr, fortran_order, shape is missing"},
      {start + "'shape': (2,)", "'}' is expected"},
      {start + "'shape': (2,)} x", "something follows the closing brace"},
      {start + "'shape': (2,)}\0"s, "something follows the closing brace"},
      {start + "'shape': (2,),, }", "a string is expected"},
      {start + "'shape' (2,)}", "':' is expected"},
      {start + "shape: (2,)}", "a string is expected"},
      {start + "'shape: (2,)}", "a string does not end"},
      {start + "'sh\\x61pe': (2,)}", "a string has an escape"},
      {start + "'shape': (2,), 'shape': (2,)}", "the key 'shape' is there twice"},
      {start + "'shape': (2,), 'descr': '<f4'}", "the key 'descr' is there twice"},
      {start + "'shape': (2,), 'extra': 1}", "the key 'extra' is none of"},
      {start + "'shape': 2}", "'(' is expected"},
      {start + "'shape': [2, 3]}", "'(' is expected"},
      {start + "'shape': (2)}", "',' is expected after the only extent"},
      {start + "'shape': (,)}", "an extent is expected"},
      {start + "'shape': (2,,)}", "an extent is expected"},
      {start + "'shape': (2 3)}", "',' is expected"},
      {start + "'shape': (2, 3 4)}", "')' is expected"},
      {start + "'shape': (2, 3", "')' is expected"},
      {start + "'shape': (", "an extent is expected"},
      {start + "'shape': (-1, 3)}", "an extent is negative"},
      {start + "'shape': (2.0, 3)}", "',' is expected after the only extent"},
      {start + "'shape': (2, 03)}", "an extent begins with 0"},
      {start + "'shape': (2, 0x3)}", "')' is expected"},
      {start + "'shape': (9223372036854775808,)}", "more than an address space has"},
      {start + "'shape': (99999999999999999999999,)}", "more than an address space has"},
      {type + "'fortran_order': 0, 'shape': ()}", "True or False is expected"},
      {type + "'fortran_order': Falsehood, 'shape': ()}", "'}' is expected"},
      {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': ()}", "structured"},
      {"{'descr': [('x', '|u1'), ('y', '|u1')], 'fortran_order': False, 'shape': ()}",
       "structured"},
      {"{'descr': [('x', [('y', '|u1')])], 'fortran_order': False, 'shape': ()}", "structured"},
      {"{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': ()}", "structured"},
      {"{'descr': 4, 'fortran_order': False, 'shape': ()}", "a string is expected"},
  };
  for (const auto& [text, problem] : cases) {
    SCOPED_TRACE(text);
    expect_problem(problem_of([&, &bytes = text] { parse(bytes); }), problem);
  }
}

TEST(ElementType, IsReadFromNumpysSpelling) {
  struct Case {
    std::string descr;
    char kind;
    size_t word_size;
    size_t number_size;
    std::string native_descr;
  };
  const std::string order(1, cnpy::kNativeByteOrder);
  const std::vector<Case> cases = {
      {"|b1", 'b', 1, 1, "|b1"},
      {"|i1", 'i', 1, 1, "|i1"},
      {">i8", 'i', 8, 8, order + "i8"},
      {"=u2", 'u', 2, 2, order + "u2"},
      {"<f2", 'f', 2, 2, order + "f2"},
      {"<f16", 'f', 16, 16, order + "f16"},
      {">c8", 'c', 8, 4, order + "c8"},
      {"<c32", 'c', 32, 16, order + "c32"},
      {"|V2", 'V', 2, 1, "|V2"},
      {"<V2", 'V', 2, 1, "|V2"},  // As ml_dtypes spells bfloat16.
      {"|V0", 'V', 0, 1, "|V0"},
      {"|S5", 'S', 5, 1, "|S5"},
      {">U3", 'U', 12, 4, order + "U3"},
      {">M8[ns]", 'M', 8, 8, order + "M8[ns]"},
      {"<m8[25us]", 'm', 8, 8, order + "m8[25us]"},
      {"<m8", 'm', 8, 8, order + "m8"},
      {"<m8[generic]", 'm', 8, 8, order + "m8"},
  };
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.descr);
    const cnpy::ElementType type = cnpy::parse_descr(expected.descr, "here");
    EXPECT_EQ(type.kind, expected.kind);
    EXPECT_EQ(type.word_size, expected.word_size);
    EXPECT_EQ(type.number_size, expected.number_size);
    EXPECT_EQ(type.native_descr(), expected.native_descr);
  }
}

TEST(ElementType, IsRefusedWithTheReasonOtherwise) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "is not a byte order"},
      {"<", "is not a byte order"},
      {"f4", "is not a byte order"},
      {"<f", "does not say its size"},
      {"<f-4", "does not say its size"},
      {"<f99999999999999999999", "does not say its size"},
      {"<f3", "is of a size that is not supported"},
      {"<i16", "is of a size that is not supported"},
      {"|b2", "is of a size that is not supported"},
      {"<M4[ns]", "is of a size that is not supported"},
      {"<f4x", "does not end where it should"},
      {"<f4[ns]", "does not end where it should"},
      {"<M8[ns", "does not end where it should"},
      {"<M8[parsec]", "does not end where it should"},
      {"<M8[]", "does not end where it should"},
      {"|V2147483648", "is too large"},
      {"<U536870912", "is too large"},
      {"|O", "is Python objects"},
      {"|O8", "is Python objects"},
      {"|T16", "is of a kind that is not supported"},
      {"<F4\x01", "element type '<F4\\x01' is of a kind"},
  };
  for (const auto& [descr, problem] : cases) {
    SCOPED_TRACE(descr);
    expect_problem(problem_of([&, &text = descr] { cnpy::parse_descr(text, "here"); }), problem);
  }
}

TEST(NpyFile, GivesElementsInThisMachinesOrder) {
  const cnpy::NpyArray array = load(
      npy_file("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n", "\x01\x02\xff\xfe"s));
  EXPECT_EQ(array.as_vec<int16_t>(), (std::vector<int16_t>{0x0102, -2}));
}

TEST(NpyFile, SwapsEachPartOfAComplexNumber) {
  const cnpy::NpyArray array =
      load(npy_file("{'descr': '>c8', 'fortran_order': False, 'shape': (), }\n",
                    "\x3f\x80\x00\x00\xc0\x00\x00\x00"s));
  EXPECT_EQ(*array.data<std::complex<float>>(), (std::complex<float>(1, -2)));
}

TEST(NpyFile, KeepsTheFileOrderOfFortranArrays) {
  const cnpy::NpyArray array =
      load(npy_file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2), }\n", "\1\2\3\4"));
  EXPECT_TRUE(array.fortran_order);
  EXPECT_EQ(array.as_vec<uint8_t>(), (std::vector<uint8_t>{1, 2, 3, 4}));
}

TEST(NpyFile, IsRefusedWithTheReasonWhereMalformed) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  const std::string good = npy_file(header, "12345678");
  ASSERT_EQ(load(good).num_vals, 2u);
  const auto changed = [&](size_t at, char to) {
    std::string file = good;
    file[at] = to;
    return file;
  };
  const auto of_shape = [&](const std::string& shape) {
    return npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}", "12345678");
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "here: is too short for an npy file"},
      {good.substr(0, 7), "is too short for an npy file"},
      {good.substr(0, 9), "ends early"},
      {changed(0, 'N'), "is not an npy file"},
      {changed(6, 0), "has npy format version 0.0"},
      {changed(6, 4), "has npy format version 4.0"},
      {changed(7, 1), "has npy format version 1.1"},
      {good.substr(0, 40), "ends within its npy header"},
      {changed(9, '\x7f'), "ends within its npy header of 32"},
      {"\x93NUMPY\x02\x00\xff\xff\xff\xff{"s, "ends within its npy header of 4294967295 bytes"},
      {"\x93NUMPY\x03\x00\x01\x00\x10\x00"s + std::string(0x100001, ' '), "up to 1048576 are read"},
      {good.substr(0, good.size() - 1), "needs 8 bytes of elements, but there are 7"},
      {good + "9", "needs 8 bytes of elements, but there are 9"},
      {of_shape("(3,)"), "needs 12 bytes of elements, but there are 8"},
      // Products that a 64-bit integer would wrap to 8 bytes or to 0.
      {of_shape("(4611686018427387905, 2)"), "more bytes than an address space has"},
      {of_shape("(4294967296, 4294967296)"), "more bytes than an address space has"},
      {of_shape("(4611686018427387904,)"), "more bytes than an address space has"},
      {of_shape("(0, 4294967296, 4294967296)"), "more bytes than an address space has"},
      {of_shape("(1000000000000,)"), "needs 4000000000000 bytes of elements, but there are 8"},
  };
  for (const auto& [file, problem] : cases) {
    SCOPED_TRACE(file.substr(0, 100));
    expect_problem(problem_of([&, &bytes = file] { load(bytes); }), problem);
  }
}

TEST(NpyFile, CutAnywhereIsRefused) {
  const std::string good =
      npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", "12345678");
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(load(good.substr(0, size)), cnpy::Error) << size;
  }
}

TEST(NpyPreamble, IsAlignedAndSaysTheSame) {
  const std::vector<std::vector<size_t>> shapes = {
      {}, {0}, {3}, {2, 3}, std::vector<size_t>(64, 1), std::vector<size_t>(30'000, 1)};
  for (const std::vector<size_t>& shape : shapes) {
    SCOPED_TRACE(shape.size());
    const cnpy::NpyArray array(shape, "<f8");
    const std::string preamble = cnpy::npy_preamble(array);
    EXPECT_EQ(preamble.size() % cnpy::npy::kHeaderAlignment, 0u);
    EXPECT_EQ(preamble.back(), '\n');
    // 65535 bytes of text are all that version 1.0 can have.
    EXPECT_EQ(preamble[6], shape.size() < 20'000 ? 1 : 2);
    const cnpy::NpyArray loaded = load(preamble + std::string(cnpy::npy_elements(array)));
    EXPECT_EQ(loaded.shape, shape);
    EXPECT_EQ(loaded.descr, array.descr);
  }
}

}  // namespace
