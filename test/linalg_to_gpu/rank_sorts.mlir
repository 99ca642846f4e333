// RUN: tcp-opt %s -rank-sorts -canonicalize -cse -split-input-file | FileCheck %s

// A block sorts a row in shared memory: a thread puts four neighbours in order, and then in each
// round finds by a binary search how many of each run come before its four elements.
// CHECK-LABEL: func.func @of_a_tile(
// CHECK-SAME:      %[[X:.*]]: memref<3x40xf32>, %[[PLACES:.*]]: memref<3x40xi64>)
// CHECK-NOT:     memref.alloc
// CHECK:         call @sort_kernel(%[[X]], %[[PLACES]])
// CHECK-NOT:     tm_tensor.sort
// CHECK:       func.func private @sort_kernel(
// CHECK-SAME:      %[[X:[^:]*]]: memref<3x40xf32> {llvm.noalias}
// CHECK-SAME:      attributes {no_inline}
// CHECK-COUNT-1: gpu.launch
// CHECK-DAG:       %[[KEYS:.*]] = memref.alloca() : memref<2x64xf32, #gpu.address_space<workgroup>>
// CHECK-DAG:       memref.alloca() : memref<2x64xi64, #gpu.address_space<workgroup>>
// CHECK:           memref.load %[[X]]
// CHECK:           func.call @plumbline_barrier()
// CHECK-COUNT-4:   memref.load %[[KEYS]][%c0,
// CHECK-COUNT-6:   arith.cmpf ole
// CHECK:           func.call @plumbline_barrier()
// CHECK:           scf.for %[[ROUND:.*]] = %c2 to %{{.*}} step %c1 iter_args(%[[SOURCE:.*]] = %c0)
// CHECK:             %[[TARGET:.*]] = arith.subi %c1, %[[SOURCE]]
// CHECK:             %[[TAKEN:.*]]:2 = scf.for %{{.*}} iter_args(%[[LOW:.*]] = %{{.*}}, %[[HIGH:.*]] = %{{.*}}) -> (index, index)
// CHECK:               %[[LEFT:.*]] = memref.load %[[KEYS]][%[[SOURCE]],
// CHECK:               %[[RIGHT:.*]] = memref.load %[[KEYS]][%[[SOURCE]],
// CHECK:               arith.cmpf ole, %[[LEFT]], %[[RIGHT]]
// CHECK-COUNT-4:       memref.store %{{.*}}, %[[KEYS]][%[[TARGET]],
// CHECK:             func.call @plumbline_barrier()
// CHECK:           memref.store %{{.*}}, %[[X]]
// CHECK-NOT:     gpu.launch
func.func @of_a_tile(%x: memref<3x40xf32>, %places: memref<3x40xi64>) {
  tm_tensor.sort dimension(1) outs(%x, %places : memref<3x40xf32>, memref<3x40xi64>) {
  ^bb0(%a: f32, %b: f32, %of_a: i64, %of_b: i64):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  return
}

// -----

// Longer rows are tiles, which are merged in device memory, there and back as often as need be: of
// two runs a block finds what is in a tile by two searches at once, and merges that in shared memory.
// CHECK-LABEL: func.func @of_tiles(
// CHECK-SAME:      %[[X:.*]]: memref<?x3xf32>)
// CHECK:         %[[SCRATCH:.*]] = memref.alloc(%{{.*}}) : memref<?x3xf32>
// CHECK:         call @sort_kernel(%[[X]], %[[SCRATCH]])
// CHECK:         memref.dealloc %[[SCRATCH]]
// CHECK:       func.func private @sort_kernel(%[[X:[^:]*]]: memref<?x3xf32> {llvm.noalias}, %[[SCRATCH:[^:]*]]: memref<?x3xf32> {llvm.noalias})
// CHECK:         gpu.launch
// CHECK:           memref.alloca() : memref<2x2048xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.for
// CHECK:           gpu.launch
// CHECK:             memref.alloca() : memref<2x2048xf32, #gpu.address_space<workgroup>>
// CHECK:             scf.for %{{.*}} -> (index, index, index, index)
// CHECK-COUNT-4:       memref.load %[[X]]
// CHECK:             memref.load %[[X]]
// CHECK:             memref.store %{{.*}}, %[[SCRATCH]]
// CHECK:           gpu.launch
// CHECK:             memref.load %[[SCRATCH]]
// CHECK:             memref.store %{{.*}}, %[[X]]
func.func @of_tiles(%x: memref<?x3xf32>) {
  tm_tensor.sort dimension(0) outs(%x : memref<?x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  return
}
