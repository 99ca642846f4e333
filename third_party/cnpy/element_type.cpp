#include "third_party/cnpy/element_type.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "third_party/cnpy/error.h"

namespace cnpy {
namespace {

constexpr std::string_view kByteOrderMarks = "<>=|";
constexpr std::string_view kTimeUnits[] = {"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                           "ms", "us", "ns", "ps", "fs", "as", "generic"};

// Whether `text` is "" or such as "[ns]", "[25s]".
bool is_time_unit(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
  text = text.substr(1, text.size() - 2);
  text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  return std::find(std::begin(kTimeUnits), std::end(kTimeUnits), text) != std::end(kTimeUnits);
}

// Whether numpy has numbers of this kind with this many bytes, on one platform or another.
bool is_number_size(char kind, size_t size) {
  switch (kind) {
    case 'b':
      return size == 1;
    case 'i':
    case 'u':
      return size == 1 || size == 2 || size == 4 || size == 8;
    case 'f':
      return size == 2 || size == 4 || size == 8 || size == 16;
    case 'c':
      return size == 8 || size == 16 || size == 32;
    case 'm':
    case 'M':
      return size == 8;
    default:
      return false;
  }
}

}  // namespace

std::string ElementType::native_descr() const {
  // Bytes have no order, and numpy marks them so.
  const bool has_order = kind != 'V' && kind != 'S' && number_size > 1;
  const size_t written_size = kind == 'U' ? word_size / sizeof(char32_t) : word_size;
  return (has_order ? kNativeByteOrder : '|') + (kind + std::to_string(written_size)) + time_unit;
}

ElementType parse_descr(std::string_view descr, std::string_view where) {
  const auto refuse = [&](std::string_view why) -> Error {
    return Error(where, "element type " + quoted(descr) + " " + std::string(why));
  };
  if (descr.size() < 2 || kByteOrderMarks.find(descr[0]) == std::string_view::npos) {
    throw refuse("is not a byte order (< > = |) followed by a type");
  }
  ElementType type{};
  type.kind = descr[1];
  if (type.kind == 'O') throw refuse("is Python objects, which only Python can read");
  if (std::string_view("biufcVSUmM").find(type.kind) == std::string_view::npos) {
    throw refuse("is of a kind that is not supported");
  }

  const std::string_view written_size = descr.substr(2);
  const char* const end = written_size.data() + written_size.size();
  uint64_t size = 0;
  const auto [rest, error] = std::from_chars(written_size.data(), end, size);
  if (error != std::errc()) throw refuse("does not say its size");
  type.time_unit = std::string(rest, end);

  const bool is_time = type.kind == 'm' || type.kind == 'M';
  if (is_time ? !is_time_unit(type.time_unit) : !type.time_unit.empty()) {
    throw refuse("does not end where it should");
  }
  if (type.time_unit == "[generic]") type.time_unit.clear();

  const bool is_bytes = type.kind == 'V' || type.kind == 'S';
  const bool is_text = type.kind == 'U';
  if (!is_bytes && !is_text && !is_number_size(type.kind, size)) {
    throw refuse("is of a size that is not supported");
  }
  // numpy keeps an itemsize in a C int.
  const uint64_t unit = is_text ? sizeof(char32_t) : 1;
  if (size > std::numeric_limits<int32_t>::max() / unit) throw refuse("is too large");

  type.word_size = static_cast<size_t>(size * unit);
  type.number_size = is_bytes           ? 1
                     : is_text          ? sizeof(char32_t)
                     : type.kind == 'c' ? type.word_size / 2
                                        : type.word_size;
  const char opposite = kNativeByteOrder == '<' ? '>' : '<';
  type.is_native = type.number_size == 1 || descr[0] != opposite;
  return type;
}

}  // namespace cnpy
