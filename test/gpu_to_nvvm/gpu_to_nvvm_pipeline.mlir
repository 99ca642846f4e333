// RUN: tcp-opt %s -lower-kernels | FileCheck %s
// RUN: tcp-opt %s -gpu-to-nvvm-pipeline | FileCheck %s --check-prefix=BOTH

// CHECK-LABEL: llvm.func @k(
// CHECK-SAME:      gpu.kernel
// CHECK-SAME:      nvvm.kernel
// CHECK:         nvvm.read.ptx.sreg.tid.x
// CHECK:         nvvm.shfl.sync  bfly
// CHECK:         nvvm.barrier
// CHECK-NOT:     __nv_

// What launches it calls the runtime, and can fail: then it gives all device memory back.
// BOTH-LABEL: llvm.func internal @f_body(
// BOTH:         llvm.call @plumbline_cuda_begin(
// BOTH:         llvm.call @plumbline_cuda_launch(
// BOTH:         llvm.call @check_device(
// BOTH:         llvm.call @plumbline_cuda_end()
// BOTH:         llvm.return
// BOTH:         llvm.call @plumbline_cuda_end()
// BOTH:         llvm.return
// BOTH-LABEL: gpu.module @kernels
// BOTH:         llvm.func @k(
module attributes {gpu.container_module} {
  func.func @f(%x: memref<64xf32>) -> memref<64xf32> {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %d = gpu.alloc () : memref<64xf32>
    gpu.memcpy %d, %x : memref<64xf32>, memref<64xf32> {plumbline.to_device}
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%d : memref<64xf32>)
    %y = memref.alloc() : memref<64xf32>
    gpu.memcpy %y, %d : memref<64xf32>, memref<64xf32>
    gpu.dealloc %d : memref<64xf32>
    return %y : memref<64xf32>
  }
  gpu.module @kernels {
    gpu.func @k(%x: memref<64xf32>) kernel {
      %c1 = arith.constant 1 : i32
      %c32 = arith.constant 32 : i32
      %t = gpu.thread_id x
      %0 = memref.load %x[%t] : memref<64xf32>
      %1, %ok = gpu.shuffle xor %0, %c1, %c32 : f32
      gpu.barrier
      %2 = math.sqrt %1 : f32
      memref.store %2, %x[%t] : memref<64xf32>
      gpu.return
    }
  }
}
