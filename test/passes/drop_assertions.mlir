// RUN: tcp-opt %s -drop-assertions | FileCheck %s

// CHECK-LABEL: func.func @two(
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @two(%first: i1, %second: i1) {
  cf.assert %first, "wrong"
  scf.if %first {
    cf.assert %second, "bad"
  }
  return
}
