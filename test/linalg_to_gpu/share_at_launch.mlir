// RUN: tcp-opt %s -share-at-launch | FileCheck %s

module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @f(
  // CHECK:         %[[BYTES:.*]] = arith.constant 50196 : i32
  // CHECK:         gpu.launch_func @kernels::@tiles {{.*}} dynamic_shared_memory_size %[[BYTES]] args(%{{.*}} : memref<8xf32>)
  // CHECK-NOT:     dynamic_shared_memory_size
  // CHECK:         gpu.launch_func @kernels::@few
  func.func @f(%x: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@tiles blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    gpu.launch_func @kernels::@few blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
    return
  }

  gpu.module @kernels {
    // Buffers lie one after the other, each where 16 bytes are read or written at once, and tiles
    // where tensor cores read them.
    // CHECK-LABEL: gpu.func @tiles(
    // CHECK-NOT:     workgroup(
    // CHECK:         %[[MEMORY:.*]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    // CHECK:         %[[FIRST:.*]] = arith.constant 0 : index
    // CHECK:         %[[A:.*]] = memref.view %[[MEMORY]][%[[FIRST]]][] : {{.*}} to memref<3xi8, #gpu.address_space<workgroup>>
    // CHECK:         %[[SECOND:.*]] = arith.constant 1024 : index
    // CHECK:         %[[B:.*]] = memref.view %[[MEMORY]][%[[SECOND]]][] : {{.*}} to memref<12293xf32, #gpu.address_space<workgroup>>
    // CHECK:         memref.load %[[A]]
    // CHECK:         memref.load %[[B]]
    gpu.func @tiles(%x: memref<8xf32>) workgroup(%a: memref<3xi8, #gpu.address_space<workgroup>>, %b: memref<12293xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %0 = memref.load %a[%c0] : memref<3xi8, #gpu.address_space<workgroup>>
      %1 = memref.load %b[%c0] : memref<12293xf32, #gpu.address_space<workgroup>>
      gpu.return
    }

    // 48 KB a kernel may declare.
    // CHECK-LABEL: gpu.func @few(
    // CHECK-SAME:    workgroup(%{{.*}} : memref<12288xf32, #gpu.address_space<workgroup>>)
    gpu.func @few(%x: memref<8xf32>) workgroup(%a: memref<12288xf32, #gpu.address_space<workgroup>>) kernel {
      gpu.return
    }
  }
}
