// Calls functions of basic_tcp_ops.mlir as a C program would.

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/aot/abi.h"

DECL_RANK_0_MEMREF_TYPE(float, Scalar);
DECL_RANK_1_MEMREF_TYPE(float, Vector);
DECL_RANK_2_MEMREF_TYPE(float, Matrix);

typedef struct {
  Matrix sum;
  Matrix product;
} SumAndProduct;

Vector broadcast_add(DECL_RANK_0_MEMREF_ABI(float), DECL_RANK_1_MEMREF_ABI(float));
char* broadcast_add_checked(Vector*, DECL_RANK_0_MEMREF_ABI(float), DECL_RANK_1_MEMREF_ABI(float));
SumAndProduct add_mul_both(DECL_RANK_2_MEMREF_ABI(float), DECL_RANK_2_MEMREF_ABI(float),
                           DECL_RANK_2_MEMREF_ABI(float));

static int failures = 0;

static void Expect(bool holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "not so: %s\n", what);
    ++failures;
  }
}

#define EXPECT(condition) Expect((condition), #condition)

int main(void) {
  float ten[] = {10};
  float numbers[] = {1, 2, 3};
  const Scalar scalar = {ten, ten, 0};
  Vector vector = {numbers, numbers, 0, {3}, {1}};
  const Vector sum = broadcast_add(PASS_RANK_0_MEMREF(scalar), PASS_RANK_1_MEMREF(vector));
  EXPECT(sum.sizes[0] == 3);
  EXPECT(sum.data[sum.offset] == 11);
  EXPECT(sum.data[sum.offset + 2 * sum.strides[0]] == 13);
  free(sum.basePtr);

  Vector checked;
  char* refusal =
      broadcast_add_checked(&checked, PASS_RANK_0_MEMREF(scalar), PASS_RANK_1_MEMREF(vector));
  EXPECT(refusal == NULL);
  EXPECT(checked.data[checked.offset] == 11);
  free(checked.basePtr);
  vector.sizes[0] = -1;
  refusal = broadcast_add_checked(&checked, PASS_RANK_0_MEMREF(scalar), PASS_RANK_1_MEMREF(vector));
  EXPECT(refusal != NULL && strstr(refusal, "argument 1 has size -1") != NULL);
  free(refusal);

  const Matrix matrix = {numbers, numbers, 0, {1, 3}, {3, 1}};
  const SumAndProduct both = add_mul_both(PASS_RANK_2_MEMREF(matrix), PASS_RANK_2_MEMREF(matrix),
                                          PASS_RANK_2_MEMREF(matrix));
  EXPECT(both.sum.data[both.sum.offset + 2] == 6);
  EXPECT(both.product.sizes[1] == 3);
  EXPECT(both.product.data[both.product.offset + 2] == 18);
  free(both.sum.basePtr);
  if (both.product.basePtr != both.sum.basePtr) free(both.product.basePtr);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
