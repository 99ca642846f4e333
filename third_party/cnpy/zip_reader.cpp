#include "third_party/cnpy/zip_reader.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>
#include <utility>

#include "third_party/cnpy/error.h"
#include "third_party/cnpy/inflate_stream.h"

namespace cnpy::zip {
namespace {

// Takes a record apart: little-endian fields (4.4.1.1), one after the other.
class Fields {
 public:
  Fields(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }

  uint64_t number(size_t size) {
    const std::string_view taken = bytes(size);
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      value |= uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
    }
    return value;
  }
  std::string_view bytes(size_t count) {
    if (count > bytes_.size()) throw Error(where_, "a zip record ends early");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  size_t remaining() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  const std::string& where_;
};

std::string read_record(const ByteSource& source, uint64_t offset, uint64_t count) {
  if (offset > source.size() || count > source.size() - offset) {
    throw Error(source.name(), "a zip record lies beyond the end of the file");
  }
  std::string bytes(static_cast<size_t>(count), '\0');
  source.read(offset, bytes.data(), bytes.size());
  return bytes;
}

std::string member_where(const ByteSource& source, const Entry& entry) {
  return source.name() + ", member " + quoted(entry.name);
}

// Gives those of `values` that say so (4.4.1.4) what the ZIP64 extra field holds, which has only
// them, in this order (4.5.3).
void apply_extra64(std::string_view extra, std::initializer_list<uint64_t*> values,
                   const std::string& where) {
  Fields blocks(extra, where);
  bool is_found = false;
  // Some tools pad with fewer bytes than an extra field begins with.
  while (blocks.remaining() >= kExtraLeadSize) {
    const uint16_t identifier = blocks.u16();
    const std::string_view content = blocks.bytes(blocks.u16());
    if (identifier != kExtra64) continue;
    if (is_found) throw Error(where, "two ZIP64 extra fields");
    is_found = true;
    Fields fields(content, where);
    for (uint64_t* const value : values) {
      if (*value == kIn64Bit32) *value = fields.u64();
    }
  }
  const bool is_needed = std::any_of(values.begin(), values.end(),
                                     [](const uint64_t* value) { return *value == kIn64Bit32; });
  if (is_needed && !is_found) throw Error(where, "the ZIP64 extra field is missing");
}

// What the two end of central directory records both have, in this order: the number of this disk
// and of the directory's, the entries on this disk and in all, the directory's size and its offset.
using EndFields = std::array<uint64_t, 6>;
constexpr std::array<size_t, 6> kEndFieldSizes = {2, 2, 2, 2, 4, 4};
constexpr std::array<size_t, 6> kEnd64FieldSizes = {4, 4, 8, 8, 8, 8};

EndFields read_end_fields(Fields& fields, const std::array<size_t, 6>& sizes) {
  EndFields values;
  std::transform(sizes.begin(), sizes.end(), values.begin(),
                 [&](size_t size) { return fields.number(size); });
  return values;
}

// What a field of 2 or 4 bytes holds where its value is in the ZIP64 record.
uint64_t all_ones(size_t size) { return size == 2 ? kIn64Bit16 : kIn64Bit32; }

void check_flags(uint16_t flags, const std::string& where) {
  if ((flags & (kFlagEncrypted | kFlagStronglyEncrypted | kFlagMasked)) != 0) {
    throw Error(where, "is encrypted, which is not supported");
  }
  if ((flags & kFlagPatchData) != 0) throw Error(where, "is a patch, which is not supported");
}

// Where the central directory is, by the records at the end of the archive.
struct Directory {
  uint64_t offset;
  uint64_t size;
  uint64_t entry_count;
  std::string comment;
};

// Puts what the ZIP64 end of central directory record holds into `end`, where there is one; returns
// where the first record after the central directory begins.
uint64_t apply_end64(const ByteSource& source, uint64_t end_offset, EndFields& end) {
  const bool has_room = end_offset >= kEnd64LocatorSize;
  const uint64_t locator_offset = has_room ? end_offset - kEnd64LocatorSize : 0;
  const std::string locator = read_record(source, locator_offset, has_room ? kEnd64LocatorSize : 0);
  Fields locator_fields(locator, source.name());
  if (!has_room || locator_fields.u32() != kEnd64Locator) {
    for (size_t i = 0; i < end.size(); ++i) {
      if (end[i] == all_ones(kEndFieldSizes[i])) {
        throw Error(source.name(), "the ZIP64 end of central directory record is missing");
      }
    }
    return end_offset;
  }

  const uint32_t end64_disk = locator_fields.u32();
  const uint64_t end64_offset = locator_fields.u64();
  const uint32_t disk_count = locator_fields.u32();
  if (end64_disk != 0 || disk_count > 1) {
    throw Error(source.name(), "is split over several files, which is not supported");
  }
  const std::string record = read_record(source, end64_offset, kEnd64Size);
  Fields fields(record, source.name());
  if (fields.u32() != kEnd64) {
    throw Error(source.name(),
                "the ZIP64 end of central directory record is not where its locator says");
  }
  const uint64_t size = fields.u64();
  if (end64_offset > locator_offset || locator_offset - end64_offset < kEnd64Size ||
      size != locator_offset - end64_offset - kEnd64LeadSize) {
    throw Error(source.name(),
                "the ZIP64 end of central directory record does not reach to its locator");
  }
  fields.bytes(2 + 2);  // Versions, made by and needed to extract.
  const EndFields end64 = read_end_fields(fields, kEnd64FieldSizes);
  for (size_t i = 0; i < end.size(); ++i) {
    if (end[i] != all_ones(kEndFieldSizes[i]) && end[i] != end64[i]) {
      throw Error(source.name(), "the two end of central directory records contradict each other");
    }
  }
  end = end64;
  return end64_offset;
}

Directory find_directory(const ByteSource& source) {
  // A comment of unknown length goes from this record to the end of the file.
  const uint64_t tail_size = std::min<uint64_t>(source.size(), kEndSize + kMaxCommentSize);
  const uint64_t tail_offset = source.size() - tail_size;
  const std::string tail = read_record(source, tail_offset, tail_size);
  if (tail.size() < kEndSize) throw Error(source.name(), "is too short for an npz file");

  for (size_t at = tail.size() - kEndSize + 1; at-- > 0;) {
    Fields fields(std::string_view(tail).substr(at), source.name());
    if (fields.u32() != kEnd) continue;
    EndFields end = read_end_fields(fields, kEndFieldSizes);
    const uint16_t comment_size = fields.u16();
    // Else the signature is there by chance.
    if (comment_size != fields.remaining()) continue;
    const std::string_view comment = fields.bytes(comment_size);
    const uint64_t directory_end = apply_end64(source, tail_offset + at, end);
    const auto [disk, directory_disk, disk_entry_count, entry_count, size, offset] = end;
    if (disk != 0 || directory_disk != 0 || disk_entry_count != entry_count) {
      throw Error(source.name(), "is split over several files, which is not supported");
    }
    if (offset > directory_end || size != directory_end - offset) {
      throw Error(source.name(),
                  "the central directory is not where the end of central directory record says");
    }
    return {offset, size, entry_count, std::string(comment)};
  }
  throw Error(source.name(),
              "is not an npz file, or is cut short: it has no end of central directory record");
}

void check_entry(const Entry& entry, const std::string& where) {
  if (!is_member_name(entry.name)) throw Error(where, "its name is not UTF-8 text");
  if ((entry.flags & kFlagUtf8) == 0 && !is_ascii(entry.name)) {
    throw Error(where, "its name is neither ASCII nor marked as UTF-8");
  }
  check_flags(entry.flags, where);
  if (entry.method != kStored && entry.method != kDeflated) {
    throw Error(where, "compression method " + std::to_string(entry.method) +
                           " is not supported, only stored and deflated");
  }
  if (entry.method == kStored && entry.size != entry.compressed_size) {
    throw Error(where, "is stored, but has two sizes");
  }
}

std::vector<Entry> read_directory(const ByteSource& source, const Directory& directory) {
  // Before anything is made room for: a count is only a claim.
  if (directory.entry_count > directory.size / kCentralHeaderSize) {
    throw Error(source.name(), "its central directory is too short for " +
                                   std::to_string(directory.entry_count) + " members");
  }
  const std::string records = read_record(source, directory.offset, directory.size);
  Fields fields(records, source.name());
  std::vector<Entry> entries(static_cast<size_t>(directory.entry_count));
  for (Entry& entry : entries) {
    if (fields.u32() != kCentralHeader) {
      throw Error(source.name(), "its central directory is damaged");
    }
    entry.made_by = fields.u16();
    fields.u16();  // Version needed to extract: what is needed shows in the fields that need it.
    entry.flags = fields.u16();
    entry.method = fields.u16();
    entry.time = fields.u32();
    entry.crc = fields.u32();
    entry.compressed_size = fields.u32();
    entry.size = fields.u32();
    const uint16_t name_size = fields.u16();
    const uint16_t extra_size = fields.u16();
    const uint16_t comment_size = fields.u16();
    const uint16_t disk = fields.u16();
    fields.u16();  // Internal attributes.
    entry.external_attributes = fields.u32();
    entry.header_offset = fields.u32();
    entry.name = std::string(fields.bytes(name_size));
    const std::string_view extra = fields.bytes(extra_size);
    fields.bytes(comment_size);

    const std::string where = member_where(source, entry);
    apply_extra64(extra, {&entry.size, &entry.compressed_size, &entry.header_offset}, where);
    if (disk != 0) throw Error(where, "lies in another file, which is not supported");
    check_entry(entry, where);
  }
  if (fields.remaining() > 0) {
    throw Error(source.name(), "its central directory has more than the " +
                                   std::to_string(directory.entry_count) + " members it counts");
  }
  return entries;
}

// Where the member's bytes begin. Throws Error unless the local header agrees with the central one,
// and header and bytes end before `limit`.
uint64_t find_data(const ByteSource& source, const Entry& entry, uint64_t limit) {
  const std::string where = member_where(source, entry);
  uint64_t offset = entry.header_offset;
  const auto take = [&](uint64_t count) {
    // Members that share bytes are how a small file becomes a huge one.
    if (offset > limit || count > limit - offset) {
      throw Error(where, "reaches into what follows it in the file");
    }
    const uint64_t taken = offset;
    offset += count;
    return taken;
  };
  const std::string header = read_record(source, take(kLocalHeaderSize), kLocalHeaderSize);
  Fields fields(header, where);
  if (fields.u32() != kLocalHeader) throw Error(where, "has no local header where it should be");
  fields.u16();  // Version needed to extract.
  const uint16_t flags = fields.u16();
  const uint16_t method = fields.u16();
  fields.u32();  // Time.
  const uint32_t crc = fields.u32();
  uint64_t compressed_size = fields.u32();
  uint64_t size = fields.u32();
  const uint16_t name_size = fields.u16();
  const uint16_t extra_size = fields.u16();
  const std::string name = read_record(source, take(name_size), name_size);
  const std::string extra = read_record(source, take(extra_size), extra_size);

  check_flags(flags, where);
  bool agrees = name == entry.name && method == entry.method;
  if ((flags & kFlagDataDescriptor) == 0) {
    apply_extra64(extra, {&size, &compressed_size}, where);
    agrees = agrees && crc == entry.crc && size == entry.size &&
             compressed_size == entry.compressed_size;
  }
  if (!agrees) throw Error(where, "its local header contradicts the central directory");
  return take(entry.compressed_size);
}

void find_all_data(const ByteSource& source, uint64_t directory_offset,
                   std::vector<Entry>& entries) {
  std::vector<Entry*> last_first;
  for (Entry& entry : entries) last_first.push_back(&entry);
  std::sort(last_first.begin(), last_first.end(),
            [](const Entry* a, const Entry* b) { return a->header_offset > b->header_offset; });
  uint64_t limit = directory_offset;
  for (Entry* const entry : last_first) {
    entry->data_offset = find_data(source, *entry, limit);
    limit = entry->header_offset;
  }
}

void refuse_repeated_names(const ByteSource& source, const std::vector<Entry>& entries) {
  std::set<std::string_view> names;
  for (const Entry& entry : entries) {
    if (!names.insert(entry.name).second) {
      throw Error(member_where(source, entry), "is there twice");
    }
  }
}

// A member's content, checked against its CRC.
class MemberStream final : public ByteStream {
 public:
  MemberStream(std::unique_ptr<ByteStream> content, uint32_t crc)
      : ByteStream(content->where(), content->remaining()),
        content_(std::move(content)),
        expected_crc_(crc) {}

