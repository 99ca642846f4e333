// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=64 vector-registers=32' | FileCheck %s --check-prefix=GROUPS
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=64 vector-registers=32' '-build-kernels=vector-bytes=64 vector-registers=32' -canonicalize -cse -specialise-kernels -canonicalize -cse | FileCheck %s

// Nothing is multiplied with the zeros around an image. A tile is a row of 7 windows of 3x3. Of it the rows of windows
// that lie on zeros, above the image or below it, are left out; and of 7 elements of the first and of the last column
// of windows one.

#image = affine_map<(n, o, h, w, c, p, q) -> (n, c, h + p, w + q)>
#weight = affine_map<(n, o, h, w, c, p, q) -> (o, c, p, q)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#out = affine_map<(n, o, h, w, c, p, q) -> (n, o, h, w)>

// GROUPS-LABEL: func.func @padded(
// GROUPS:       func.func private @conv_kernel(%{{.*}}: tensor<1x64x9x9xf32> {plumbline.zeros = array<i64: 0, 0, 0, 0, 1, 1, 1, 1>}

// CHECK-LABEL: func.func private @conv_kernel(
// CHECK:         %[[BOUNDS:.*]] = memref.alloca() {alignment = 64 : i64, plumbline.scratch} : memref<32xindex>
// Of each tile the first row of windows that its first and its last window are in, and how far from there zeros are.
// CHECK:         scf.for %[[BEGIN:.*]] = %c0 to %c49 step %c7 {
// CHECK:           %[[FIRST:.*]] = arith.divui %[[BEGIN]], %c7
// CHECK:           %[[LAST:.*]] = arith.divui %{{.*}}, %c7
// CHECK:           %[[ABOVE:.*]] = arith.subi %c1, %[[LAST]]
// CHECK:           %[[BELOW:.*]] = arith.subi %c8, %[[FIRST]]
// CHECK:           %[[LOWER:.*]] = arith.maxsi %[[ABOVE]], %c0
// CHECK:           %[[LEAST:.*]] = arith.minsi %[[BELOW]], %c3
// CHECK:           %[[UPPER:.*]] = arith.maxsi %[[LEAST]], %[[LOWER]]
// CHECK:           memref.store %[[LOWER]], %[[BOUNDS]]
// CHECK:           memref.store %[[UPPER]], %[[BOUNDS]]
// CHECK:         scf.for %{{.*}} = %c0 to %c49 step %c7 {
// CHECK:           %[[FROM:.*]] = memref.load %[[BOUNDS]]
// CHECK:           %[[TO:.*]] = memref.load %[[BOUNDS]]
// CHECK:           scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1
// Six elements by three vectors of the weights' first column, seven of its second one, six of its last one.
// CHECK-COUNT-3:     vector.load
// CHECK-COUNT-18:    arith.mulf
// CHECK-NOT:         arith.mulf
// CHECK-COUNT-3:     vector.load
// CHECK-COUNT-21:    arith.mulf
// CHECK-NOT:         arith.mulf
// CHECK-COUNT-3:     vector.load
// CHECK-COUNT-18:    arith.mulf
// CHECK-NOT:         arith.mulf
// CHECK:             scf.yield
func.func @padded(%x: tensor<1x64x7x7xf32>, %w: tensor<96x64x3x3xf32> {plumbline.weight = "w"}) -> tensor<1x96x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x64x7x7xf32> to tensor<1x64x9x9xf32>
  %e = tensor.empty() : tensor<1x96x7x7xf32>
  %z = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<1x96x7x7xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<1x96x7x7xf32>
  %p = linalg.generic {indexing_maps = [#image, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%padded, %w : tensor<1x64x9x9xf32>, tensor<96x64x3x3xf32>) outs(%z : tensor<1x96x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x96x7x7xf32>
  return %p : tensor<1x96x7x7xf32>
}
