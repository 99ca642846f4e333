#include "third_party/cnpy/zip_writer.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "third_party/cnpy/error.h"

namespace cnpy::zip {
namespace {

constexpr uint32_t kRegularFileForAll = 0100644;  // A Unix file mode.

// Puts a record together: little-endian fields (4.4.1.1), one after the other.
class Record {
 public:
  Record& u16(uint64_t value) { return number(value, 2); }
  Record& u32(uint64_t value) { return number(value, 4); }
  Record& u64(uint64_t value) { return number(value, 8); }
  Record& bytes(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  // A field of 16 or 32 bits, or the mark that the value is in a ZIP64 record.
  Record& u16_or_mark(uint64_t value) { return u16(std::min<uint64_t>(value, kIn64Bit16)); }
  Record& u32_or_mark(uint64_t value, bool is_marked) {
    return u32(is_marked ? kIn64Bit32 : value);
  }
  const std::string& str() const { return bytes_; }

 private:
  Record& number(uint64_t value, size_t size) {
    for (size_t i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
    return *this;
  }

  std::string bytes_;
};

bool needs64(uint64_t value) { return value >= kIn64Bit32; }

std::string extra64(const Record& values) {
  return Record().u16(kExtra64).u16(values.str().size()).bytes(values.str()).str();
}

std::string local_header(const Entry& entry, bool always64) {
  // 4.5.3: a local header has both sizes there, or none.
  const bool sizes64 = always64 || needs64(entry.size) || needs64(entry.compressed_size);
  std::string extra;
  if (sizes64) extra = extra64(Record().u64(entry.size).u64(entry.compressed_size));
  return Record()
      .u32(kLocalHeader)
      .u16(sizes64 ? kVersion64 : kVersionDeflate)
      .u16(entry.flags)
      .u16(entry.method)
      .u32(entry.time)
      .u32(entry.crc)
      .u32_or_mark(entry.compressed_size, sizes64)
      .u32_or_mark(entry.size, sizes64)
      .u16(entry.name.size())
      .u16(extra.size())
      .bytes(entry.name)
      .bytes(extra)
      .str();
}

std::string central_header(const Entry& entry, bool always64) {
  const bool sizes64 = always64 || needs64(entry.size) || needs64(entry.compressed_size);
  const bool offset64 = always64 || needs64(entry.header_offset);
  Record values;
  if (sizes64) values.u64(entry.size).u64(entry.compressed_size);
  if (offset64) values.u64(entry.header_offset);
  std::string extra;
  if (sizes64 || offset64) extra = extra64(values);
  return Record()
      .u32(kCentralHeader)
      .u16(entry.made_by)
      .u16(extra.empty() ? kVersionDeflate : kVersion64)
      .u16(entry.flags)
      .u16(entry.method)
      .u32(entry.time)
      .u32(entry.crc)
      .u32_or_mark(entry.compressed_size, sizes64)
      .u32_or_mark(entry.size, sizes64)
      .u16(entry.name.size())
      .u16(extra.size())
      .u16(0)  // Comment.
      .u16(0)  // Disk.
      .u16(0)  // Internal attributes.
      .u32(entry.external_attributes)
      .u32_or_mark(entry.header_offset, offset64)
      .bytes(entry.name)
      .bytes(extra)
      .str();
}

}  // namespace

void Writer::begin_member(Entry entry) {
  if (!names_.insert(entry.name).second) {
    throw Error(sink_.name(), "member " + quoted(entry.name) + " is there already");
  }
  entry.header_offset = sink_.position();
  sink_.write(local_header(entry, zip64_ == Zip64::kAlways));
  entries_.push_back(std::move(entry));
}

void Writer::add(const std::string& name, const std::vector<std::string_view>& parts) {
  if (!is_member_name(name) || name.size() > std::numeric_limits<uint16_t>::max()) {
    throw Error(sink_.name(), "member name " + quoted(name) + " is not UTF-8, or too long");
  }
  Entry entry;
  entry.name = name;
  entry.flags = is_ascii(name) ? 0 : kFlagUtf8;
  entry.made_by = kMadeByUnix | kVersion64;
  entry.external_attributes = kRegularFileForAll << 16;
  for (const std::string_view part : parts) {
    entry.crc = extend_crc(entry.crc, part);
    entry.size += part.size();
  }
  entry.compressed_size = entry.size;
  begin_member(std::move(entry));
  for (const std::string_view part : parts) sink_.write(part);
}

void Writer::copy_members(const Reader& reader) {
  constexpr size_t kPieceSize = size_t{1} << 20;
  for (const Entry& entry : reader.entries()) {
    Entry copy = entry;
    // Sizes and CRC are known now, and go into the header.
    copy.flags &= static_cast<uint16_t>(~kFlagDataDescriptor);
    begin_member(std::move(copy));
    const std::unique_ptr<ByteStream> bytes = reader.open_raw(entry);
    std::string piece;
    while (bytes->remaining() > 0) {
      piece.resize(static_cast<size_t>(std::min<uint64_t>(bytes->remaining(), kPieceSize)));
      bytes->read(piece.data(), piece.size());
      sink_.write(piece);
    }
  }
}

void Writer::finish(std::string_view comment) {
  const bool always64 = zip64_ == Zip64::kAlways;
  const uint64_t offset = sink_.position();
  for (const Entry& entry : entries_) sink_.write(central_header(entry, always64));
  const uint64_t end = sink_.position();
  const uint64_t size = end - offset;
  const uint64_t count = entries_.size();

  if (always64 || count >= kIn64Bit16 || needs64(size) || needs64(offset)) {
    sink_.write(Record()
                    .u32(kEnd64)
                    .u64(kEnd64Size - kEnd64LeadSize)
                    .u16(kMadeByUnix | kVersion64)
                    .u16(kVersion64)
                    .u32(0)  // This disk, and the directory's.
                    .u32(0)
                    .u64(count)  // On this disk, and in all.
                    .u64(count)
                    .u64(size)
                    .u64(offset)
                    .str());
    sink_.write(Record().u32(kEnd64Locator).u32(0).u64(end).u32(1).str());
  }
  sink_.write(Record()
                  .u32(kEnd)
                  .u16(0)  // This disk, and the directory's.
                  .u16(0)
                  .u16_or_mark(count)  // On this disk, and in all.
                  .u16_or_mark(count)
                  .u32_or_mark(size, always64 || needs64(size))
                  .u32_or_mark(offset, always64 || needs64(offset))
                  .u16(comment.size())
                  .bytes(comment)
                  .str());
}

}  // namespace cnpy::zip
