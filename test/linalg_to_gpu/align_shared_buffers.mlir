// RUN: tcp-opt %s -align-shared-buffers | FileCheck %s

// Each buffer that the threads of a block share begins where 16 bytes are read or written at once, and
// tiles where tensor cores read them.
// CHECK:       gpu.func @tiles(%{{.*}}: memref<8xf32>)
// CHECK-SAME:    workgroup(%{{.*}}: memref<512xf32, #gpu.address_space<workgroup>> {llvm.align = 1024 : i64}, %{{.*}}: memref<3xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// A kernel that has none stays as it is.
// CHECK:       gpu.func @plain(%{{.*}}: memref<8xf32>) kernel
gpu.module @kernels {
  gpu.func @tiles(%x: memref<8xf32>) workgroup(%a: memref<512xf32, #gpu.address_space<workgroup>>, %b: memref<3xi8, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
  gpu.func @plain(%x: memref<8xf32>) kernel {
    gpu.return
  }
}
