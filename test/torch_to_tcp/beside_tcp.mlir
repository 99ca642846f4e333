// RUN: tcp-opt %s -torch-func-backend-type-conversion -convert-torch-to-linalg-beside-tcp -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @cumsum(
// CHECK:         tm_tensor.scan
func.func @cumsum(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %dim = torch.constant.int 0
  %none = torch.constant.none
  %0 = torch.aten.cumsum %x, %dim, %none : !torch.vtensor<[3],f32>, !torch.int, !torch.none -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// NaN is above all numbers: last where values rise, first where they fall.

// CHECK-LABEL: func.func @sort(
// CHECK:         tm_tensor.sort
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: i64, %{{.*}}: i64):
// CHECK-NEXT:      %[[LE:.*]] = arith.cmpf ole, %[[A]], %[[B]]
// CHECK-NEXT:      %[[NAN:.*]] = arith.cmpf uno, %[[B]], %[[B]]
// CHECK-NEXT:      %[[ORDERED:.*]] = arith.ori %[[LE]], %[[NAN]]
// CHECK-NEXT:      tm_tensor.yield %[[ORDERED]]
// CHECK:         tm_tensor.sort
// CHECK-NEXT:    ^bb0(%[[C:.*]]: f32, %[[D:.*]]: f32, %{{.*}}: i64, %{{.*}}: i64):
// CHECK-NEXT:      %[[GE:.*]] = arith.cmpf oge, %[[C]], %[[D]]
// CHECK-NEXT:      %[[NAN:.*]] = arith.cmpf uno, %[[C]], %[[C]]
func.func @sort(%x: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) {
  %dim = torch.constant.int 0
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %0, %1 = torch.aten.sort %x, %dim, %false : !torch.vtensor<[3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3],f32>, !torch.vtensor<[3],si64>
  %2, %3 = torch.aten.sort %x, %dim, %true : !torch.vtensor<[3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3],f32>, !torch.vtensor<[3],si64>
  return %0, %2 : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
}

// -----

// NaN is neither above a number nor below it, nor equal to one.

// CHECK-LABEL: func.func @compare_floats(
// CHECK:         arith.cmpf ogt, %[[X:.*]], %[[X]] : f64
// CHECK:         %[[N:.*]] = arith.sitofp %{{.*}} : i64 to f64
// CHECK:         arith.cmpf oge, %{{.*}}, %[[N]] : f64
// CHECK:         arith.cmpf oeq, %{{.*}} : f64
// CHECK:         arith.cmpf une, %{{.*}} : f64
func.func @compare_floats(%x: !torch.float, %n: !torch.int) -> (!torch.bool, !torch.bool, !torch.bool, !torch.bool) {
  %0 = torch.aten.gt.float %x, %x : !torch.float, !torch.float -> !torch.bool
  %1 = torch.aten.ge.float_int %x, %n : !torch.float, !torch.int -> !torch.bool
  %2 = torch.aten.eq.float %x, %x : !torch.float, !torch.float -> !torch.bool
  %3 = torch.aten.ne.float_int %x, %n : !torch.float, !torch.int -> !torch.bool
  return %0, %1, %2, %3 : !torch.bool, !torch.bool, !torch.bool, !torch.bool
}

// -----

// All that cannot be lowered is told of at once, and nothing else: torch-mlir gives up on the sum
// and takes back what it did to the sine.

func.func @nothing_knows(%x: !torch.vtensor<[3],f32>, %dim: !torch.int) -> !torch.vtensor<[3],f32> {
  %none = torch.constant.none
  %0 = torch.aten.sin %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  // expected-error @below {{aten.cumsum(!torch.vtensor<[3],f32>, !torch.int, !torch.none) can be lowered neither to TCP nor to linalg: a number that is computed at run time}}
  %1 = torch.aten.cumsum %0, %dim, %none : !torch.vtensor<[3],f32>, !torch.int, !torch.none -> !torch.vtensor<[3],f32>
  // expected-error @below {{my.op(!torch.vtensor<[3],f32>) can be lowered neither to TCP nor to linalg}}
  %2 = torch.operator "torch.my.op"(%1) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
  return %2 : !torch.vtensor<[3],f32>
}

// -----

// The same within a loop: the op is told of, neither the loop around it nor what ends its body.

func.func @nothing_knows_in_a_loop(%x: !torch.vtensor<[3],f32>, %times: !torch.int) -> !torch.vtensor<[3],f32> {
  %true = torch.constant.bool true
  %none = torch.constant.none
  %one = torch.constant.int 1
  %0 = torch.prim.Loop %times, %true, init(%x) {
  ^bb0(%i: !torch.int, %y: !torch.vtensor<[3],f32>):
    %1 = torch.aten.add.Tensor %y, %x, %one : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[3],f32>
    // expected-error @below {{aten.cumsum(!torch.vtensor<[3],f32>, !torch.int, !torch.none) can be lowered neither to TCP nor to linalg: a number that is computed at run time}}
    %2 = torch.aten.cumsum %1, %i, %none : !torch.vtensor<[3],f32>, !torch.int, !torch.none -> !torch.vtensor<[3],f32>
    torch.prim.Loop.condition %true, iter(%2 : !torch.vtensor<[3],f32>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// An op that says that it is a literal, and holds nothing but that name.

func.func @literal_of_nothing(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // expected-error @below {{vtensor.literal(!torch.vtensor<[3],f32>) can be lowered neither to TCP nor to linalg: one without its value}}
  %0 = torch.operator "torch.vtensor.literal"(%x) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}
