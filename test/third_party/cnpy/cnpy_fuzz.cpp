// A libFuzzer target: any bytes either load or throw cnpy::Error, and what loads can be written and
// loads again as it was. fuzz_test.py builds and runs it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "third_party/cnpy/byte_sink.h"
#include "third_party/cnpy/cnpy.h"
#include "third_party/cnpy/npy_format.h"
#include "third_party/cnpy/zip_writer.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void require_same(const cnpy::NpyArray& a, const cnpy::NpyArray& b) {
  require(a.shape == b.shape && a.descr == b.descr && a.fortran_order == b.fortran_order);
  require(a.num_bytes() == b.num_bytes());
  require(std::memcmp(a.bytes(), b.bytes(), a.num_bytes()) == 0);
}

// An Error from here on is a fault of ours, not of the input.
void require_round_trip(const cnpy::NpyArray& array) {
  const std::string file = cnpy::npy_preamble(array) + std::string(cnpy::npy_elements(array));
  require_same(cnpy::npy_load_from_memory(file.data(), file.size()), array);
}

void require_round_trip(const cnpy::npz_t& arrays) {
  cnpy::MemorySink sink;
  cnpy::zip::Writer writer(sink);
  for (const auto& [name, array] : arrays) {
    writer.add(name + ".npy", {cnpy::npy_preamble(array), cnpy::npy_elements(array)});
  }
  writer.finish();
  const cnpy::npz_t again = cnpy::npz_load_from_memory(sink.bytes().data(), sink.bytes().size());
  require(again.size() == arrays.size());
  for (const auto& [name, array] : arrays) require_same(again.at(name), array);
}

// What `load` gives; nothing where it throws cnpy::Error.
template <typename Load>
auto loaded(const Load& load) -> std::optional<decltype(load())> {
  try {
    return load();
  } catch (const cnpy::Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (const auto array = loaded([&] { return cnpy::npy_load_from_memory(bytes, size); })) {
    require_round_trip(*array);
  }
  if (const auto arrays = loaded([&] { return cnpy::npz_load_from_memory(bytes, size); })) {
    require_round_trip(*arrays);
  }
  return 0;
}
