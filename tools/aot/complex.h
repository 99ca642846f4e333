// A complex number as it lies in memory, which C's `float _Complex`, std::complex<float>, numpy and
// PyTorch agree on (C11 6.2.5, [complex.numbers.general]): storage, not arithmetic, for what is not
// to include <complex>, which takes long to compile.

#ifndef TOOLS_AOT_COMPLEX_H_
#define TOOLS_AOT_COMPLEX_H_

namespace plumbline {

template <typename T>
struct Complex {
  using Part = T;

  T real;
  T imaginary;
};

}  // namespace plumbline

#endif  // TOOLS_AOT_COMPLEX_H_
