// RUN: tcp-opt %s -name-launches | FileCheck %s

// CHECK-NOT:   @plumbline_barrier
// CHECK-LABEL: func.func private @softmax(
// CHECK-NOT:     no_inline
// CHECK:         gpu.launch {{.*}} module(@kernels) function(@softmax) workgroup(%[[SHARED:.*]] : memref<8xf32, #gpu.address_space<workgroup>>)
// CHECK-NOT:       memref.alloca
// CHECK:           memref.store %{{.*}}, %[[SHARED]]
// CHECK:           gpu.barrier
func.func private @softmax(%v: f32) attributes {no_inline} {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %shared = memref.alloca() : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %v, %shared[%tx] : memref<8xf32, #gpu.address_space<workgroup>>
    func.call @plumbline_barrier() : () -> ()
    gpu.terminator
  }
  return
}
func.func private @plumbline_barrier()

// What warp groups multiply is taken and given by the calls that stand for it.
// CHECK-NOT:   @plumbline_wgmma
// CHECK-LABEL: func.func private @matmul(
// CHECK:         %[[SUMS:.*]] = nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <row>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK-NEXT:    nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-NEXT:    llvm.extractvalue %[[SUMS]][3]
func.func private @matmul(%left: i64, %right: i64, %to: memref<1xf32>) attributes {no_inline} {
  %c1 = arith.constant 1 : index
  %zeros = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %sums = func.call @plumbline_wgmma_m64n8k16_f16_row_row(%zeros, %left, %right) : (!llvm.struct<(f32, f32, f32, f32)>, i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>
    func.call @plumbline_wait_for_products_0() : () -> ()
    %0 = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32)>
    memref.store %0, %to[%tx] : memref<1xf32>
    gpu.terminator
  }
  return
}
func.func private @plumbline_wgmma_m64n8k16_f16_row_row(!llvm.struct<(f32, f32, f32, f32)>, i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>
func.func private @plumbline_wait_for_products_0()

// A launch that no kernel was made for stores a number.
// CHECK-LABEL: func.func @host(
// CHECK:         gpu.launch {{.*}} module(@kernels) function(@store_kernel)
func.func @host(%v: f32, %to: memref<f32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %v, %to[] : memref<f32>
    gpu.terminator
  }
  return
}
