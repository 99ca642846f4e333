#include "third_party/cnpy/error.h"

namespace cnpy {

std::string quoted(std::string_view text) {
  constexpr size_t kLongest = 80;
  constexpr char kHexDigits[] = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    } else {
      result += c;
    }
  }
  if (text.size() > kLongest) result += "...";
  return result + "'";
}

}  // namespace cnpy
