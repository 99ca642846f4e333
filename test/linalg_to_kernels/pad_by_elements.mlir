// RUN: tcp-opt %s -pad-by-elements -canonicalize | FileCheck %s

// Each element is written once: those above, in each row those before, inside and after, those below.
// CHECK-LABEL: func.func @planes(
// CHECK-SAME:      %[[IN:.*]]: tensor<?x6x7xf32>)
// CHECK-DAG:     %[[VALUE:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-DAG:     %[[PLANES:.*]] = tensor.dim %[[IN]], %c0
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[PLANES]]) : tensor<?x10x10xf32>
// CHECK:         %[[ALL:.*]] = scf.for %[[P:.*]] = %c0 to %[[PLANES]] step %c1 iter_args(%[[T0:.*]] = %[[EMPTY]])
// CHECK:           %[[T1:.*]] = scf.for %[[A:.*]] = %c0 to %c2 step %c1 iter_args(%{{.*}} = %[[T0]])
// CHECK:             scf.for %[[B:.*]] = %c0 to %c10 step %c1
// CHECK:               tensor.insert %[[VALUE]] into %{{.*}}[%[[P]], %[[A]], %[[B]]]
// CHECK:           %[[T2:.*]] = scf.for %[[Y:.*]] = %c0 to %c6 step %c1 iter_args(%[[T3:.*]] = %[[T1]])
// CHECK:             %[[ROW:.*]] = arith.addi %[[Y]], %c2
// CHECK:             %[[T4:.*]] = scf.for %[[X:.*]] = %c0 to %c7 step %c1 iter_args(%[[T5:.*]] = %[[T3]])
// CHECK:               %[[ELEMENT:.*]] = tensor.extract %[[IN]][%[[P]], %[[Y]], %[[X]]]
// CHECK:               tensor.insert %[[ELEMENT]] into %[[T5]][%[[P]], %[[ROW]], %[[X]]]
// CHECK:             } {plumbline.parallel}
// CHECK:             scf.for %[[C:.*]] = %c7 to %c10 step %c1 iter_args(%{{.*}} = %[[T4]])
// CHECK:               tensor.insert %[[VALUE]] into %{{.*}}[%[[P]], %[[ROW]], %[[C]]]
// CHECK:           } {plumbline.parallel}
// CHECK:           scf.for %[[D:.*]] = %c8 to %c10 step %c1 iter_args(%{{.*}} = %[[T2]])
// CHECK:             scf.for %[[E:.*]] = %c0 to %c10 step %c1
// CHECK:               tensor.insert %[[VALUE]] into %{{.*}}[%[[P]], %[[D]], %[[E]]]
// CHECK:         } {plumbline.parallel}
// CHECK:         return %[[ALL]]
func.func @planes(%0: tensor<?x6x7xf32>) -> tensor<?x10x10xf32> {
  %value = arith.constant 2.0 : f32
  %1 = tensor.pad %0 low[0, 2, 0] high[0, 2, 3] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %value : f32
  } : tensor<?x6x7xf32> to tensor<?x10x10xf32>
  return %1 : tensor<?x10x10xf32>
}

// CHECK-LABEL: func.func @by_sizes_not_known(
// CHECK:         tensor.pad
func.func @by_sizes_not_known(%0: tensor<?xf32>, %size: index) -> tensor<?xf32> {
  %value = arith.constant 2.0 : f32
  %1 = tensor.pad %0 low[%size] high[1] {
  ^bb0(%a: index):
    tensor.yield %value : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %1 : tensor<?xf32>
}

// CHECK-LABEL: func.func @by_places(
// CHECK:         tensor.pad
func.func @by_places(%0: tensor<4xindex>) -> tensor<6xindex> {
  %1 = tensor.pad %0 low[1] high[1] {
  ^bb0(%a: index):
    tensor.yield %a : index
  } : tensor<4xindex> to tensor<6xindex>
  return %1 : tensor<6xindex>
}
