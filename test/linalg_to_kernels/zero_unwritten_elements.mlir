// RUN: tcp-opt %s -zero-unwritten-elements -canonicalize | FileCheck %s
// RUN: tcp-opt %s -linalg-to-gpu-pipeline | FileCheck %s --check-prefix=GPU

// GPU: func.func @nothing(

// Of a tensor without elements none is extracted: a kernel would have no memory to read it from.

// CHECK-LABEL: func.func @nothing(
// CHECK-NOT:     tensor.extract
// CHECK:         linalg.yield %{{.*}} : f32
func.func @nothing(%i: tensor<9x0xi64>) -> tensor<9x0xf32> {
  %source = tensor.empty() : tensor<0x6xf32>
  %e = tensor.empty() : tensor<9x0xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<9x0xi64>) outs(%e : tensor<9x0xf32>) {
  ^bb0(%in: i64, %out: f32):
    %row = linalg.index 1 : index
    %at = arith.index_cast %in : i64 to index
    %x = tensor.extract %source[%row, %at] : tensor<0x6xf32>
    linalg.yield %x : f32
  } -> tensor<9x0xf32>
  return %0 : tensor<9x0xf32>
}
