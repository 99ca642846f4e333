// What abi_test.cpp calls: the ABI as a C programmer would write it, without abi.h.

#include <stdint.h>

struct scalar {
  float* base;
  float* data;
  int64_t offset;
};

struct matrix {
  float* base;
  float* data;
  int64_t offset;
  int64_t size0, size1;
  int64_t stride0, stride1;
};

struct both {
  struct matrix tensor;
  struct scalar scalar;
};

struct scalar abi_test_scalar(float* base, float* data, int64_t offset) {
  struct scalar result = {base, data, offset};
  return result;
}

struct both abi_test_both(float* scalar_base, float* scalar_data, int64_t scalar_offset,
                          float* base, float* data, int64_t offset, int64_t size0, int64_t size1,
                          int64_t stride0, int64_t stride1) {
  struct both result = {{base, data, offset, size0, size1, stride0, stride1},
                        {scalar_base, scalar_data, scalar_offset}};
  return result;
}
