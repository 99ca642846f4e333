// Archives made here byte by byte, so that each field can be wrong on its own.

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/third_party/cnpy/problem_of.h"
#include "third_party/cnpy/byte_sink.h"
#include "third_party/cnpy/byte_source.h"
#include "third_party/cnpy/cnpy.h"
#include "third_party/cnpy/npy_format.h"
#include "third_party/cnpy/zip_reader.h"
#include "third_party/cnpy/zip_writer.h"

namespace {

using std::string_literals::operator""s;

std::string little_endian(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}
std::string u16(uint64_t value) { return little_endian(value, 2); }
std::string u32(uint64_t value) { return little_endian(value, 4); }
std::string u64(uint64_t value) { return little_endian(value, 8); }
std::string extra_field(uint16_t identifier, const std::string& content) {
  return u16(identifier) + u16(content.size()) + content;
}

std::string deflated(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

// A member of an archive; a good one, but for what a test sets.
struct Member {
  explicit Member(std::string member_name, const std::string& content, bool is_deflated = false)
      : name(std::move(member_name)),
        data(is_deflated ? deflated(content) : content),
        method(is_deflated ? 8 : 0),
        crc(cnpy::zip::extend_crc(0, content)),
        compressed_size(data.size()),
        size(content.size()) {}

  std::string name;
  std::string data;
  uint16_t flags = 0;
  uint16_t method;
  uint32_t crc;
  uint32_t compressed_size;
  uint32_t size;
  std::string local_extra;
  std::string local_name = name;
  std::optional<uint32_t> local_size;
  std::optional<uint16_t> local_method;
  std::optional<uint16_t> local_flags;
  std::optional<uint32_t> local_crc;
  std::optional<uint32_t> local_compressed_size;
  std::string descriptor;  // After the data.
  std::string central_extra;
  std::string comment;
  uint16_t disk = 0;
  std::optional<uint32_t> offset;
};

struct Archive {
  std::vector<Member> members;
  std::string prefix;
  std::string surplus;  // At the end of the central directory.
  std::optional<uint16_t> count;
  std::optional<uint16_t> disk_count;  // Of members on this disk.
  std::optional<uint32_t> directory_size;
  std::optional<uint32_t> directory_offset;
  uint16_t disk = 0;
  std::string comment;
  bool has_end64 = false;
  std::optional<uint64_t> count64;
  std::optional<uint64_t> directory_size64;
  std::optional<uint64_t> end64_offset;
  std::optional<uint64_t> end64_size;
  uint32_t total_disks = 1;

  std::string bytes() const {
    std::string file = prefix;
    std::string directory;
    for (const Member& m : members) {
      const auto offset = static_cast<uint32_t>(file.size());
      file += "PK\3\4"s + u16(20) + u16(m.local_flags.value_or(m.flags)) +
              u16(m.local_method.value_or(m.method)) + u32(0);
      file += u32(m.local_crc.value_or(m.crc)) +
              u32(m.local_compressed_size.value_or(m.compressed_size)) +
              u32(m.local_size.value_or(m.size));
      file += u16(m.local_name.size()) + u16(m.local_extra.size()) + m.local_name + m.local_extra;
      file += m.data + m.descriptor;
      directory += "PK\1\2"s + u16(20) + u16(20) + u16(m.flags) + u16(m.method) + u32(0);
      directory += u32(m.crc) + u32(m.compressed_size) + u32(m.size);
      directory += u16(m.name.size()) + u16(m.central_extra.size()) + u16(m.comment.size());
      directory += u16(m.disk) + u16(0) + u32(0) + u32(m.offset.value_or(offset));
      directory += m.name + m.central_extra + m.comment;
    }
    directory += surplus;
    const size_t offset = file.size();
    file += directory;
    if (has_end64) {
      const size_t end64 = file.size();
      const uint64_t entries = count64.value_or(members.size());
      file += "PK\6\6"s + u64(end64_size.value_or(44)) + u16(45) + u16(45) + u32(0) + u32(0);
      file += u64(entries) + u64(entries) + u64(directory_size64.value_or(directory.size()));
      file += u64(offset);
      file += "PK\6\7"s + u32(0) + u64(end64_offset.value_or(end64)) + u32(total_disks);
    }
    const uint64_t entries = count.value_or(members.size());
    file += "PK\5\6"s + u16(disk) + u16(disk) + u16(disk_count.value_or(entries)) + u16(entries);
    file += u32(directory_size.value_or(directory.size()));
    file += u32(directory_offset.value_or(offset)) + u16(comment.size()) + comment;
    return file;
  }
};

std::string npy(size_t count = 3) {
  cnpy::NpyArray array({count}, "<i4");
  for (size_t i = 0; i < count; ++i) array.data<int32_t>()[i] = static_cast<int32_t>(i + 1);
  return cnpy::npy_preamble(array) + std::string(cnpy::npy_elements(array));
}

Archive archive_of(Member member) {
  Archive archive;
  archive.members.push_back(std::move(member));
  return archive;
}

cnpy::npz_t load(const std::string& file) {
  return cnpy::npz_load_from_memory(file.data(), file.size(), "here");
}

void expect_one_array(const std::string& file) {
  const cnpy::npz_t arrays = load(file);
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays.at("a").as_vec<int32_t>(), (std::vector<int32_t>{1, 2, 3}));
}

void expect_problem(const std::string& file, const std::string& problem) {
  const std::string actual = cnpy::problem_of([&] { load(file); });
  EXPECT_NE(actual.find(problem), std::string::npos)
      << "actual:   " << actual << "\nexpected: " << problem;
}

TEST(Zip, StoredAndDeflatedMembersAreRead) {
  expect_one_array(archive_of(Member("a.npy", npy())).bytes());
  expect_one_array(archive_of(Member("a.npy", npy(), true)).bytes());
}

TEST(Zip, MemberLongerThanABufferIsInflated) {
  constexpr size_t kCount = 200'000;
  const cnpy::npz_t arrays = load(archive_of(Member("a.npy", npy(kCount), true)).bytes());
  const std::vector<int32_t> elements = arrays.at("a").as_vec<int32_t>();
  ASSERT_EQ(elements.size(), kCount);
  for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(elements[i], static_cast<int32_t>(i + 1));
}

TEST(Zip, NothingInflatesTooFarThatDeflateCanMake) {
  const cnpy::NpyArray zeros({4'000'000}, "|u1");
  const std::string content = cnpy::npy_preamble(zeros) + std::string(cnpy::npy_elements(zeros));
  const Member member("a.npy", content, true);
  ASSERT_LT(member.compressed_size, member.size / 1000);
  EXPECT_EQ(load(archive_of(member).bytes()).at("a").num_vals, 4'000'000u);
}

TEST(Zip, CommentsAndUnknownExtraFieldsAreSkipped) {
  Member member("a.npy", npy());
  member.local_extra = extra_field(0x5455, "12345");
  member.central_extra = extra_field(0x7875, "") + "\0\0"s;  // And what aligners pad with.
  member.comment = "PK\1\2";
  Archive archive = archive_of(member);
  archive.comment = "a comment with \"PK\5\6\" in it, which is 60 bytes or so in length"s;
  expect_one_array(archive.bytes());
}

TEST(Zip, ValuesIn64BitsAreRead) {
  Member member("a.npy", npy());
  const uint32_t size = member.size;
  member.size = member.compressed_size = 0xffffffff;
  member.offset = 0xffffffff;
  member.local_extra = extra_field(1, u64(size) + u64(size));
  member.central_extra = extra_field(0x5455, "x") + extra_field(1, u64(size) + u64(size) + u64(0));
  expect_one_array(archive_of(member).bytes());

  Archive archive = archive_of(Member("a.npy", npy()));
  archive.has_end64 = true;
  expect_one_array(archive.bytes());
  archive.count = 0xffff;
  archive.directory_size = 0xffffffff;
  archive.directory_offset = 0xffffffff;
  expect_one_array(archive.bytes());
}

TEST(Zip, SizesAfterTheDataAreNotNeeded) {
  for (const bool is_deflated : {false, true}) {
    Member member("a.npy", npy(), is_deflated);
    member.flags = 1 << 3;
    member.local_size = 0;
    member.descriptor =
        "PK\7\10"s + u32(member.crc) + u32(member.compressed_size) + u32(member.size);
    expect_one_array(archive_of(member).bytes());
  }
}

TEST(Zip, MalformedMembersAreRefused) {
  const auto refuse = [](const std::string& problem, const auto& spoil, bool is_deflated = false) {
    SCOPED_TRACE(problem);
    Member member("a.npy", npy(), is_deflated);
    spoil(member);
    expect_problem(archive_of(member).bytes(), "here, member '" + member.name + "': " + problem);
  };
  refuse("is damaged: its CRC", [](Member& m) { m.crc ^= 1; });
  refuse("is damaged: its CRC", [](Member& m) { m.crc ^= 1; }, true);
  refuse("is damaged: its CRC", [](Member& m) { m.data.back() ^= 1; });
  refuse("is encrypted", [](Member& m) { m.flags = 1 << 0; });
  refuse("is encrypted", [](Member& m) { m.flags = 1 << 6; });
  refuse("is encrypted", [](Member& m) { m.flags = 1 << 13; });
  refuse("is a patch", [](Member& m) { m.flags = 1 << 5; });
  refuse("compression method 93 is not supported", [](Member& m) { m.method = 93; });
  refuse("is stored, but has two sizes", [](Member& m) { m.size -= 1; });
  refuse("lies in another file", [](Member& m) { m.disk = 1; });
  refuse("has no local header", [](Member& m) {
    m.offset = 1;
    m.data += "x";
  });
  refuse("reaches into what follows it", [](Member& m) { m.offset = 0x7fffffff; });
  refuse("reaches into what follows it", [](Member& m) {
    m.size += 1;
    m.compressed_size += 1;
  });
  refuse("its local header contradicts", [](Member& m) { m.local_name = "b.npy"; });
  refuse("its local header contradicts", [](Member& m) { m.local_size = 1; });
  refuse("its local header contradicts", [](Member& m) { m.local_method = 8; });
  refuse("its local header contradicts", [](Member& m) { m.local_crc = 1; });
  refuse("its local header contradicts", [](Member& m) { m.local_compressed_size = 1; });
  refuse("is encrypted", [](Member& m) { m.local_flags = 1 << 0; });
  refuse("two ZIP64 extra fields",
         [](Member& m) { m.central_extra = extra_field(1, "") + extra_field(1, ""); });
  refuse("the ZIP64 extra field is missing", [](Member& m) { m.size = 0xffffffff; });
  refuse("a zip record ends early", [](Member& m) {
    m.size = 0xffffffff;
    m.central_extra = extra_field(1, "1234567");
  });
  refuse("a zip record ends early", [](Member& m) { m.central_extra = "\1\0\377\377"s; });
  refuse("ends early: 2 more bytes are needed, 0 remain", [](Member& m) {
    m.size = m.compressed_size = 8;
    m.data = "\x93NUMPY\1\0"s;
  });

  refuse(
      "inflates to fewer bytes",
      [](Member& m) {
        m.data = deflated("\x93NUMPY\1\0"s);
        m.compressed_size = m.data.size();
      },
      true);
  refuse(
      "its deflate stream ends early",
      [](Member& m) {
        m.data.resize(m.data.size() / 2);
        m.compressed_size = m.data.size();
      },
      true);
  refuse(
      "its deflate stream does not end",
      [](Member& m) {
        m.data.pop_back();
        m.compressed_size = m.data.size();
      },
      true);
  refuse("its deflate stream is damaged", [](Member& m) { m.data[0] |= 6; }, true);
  refuse(
      "something follows its deflate stream",
      [](Member& m) {
        m.data += 'x';
        m.compressed_size = m.data.size();
      },
      true);
  refuse(
      "inflates to more bytes",
      [](Member& m) {
        m.data = deflated(npy() + "x");
        m.compressed_size = m.data.size();
      },
      true);
  refuse(
      "2 bytes cannot inflate to the 2147483647 that are declared",
      [](Member& m) {
        m.data = deflated("");
        m.compressed_size = 2;
        m.size = 0x7fffffff;
      },
      true);
}

TEST(Zip, NamesThatCannotBeToldApartOrReadAreRefused) {
  Archive archive;
  archive.members = {Member("a.npy", npy()), Member("a.npy", npy())};
  expect_problem(archive.bytes(), "here, member 'a.npy': is there twice");
  expect_problem(archive_of(Member("a.txt", npy())).bytes(), "is not an array");
  expect_problem(archive_of(Member("npy", npy())).bytes(), "is not an array");
  expect_problem(archive_of(Member("a\0.npy"s, npy())).bytes(),
                 "'a\\x00.npy': its name is not UTF-8");
  expect_problem(archive_of(Member("\xc3\xa9.npy", npy())).bytes(), "neither ASCII nor marked");
  Member member("\xc3\xa9.npy", npy());
  member.flags = 1 << 11;
  EXPECT_EQ(load(archive_of(member).bytes()).count("\xc3\xa9"), 1u);
  for (const char* name : {"\xc3.npy", "\x80.npy", "\xc0\xaf.npy", "\xed\xa0\x80.npy",
                           "\xe0\x80\x80.npy", "\xf4\x90\x80\x80.npy", "\xf5\x80\x80\x80.npy"}) {
    member = Member(name, npy());
    member.flags = 1 << 11;
    expect_problem(archive_of(member).bytes(), "its name is not UTF-8");
  }
}

TEST(Zip, MembersThatShareBytesAreRefused) {
  Archive archive;
  archive.members = {Member("a.npy", npy()), Member("a.npy", npy())};
  archive.members[1].name = "b.npy";
  archive.members[1].offset = 0;
  expect_problem(archive.bytes(), "reaches into what follows it");

  // Through an extra field that only the local header has.
  archive.members = {Member("a.npy", npy()), Member("b.npy", npy())};
  std::string file = archive.bytes();
  file[28] = 1;
  expect_problem(file, "here, member 'a.npy': reaches into what follows it");
}

TEST(Zip, MalformedArchivesAreRefused) {
  const auto refuse = [](const std::string& problem, const auto& spoil) {
    SCOPED_TRACE(problem);
    Archive archive = archive_of(Member("a.npy", npy()));
    spoil(archive);
    expect_problem(archive.bytes(), "here: " + problem);
  };
  expect_problem("", "here: is too short for an npz file");
  expect_problem(std::string(1000, 'P'), "here: is not an npz file");
  expect_problem(archive_of(Member("a.npy", npy())).bytes() + "x", "here: is not an npz file");
  refuse("is split", [](Archive& a) { a.disk = 1; });
  refuse("is split", [](Archive& a) { a.disk_count = 0; });
  refuse("the central directory is not where", [](Archive& a) {
    a.prefix = "x";
    a.directory_offset = 0;
  });
  refuse("the central directory is not where", [](Archive& a) { a.directory_offset = 1; });
  refuse("the central directory is not where", [](Archive& a) { a.directory_offset = 0x7fffffff; });
  refuse("the central directory is not where", [](Archive& a) { a.directory_size = 0; });
  refuse("its central directory is too short for 65534", [](Archive& a) { a.count = 0xfffe; });
  refuse("its central directory has more than the 0", [](Archive& a) { a.count = 0; });
  refuse("its central directory has more than the 1", [](Archive& a) { a.surplus = "x"; });
  refuse("its central directory is damaged", [](Archive& a) {
    a.count = 2;
    a.surplus = std::string(46, 'x');
  });
  refuse("the ZIP64 end of central directory record is missing",
         [](Archive& a) { a.directory_offset = 0xffffffff; });

  const auto refuse64 = [&](const std::string& problem, const auto& spoil) {
    refuse(problem, [&](Archive& archive) {
      archive.has_end64 = true;
      spoil(archive);
    });
  };
  refuse64("is split", [](Archive& a) { a.total_disks = 2; });
  refuse64("a zip record lies beyond", [](Archive& a) { a.end64_offset = 0xffffffffffffffff; });
  refuse64("the ZIP64 end of central directory record is not where",
           [](Archive& a) { a.end64_offset = 0; });
  refuse64("the ZIP64 end of central directory record does not reach",
           [](Archive& a) { a.end64_size = 45; });
  refuse64("the two end of central directory records contradict", [](Archive& a) { a.count = 2; });
  refuse64("its central directory is too short for 18446744073709551615", [](Archive& a) {
    a.count = 0xffff;
    a.count64 = 0xffffffffffffffff;
  });
  refuse64("the central directory is not where", [](Archive& a) {
    a.directory_size = 0xffffffff;
    a.directory_size64 = 0xffffffffffffffff;
  });
}

TEST(Zip, CutAnywhereIsRefused) {
  Archive archive = archive_of(Member("a.npy", npy(), true));
  archive.has_end64 = true;
  const std::string file = archive.bytes();
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_THROW(load(file.substr(0, size)), cnpy::Error) << size;
  }
}

