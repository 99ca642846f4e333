#ifndef THIRD_PARTY_CNPY_BYTE_STREAM_H_
#define THIRD_PARTY_CNPY_BYTE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "third_party/cnpy/byte_source.h"

namespace cnpy {

// Bytes that come in order and whose number is known: a file, or a member of an archive.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  const std::string& where() const { return where_; }  // Begins every message about the stream.
  uint64_t remaining() const { return remaining_; }

  // Throws Error where fewer than `count` bytes remain, or where they are damaged.
  void read(void* out, size_t count);

  // To be called when all is read: throws Error where the bytes as a whole are damaged. What was
  // read is not to be trusted before.
  virtual void finish() {}

 protected:
  ByteStream(std::string where, uint64_t size) : where_(std::move(where)), remaining_(size) {}

 private:
  // No more than remain.
  virtual void read_next(void* out, size_t count) = 0;

  std::string where_;
  uint64_t remaining_;
};

// A range of a source as it lies there.
class RangeStream final : public ByteStream {
 public:
  // `source` must outlive the stream.
  RangeStream(const ByteSource& source, uint64_t offset, uint64_t size, std::string where)
      : ByteStream(std::move(where), size), source_(source), offset_(offset) {}

 private:
  void read_next(void* out, size_t count) override;

  const ByteSource& source_;
  uint64_t offset_;
};

}  // namespace cnpy

#endif  // THIRD_PARTY_CNPY_BYTE_STREAM_H_
