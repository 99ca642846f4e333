// RUN: tcp-opt %s -tcp-to-linalg-pipeline -linalg-to-kernels-pipeline | FileCheck %s
// RUN: tcp-opt %s -tcp-to-linalg-pipeline -linalg-to-kernels-pipeline | FileCheck %s --check-prefix=NAMES

// Of a cache only the rows are written that are new, and they are read from there.

// CHECK-LABEL: func.func @step(
// CHECK-SAME:    %[[CACHE:.*]]: memref<8x4xf32> {plumbline.inout}, %[[ROW:.*]]: memref<1x4xf32>,
// CHECK-SAME:    -> memref<4xf32>
// CHECK-NOT:     memref<8x4xf32>
// CHECK:         call @[[WRITE:.*]](%{{.*}}, %[[ROW]], %[[CACHE]])
// CHECK-NEXT:    %[[SUM:.*]] = memref.alloc() {{.*}} : memref<4xf32>
// CHECK-NEXT:    call @{{.*}}(%[[CACHE]], %[[SUM]])
// CHECK:         return %[[SUM]] : memref<4xf32>
func.func @step(%cache: tensor<8x4xf32> {plumbline.inout = 1 : i64}, %row: tensor<1x4xf32>, %at: tensor<1x1xi64>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %0 = tcp.scatter_nd %cache, %at, %row : tensor<8x4xf32>, tensor<1x1xi64>, tensor<1x4xf32> -> tensor<8x4xf32>
  %1 = tcp.reduce %0 {accumulation_type = f32, axes = [0], combiner = #tcp<combiner sum>} : tensor<8x4xf32> -> tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<8x4xf32>
}

// Where the old value is read later, the new one is made elsewhere and copied.

// CHECK-LABEL: func.func @old_value(
// CHECK-SAME:    %[[CACHE:.*]]: memref<8xf32> {plumbline.inout},
// CHECK:         %[[COPY:.*]] = memref.view {{.*}} to memref<8xf32>
// CHECK-NEXT:    call @{{.*}}(%[[CACHE]], %[[COPY]])
// CHECK:         memref.store %{{.*}}, %[[COPY]]
// CHECK:         %[[DIFFERENCE:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK:         call @{{.*}}(%[[COPY]], %[[CACHE]], %[[DIFFERENCE]])
// CHECK:         call @{{.*}}(%[[COPY]], %[[CACHE]])
// CHECK:         return %[[DIFFERENCE]]
func.func @old_value(%cache: tensor<8xf32> {plumbline.inout = 1 : i64}, %new: tensor<1xf32>, %at: tensor<1x1xi64>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = tcp.scatter_nd %cache, %at, %new : tensor<8xf32>, tensor<1x1xi64>, tensor<1xf32> -> tensor<8xf32>
  %1 = tcp.sub %0, %cache : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  return %1, %0 : tensor<8xf32>, tensor<8xf32>
}

// What is each other's old value is read before any is written; the result is one of them, too.

// CHECK-LABEL: func.func @swap(
// CHECK-SAME:    %[[A:.*]]: memref<4xf32> {plumbline.inout}, %[[B:.*]]: memref<4xf32> {plumbline.inout}) -> memref<4xf32>
// CHECK:         %[[OLD_B:.*]] = memref.view
// CHECK-NEXT:    call @copy_kernel_1(%[[B]], %[[OLD_B]])
// CHECK-NEXT:    %[[OLD_A:.*]] = memref.view
// CHECK-NEXT:    call @copy_kernel_1(%[[A]], %[[OLD_A]])
// CHECK-NEXT:    %[[RESULT:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    call @copy_kernel_1(%[[A]], %[[RESULT]])
// CHECK-NEXT:    call @copy_kernel_1(%[[OLD_B]], %[[A]])
// CHECK-NEXT:    call @copy_kernel_1(%[[OLD_A]], %[[B]])
// CHECK:         return %[[RESULT]]
// The result that is left is called what it was.
// NAMES-LABEL: func.func @swap(
// NAMES-SAME:    outputs = [{name = "out1", type = "f32"}]
func.func @swap(%a: tensor<4xf32> {plumbline.inout = 2 : i64}, %b: tensor<4xf32> {plumbline.inout = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  return %a, %a, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
