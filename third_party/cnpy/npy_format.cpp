#include "third_party/cnpy/npy_format.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

#include "third_party/cnpy/error.h"

namespace cnpy {
namespace {

// A recursive-descent parser for the few Python literals that a header is made of.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader parse() {
    std::optional<ElementType> element_type;
    std::optional<bool> fortran_order;
    std::optional<std::vector<size_t>> shape;

    expect('{');
    while (!accept('}')) {
      const std::string_view key = parse_string();
      expect(':');
      if (key == "descr") {
        refuse_repeated(key, element_type.has_value());
        element_type = parse_element_type();
      } else if (key == "fortran_order") {
        refuse_repeated(key, fortran_order.has_value());
        fortran_order = parse_bool();
      } else if (key == "shape") {
        refuse_repeated(key, shape.has_value());
        shape = parse_shape();
      } else {
        throw error("the key " + quoted(key) + " is none of descr, fortran_order, shape");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_white_space();
    if (position_ != text_.size()) throw error("something follows the closing brace");
    if (!element_type || !fortran_order || !shape) {
      throw error("one of the keys descr, fortran_order, shape is missing");
    }
    return {*element_type, *fortran_order, *shape};
  }

 private:
  Error error(const std::string& problem) const {
    return Error(where_,
                 "malformed npy header at character " + std::to_string(position_) + ": " + problem);
  }

  void refuse_repeated(std::string_view key, bool is_repeated) const {
    if (is_repeated) throw error("the key " + quoted(key) + " is there twice");
  }

  void skip_white_space() {
    position_ = std::min(text_.find_first_not_of(" \t\n\r\f", position_), text_.size());
  }

  // The next character that is not white space, or NUL at the end, which no rule accepts.
  char peek() {
    skip_white_space();
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) throw error(std::string("'") + wanted + "' is expected");
  }

  std::string_view parse_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') throw error("a string is expected");
    const size_t first = position_ + 1;
    const size_t last = text_.find(quote, first);
    if (last == std::string_view::npos) throw error("a string does not end");
    const std::string_view content = text_.substr(first, last - first);
    // numpy writes none into the strings that are understood here.
    if (content.find('\\') != std::string_view::npos) throw error("a string has an escape");
    position_ = last + 1;
    return content;
  }

  ElementType parse_element_type() {
    const char next = peek();
    if (next == '[') return parse_record();
    if (next == '(') throw structured();
    return parse_descr(parse_string(), where_);
  }

  // A record of one field of one byte is a byte: so are types stored that numpy does not have.
  ElementType parse_record() {
    expect('[');
    expect('(');
    parse_string();
    expect(',');
    if (peek() == '[' || peek() == '(') throw structured();
    const ElementType field = parse_descr(parse_string(), where_);
    if (field.word_size != 1 || !accept(')') || !accept(']')) throw structured();
    return parse_descr("|V1", where_);
  }

  Error structured() const {
    return Error(where_, "structured element types are not supported, only arrays of one type");
  }

  bool parse_bool() {
    skip_white_space();
    for (const auto& [word, value] :
         {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(position_, word.size()) == word) {
        position_ += word.size();
        return value;
      }
    }
    throw error("True or False is expected");
  }

  std::vector<size_t> parse_shape() {
    std::vector<size_t> shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(parse_extent());
      if (accept(',')) continue;
      // "(3)" is a number to Python, not a tuple.
      if (shape.size() == 1) throw error("',' is expected after the only extent");
      expect(')');
      break;
    }
    return shape;
  }

  size_t parse_extent() {
    if (peek() == '-') throw error("an extent is negative");
    const char* const first = text_.data() + position_;
    const char* const end = text_.data() + text_.size();
    uint64_t extent = 0;
    const auto [rest, failure] = std::from_chars(first, end, extent);
    if (failure == std::errc::invalid_argument) throw error("an extent is expected");
    if (failure != std::errc() || extent > std::numeric_limits<ptrdiff_t>::max()) {
      throw error("an extent is more than an address space has");
    }
    if (*first == '0' && rest - first > 1) throw error("an extent begins with 0");
    position_ += static_cast<size_t>(rest - first);
    // Python 2 wrote its long integers so.
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;
    return static_cast<size_t>(extent);
  }

  std::string_view text_;
  const std::string& where_;
  size_t position_ = 0;
};

