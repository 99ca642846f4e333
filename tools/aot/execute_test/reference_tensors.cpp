#include "tools/aot/execute_test/reference_tensors.h"

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "tools/aot/execute_test/guarded_memory.h"
#include "tools/aot/execute_test/runfile.h"
#include "tools/aot/execute_test/tensor_view.h"

namespace plumbline {
namespace {

constexpr char kRegenerate[] = "; the test was generated from another archive";

std::size_t CountMembers(const cnpy::npz_t& arrays, const std::string& prefix) {
  std::size_t count = 0;
  for (const auto& [name, array] : arrays) {
    if (name.compare(0, prefix.size(), prefix) == 0) ++count;
  }
  return count;
}

std::string TypeText(const cnpy::NpyArray& array) {
  std::string text = "numpy dtype " + array.descr + " and shape (";
  for (std::size_t axis = 0; axis < array.shape.size(); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(array.shape[axis]);
  }
  return text + ")";
}

}  // namespace

LoadedTensor::LoadedTensor(const std::string& name, ElementType type,
                           const std::vector<std::size_t>& sizes) {
  memref_.type = type;
  memref_.rank = static_cast<int>(sizes.size());
  std::size_t count = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    memref_.sizes[axis] = static_cast<std::int64_t>(sizes[axis]);
    memref_.strides[axis] = static_cast<std::int64_t>(count);
    count *= sizes[axis];
  }
  const std::size_t word = SizeOf(type);
  elements_.reset(static_cast<char*>(AllocateGuarded(count * word, word, name.c_str())));
  memref_.base = elements_.get();
  memref_.data = elements_.get();
  memref_.offset = 0;
}

ReferenceTensors::ReferenceTensors(const std::string& path, int inputs, int outputs,
                                   int case_number)
    : path_(path),
      prefix_(case_number == 0 ? "" : "Case" + std::to_string(case_number) + "."),
      arrays_(cnpy::npz_load(FindRunfile(path))) {
  const std::size_t found_inputs = CountMembers(arrays_, "Input");
  const std::size_t found_outputs = CountMembers(arrays_, "Output");
  if (found_inputs != static_cast<std::size_t>(inputs) ||
      found_outputs != static_cast<std::size_t>(outputs)) {
    throw std::runtime_error(path_ + " has " + std::to_string(found_inputs) + " inputs and " +
                             std::to_string(found_outputs) + " outputs, expected " +
                             std::to_string(inputs) + " and " + std::to_string(outputs) +
                             kRegenerate);
  }
  const std::vector<double> rtol = ReadTolerances("rtol", found_outputs);
  const std::vector<double> atol = ReadTolerances("atol", found_outputs);
  for (std::size_t output = 0; output < found_outputs; ++output) {
    tolerances_.push_back({rtol[output], atol[output]});
  }
}

LoadedTensor ReferenceTensors::Load(const std::string& member, ElementType type, int rank) const {
  const cnpy::NpyArray& array = Find(member, type, rank);
  LoadedTensor tensor(member, type, array.shape);
  CopyRowMajor(array, tensor.memref().data);
  return tensor;
}

const cnpy::NpyArray& ReferenceTensors::Find(const std::string& member, ElementType type,
                                             std::size_t rank) const {
  auto found = arrays_.find(prefix_ + member);
  // What all cases have in common (tolerances) and inputs of the first case are not repeated.
  const bool is_output = member.compare(0, 6, "Output") == 0;
  if (found == arrays_.end() && !is_output) found = arrays_.find(member);
  if (found == arrays_.end())
    throw std::runtime_error(path_ + " has no member " + prefix_ + member);
  const cnpy::NpyArray& array = found->second;
  if (!IsStoredAs(type, array.kind, array.word_size) || array.shape.size() != rank) {
    throw std::runtime_error(member + " of " + path_ + " has " + TypeText(array) + ", expected " +
                             Name(type) + " of rank " + std::to_string(rank) + kRegenerate);
  }
  return array;
}

std::vector<double> ReferenceTensors::ReadTolerances(const std::string& member,
                                                     std::size_t outputs) const {
  const cnpy::NpyArray& array = Find(member, ElementType::kF64, 1);
  if (array.num_vals != outputs) {
    throw std::runtime_error(member + " of " + path_ + " has " + std::to_string(array.num_vals) +
                             " values for " + std::to_string(outputs) + " outputs");
  }
  return array.as_vec<double>();
}

void ReferenceTensors::CopyRowMajor(const cnpy::NpyArray& array, void* target) {
  if (!array.fortran_order) {
    std::memcpy(target, array.bytes(), array.num_bytes());
    return;
  }
  // Walks the target in its order, with the source's offset in step.
  const std::size_t rank = array.shape.size();
  std::vector<std::size_t> strides(rank, 1);
  for (std::size_t axis = 1; axis < rank; ++axis) {
    strides[axis] = strides[axis - 1] * array.shape[axis - 1];
  }
  std::vector<std::size_t> index(rank, 0);
  std::size_t source = 0;
  for (std::size_t i = 0; i < array.num_vals; ++i) {
    std::memcpy(static_cast<char*>(target) + i * array.word_size,
                array.bytes() + source * array.word_size, array.word_size);
    for (std::size_t axis = rank; axis-- > 0;) {
      source += strides[axis];
      if (++index[axis] < array.shape[axis]) break;
      source -= strides[axis] * array.shape[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace plumbline
