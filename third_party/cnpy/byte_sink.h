#ifndef THIRD_PARTY_CNPY_BYTE_SINK_H_
#define THIRD_PARTY_CNPY_BYTE_SINK_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cnpy {

// Takes bytes in order.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  void write(std::string_view bytes) {
    write_next(bytes);
    position_ += bytes.size();
  }
  const std::string& name() const { return name_; }  // For messages.
  uint64_t position() const { return position_; }    // Bytes written so far.

 protected:
  explicit ByteSink(std::string name) : name_(std::move(name)) {}

 private:
  virtual void write_next(std::string_view bytes) = 0;

  std::string name_;
  uint64_t position_ = 0;
};

class MemorySink final : public ByteSink {
 public:
  MemorySink() : ByteSink("memory") {}

  const std::string& bytes() const { return bytes_; }

 private:
  void write_next(std::string_view bytes) override { bytes_ += bytes; }

  std::string bytes_;
};

// A file that appears under its name whole or not at all: the bytes go to a temporary file beside
// it, which commit() renames.
class AtomicFileSink final : public ByteSink {
 public:
  // Throws Error where no file can be made in the folder of `path`, or `path` is no regular file.
  explicit AtomicFileSink(const std::string& path);
  // Removes the temporary file unless it was committed.
  ~AtomicFileSink() override;

  // To be called when all is written. Throws Error where the file system refuses.
  void commit();

 private:
  void write_next(std::string_view bytes) override;

  std::string temporary_path_;
  int descriptor_ = -1;
};

}  // namespace cnpy

#endif  // THIRD_PARTY_CNPY_BYTE_SINK_H_
