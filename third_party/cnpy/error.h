#ifndef THIRD_PARTY_CNPY_ERROR_H_
#define THIRD_PARTY_CNPY_ERROR_H_

#include <stdexcept>
#include <string>
#include <string_view>

namespace cnpy {

// Everything that this library throws on purpose: a file that cannot be read or written, one that
// is malformed or holds what is not supported, an array asked for under the wrong type or name.
// what() reads "<where>: <problem>", where <where> is "<file>" or "<file>, member '<member>'".
class Error : public std::runtime_error {
 public:
  Error(std::string_view where, std::string_view problem)
      : std::runtime_error(std::string(where) + ": " + std::string(problem)) {}
};

// Text out of a file, fit for a message: in single quotes, shortened, nothing unprintable.
std::string quoted(std::string_view text);

}  // namespace cnpy

#endif  // THIRD_PARTY_CNPY_ERROR_H_
