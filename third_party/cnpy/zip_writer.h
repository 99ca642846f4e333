#ifndef THIRD_PARTY_CNPY_ZIP_WRITER_H_
#define THIRD_PARTY_CNPY_ZIP_WRITER_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "third_party/cnpy/byte_sink.h"
#include "third_party/cnpy/zip_format.h"
#include "third_party/cnpy/zip_reader.h"

namespace cnpy::zip {

// Writes an archive front to back. The same members give the same bytes: no clock is read.
class Writer {
 public:
  // 64-bit records: by default only where values need them, so that the archive can be read by all.
  enum class Zip64 { kWhereNeeded, kAlways };

  // `sink` must outlive the writer.
  explicit Writer(ByteSink& sink, Zip64 zip64 = Zip64::kWhereNeeded) : sink_(sink), zip64_(zip64) {}

  // A stored member that consists of `parts`, one after the other. Throws Error where `name` is not
  // UTF-8, too long, or is there already.
  void add(const std::string& name, const std::vector<std::string_view>& parts);

  // All members of another archive, without decoding them.
  void copy_members(const Reader& reader);

  // To be called last.
  void finish(std::string_view comment = "");

 private:
  void begin_member(Entry entry);

  ByteSink& sink_;
  Zip64 zip64_;
  std::vector<Entry> entries_;
  std::set<std::string> names_;
};

}  // namespace cnpy::zip

#endif  // THIRD_PARTY_CNPY_ZIP_WRITER_H_
