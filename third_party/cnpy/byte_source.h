#ifndef THIRD_PARTY_CNPY_BYTE_SOURCE_H_
#define THIRD_PARTY_CNPY_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace cnpy {

// Bytes that can be read from any place, so that a file is never held in memory as a whole.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  const std::string& name() const { return name_; }  // For messages.
  uint64_t size() const { return size_; }

  // Throws Error where the range does not lie within the source, or cannot be read.
  void read(uint64_t offset, void* out, size_t count) const;

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  void set_size(uint64_t size) { size_ = size; }

 private:
  // The range lies within the source, and is not empty.
  virtual void read_range(uint64_t offset, void* out, size_t count) const = 0;

  std::string name_;
  uint64_t size_ = 0;
};

// Does not own the bytes.
class MemorySource final : public ByteSource {
 public:
  MemorySource(const void* bytes, size_t size, const std::string& name);

 private:
  void read_range(uint64_t offset, void* out, size_t count) const override;

  const char* bytes_;
};

class FileSource final : public ByteSource {
 public:
  // Throws Error unless `path` is a regular file that can be read.
  explicit FileSource(const std::string& path);
  ~FileSource() override;

 private:
  void read_range(uint64_t offset, void* out, size_t count) const override;

  int descriptor_;
};

}  // namespace cnpy

#endif  // THIRD_PARTY_CNPY_BYTE_SOURCE_H_
