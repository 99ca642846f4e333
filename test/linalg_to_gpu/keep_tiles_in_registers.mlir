// RUN: tcp-opt %s -keep-tiles-in-registers | FileCheck %s

// One block at a time is enough for a kernel with tiles in shared memory; one that shares a few
// numbers, or none, says nothing of it.
// CHECK:       gpu.func @tiles(
// CHECK-SAME:    attributes {nvvm.minctasm = 1 : i32}
// CHECK:       gpu.func @given(
// CHECK-SAME:    attributes {nvvm.minctasm = 1 : i32}
// CHECK-NOT:     nvvm.minctasm
gpu.module @kernels {
  gpu.func @tiles(%x: memref<8xf32>) workgroup(%a: memref<32x8xf32, #gpu.address_space<workgroup>>, %b: memref<8x64xf16, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
  gpu.func @given(%x: memref<8xf32>) kernel {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
  gpu.func @rows(%x: memref<1024xf32>) workgroup(%a: memref<32xf64, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
  gpu.func @plain(%x: memref<1024xf32>) kernel {
    gpu.return
  }
}
