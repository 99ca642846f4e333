// RUN: tcp-opt %s -launch-once -split-input-file | FileCheck %s

// A loop that launches kernels of few blocks is a launch of one. Each does its part, the first threads
// what fewer do, and all wait for it. What shares memory does so there.

// CHECK-LABEL: func.func @loop(
// CHECK:         gpu.launch blocks({{.*}}) in ({{.*}}) threads({{.*}}) in (%{{.*}} = %c64{{[_0-9]*}}, {{.*}}) module(@kernels) function(@first_loop) workgroup(%[[SHARED:.*]] : memref<2xf32, #gpu.address_space<workgroup>>)
// CHECK:           scf.for %[[I:.*]] = %c0 to %c7 step %c1
// CHECK-NEXT:        %[[ROW:.*]] = memref.subview %{{.*}}[%[[I]], 0] [1, 8] [1, 1]
// CHECK:             memref.store %{{.*}}, %[[SHARED]]
// CHECK:             memref.store %{{.*}}, %[[ROW]][
// CHECK-NEXT:        gpu.barrier
// CHECK:             %[[HAS_PART:.*]] = arith.cmpi ult, %{{.*}}, %c32
// CHECK-NEXT:        scf.if %[[HAS_PART]]
// CHECK:               memref.load %[[ROW]][
// CHECK:             gpu.barrier
// CHECK-NEXT:      }
// CHECK-NOT:     gpu.launch_func
// CHECK:         gpu.module @kernels {
// CHECK-NEXT:    }
module attributes {gpu.container_module} {
  func.func @loop(%x: memref<7x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c7 step %c1 {
      %row = memref.subview %x[%i, 0] [1, 8] [1, 1] : memref<7x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
      gpu.launch_func @kernels::@first blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1) args(%row : memref<1x8xf32, strided<[8, 1], offset: ?>>)
      gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%row : memref<1x8xf32, strided<[8, 1], offset: ?>>)
    }
    return
  }
  gpu.module @kernels {
    gpu.func @first(%y: memref<1x8xf32, strided<[8, 1], offset: ?>>) workgroup(%s: memref<2xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f32
      %block = gpu.block_id x
      memref.store %zero, %s[%c0] : memref<2xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %v = memref.load %s[%c0] : memref<2xf32, #gpu.address_space<workgroup>>
      memref.store %v, %y[%c0, %block] : memref<1x8xf32, strided<[8, 1], offset: ?>>
      gpu.return
    }
    gpu.func @second(%y: memref<1x8xf32, strided<[8, 1], offset: ?>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %v = memref.load %y[%c0, %c0] : memref<1x8xf32, strided<[8, 1], offset: ?>>
      memref.store %v, %y[%c0, %c1] : memref<1x8xf32, strided<[8, 1], offset: ?>>
      gpu.return
    }
  }
}

// -----

// Not so one of more blocks, one in which fewer threads wait for one another, and one that the host
// looks into.

// CHECK-LABEL: func.func @stay(
// CHECK-NOT:     gpu.launch blocks
// CHECK-COUNT-4: gpu.launch_func
module attributes {gpu.container_module} {
  func.func @stay(%x: memref<8xf32>, %host: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c5 step %c1 {
      gpu.launch_func @kernels::@plain blocks in (%c5, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<8xf32>)
    }
    scf.for %i = %c0 to %c5 step %c1 {
      gpu.launch_func @kernels::@plain blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<8xf32>)
      gpu.launch_func @kernels::@waits blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<8xf32>)
    }
    scf.for %i = %c0 to %c5 step %c1 {
      gpu.launch_func @kernels::@plain blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<8xf32>)
      gpu.memcpy %host, %x : memref<8xf32>, memref<8xf32>
    }
    return
  }
  gpu.module @kernels {
    gpu.func @plain(%y: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
    gpu.func @waits(%y: memref<8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      gpu.barrier
      gpu.return
    }
  }
}
