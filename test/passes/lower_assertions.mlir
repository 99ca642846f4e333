// RUN: tcp-opt %s -lower-assertions | FileCheck %s

// CHECK-LABEL: func.func @two(
// CHECK-SAME:      %[[FIRST:.*]]: i1, %[[SECOND:.*]]: i1)
// CHECK:         call @plumbline_require(%[[FIRST]], %{{.*}}, %{{.*}}, %{{.*}}) {plumbline.message = "wrong"}
// CHECK:         call @plumbline_require(%[[SECOND]], %{{.*}}, %{{.*}}, %{{.*}}) {plumbline.message = "bad"}
// CHECK-NOT:     cf.assert
// CHECK:       func.func private @plumbline_require(i1, i64, i64, i64)
// CHECK-NOT:   plumbline_require
func.func @two(%first: i1, %second: i1) {
  cf.assert %first, "wrong"
  cf.assert %second, "bad"
  return
}