  void finish() override {
    content_->finish();
    if (crc_ != expected_crc_) throw Error(where(), "is damaged: its CRC is not the declared one");
  }

 private:
  void read_next(void* out, size_t count) override {
    content_->read(out, count);
    crc_ = extend_crc(crc_, {static_cast<const char*>(out), count});
  }

  std::unique_ptr<ByteStream> content_;
  uint32_t expected_crc_;
  uint32_t crc_ = 0;
};

}  // namespace

Reader::Reader(const ByteSource& source) : source_(source) {
  Directory directory = find_directory(source);
  entries_ = read_directory(source, directory);
  refuse_repeated_names(source, entries_);
  find_all_data(source, directory.offset, entries_);
  comment_ = std::move(directory.comment);
}

std::string Reader::where(const Entry& entry) const { return member_where(source_, entry); }

std::unique_ptr<ByteStream> Reader::open_raw(const Entry& entry) const {
  return std::make_unique<RangeStream>(source_, entry.data_offset, entry.compressed_size,
                                       where(entry));
}

std::unique_ptr<ByteStream> Reader::open(const Entry& entry) const {
  std::unique_ptr<ByteStream> content = open_raw(entry);
  if (entry.method == kDeflated) {
    content = std::make_unique<InflateStream>(std::move(content), entry.size);
  }
  return std::make_unique<MemberStream>(std::move(content), entry.crc);
}

}  // namespace cnpy::zip
