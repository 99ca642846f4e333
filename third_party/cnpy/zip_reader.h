#ifndef THIRD_PARTY_CNPY_ZIP_READER_H_
#define THIRD_PARTY_CNPY_ZIP_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "third_party/cnpy/byte_source.h"
#include "third_party/cnpy/byte_stream.h"
#include "third_party/cnpy/zip_format.h"

namespace cnpy::zip {

// Reads an archive by its central directory, so that it does not matter whether local headers hold
// sizes or leave them to data descriptors.
class Reader {
 public:
  // Throws Error unless `source`, which must outlive the reader, is a whole and consistent archive:
  // records where the records before them say they are, members that neither overlap nor share a
  // name, no encryption, stored or deflated only.
  explicit Reader(const ByteSource& source);

  const std::vector<Entry>& entries() const { return entries_; }
  const std::string& comment() const { return comment_; }

  // Begins the messages about a member.
  std::string where(const Entry& entry) const;

  // The member's content; finish() checks its CRC. The reader must outlive the stream.
  std::unique_ptr<ByteStream> open(const Entry& entry) const;

  // The member's bytes as they lie in the archive, compressed or not.
  std::unique_ptr<ByteStream> open_raw(const Entry& entry) const;

 private:
  const ByteSource& source_;
  std::vector<Entry> entries_;
  std::string comment_;
};

}  // namespace cnpy::zip

#endif  // THIRD_PARTY_CNPY_ZIP_READER_H_
