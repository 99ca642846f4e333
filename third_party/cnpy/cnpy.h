// Reads and writes numpy's .npy and .npz files, under the interface of the cnpy library.
//
// Read: .npy format versions 1.0, 2.0 and 3.0; .npz archives of stored and deflated members, ZIP64,
// streamed archives (data descriptors) and archive comments; C and Fortran order; both byte orders;
// every element type of fixed size: b1, i1 to i8, u1 to u8, f2 to f16, c8 to c32, S, U, V, m8 and
// M8. Structured and object arrays are refused. CRCs are checked.
//
// Files are not trusted: whatever the bytes, a load gives arrays or throws cnpy::Error; it reads
// only inside the file and allocates no more than the file's own bytes can inflate to.
#ifndef THIRD_PARTY_CNPY_CNPY_H_
#define THIRD_PARTY_CNPY_CNPY_H_

#include <algorithm>
#include <complex>
#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "third_party/cnpy/element_type.h"
#include "third_party/cnpy/error.h"
#include "third_party/cnpy/npy_array.h"

namespace cnpy {

// The arrays of an archive by name: that of the member without its ".npy".
using npz_t = std::map<std::string, NpyArray>;

NpyArray npy_load(const std::string& path);
npz_t npz_load(const std::string& path);
// Only the one array is read. Throws Error where the archive has none of that name.
NpyArray npz_load(const std::string& path, const std::string& name);

// The same from bytes in memory; `source` stands for the path in messages.
NpyArray npy_load_from_memory(const void* bytes, size_t size, const std::string& source = "memory");
npz_t npz_load_from_memory(const void* bytes, size_t size, const std::string& source = "memory");

// Writing leaves a whole new file or, where it throws Error, the old one as it was.
// Mode "w" replaces the file. Mode "a" makes it where there is none; else
//   npy_save joins the new array to the old one along the first axis (both in C order, of one
//   element type, equal in the other axes); npz_save keeps the members that are there, and refuses
//   a name that is among them.
void npy_save(const std::string& path, const NpyArray& array, const std::string& mode = "w");
void npz_save(const std::string& path, const std::string& name, const NpyArray& array,
              const std::string& mode = "w");
// All at once: an archive of n arrays made by appending is written n times.
void npz_save(const std::string& path, const npz_t& arrays, const std::string& mode = "w");

// numpy's spelling of the C++ type T: "<f4" for float on a little-endian machine.
template <typename T>
std::string descr_of() {
  constexpr bool is_complex = std::is_same_v<T, std::complex<float>> ||
                              std::is_same_v<T, std::complex<double>> ||
                              std::is_same_v<T, std::complex<long double>>;
  static_assert(is_complex || std::is_arithmetic_v<T>,
                "no element type of numpy's: make an NpyArray and give its descr");
  constexpr char kind = is_complex                    ? 'c'
                        : std::is_same_v<T, bool>     ? 'b'
                        : std::is_floating_point_v<T> ? 'f'
                        : std::is_signed_v<T>         ? 'i'
                                                      : 'u';
  return parse_descr(std::string{'=', kind} + std::to_string(sizeof(T)), "C++ type").native_descr();
}

// An array in C order with the elements that `data` points to.
template <typename T>
NpyArray make_array(const T* data, const std::vector<size_t>& shape) {
  NpyArray array(shape, descr_of<T>());
  std::copy_n(data, array.num_vals, array.data<T>());
  return array;
}

// An array of rank 1.
template <typename T>
NpyArray make_array(const std::vector<T>& data) {
  NpyArray array({data.size()}, descr_of<T>());
  std::copy(data.begin(), data.end(), array.data<T>());
  return array;
}

// As above, of elements in C order; of rank 1 where no shape is given.
template <typename T>
void npy_save(const std::string& path, const T* data, const std::vector<size_t>& shape,
              const std::string& mode = "w") {
  npy_save(path, make_array(data, shape), mode);
}
template <typename T>
void npy_save(const std::string& path, const std::vector<T>& data, const std::string& mode = "w") {
  npy_save(path, make_array(data), mode);
}
template <typename T>
void npz_save(const std::string& path, const std::string& name, const T* data,
              const std::vector<size_t>& shape, const std::string& mode = "w") {
  npz_save(path, name, make_array(data, shape), mode);
}
template <typename T>
void npz_save(const std::string& path, const std::string& name, const std::vector<T>& data,
              const std::string& mode = "w") {
  npz_save(path, name, make_array(data), mode);
}

}  // namespace cnpy

#endif  // THIRD_PARTY_CNPY_CNPY_H_
