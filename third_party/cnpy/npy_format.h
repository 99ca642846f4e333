#ifndef THIRD_PARTY_CNPY_NPY_FORMAT_H_
#define THIRD_PARTY_CNPY_NPY_FORMAT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "third_party/cnpy/byte_stream.h"
#include "third_party/cnpy/element_type.h"
#include "third_party/cnpy/npy_array.h"

namespace cnpy {

// The .npy format: numpy's NEP 1 and
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
//   magic (6 bytes), major and minor version (1 byte each), length of the header text
//   (little-endian, 2 bytes in version 1, 4 bytes later), the header text, the elements to the end
//   of the file.
namespace npy {
constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr int kNewestMajorVersion = 3;   // 2: longer header texts. 3: UTF-8, where it was Latin-1.
constexpr size_t kHeaderAlignment = 64;  // The elements begin at a multiple of it, for memory maps.
// Longest header text that is read. numpy's own limit is 10,000 characters unless asked otherwise.
constexpr size_t kMaxHeaderText = size_t{1} << 20;
}  // namespace npy

// What a header text says.
struct NpyHeader {
  ElementType element_type;
  bool fortran_order;
  std::vector<size_t> shape;
};

// Reads the header text, a literal of a Python dict with exactly the keys 'descr', 'fortran_order'
// and 'shape', in any order. Throws Error, its message begun with `where`, on anything else.
NpyHeader parse_npy_header(std::string_view text, const std::string& where);

// Reads one array, to the end of the stream.
NpyArray read_npy(ByteStream& stream);

// All that goes before the elements of `array` in a file.
std::string npy_preamble(const NpyArray& array);

// The elements of `array` as they go into a file.
inline std::string_view npy_elements(const NpyArray& array) {
  return {array.bytes(), array.num_bytes()};
}

}  // namespace cnpy

#endif  // THIRD_PARTY_CNPY_NPY_FORMAT_H_
