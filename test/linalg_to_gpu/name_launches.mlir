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
