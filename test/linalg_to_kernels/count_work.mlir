// RUN: tcp-opt %s -split-input-file -form-fusion-groups -count-work | FileCheck %s
// RUN: tcp-opt %s -split-input-file -form-fusion-groups -count-work -build-kernels | FileCheck %s --check-prefix=KERNELS

// A product that is added to a sum is two operations, each tensor is read or written once.
// CHECK-LABEL: func.func @product
// CHECK:         call @matmul_kernel(%{{.*}}) {plumbline.work = {bytes = 14336 : i64, operations = 65536 : i64}}
// KERNELS-LABEL: func.func @product
// KERNELS:         call @matmul_kernel(%{{.*}}) {plumbline.work = {bytes = 14336 : i64, operations = 65536 : i64}}
func.func @product(%x: tensor<16x32xf32>, %y: tensor<32x64xf32>) -> tensor<16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x64xf32>
  %begin = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<16x64xf32>) {
  ^bb0(%c: f32):
    linalg.yield %zero : f32
  } -> tensor<16x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<16x32xf32>, tensor<32x64xf32>) outs(%begin : tensor<16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %c : f32
    linalg.yield %2 : f32
  } -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

// Comparing, choosing and converting computes nothing; nor does where an element lies.
// CHECK-LABEL: func.func @moved
// CHECK:         call @{{.*}} {plumbline.work = {bytes = 96 : i64, operations = 8 : i64}}
func.func @moved(%x: tensor<8xf64>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf64>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f64, %b: f32):
    %c1 = arith.constant 1 : index
    %i = linalg.index 0 : index
    %j = arith.addi %i, %c1 : index
    %k = arith.index_cast %j : index to i64
    %l = arith.sitofp %k : i64 to f32
    %1 = arith.truncf %a : f64 to f32
    %2 = math.exp %1 : f32
    %3 = arith.cmpf olt, %2, %l : f32
    %4 = arith.select %3, %2, %l : f32
    linalg.yield %4 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @of_sizes_that_differ
// CHECK:         call @{{.*}}(%{{.*}}) : (tensor<?xf32>) -> tensor<?xf32>
func.func @of_sizes_that_differ(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
