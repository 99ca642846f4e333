// RUN: tcp-opt %s -lower-device-calls | FileCheck %s

// CHECK-DAG:   llvm.mlir.global internal constant @plumbline_kernel_k("k\00")
// CHECK-DAG:   llvm.mlir.global external constant @plumbline_ptx()
// CHECK-DAG:   llvm.mlir.global internal @plumbline_cuda_state

// CHECK-LABEL: func.func @f(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?xf32>, %[[A:[^:]*]]: f32) attributes {plumbline.on_failure = @plumbline_cuda_end}
// CHECK:         llvm.call @plumbline_cuda_begin(%{{.*}}, %{{.*}})
// CHECK:         %[[WORDS:.*]] = llvm.alloca %{{.*}} x i64
// CHECK:         %[[P:.*]] = llvm.call @plumbline_cuda_allocate(%{{.*}}) : (i64) -> !llvm.ptr
// CHECK:         llvm.call @plumbline_cuda_copy_to_device(
// A memref of rank 1 is five words, and a number is one.
// CHECK-COUNT-6: llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
// CHECK:         llvm.call @plumbline_cuda_launch(%{{.*}}, %{{.*}}, %{{.*}}, %[[WORDS]], %{{.*}})
// CHECK:         llvm.call @plumbline_cuda_copy_to_host(
// CHECK:         llvm.call @plumbline_cuda_free(
// CHECK:         call @check_device()
// CHECK:         llvm.call @plumbline_cuda_end()
// CHECK-NEXT:    return

// CHECK-LABEL: func.func private @check_device()
// CHECK:         llvm.call @plumbline_cuda_failure(
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "no NVIDIA driver was found
module attributes {gpu.container_module} {
  func.func @f(%x: memref<?xf32>, %a: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %d = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %d, %x : memref<?xf32>, memref<?xf32> {plumbline.to_device}
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1) args(%d : memref<?xf32>, %a : f32)
    gpu.memcpy %x, %d : memref<?xf32>, memref<?xf32>
    gpu.dealloc %d : memref<?xf32>
    return
  }
  gpu.module @kernels {
    gpu.func @k(%x: memref<?xf32>, %a: f32) kernel {
      gpu.return
    }
  }
}
