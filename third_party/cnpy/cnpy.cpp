#include "third_party/cnpy/cnpy.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "third_party/cnpy/byte_sink.h"
#include "third_party/cnpy/byte_source.h"
#include "third_party/cnpy/byte_stream.h"
#include "third_party/cnpy/npy_format.h"
#include "third_party/cnpy/zip_reader.h"
#include "third_party/cnpy/zip_writer.h"

namespace cnpy {
namespace {

constexpr std::string_view kMemberSuffix = ".npy";

NpyArray load_npy(const ByteSource& source) {
  RangeStream stream(source, 0, source.size(), source.name());
  return read_npy(stream);
}

npz_t load_npz(const ByteSource& source) {
  const zip::Reader reader(source);
  npz_t arrays;
  for (const zip::Entry& entry : reader.entries()) {
    const std::string_view name = entry.name;
    if (name.size() < kMemberSuffix.size() ||
        name.substr(name.size() - kMemberSuffix.size()) != kMemberSuffix) {
      throw Error(reader.where(entry), "is not an array: its name does not end in .npy");
    }
    arrays.emplace(name.substr(0, name.size() - kMemberSuffix.size()),
                   read_npy(*reader.open(entry)));
  }
  return arrays;
}

// Whether `mode` is to keep what is at `path`.
bool keeps_file(const std::string& path, const std::string& mode) {
  if (mode != "w" && mode != "a") {
    throw Error(path, "mode " + quoted(mode) + " is neither 'w' nor 'a'");
  }
  struct stat status;
  return mode == "a" && ::stat(path.c_str(), &status) == 0;
}

// `front` and, along the first axis, `back`.
NpyArray join(const NpyArray& front, const NpyArray& back, const std::string& path) {
  if (front.descr != back.descr) {
    throw Error(path, "holds " + quoted(front.descr) + ", to which " + quoted(back.descr) +
                          " cannot be appended");
  }
  if (front.fortran_order || back.fortran_order) {
    throw Error(path, "only arrays in C order can be appended");
  }
  const bool fits = !front.shape.empty() && front.shape.size() == back.shape.size() &&
                    std::equal(front.shape.begin() + 1, front.shape.end(), back.shape.begin() + 1);
  if (!fits) throw Error(path, "the array to be appended differs in more than its first extent");

  std::vector<size_t> shape = front.shape;
  shape[0] += back.shape[0];
  NpyArray joined(shape, front.descr);
  std::memcpy(joined.bytes(), front.bytes(), front.num_bytes());
  std::memcpy(joined.bytes() + front.num_bytes(), back.bytes(), back.num_bytes());
  return joined;
}

}  // namespace

NpyArray npy_load(const std::string& path) { return load_npy(FileSource(path)); }

NpyArray npy_load_from_memory(const void* bytes, size_t size, const std::string& source) {
  return load_npy(MemorySource(bytes, size, source));
}

npz_t npz_load(const std::string& path) { return load_npz(FileSource(path)); }

npz_t npz_load_from_memory(const void* bytes, size_t size, const std::string& source) {
  return load_npz(MemorySource(bytes, size, source));
}

NpyArray npz_load(const std::string& path, const std::string& name) {
  const FileSource source(path);
  const zip::Reader reader(source);
  std::string names;
  for (const zip::Entry& entry : reader.entries()) {
    if (entry.name == name + std::string(kMemberSuffix)) return read_npy(*reader.open(entry));
    names += (names.empty() ? "" : ", ") + quoted(entry.name);
  }
  throw Error(path, "has no array " + quoted(name) + "; its members are: " + names);
}

void npy_save(const std::string& path, const NpyArray& array, const std::string& mode) {
  const NpyArray whole = keeps_file(path, mode) ? join(npy_load(path), array, path) : array;
  AtomicFileSink sink(path);
  sink.write(npy_preamble(whole));
  sink.write(npy_elements(whole));
  sink.commit();
}

void npz_save(const std::string& path, const npz_t& arrays, const std::string& mode) {
  const bool keeps_members = keeps_file(path, mode);
  AtomicFileSink sink(path);
  zip::Writer writer(sink);
  std::string comment;
  if (keeps_members) {
    const FileSource source(path);
    const zip::Reader reader(source);
    writer.copy_members(reader);
    comment = reader.comment();
  }
  for (const auto& [name, array] : arrays) {
    writer.add(name + std::string(kMemberSuffix), {npy_preamble(array), npy_elements(array)});
  }
  writer.finish(comment);
  sink.commit();
}

void npz_save(const std::string& path, const std::string& name, const NpyArray& array,
              const std::string& mode) {
  npz_save(path, npz_t{{name, array}}, mode);
}

}  // namespace cnpy
