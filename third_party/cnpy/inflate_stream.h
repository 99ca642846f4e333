#ifndef THIRD_PARTY_CNPY_INFLATE_STREAM_H_
#define THIRD_PARTY_CNPY_INFLATE_STREAM_H_

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "third_party/cnpy/byte_stream.h"

namespace cnpy {

// Inflates a raw deflate stream (RFC 1951) of known length, before and after.
class InflateStream final : public ByteStream {
 public:
  // Throws Error where no deflate stream of that length could give `inflated_size` bytes: what is
  // allocated for an array is thereby bounded by the length of the file.
  InflateStream(std::unique_ptr<ByteStream> deflated, uint64_t inflated_size);
  ~InflateStream() override;

  // Throws Error unless both streams end here.
  void finish() override;

 private:
  void read_next(void* out, size_t count) override;
  void refill();

  std::unique_ptr<ByteStream> deflated_;
  std::vector<unsigned char> input_;
  z_stream zlib_{};
  bool is_at_end_ = false;
};

}  // namespace cnpy

#endif  // THIRD_PARTY_CNPY_INFLATE_STREAM_H_
