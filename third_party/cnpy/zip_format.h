// The ZIP container as .npz files use it. Sections are those of PKWARE's APPNOTE.TXT,
// version 6.3.10.
#ifndef THIRD_PARTY_CNPY_ZIP_FORMAT_H_
#define THIRD_PARTY_CNPY_ZIP_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cnpy::zip {

// A record's signature, and its size without its variable fields.
constexpr uint32_t kLocalHeader = 0x04034b50;  // 4.3.7
constexpr size_t kLocalHeaderSize = 30;
constexpr uint32_t kCentralHeader = 0x02014b50;  // 4.3.12
constexpr size_t kCentralHeaderSize = 46;
constexpr uint32_t kEnd64 = 0x06064b50;  // 4.3.14, the ZIP64 end of central directory record
constexpr size_t kEnd64Size = 56;
constexpr size_t kEnd64LeadSize = 12;  // Signature and size field, which that size does not count.
constexpr uint32_t kEnd64Locator = 0x07064b50;  // 4.3.15
constexpr size_t kEnd64LocatorSize = 20;
constexpr uint32_t kEnd = 0x06054b50;  // 4.3.16, the end of central directory record
constexpr size_t kEndSize = 22;
constexpr size_t kMaxCommentSize = 0xffff;

// 4.4.1.4: a field that holds one of these has its value in a ZIP64 record.
constexpr uint16_t kIn64Bit16 = 0xffff;
constexpr uint32_t kIn64Bit32 = 0xffffffff;

// 4.5.3: the extra field with the 64-bit values.
constexpr uint16_t kExtra64 = 0x0001;
constexpr size_t kExtraLeadSize = 4;  // 4.5.1: identifier and size.

// 4.4.4, general purpose bit flag.
constexpr uint16_t kFlagEncrypted = 1 << 0;
constexpr uint16_t kFlagDataDescriptor = 1 << 3;  // Sizes and CRC follow the data, 4.3.9.
constexpr uint16_t kFlagPatchData = 1 << 5;
constexpr uint16_t kFlagStronglyEncrypted = 1 << 6;
constexpr uint16_t kFlagUtf8 = 1 << 11;  // The name is UTF-8. Appendix D.
constexpr uint16_t kFlagMasked = 1 << 13;

// 4.4.5, compression method.
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;

// 4.4.3.2, version needed to extract: 2.0 for deflate, 4.5 for ZIP64.
constexpr uint16_t kVersionDeflate = 20;
constexpr uint16_t kVersion64 = 45;
// 4.4.2, version made by: its upper byte 3 is Unix, whose file mode is then the upper half of the
// external attributes (4.4.15).
constexpr uint16_t kMadeByUnix = 3 << 8;

// 4.4.6, MS-DOS date and time: 1 January 1980, 00:00, the earliest; the date is the upper half.
constexpr uint32_t kEarliestTime = uint32_t{1 << 5 | 1} << 16;

// One member, as the central directory has it.
struct Entry {
  std::string name;
  uint16_t flags = 0;
  uint16_t method = kStored;
  uint32_t time = kEarliestTime;
  uint32_t crc = 0;
  uint64_t compressed_size = 0;
  uint64_t size = 0;
  uint16_t made_by = kMadeByUnix;
  uint32_t external_attributes = 0;
  uint64_t header_offset = 0;  // Of the local header.
  uint64_t data_offset = 0;    // Of the bytes after it.
};

// The CRC-32 (4.4.7) of bytes whose CRC is `crc`, followed by `bytes`; begin with 0.
uint32_t extend_crc(uint32_t crc, std::string_view bytes);

// Whether `name` can be a member's: UTF-8, where all of ASCII but NUL is.
bool is_member_name(std::string_view name);
bool is_ascii(std::string_view text);

}  // namespace cnpy::zip

#endif  // THIRD_PARTY_CNPY_ZIP_FORMAT_H_
