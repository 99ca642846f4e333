// RUN: tcp-opt %s -outline-loops -split-input-file | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Computations alike share a kernel; no buffer of this one shares memory with another.
// That a function is public may be said, or not.
// CHECK-LABEL: func.func public @twice(
// CHECK:         call @loops_kernel(%arg0, %arg1, %[[FIRST:.*]]) :
// CHECK:         call @loops_kernel(%arg1, %arg0, %{{.*}}) :
// CHECK-NOT:     linalg.generic
// CHECK:         return
// CHECK:       func.func private @loops_kernel(
// CHECK-SAME:    memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias}) attributes {no_inline, plumbline.parallel = 1 : index}
// CHECK:         linalg.generic
// CHECK:       func.func private @loops_kernel_0(
func.func public @twice(%arg0: memref<8xf32>, %arg1: memref<8xf32>) {
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
// CHECK:       func.func private @copy_kernel(
// CHECK-NOT:     llvm.noalias
// CHECK-NOT:     plumbline.parallel
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
// CHECK:         call @loops_kernel(%{{.*}}, %arg1) :
// CHECK:       func.func private @loops_kernel(%{{.*}}: memref<8xf32> {llvm.noalias}, %[[SCALE:.*]]: f32)
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

// Loops over elements are a kernel too; what is around a call of another function is not.
// CHECK-LABEL: func.func @loops(
// CHECK:         %[[Y:.*]] = memref.alloc()
// CHECK-NOT:     scf.for
// CHECK:         call @loops_kernel(%arg0, %[[Y]])
// CHECK:         scf.for
// CHECK:           call @loops(
// CHECK:       func.func private @loops_kernel(
// CHECK-SAME:    memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias}) attributes {no_inline}
// CHECK:         scf.for
func.func @loops(%arg0: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : memref<8xf32>
  %1 = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (f32) {
    %a = memref.load %arg0[%i] : memref<8xf32>
    %r = arith.addf %s, %a : f32
    memref.store %r, %0[%i] : memref<8xf32>
    scf.yield %r : f32
  }
  scf.for %i = %c0 to %c8 step %c1 {
    func.call @loops(%0) : (memref<8xf32>) -> ()
  }
  return
}

// -----

// Where an iteration may read what another one writes, and where sums are added up, is said too.
// CHECK-LABEL: func.func @turned_in_place(
// CHECK:       func.func private @copy_kernel(
// CHECK-NOT:     plumbline.parallel
// CHECK:         return
// CHECK:       func.func private @loops_kernel(
// CHECK-SAME:    attributes {no_inline, plumbline.parallel = 1 : index}
func.func @turned_in_place(%arg0: memref<8x8xf32>) {
  %0 = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%0 : memref<8x8xf32>) outs(%0 : memref<8x8xf32>) {
  ^bb0(%x: f32, %z: f32):
    linalg.yield %x : f32
  }
  %1 = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%arg0 : memref<8x8xf32>) outs(%1 : memref<8xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.addf %x, %z : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// A constant has memory of its own.
// CHECK-LABEL: func.func @constant(
// CHECK:       func.func private @copy_kernel(%{{.*}}: memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias}) attributes {{{.*}}plumbline.parallel = 1 : index
memref.global "private" constant @numbers : memref<8xf32> = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]>
func.func @constant() {
  %0 = memref.get_global @numbers : memref<8xf32>
  %1 = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : memref<8xf32>) outs(%1 : memref<8xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  return
}