TEST(Zip, NoChangedByteChangesElementsUnnoticed) {
  Archive archive;
  archive.members = {Member("a.npy", npy()), Member("b.npy", npy(), true)};
  archive.has_end64 = true;
  const std::string file = archive.bytes();
  for (size_t at = 0; at < file.size(); ++at) {
    for (int difference = 1; difference < 256; ++difference) {
      std::string changed = file;
      changed[at] = static_cast<char>(changed[at] ^ difference);
      try {
        for (const auto& [name, array] : load(changed)) {
          ASSERT_EQ(array.as_vec<int32_t>(), (std::vector<int32_t>{1, 2, 3})) << name << " " << at;
        }
      } catch (const cnpy::Error&) {
      }
    }
  }
}

TEST(ZipWriter, GivesTheSameBytesAgain) {
  const std::string content = npy();
  const auto write = [&](cnpy::zip::Writer::Zip64 zip64) {
    cnpy::MemorySink sink;
    cnpy::zip::Writer writer(sink, zip64);
    writer.add("a.npy", {std::string_view(content).substr(0, 10),
                         std::string_view(content).substr(10), std::string_view()});
    writer.finish("a comment");
    return sink.bytes();
  };
  const std::string file = write(cnpy::zip::Writer::Zip64::kWhereNeeded);
  EXPECT_EQ(file, write(cnpy::zip::Writer::Zip64::kWhereNeeded));
  EXPECT_EQ(file.find("PK\6\6"), std::string::npos);
  expect_one_array(file);

  const std::string file64 = write(cnpy::zip::Writer::Zip64::kAlways);
  EXPECT_NE(file64.find("PK\6\6"), std::string::npos);
  expect_one_array(file64);
}

TEST(ZipWriter, RefusesNamesThatTheReaderWould) {
  cnpy::MemorySink sink;
  cnpy::zip::Writer writer(sink);
  writer.add("a.npy", {});
  EXPECT_THROW(writer.add("a.npy", {}), cnpy::Error);
  EXPECT_THROW(writer.add("\xff.npy", {}), cnpy::Error);
  EXPECT_THROW(writer.add("a\0.npy"s, {}), cnpy::Error);
  EXPECT_THROW(writer.add(std::string(65536, 'a'), {}), cnpy::Error);
}

}  // namespace