// Throws unless the stream goes on with what every version of the format begins with; returns the
// length of the header text.
size_t read_header_length(ByteStream& stream) {
  char magic[npy::kMagic.size()];
  unsigned char version[2];
  if (stream.remaining() < sizeof(magic) + sizeof(version)) {
    throw Error(stream.where(), "is too short for an npy file");
  }
  stream.read(magic, sizeof(magic));
  if (std::string_view(magic, sizeof(magic)) != npy::kMagic) {
    throw Error(stream.where(), "is not an npy file: it does not begin with \\x93NUMPY");
  }
  stream.read(version, sizeof(version));
  if (version[0] < 1 || version[0] > npy::kNewestMajorVersion || version[1] != 0) {
    throw Error(stream.where(), "has npy format version " + std::to_string(version[0]) + "." +
                                    std::to_string(version[1]) +
                                    ", but only 1.0, 2.0 and 3.0 are supported");
  }
  unsigned char field[4] = {};
  stream.read(field, version[0] == 1 ? 2 : 4);
  const size_t length = field[0] | field[1] << 8 | field[2] << 16 | size_t{field[3]} << 24;
  if (length > stream.remaining()) {
    throw Error(stream.where(),
                "ends within its npy header of " + std::to_string(length) + " bytes");
  }
  if (length > npy::kMaxHeaderText) {
    throw Error(stream.where(), "has an npy header of " + std::to_string(length) +
                                    " bytes; up to " + std::to_string(npy::kMaxHeaderText) +
                                    " are read");
  }
  return length;
}

void reverse_bytes(char* first, size_t size, size_t number_size) {
  for (char* number = first; number != first + size; number += number_size) {
    std::reverse(number, number + number_size);
  }
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& where) {
  return HeaderParser(text, where).parse();
}

NpyArray read_npy(ByteStream& stream) {
  std::string text(read_header_length(stream), '\0');
  stream.read(text.data(), text.size());
  const NpyHeader header = parse_npy_header(text, stream.where());
  const ElementType& type = header.element_type;

  // Before the array is made: a header must not have memory allocated that nothing will fill.
  const uint64_t needed =
      checked_element_count(header.shape, type.word_size, stream.where()) * type.word_size;
  if (needed != stream.remaining()) {
    throw Error(stream.where(), "its npy header needs " + std::to_string(needed) +
                                    " bytes of elements, but there are " +
                                    std::to_string(stream.remaining()));
  }
  NpyArray array(header.shape, type.native_descr(), header.fortran_order);
  char* const elements = array.bytes();
  stream.read(elements, array.num_bytes());
  stream.finish();

  if (!type.is_native) reverse_bytes(elements, array.num_bytes(), type.number_size);
  if (type.kind == 'b') {
    // Any byte but 0 is true to numpy, where C++ knows no bool but 0 and 1.
    std::transform(elements, elements + array.num_bytes(), elements,
                   [](char byte) { return static_cast<char>(byte != 0); });
  }
  return array;
}

std::string npy_preamble(const NpyArray& array) {
  std::string shape;
  for (const size_t extent : array.shape) shape += std::to_string(extent) + ", ";
  // "(3,)", "(3, 4)", "()": as Python prints tuples.
  if (array.shape.size() == 1) shape.pop_back();
  if (array.shape.size() > 1) shape.erase(shape.size() - 2);
  std::string text = "{'descr': '" + array.descr +
                     "', 'fortran_order': " + (array.fortran_order ? "True" : "False") +
                     ", 'shape': (" + shape + "), }";

  constexpr size_t kVersionSize = 2;
  const bool is_short = text.size() + npy::kHeaderAlignment <= std::numeric_limits<uint16_t>::max();
  const size_t length_size = is_short ? 2 : 4;
  const size_t unpadded = npy::kMagic.size() + kVersionSize + length_size + text.size() + 1;
  text.append((npy::kHeaderAlignment - unpadded % npy::kHeaderAlignment) % npy::kHeaderAlignment,
              ' ');
  text += '\n';

  std::string preamble(npy::kMagic);
  preamble += static_cast<char>(is_short ? 1 : 2);
  preamble += '\0';
  for (size_t i = 0; i < length_size; ++i) {
    preamble += static_cast<char>(text.size() >> (8 * i) & 0xff);
  }
  return preamble + text;
}

}  // namespace cnpy
