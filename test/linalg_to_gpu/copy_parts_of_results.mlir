// RUN: tcp-opt %s -copy-parts-of-results | FileCheck %s

// CHECK-LABEL: func.func @part(
// CHECK:         %[[PART:.*]] = tensor.extract_slice
// CHECK:         %[[COLUMNS:.*]] = tensor.dim %[[PART]], %{{.*}} : tensor<3x?xf32>
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[COLUMNS]]) : tensor<3x?xf32>
// CHECK:         %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[PART]] : tensor<3x?xf32>) outs(%[[EMPTY]] : tensor<3x?xf32>)
// CHECK:         return %[[COPY]], %arg0
func.func @part(%x: tensor<6x?xf32>, %columns: index) -> (tensor<3x?xf32>, tensor<6x?xf32>) {
  %part = tensor.extract_slice %x[0, 0] [3, %columns] [2, 1] : tensor<6x?xf32> to tensor<3x?xf32>
  return %part, %x : tensor<3x?xf32>, tensor<6x?xf32>
}
