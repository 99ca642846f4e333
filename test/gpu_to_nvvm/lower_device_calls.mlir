// RUN: tcp-opt %s -lower-device-calls | FileCheck %s
// RUN: tcp-opt %s -lower-device-calls=memory=pool | FileCheck %s --check-prefix=POOL
// RUN: not tcp-opt %s -lower-device-calls=queue=stream 2>&1 | FileCheck %s --check-prefix=STREAM

// STREAM: stream: it goes with tensors on the device (on_gpu_tensors)

// What callers bring along is placed by `workspace.py`; what stays is the runtime's.
// POOL-LABEL: func.func public @f(
// POOL-NOT:     llvm.call @plumbline_cuda_allocate(
// POOL:         memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xf32>
// POOL:         llvm.call @plumbline_cuda_resident(
// POOL-NOT:     llvm.call @plumbline_cuda_free(
// POOL:         memref.dealloc

// CHECK-DAG:   llvm.mlir.global internal constant @plumbline_kernel_k("k\00")
// CHECK-DAG:   llvm.mlir.global external constant @plumbline_gpu_image()
// CHECK-DAG:   llvm.mlir.global external @plumbline_cuda_program() {{.*}}: !llvm.array<1 x i64>

// That a function is public may be said, or not.
// CHECK-LABEL: func.func public @f(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?xf32>, %[[A:[^:]*]]: f32, %{{[^:]*}}: memref<3xf32>) attributes {plumbline.on_failure = @plumbline_cuda_end}
// One tensor stays, and calls take at least 24 bytes; on any device, the default stream, once.
// CHECK-DAG:     %[[STAY:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[PLANNED:.*]] = llvm.mlir.constant(24 : i64)
// CHECK:         llvm.call @plumbline_cuda_begin(%{{.*}}, %{{.*}}, %[[STAY]], %[[PLANNED]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK:         %[[WORDS:.*]] = llvm.alloca %{{.*}} x i64
// CHECK:         %[[P:.*]] = llvm.call @plumbline_cuda_allocate(%{{.*}}) : (i64) -> !llvm.ptr
// CHECK:         llvm.call @plumbline_cuda_copy_to_device(
// CHECK:         %[[TWELVE:.*]] = arith.muli
// CHECK:         llvm.call @plumbline_cuda_resident(%{{.*}}, %{{.*}}, %{{.*}}) : (i64, !llvm.ptr, i64) -> !llvm.ptr
// CHECK:         llvm.call @plumbline_cuda_copy_on_device(
// A memref of rank 1 is five words, and a number is one.
// CHECK-COUNT-6: llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
// CHECK:         llvm.call @plumbline_cuda_launch(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[WORDS]], %{{.*}})
// So many bytes of shared memory are given.
// CHECK:         %[[GIVEN:.*]] = arith.extui %c65536_i32
// CHECK:         llvm.call @plumbline_cuda_launch(%{{.*}}, %{{.*}}, %{{.*}}, %[[GIVEN]], %[[WORDS]], %{{.*}})
// CHECK:         llvm.call @plumbline_cuda_copy_to_host(
// CHECK:         llvm.call @plumbline_cuda_free(
// CHECK:         llvm.call @plumbline_cuda_submit(
// CHECK:         call @check_device()
// CHECK:         llvm.call @plumbline_cuda_end()
// CHECK-NEXT:    return

// A number that came by value goes along with what is queued.
// CHECK-LABEL: func.func @of_a_number(
// CHECK-NOT:     @plumbline_cuda_copy_to_device
// CHECK:         llvm.call @plumbline_cuda_put_on_device(

// CHECK-LABEL: func.func private @check_device()
// CHECK:         llvm.call @plumbline_cuda_failure(
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "{text}"}
module attributes {gpu.container_module} {
  func.func public @f(%x: memref<?xf32>, %a: f32, %w: memref<3xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %d = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %d, %x : memref<?xf32>, memref<?xf32> {plumbline.to_device}
    %s = gpu.alloc () {plumbline.resident} : memref<3xf32>
    gpu.memcpy %s, %w : memref<3xf32>, memref<3xf32> {plumbline.to_device}
    %t = gpu.alloc () : memref<4xf32>
    gpu.memcpy %t, %d : memref<4xf32>, memref<?xf32> {plumbline.on_device}
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1) args(%d : memref<?xf32>, %a : f32)
    %c65536_i32 = arith.constant 65536 : i32
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1) dynamic_shared_memory_size %c65536_i32 args(%d : memref<?xf32>, %a : f32)
    gpu.memcpy %x, %d : memref<?xf32>, memref<?xf32>
    gpu.dealloc %d : memref<?xf32>
    return
  }
  func.func @of_a_number(%number: memref<f64>) attributes {plumbline.device_tensors} {
    %place = gpu.alloc () : memref<f64>
    gpu.memcpy %place, %number : memref<f64>, memref<f64> {plumbline.to_device}
    gpu.dealloc %place : memref<f64>
    return
  }
  gpu.module @kernels {
    gpu.func @k(%x: memref<?xf32>, %a: f32) kernel {
      gpu.return
    }
  }
}
