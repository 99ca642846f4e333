#include "third_party/cnpy/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "third_party/cnpy/error.h"

namespace cnpy {

void ByteSource::read(uint64_t offset, void* out, size_t count) const {
  if (offset > size_ || count > size_ - offset) {
    throw Error(name_, "ends early: bytes " + std::to_string(offset) + " to " +
                           std::to_string(offset) + " + " + std::to_string(count) +
                           " are needed of " + std::to_string(size_));
  }
  if (count > 0) read_range(offset, out, count);
}

MemorySource::MemorySource(const void* bytes, size_t size, const std::string& name)
    : ByteSource(name), bytes_(static_cast<const char*>(bytes)) {
  set_size(size);
}

void MemorySource::read_range(uint64_t offset, void* out, size_t count) const {
  std::memcpy(out, bytes_ + offset, count);
}

FileSource::FileSource(const std::string& path)
    : ByteSource(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) throw Error(path, std::string("cannot be opened: ") + std::strerror(errno));
  struct stat status;
  const bool is_regular = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  if (!is_regular) {
    ::close(descriptor_);
    throw Error(path, "is not a regular file");
  }
  set_size(static_cast<uint64_t>(status.st_size));
}

FileSource::~FileSource() { ::close(descriptor_); }

void FileSource::read_range(uint64_t offset, void* out, size_t count) const {
  auto* next = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, next, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(name(), std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0) throw Error(name(), "was cut short while it was being read");
    next += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<size_t>(got);
  }
}

}  // namespace cnpy
