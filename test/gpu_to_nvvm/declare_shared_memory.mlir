// RUN: tcp-opt %s -lower-kernels | FileCheck %s
// RUN: tcp-opt %s "-pass-pipeline=builtin.module(gpu.module(declare-shared-memory))" | FileCheck %s --check-prefix=ALONE

// LLVM must not know of memory that a launch gives how little MLIR says that there is. It begins where
// tensor cores can read tiles.
// CHECK: llvm.mlir.global external @__dynamic_shmem__0() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.mlir.global internal @__wg_given_0() {addr_space = 3 : i32} : !llvm.array<4 x f32>
gpu.module @kernels {
  gpu.func @given(%x: memref<8xf32>) workgroup(%a: memref<4xf32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %given = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<8xf32, #gpu.address_space<workgroup>>
    %0 = memref.load %given[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %0, %a[%c0] : memref<4xf32, #gpu.address_space<workgroup>>
    memref.store %0, %x[%c0] : memref<8xf32>
    gpu.return
  }
}

// ALONE: llvm.mlir.global external @given_by_the_launch()
// ALONE: llvm.mlir.global internal @of_its_own()
// ALONE: llvm.mlir.global internal @not_shared()
gpu.module @lowered {
  llvm.mlir.global internal @given_by_the_launch() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global internal @of_its_own() {addr_space = 3 : i32} : !llvm.array<4 x f32>
  llvm.mlir.global internal @not_shared() : !llvm.array<0 x i8>
}
