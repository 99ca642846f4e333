// RUN: tcp-opt %s -tcp-to-linalg-pipeline -convert-strided-slices-to-linalg -split-input-file | FileCheck %s --check-prefix=LOOPS
// RUN: tcp-opt %s -tcp-to-linalg-pipeline -convert-strided-slices-to-linalg -transform-interpreter -canonicalize -cse -split-input-file | FileCheck %s

// A slice of every second element is a loop nest that picks of contiguous elements, so that
// `transform.structured.fuse` takes the producer of the slice into the tiles of its consumer.

// LOOPS-DAG:   #[[PICK:.*]] = affine_map<(d0, d1) -> (d0, d1 * 2)>
// LOOPS-DAG:   #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// LOOPS-LABEL: func.func @every_other(
// LOOPS:         tensor.extract_slice %{{.*}}[3, 5] [32, 31] [1, 1] : tensor<40x40xf32> to tensor<32x31xf32>
// LOOPS:         tensor.empty() : tensor<32x16xf32>
// LOOPS:         linalg.generic {indexing_maps = [#[[PICK]], #[[ALL]]]
// LOOPS-NEXT:    ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// LOOPS-NEXT:      linalg.yield %[[IN]] : f32

// CHECK-DAG:   #[[FROM_3:.*]] = affine_map<()[s0] -> (s0 + 3)>
// CHECK-DAG:   #[[FROM_5:.*]] = affine_map<(d0) -> (d0 * 2 + 5)>
// CHECK-LABEL: func.func @every_other(
// CHECK-SAME:      %[[X:.*]]: tensor<40x40xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step
// CHECK:             %[[ROW:.*]] = affine.apply #[[FROM_3]]()[%[[I]]]
// CHECK:             %[[COLUMN:.*]] = affine.apply #[[FROM_5]](%[[J]])
// CHECK:             %[[TILE:.*]] = tensor.extract_slice %[[X]][%[[ROW]], %[[COLUMN]]] [4, 7] [1, 1]
// CHECK:             %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[TILE]], %[[TILE]] :
// CHECK:               arith.addf
// CHECK:             %[[PICKED:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<4x7xf32>) outs(%{{.*}} : tensor<4x4xf32>)
// CHECK:             linalg.generic {{.*}} ins(%[[PICKED]] : tensor<4x4xf32>)
// CHECK:               math.exp
// CHECK:             tensor.insert_slice
module attributes {transform.with_named_sequence} {
  func.func @every_other(%x: tensor<40x40xf32>) -> tensor<32x16xf32> {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %0 = tcp.add %x, %x : tensor<40x40xf32>, tensor<40x40xf32> -> tensor<40x40xf32>
    %1 = tcp.slice %0 starts(%c3, %c5) sizes(%c32, %c16) strides(%c1, %c2) : tensor<40x40xf32> -> tensor<32x16xf32>
    %2 = tcp.exp %1 : tensor<32x16xf32> -> tensor<32x16xf32>
    return %2 : tensor<32x16xf32>
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %exp = transform.structured.match ops{["math.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    %consumer = transform.get_parent_op %exp {op_name = "linalg.generic"} : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.fuse %consumer tile_sizes [4, 4] {apply_cleanup} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Starts and sizes that are known at run time, by the ops that take one producer at a time. There may
// be no elements, and then there are none from the first to the last.

// LOOPS-LABEL: func.func @sizes_of_the_run(
// LOOPS-SAME:      %[[X:.*]]: tensor<?x?xf32>, %[[M:.*]]: index, %[[N:.*]]: index)
// LOOPS-DAG:     %[[C0:.*]] = arith.constant 0 : index
// LOOPS-DAG:     %[[C1:.*]] = arith.constant 1 : index
// LOOPS-DAG:     %[[C3:.*]] = arith.constant 3 : index
// LOOPS:         %[[LESS:.*]] = arith.subi %[[N]], %[[C1]]
// LOOPS:         %[[LAST:.*]] = arith.muli %[[LESS]], %[[C3]]
// LOOPS:         %[[MORE:.*]] = arith.addi %[[LAST]], %[[C1]]
// LOOPS:         %[[SPAN:.*]] = arith.maxsi %[[MORE]], %[[C0]]
// LOOPS:         tensor.extract_slice %{{.*}}[%[[N]], 1] [%[[M]], %[[SPAN]]] [1, 1]

// CHECK:       #[[PICK:.*]] = affine_map<(d0, d1) -> (d0, d1 * 3)>
// CHECK-LABEL: func.func @sizes_of_the_run(
// CHECK-SAME:      %[[X:.*]]: tensor<?x?xf32>,
// CHECK-NOT:     linalg.generic
// CHECK:         scf.forall
// CHECK:           %[[TILE:.*]] = tensor.extract_slice %[[X]]
// CHECK:           linalg.generic {{.*}} ins(%[[TILE]], %[[TILE]] :
// CHECK:             arith.addf
// CHECK:           linalg.generic {indexing_maps = [#[[PICK]],
// CHECK:           linalg.generic
// CHECK:             math.exp
// CHECK:           scf.forall.in_parallel
module attributes {transform.with_named_sequence} {
  func.func @sizes_of_the_run(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %0 = tcp.add %x, %x : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
    %1 = tcp.slice %0 starts(%n, %c1) sizes(%m, %n) strides(%c1, %c3) : tensor<?x?xf32> -> tensor<?x?xf32>
    %2 = tcp.exp %1 : tensor<?x?xf32> -> tensor<?x?xf32>
    return %2 : tensor<?x?xf32>
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %ops = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %add, %pick, %exp = transform.split_handle %ops : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %tiled, %loop = transform.structured.tile_using_forall %exp tile_sizes [4, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %picked, %loop_of_two = transform.structured.fuse_into_containing_op %pick into %loop : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.apply_patterns to %function {
      transform.apply_patterns.tensor.merge_consecutive_insert_extract_slice
    } : !transform.any_op
    %added, %loop_of_three = transform.structured.fuse_into_containing_op %add into %loop_of_two : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// No elements, contiguous ones, strides that nobody knows, and fewer dimensions.

// LOOPS-LABEL: func.func @none(
// LOOPS:         tensor.extract_slice %{{.*}}[0] [0] [1] : tensor<8xf32> to tensor<0xf32>
// LOOPS:         linalg.generic
module attributes {transform.with_named_sequence} {
  func.func @none(%x: tensor<8xf32>) -> tensor<0xf32> {
    %0 = tensor.extract_slice %x[0] [0] [2] : tensor<8xf32> to tensor<0xf32>
    return %0 : tensor<0xf32>
  }

// LOOPS-LABEL: func.func @as_they_are(
// LOOPS-NOT:     linalg.generic
// LOOPS:         tensor.extract_slice %{{.*}}[1] [4] [1]
// LOOPS:         tensor.extract_slice %{{.*}}[1] [4] [%{{.*}}]
// LOOPS:         tensor.extract_slice %{{.*}}[0, 0] [1, 4] [1, 2]
  func.func @as_they_are(%x: tensor<8xf32>, %y: tensor<8x8xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = tensor.extract_slice %x[1] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %1 = tensor.extract_slice %x[1] [4] [%n] : tensor<8xf32> to tensor<4xf32>
    %2 = tensor.extract_slice %y[0, 0] [1, 4] [1, 2] : tensor<8x8xf32> to tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}
