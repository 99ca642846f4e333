#include "third_party/cnpy/byte_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "third_party/cnpy/error.h"

namespace cnpy {
namespace {

Error write_error(const std::string& path) {
  return Error(path, std::string("cannot be written: ") + std::strerror(errno));
}

}  // namespace

AtomicFileSink::AtomicFileSink(const std::string& path) : ByteSink(path) {
  // To rename onto a device would replace it, such as /dev/null for everybody.
  struct stat existing;
  if (::stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode)) {
    throw Error(path, "cannot be written: it is not a regular file");
  }
  // Not mkstemp: its files are their owner's alone, where outputs are to follow the umask.
  const std::string stem = path + "." + std::to_string(::getpid()) + ".";
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_path_ = stem + std::to_string(attempt);
    descriptor_ = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) throw write_error(name());
  }
}

AtomicFileSink::~AtomicFileSink() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

void AtomicFileSink::write_next(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw write_error(name());
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void AtomicFileSink::commit() {
  // Some file systems tell only now that the disk is full.
  const bool is_closed = ::close(descriptor_) == 0;
  descriptor_ = -1;
  if (!is_closed || std::rename(temporary_path_.c_str(), name().c_str()) != 0) {
    throw write_error(name());
  }
  temporary_path_.clear();
}

}  // namespace cnpy
