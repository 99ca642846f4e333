// RUN: tcp-opt %s -align-while-arguments -split-input-file | FileCheck %s
// RUN: tcp-opt %s -align-while-arguments "-one-shot-bufferize=allow-return-allocs-from-loops bufferize-function-boundaries" -canonicalize -split-input-file | FileCheck %s --check-prefix=BUFFERS

// What decides whether there is a round comes after what a round hands on, and this stays in its
// buffer.
// CHECK-LABEL: func.func @until(
// CHECK-SAME:      %[[X:.*]]: tensor<9xf32>, %[[FIRST:.*]]: i1)
// CHECK:         scf.while (%[[A:.*]] = %[[X]], %[[GOES_ON:.*]] = %[[FIRST]]) : (tensor<9xf32>, i1) -> tensor<9xf32>
// CHECK-NEXT:      scf.condition(%[[GOES_ON]]) %[[A]]
// CHECK:           %[[NEXT:.*]] = tensor.insert
// CHECK:           scf.yield %[[NEXT]], %{{.*}} : tensor<9xf32>, i1
// BUFFERS-LABEL: func.func @until(
// BUFFERS:         scf.while
// BUFFERS-NOT:     memref.copy
// BUFFERS-NOT:     memref.alloc
// BUFFERS:         memref.store
// BUFFERS-NOT:     memref.alloc
// BUFFERS:         scf.yield
func.func @until(%x: tensor<9xf32>, %first: i1) -> tensor<9xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %result = scf.while (%goes_on = %first, %a = %x) : (i1, tensor<9xf32>) -> tensor<9xf32> {
    scf.condition(%goes_on) %a : tensor<9xf32>
  } do {
  ^bb0(%a: tensor<9xf32>):
    %one = tensor.extract %a[%c0] : tensor<9xf32>
    %more = arith.addf %one, %one : f32
    %next = tensor.insert %more into %a[%c0] : tensor<9xf32>
    %holds = arith.cmpf olt, %more, %zero : f32
    scf.yield %holds, %next : i1, tensor<9xf32>
  }
  return %result : tensor<9xf32>
}

// -----

// Of what is handed on twice, the first is it; what is made in the condition takes what is left.
// CHECK-LABEL: func.func @twice(
// CHECK-SAME:      %[[X:.*]]: i64, %[[Y:.*]]: i64, %[[Z:.*]]: i64)
// CHECK:         scf.while (%[[B:.*]] = %[[Y]], %[[A:.*]] = %[[X]], %[[C:.*]] = %[[Z]])
// CHECK:           scf.condition(%{{.*}}) %[[B]], %[[B]], %[[C]]
// CHECK:         ^bb0(%[[P:.*]]: i64, %[[Q:.*]]: i64, %[[R:.*]]: i64):
// CHECK:           scf.yield %[[Q]], %[[P]], %[[R]]
func.func @twice(%x: i64, %y: i64, %z: i64) -> (i64, i64, i64) {
  %result:3 = scf.while (%a = %x, %b = %y, %c = %z) : (i64, i64, i64) -> (i64, i64, i64) {
    %less = arith.cmpi slt, %a, %c : i64
    scf.condition(%less) %b, %b, %c : i64, i64, i64
  } do {
  ^bb0(%p: i64, %q: i64, %r: i64):
    scf.yield %p, %q, %r : i64, i64, i64
  }
  return %result#0, %result#1, %result#2 : i64, i64, i64
}

// -----

// CHECK-LABEL: func.func @in_order(
// CHECK:         scf.while (%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) : (i64, i64) -> (i64, i64)
// CHECK:           scf.condition(%{{.*}}) %[[A]], %[[B]]
func.func @in_order(%x: i64, %y: i64) -> (i64, i64) {
  %result:2 = scf.while (%a = %x, %b = %y) : (i64, i64) -> (i64, i64) {
    %less = arith.cmpi slt, %a, %b : i64
    scf.condition(%less) %a, %b : i64, i64
  } do {
  ^bb0(%p: i64, %q: i64):
    scf.yield %q, %p : i64, i64
  }
  return %result#0, %result#1 : i64, i64
}
