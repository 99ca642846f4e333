// RUN: tcp-opt %s -keep-tiles-in-registers | FileCheck %s

// One block at a time is enough for a kernel with shared memory; others say nothing of it.
// CHECK:       gpu.func @tiles(
// CHECK-SAME:    attributes {nvvm.minctasm = 1 : i32}
// CHECK:       gpu.func @plain(
// CHECK-NOT:     nvvm.minctasm
gpu.module @kernels {
  gpu.func @tiles(%x: memref<8xf32>) workgroup(%a: memref<8xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
  gpu.func @plain(%x: memref<8xf32>) kernel {
    gpu.return
  }
}
