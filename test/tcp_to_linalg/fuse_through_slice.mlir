// RUN: tcp-opt %s -tcp-to-linalg-pipeline -transform-interpreter -canonicalize -cse -split-input-file | FileCheck %s

// A schedule of the transform dialect fuses a producer into the tiles of its consumer through a
// tcp.slice between them, which is a tensor.extract_slice by then.

// CHECK-LABEL: func.func @through_slice(
// CHECK-SAME:      %[[X:.*]]: tensor<64x32xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         scf.forall (%{{.*}}) in (8)
// CHECK:           %[[I:.*]] = affine.apply
// CHECK:           %[[TILE:.*]] = tensor.extract_slice %[[X]][%[[I]], 8] [8, 16] [1, 1]
// CHECK:           %[[TANH:.*]] = linalg.generic {{.*}} ins(%[[TILE]] : tensor<8x16xf32>)
// CHECK:             math.tanh
// CHECK:           linalg.generic {{.*}} ins(%[[TANH]] : tensor<8x16xf32>)
// CHECK:             arith.negf
// CHECK:           scf.forall.in_parallel
module attributes {transform.with_named_sequence} {
  func.func @through_slice(%x: tensor<64x32xf32>) -> tensor<64x16xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %0 = tcp.tanh %x : tensor<64x32xf32> -> tensor<64x32xf32>
    %1 = tcp.slice %0 starts(%c0, %c8) sizes(%c64, %c16) strides(%c1, %c1) : tensor<64x32xf32> -> tensor<64x16xf32>
    %2 = tcp.neg %1 : tensor<64x16xf32> -> tensor<64x16xf32>
    return %2 : tensor<64x16xf32>
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %ops = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %tanh, %neg = transform.split_handle %ops : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %tiled, %loop = transform.structured.tile_using_forall %neg tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.apply_patterns to %function {
      transform.apply_patterns.tensor.merge_consecutive_insert_extract_slice
    } : !transform.any_op
    %fused, %new_loop = transform.structured.fuse_into_containing_op %tanh into %loop : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The same by the op that tiles and fuses whatever it comes to: it looks through slices of slices
// only where it cleans up on the way.

// CHECK-LABEL: func.func @whatever_it_comes_to(
// CHECK-SAME:      %[[X:.*]]: tensor<64x32xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           %[[TILE:.*]] = tensor.extract_slice %[[X]][%[[I]], 8] [8, 16] [1, 1]
// CHECK:           %[[TANH:.*]] = linalg.generic {{.*}} ins(%[[TILE]] : tensor<8x16xf32>)
// CHECK:             math.tanh
// CHECK:           linalg.generic {{.*}} ins(%[[TANH]] : tensor<8x16xf32>)
// CHECK:             arith.negf
// CHECK:           tensor.insert_slice
module attributes {transform.with_named_sequence} {
  func.func @whatever_it_comes_to(%x: tensor<64x32xf32>) -> tensor<64x16xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %0 = tcp.tanh %x : tensor<64x32xf32> -> tensor<64x32xf32>
    %1 = tcp.slice %0 starts(%c0, %c8) sizes(%c64, %c16) strides(%c1, %c1) : tensor<64x32xf32> -> tensor<64x16xf32>
    %2 = tcp.neg %1 : tensor<64x16xf32> -> tensor<64x16xf32>
    return %2 : tensor<64x16xf32>
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %ops = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %tanh, %neg = transform.split_handle %ops : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %tiled, %loop = transform.structured.fuse %neg tile_sizes [8] {apply_cleanup} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
