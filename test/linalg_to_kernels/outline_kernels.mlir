// RUN: tcp-opt %s -outline-kernels -split-input-file | FileCheck %s
// RUN: tcp-opt %s "-outline-kernels=vector-bytes=64 vector-registers=32" -split-input-file | FileCheck %s --check-prefix=WIDE

#id = affine_map<(d0) -> (d0)>

// Computations alike share a kernel; no buffer of this one shares memory with another.
// CHECK-LABEL: func.func @twice(
// CHECK:         call @elementwise_0(%arg0, %arg1, %[[FIRST:.*]]) :
// CHECK:         call @elementwise_0(%arg1, %arg0, %{{.*}}) :
// CHECK-NOT:     linalg.generic
// CHECK:         return
// CHECK:       func.func private @elementwise_0(
// CHECK-SAME:    memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias}) attributes {no_inline}
// CHECK:         linalg.generic
// CHECK:       func.func private @elementwise_1(
func.func @twice(%arg0: memref<8xf32>, %arg1: memref<8xf32>) {
  %0 = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%arg0, %arg1 : memref<8xf32>, memref<8xf32>) outs(%0 : memref<8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  %1 = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%arg1, %arg0 : memref<8xf32>, memref<8xf32>) outs(%1 : memref<8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  %2 = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%arg0, %arg1 : memref<8xf32>, memref<8xf32>) outs(%2 : memref<8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Two views of one buffer share its memory.
// CHECK-LABEL: func.func @views(
// CHECK:       func.func private @copy_0(
// CHECK-NOT:     llvm.noalias
// CHECK:         return
func.func @views(%arg0: memref<8xf32>) {
  %0 = memref.alloc() : memref<8xf32>
  %1 = memref.subview %0[0] [4] [1] : memref<8xf32> to memref<4xf32>
  %2 = memref.subview %0[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%1 : memref<4xf32>) outs(%2 : memref<4xf32, strided<[1], offset: 2>>) {
  ^bb0(%x: f32, %z: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Values from outside become arguments, but constants go along.
// CHECK-LABEL: func.func @captured(
// CHECK:         call @elementwise_0(%{{.*}}, %arg1) :
// CHECK:       func.func private @elementwise_0(%{{.*}}: memref<8xf32> {llvm.noalias}, %[[SCALE:.*]]: f32)
// CHECK:         %[[TWO:.*]] = arith.constant 2.0
// CHECK:         arith.mulf %{{.*}}, %[[SCALE]]
// CHECK:         arith.addf %{{.*}}, %[[TWO]]
func.func @captured(%arg0: memref<8xf32>, %arg1: f32) {
  %two = arith.constant 2.0 : f32
  %0 = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%0 : memref<8xf32>) {
  ^bb0(%z: f32):
    %m = arith.mulf %z, %arg1 : f32
    %s = arith.addf %m, %two : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#left = affine_map<(d0, d1, d2) -> (d0, d1)>
#right = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d2)>

// Products of matrices of different sizes share a kernel, over tiles of 6 rows of 2 vectors, or of
// 9 rows of 3 where registers are 32.
// CHECK-LABEL: func.func @matmuls(
// CHECK:         call @contraction_0(
// CHECK:         call @contraction_0(
// CHECK-NOT:     linalg.generic
// CHECK:       func.func private @contraction_0(%{{.*}}: memref<?x?xf32, strided<[?, ?], offset: ?>> {llvm.noalias},
// CHECK-COUNT-2: vector.load %{{.*}} : memref<?xf32>, vector<8xf32>
// CHECK-COUNT-6: vector.broadcast
// CHECK-NOT:     vector.broadcast
// WIDE:        func.func private @contraction_0(
// WIDE-COUNT-3:  vector.load %{{.*}} : memref<?xf32>, vector<16xf32>
// WIDE-COUNT-9:  vector.broadcast
// WIDE-NOT:      vector.broadcast
func.func @matmuls(%a: memref<96x64xf32>, %b: memref<64x96xf32>, %c: memref<96x48xf32>) {
  %0 = memref.alloc() : memref<96x96xf32>
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a, %b : memref<96x64xf32>, memref<64x96xf32>) outs(%0 : memref<96x96xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  }
  %1 = memref.alloc() : memref<96x48xf32>
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "reduction", "parallel"]} ins(%0, %c : memref<96x96xf32>, memref<96x48xf32>) outs(%1 : memref<96x48xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#left = affine_map<(d0, d1, d2) -> (d0, d1)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d2)>

// For few rows packing is not worth it.
// CHECK-LABEL: func.func @vector(
// CHECK:         call @reduction_0(
func.func @vector(%a: memref<1x1024xf32>, %b: memref<512x1024xf32>) {
  %0 = memref.alloc() : memref<1x512xf32>
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a, %b : memref<1x1024xf32>, memref<512x1024xf32>) outs(%0 : memref<1x512xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  }
  return
}
