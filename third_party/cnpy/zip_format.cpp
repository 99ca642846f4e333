#include "third_party/cnpy/zip_format.h"

#include <zlib.h>

#include <algorithm>

namespace cnpy::zip {
namespace {

// The length of the UTF-8 sequence that `text` begins with; 0 if it begins with none.
// Unicode 15.0, table 3-7, "Well-Formed UTF-8 Byte Sequences".
size_t utf8_sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool is_overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool is_surrogate = lead == 0xed && byte(1) > 0x9f;
  const bool is_beyond_unicode = lead == 0xf4 && byte(1) > 0x8f;
  return is_overlong || is_surrogate || is_beyond_unicode ? 0 : length;
}

}  // namespace

uint32_t extend_crc(uint32_t crc, std::string_view bytes) {
  // A null pointer would ask zlib for the initial value.
  if (bytes.empty()) return crc;
  return static_cast<uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

bool is_member_name(std::string_view name) {
  while (!name.empty()) {
    const size_t length = name[0] == '\0' ? 0 : utf8_sequence_length(name);
    if (length == 0) return false;
    name.remove_prefix(length);
  }
  return true;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace cnpy::zip
