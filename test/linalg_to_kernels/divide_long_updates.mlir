// RUN: tcp-opt %s -divide-long-updates -split-input-file | FileCheck %s
// RUN: tcp-opt %s -divide-long-updates "-one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" -canonicalize -split-input-file | FileCheck %s --check-prefix=BUFFERS

// After sixteen updates there is a buffer; all of them are in place, but for the first, whose operand
// is not to be written.
// CHECK-LABEL: func.func @rows(
// CHECK-COUNT-16: tensor.insert_slice
// CHECK-NEXT:    %[[BUFFER:.*]] = bufferization.to_buffer %[[LAST:.*]] : tensor<18x4xf32> to memref<18x4xf32>
// CHECK-NEXT:    %[[TENSOR:.*]] = bufferization.to_tensor %[[BUFFER]] restrict writable
// CHECK-NEXT:    tensor.insert_slice %{{.*}} into %[[TENSOR]]
// CHECK-NOT:     bufferization
// CHECK:         return
// BUFFERS-LABEL: func.func @rows(
// BUFFERS:         memref.alloc
// BUFFERS-NOT:     memref.alloc
// BUFFERS:         return
func.func @rows(%x: tensor<18x4xf32> {bufferization.writable = false}, %row: tensor<1x4xf32>) -> tensor<18x4xf32> {
  %y1 = tensor.insert_slice %row into %x[1, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y2 = tensor.insert_slice %row into %y1[2, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y3 = tensor.insert_slice %row into %y2[3, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y4 = tensor.insert_slice %row into %y3[4, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y5 = tensor.insert_slice %row into %y4[5, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y6 = tensor.insert_slice %row into %y5[6, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y7 = tensor.insert_slice %row into %y6[7, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y8 = tensor.insert_slice %row into %y7[8, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y9 = tensor.insert_slice %row into %y8[9, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y10 = tensor.insert_slice %row into %y9[10, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y11 = tensor.insert_slice %row into %y10[11, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y12 = tensor.insert_slice %row into %y11[12, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y13 = tensor.insert_slice %row into %y12[13, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y14 = tensor.insert_slice %row into %y13[14, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y15 = tensor.insert_slice %row into %y14[15, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y16 = tensor.insert_slice %row into %y15[16, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y17 = tensor.insert_slice %row into %y16[17, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  return %y17 : tensor<18x4xf32>
}

// -----

// What is read later is copied, and there is no buffer that it could have been in.
// CHECK-LABEL: func.func @read_later(
// CHECK-NOT:     bufferization
// CHECK:         return
func.func @read_later(%x: tensor<18x4xf32>, %row: tensor<1x4xf32>) -> (tensor<18x4xf32>, tensor<1x4xf32>) {
  %y1 = tensor.insert_slice %row into %x[1, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y2 = tensor.insert_slice %row into %y1[2, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y3 = tensor.insert_slice %row into %y2[3, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y4 = tensor.insert_slice %row into %y3[4, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y5 = tensor.insert_slice %row into %y4[5, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y6 = tensor.insert_slice %row into %y5[6, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y7 = tensor.insert_slice %row into %y6[7, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y8 = tensor.insert_slice %row into %y7[8, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y9 = tensor.insert_slice %row into %y8[9, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y10 = tensor.insert_slice %row into %y9[10, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y11 = tensor.insert_slice %row into %y10[11, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y12 = tensor.insert_slice %row into %y11[12, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y13 = tensor.insert_slice %row into %y12[13, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y14 = tensor.insert_slice %row into %y13[14, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y15 = tensor.insert_slice %row into %y14[15, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y16 = tensor.insert_slice %row into %y15[16, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y17 = tensor.insert_slice %row into %y16[17, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %old = tensor.extract_slice %y3[5, 0] [1, 4] [1, 1] : tensor<18x4xf32> to tensor<1x4xf32>
  return %y17, %old : tensor<18x4xf32>, tensor<1x4xf32>
}

// -----

// Nor is there one in a part of another tensor, which does not lie as a buffer of its own does.
// CHECK-LABEL: func.func @part(
// CHECK-NOT:     bufferization
// CHECK:         return
func.func @part(%all: tensor<18x9xf32>, %row: tensor<1x4xf32>) -> tensor<18x4xf32> {
  %x = tensor.extract_slice %all[0, 0] [18, 4] [1, 1] : tensor<18x9xf32> to tensor<18x4xf32>
  %y1 = tensor.insert_slice %row into %x[1, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y2 = tensor.insert_slice %row into %y1[2, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y3 = tensor.insert_slice %row into %y2[3, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y4 = tensor.insert_slice %row into %y3[4, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y5 = tensor.insert_slice %row into %y4[5, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y6 = tensor.insert_slice %row into %y5[6, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y7 = tensor.insert_slice %row into %y6[7, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y8 = tensor.insert_slice %row into %y7[8, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y9 = tensor.insert_slice %row into %y8[9, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y10 = tensor.insert_slice %row into %y9[10, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y11 = tensor.insert_slice %row into %y10[11, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y12 = tensor.insert_slice %row into %y11[12, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y13 = tensor.insert_slice %row into %y12[13, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y14 = tensor.insert_slice %row into %y13[14, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y15 = tensor.insert_slice %row into %y14[15, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y16 = tensor.insert_slice %row into %y15[16, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  %y17 = tensor.insert_slice %row into %y16[17, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<18x4xf32>
  return %y17 : tensor<18x4xf32>
}
