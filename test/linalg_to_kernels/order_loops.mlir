// RUN: tcp-opt %s -order-loops -split-input-file | FileCheck %s

// The summed loop goes innermost, along which both operands have their elements.
// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RIGHT:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @vector_times_matrix(
// CHECK:         linalg.generic {indexing_maps = [#[[LEFT]], #[[RIGHT]], #[[OUT]]], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @vector_times_matrix(%a: memref<1x1024xf32>, %b: memref<512x1024xf32>, %c: memref<1x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a, %b : memref<1x1024xf32>, memref<512x1024xf32>) outs(%c : memref<1x512xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The number of a loop follows it.
// CHECK-LABEL: func.func @numbers(
// CHECK:         linalg.index 1
func.func @numbers(%a: memref<64x32xindex>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} outs(%a : memref<64x32xindex>) {
  ^bb0(%z: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  }
  return
}

// -----

// Reductions keep their order among themselves: it says which of two equal elements comes first.
// CHECK:       #[[FROM:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-LABEL: func.func @reductions(
// CHECK:         linalg.generic {indexing_maps = [#[[FROM]],
func.func @reductions(%a: memref<16x64x32xf32>, %b: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%a : memref<16x64x32xf32>) outs(%b : memref<16xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.maximumf %x, %z : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @transpose(
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c16
// CHECK:           scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %c16
// CHECK:             %[[FROM:.*]] = memref.subview %arg0[%[[J]], %[[I]]]
// CHECK:             %[[TO:.*]] = memref.subview %arg1[%[[I]], %[[J]]]
// CHECK:             linalg.generic {{.*}} ins(%[[FROM]] : {{.*}}) outs(%[[TO]] :
func.func @transpose(%arg0: memref<?x100xf32>, %arg1: memref<100x?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%arg0 : memref<?x100xf32>) outs(%arg1 : memref<100x?xf32>) {
  ^bb0(%x: f32, %z: f32):
    linalg.yield %x : f32
  }
  return
}
