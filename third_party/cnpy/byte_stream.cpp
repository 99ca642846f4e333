#include "third_party/cnpy/byte_stream.h"

#include "third_party/cnpy/error.h"

namespace cnpy {

void ByteStream::read(void* out, size_t count) {
  if (count > remaining_) {
    throw Error(where_, "ends early: " + std::to_string(count) + " more bytes are needed, " +
                            std::to_string(remaining_) + " remain");
  }
  if (count > 0) read_next(out, count);
  remaining_ -= count;
}

void RangeStream::read_next(void* out, size_t count) {
  source_.read(offset_, out, count);
  offset_ += count;
}

}  // namespace cnpy
