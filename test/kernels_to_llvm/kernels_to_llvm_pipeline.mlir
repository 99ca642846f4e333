// RUN: tcp-opt %s -kernels-to-llvm-pipeline | FileCheck %s

// A module of kernels, as one may write it by hand: all that the entries need stands in its text.

// The weight is memory of the library; the size is held against what is said of it.
// CHECK:       llvm.mlir.global external constant @scaled.weight.scale()
// CHECK-SAME:    : f32
// CHECK-LABEL: llvm.func @scaled(
// CHECK-SAME:    %{{.*}}: !llvm.ptr {llvm.sret = !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>}, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i64, %{{[^:]*}}: i64, %{{[^:]*}}: i64) {
// CHECK-LABEL: llvm.func internal @scaled_body(
// CHECK:         llvm.mlir.addressof @scaled.weight.scale
// CHECK:         llvm.call @aligned_alloc(
// CHECK:         llvm.call @scale_by(
// CHECK-LABEL: llvm.func internal @scale_by(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: !llvm.ptr, %arg4: !llvm.ptr {llvm.noalias}, %arg5: i64,
// CHECK-SAME:    no_inline
// CHECK:         llvm.fmul
// CHECK:       "argument 0 has size %lld in dimension 0, which is n; n must be at least 1 and at most 9\00"
func.func @scaled(%scale: memref<f32> {plumbline.weight = "scale"}, %x: memref<?xf32> {plumbline.shape = affine_map<()[s0] -> (s0)>}) -> memref<?xf32> attributes {plumbline.symbols = [{name = "n", min_val = 1 : i64, max_val = 9 : i64}]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %result = memref.alloc(%n) : memref<?xf32>
  call @scale_by(%scale, %x, %result) : (memref<f32>, memref<?xf32>, memref<?xf32>) -> ()
  return %result : memref<?xf32>
}

func.func private @scale_by(%scale: memref<f32>, %x: memref<?xf32> {llvm.noalias}, %y: memref<?xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %0 = memref.load %scale[] : memref<f32>
  scf.for %i = %c0 to %n step %c1 {
    %1 = memref.load %x[%i] : memref<?xf32>
    %2 = arith.mulf %0, %1 : f32
    memref.store %2, %y[%i] : memref<?xf32>
  }
  return
}
