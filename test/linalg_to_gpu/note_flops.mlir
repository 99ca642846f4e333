// RUN: tcp-opt %s -note-flops | FileCheck %s

// CHECK-DAG: #[[PRODUCT:.*]] = affine_map<()[s0, s1] -> ((s0 * s1) * 2)>
// CHECK-DAG: #[[TRIPLE:.*]] = affine_map<()[s0] -> (s0 * 3)>

module attributes {gpu.container_module} {
  // Sizes become those of the launch's operands: of the second's second axis, and of a number.
  // CHECK-LABEL: func.func private @sums(
  // CHECK-NOT:     plumbline.flops
  // CHECK:         gpu.launch_func @kernels::@sums
  // CHECK-SAME:      plumbline.flop_sizes = [array<i64: 0>, array<i64: 1, 1>]
  // CHECK-SAME:      plumbline.flops = #[[PRODUCT]]
  func.func private @sums(%n: index, %x: memref<?x?xf32>) attributes {plumbline.flops = affine_map<()[s0, s1, s2] -> ((s2 * s0) * 2)>} {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@sums blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%n : index, %x : memref<?x?xf32>)
    return
  }

  // A view has the size too.
  // CHECK-LABEL: func.func private @views(
  // CHECK:         gpu.launch_func @kernels::@views
  // CHECK-SAME:      plumbline.flop_sizes = [array<i64: 0, 1>], plumbline.flops = #[[TRIPLE]]
  func.func private @views(%x: memref<?xf32>) attributes {plumbline.flops = affine_map<()[s0] -> (s0 * 3)>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %rows = memref.expand_shape %x [[0, 1]] output_shape [1, %n] : memref<?xf32> into memref<1x?xf32>
    gpu.launch_func @kernels::@views blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%rows : memref<1x?xf32>)
    return
  }

  // What no operand tells is not said.
  // CHECK-LABEL: func.func private @untold(
  // CHECK-NOT:     plumbline.flop
  // CHECK:         gpu.launch_func @kernels::@untold
  // CHECK-NOT:     plumbline.flop
  func.func private @untold(%n: index, %x: memref<4xf32>) attributes {plumbline.flops = affine_map<()[s0] -> (s0)>} {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@untold blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    return
  }

  gpu.module @kernels {
    gpu.func @sums(%n: index, %x: memref<?x?xf32>) kernel {
      gpu.return
    }
    gpu.func @views(%x: memref<1x?xf32>) kernel {
      gpu.return
    }
    gpu.func @untold(%x: memref<4xf32>) kernel {
      gpu.return
    }
  }
}
