#include "third_party/cnpy/inflate_stream.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "third_party/cnpy/error.h"

namespace cnpy {
namespace {

// RFC 1951: at best 258 bytes come out of two bits, a length and a distance of one bit each.
constexpr uint64_t kMaxExpansion = 258 * 4;

constexpr size_t kInputSize = size_t{1} << 16;

}  // namespace

InflateStream::InflateStream(std::unique_ptr<ByteStream> deflated, uint64_t inflated_size)
    : ByteStream(deflated->where(), inflated_size),
      deflated_(std::move(deflated)),
      input_(static_cast<size_t>(std::min<uint64_t>(deflated_->remaining(), kInputSize))) {
  if (inflated_size / kMaxExpansion > deflated_->remaining()) {
    throw Error(where(), std::to_string(deflated_->remaining()) + " bytes cannot inflate to the " +
                             std::to_string(inflated_size) + " that are declared");
  }
  // Negative: a raw stream, without zlib's own header and checksum.
  if (::inflateInit2(&zlib_, -MAX_WBITS) != Z_OK) throw Error(where(), "zlib cannot start");
}

InflateStream::~InflateStream() { ::inflateEnd(&zlib_); }

void InflateStream::refill() {
  if (zlib_.avail_in > 0) return;
  const auto count = static_cast<size_t>(std::min<uint64_t>(deflated_->remaining(), input_.size()));
  deflated_->read(input_.data(), count);
  zlib_.next_in = input_.data();
  zlib_.avail_in = static_cast<uInt>(count);
}

void InflateStream::read_next(void* out, size_t count) {
  auto* next = static_cast<Bytef*>(out);
  while (count > 0) {
    if (is_at_end_) throw Error(where(), "inflates to fewer bytes than are declared");
    refill();
    const uInt wanted =
        static_cast<uInt>(std::min<size_t>(count, std::numeric_limits<uInt>::max()));
    zlib_.next_out = next;
    zlib_.avail_out = wanted;
    const int status = ::inflate(&zlib_, Z_NO_FLUSH);
    if (status == Z_BUF_ERROR) throw Error(where(), "its deflate stream ends early");
    if (status != Z_OK && status != Z_STREAM_END) {
      throw Error(where(), std::string("its deflate stream is damaged: ") +
                               (zlib_.msg != nullptr ? zlib_.msg : ::zError(status)));
    }
    is_at_end_ = status == Z_STREAM_END;
    const uInt produced = wanted - zlib_.avail_out;
    next += produced;
    count -= produced;
  }
}

void InflateStream::finish() {
  // The end mark may still be unread, behind the last byte.
  while (!is_at_end_) {
    Bytef surplus;
    refill();
    zlib_.next_out = &surplus;
    zlib_.avail_out = 1;
    const int status = ::inflate(&zlib_, Z_NO_FLUSH);
    if (zlib_.avail_out == 0) throw Error(where(), "inflates to more bytes than are declared");
    if (status != Z_OK && status != Z_STREAM_END) {
      throw Error(where(), "its deflate stream does not end where it should");
    }
    is_at_end_ = status == Z_STREAM_END;
  }
  if (zlib_.avail_in > 0 || deflated_->remaining() > 0) {
    throw Error(where(), "something follows its deflate stream");
  }
}

}  // namespace cnpy
