#ifndef TEST_THIRD_PARTY_CNPY_PROBLEM_OF_H_
#define TEST_THIRD_PARTY_CNPY_PROBLEM_OF_H_

#include <string>

#include "third_party/cnpy/error.h"

namespace cnpy {

// What the cnpy::Error says that `action` throws; "" where it throws none.
template <typename Action>
std::string problem_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace cnpy

#endif  // TEST_THIRD_PARTY_CNPY_PROBLEM_OF_H_
