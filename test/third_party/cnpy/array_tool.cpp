// Lets a Python test see what the library reads, and read what it writes.
//
//   array_tool show IN          one line for each array, fields separated by tabs: name, descr,
//   kind,
//                               word_size, fortran_order, extents, elements in hexadecimal
//   array_tool copy IN OUT      loads .npy or .npz, and saves it
//   array_tool append IN OUT    the same in mode "a"
//   array_tool copy64 IN OUT    copies the members of an .npz into an archive with ZIP64 records
//
// Exits with 1 and the message of cnpy::Error on standard error.

#include <iostream>
#include <string>

#include "third_party/cnpy/byte_sink.h"
#include "third_party/cnpy/byte_source.h"
#include "third_party/cnpy/cnpy.h"
#include "third_party/cnpy/zip_reader.h"
#include "third_party/cnpy/zip_writer.h"

namespace {

bool is_npy(const std::string& path) {
  return path.size() >= 4 && path.compare(path.size() - 4, 4, ".npy") == 0;
}

void show(const std::string& name, const cnpy::NpyArray& array) {
  std::cout << name << '\t' << array.descr << '\t' << array.kind << '\t' << array.word_size << '\t'
            << array.fortran_order << '\t';
  for (const size_t extent : array.shape) std::cout << extent << ' ';
  std::cout << '\t';
  for (size_t i = 0; i < array.num_bytes(); ++i) {
    const auto byte = static_cast<unsigned char>(array.bytes()[i]);
    std::cout << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
  }
  std::cout << '\n';
}

void copy64(const std::string& in, const std::string& out) {
  const cnpy::FileSource source(in);
  cnpy::AtomicFileSink sink(out);
  cnpy::zip::Writer writer(sink, cnpy::zip::Writer::Zip64::kAlways);
  writer.copy_members(cnpy::zip::Reader(source));
  writer.finish();
  sink.commit();
}

int run(const std::string& command, const std::string& in, const std::string& out) {
  if (command == "show" && is_npy(in)) {
    show("", cnpy::npy_load(in));
  } else if (command == "show") {
    for (const auto& [name, array] : cnpy::npz_load(in)) show(name, array);
  } else if (command == "copy64") {
    copy64(in, out);
  } else if (command == "copy" || command == "append") {
    const std::string mode = command == "copy" ? "w" : "a";
    if (is_npy(in)) {
      cnpy::npy_save(out, cnpy::npy_load(in), mode);
    } else {
      cnpy::npz_save(out, cnpy::npz_load(in), mode);
    }
  } else {
    std::cerr << "unknown command " << command << '\n';
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: array_tool show IN | copy IN OUT | append IN OUT | copy64 IN OUT\n";
    return 2;
  }
  try {
    return run(argv[1], argv[2], argc == 4 ? argv[3] : "");
  } catch (const cnpy::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
