#ifndef THIRD_PARTY_CNPY_ELEMENT_TYPE_H_
#define THIRD_PARTY_CNPY_ELEMENT_TYPE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cnpy {

// The byte-order mark of this machine's multi-byte numbers in numpy's spelling.
constexpr char kNativeByteOrder = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';

// A fixed-size element type of numpy, as the `descr` of a .npy header spells it.
// https://numpy.org/doc/stable/reference/arrays.interface.html (typestr)
struct ElementType {
  char kind;              // One of b i u f c V S U m M.
  size_t word_size;       // Bytes of one element.
  size_t number_size;     // Bytes of what byte order acts on: one of two parts for c, one character
                          // for U.
  bool is_native;         // Whether those bytes are in this machine's order.
  std::string time_unit;  // Of m and M: "[ns]", "[25s]"; "" where generic. Else "".

  // The spelling that numpy's dtype.str gives for this type in this machine's byte order.
  std::string native_descr() const;
};

// Throws Error where `descr` is not the spelling of a fixed-size type; `where` begins its message.
ElementType parse_descr(std::string_view descr, std::string_view where);

}  // namespace cnpy

#endif  // THIRD_PARTY_CNPY_ELEMENT_TYPE_H_
