// RUN: tcp-opt %s -split-input-file -reassociate-reductions | FileCheck %s

// CHECK-LABEL: func.func @sum(
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:         arith.addf %{{.*}}, %{{.*}} fastmath<reassoc,contract> : f32
func.func @sum(%a: memref<8x4xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : memref<8x4xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %z: f32):
    %m = arith.mulf %x, %x : f32
    %s = arith.addf %m, %z : f32
    linalg.yield %s : f32
  }
  return
}

// Of an extreme the new element comes first: it is asked whether that is a NaN.
// CHECK-LABEL: func.func @greatest(
// CHECK:         ^bb0(%{{.*}}: f32, %[[SO_FAR:.*]]: f32):
// CHECK:         %[[NEW:.*]] = arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK:         arith.maximumf %[[NEW]], %[[SO_FAR]] fastmath<nsz> : f32
func.func @greatest(%a: memref<8x4xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : memref<8x4xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %z: f32):
    %n = arith.negf %x : f32
    %m = arith.maximumf %x, %n : f32
    %s = arith.maximumf %z, %m : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @no_reduction(
// CHECK:         arith.addf %{{.*}}, %{{.*}} : f32
func.func @no_reduction(%a: memref<8xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : memref<8xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.addf %x, %z : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#sums = affine_map<(d0, d1) -> (d0)>

// A product is rounded with the sum that it is added to; not one that something else reads.
// CHECK-LABEL: func.func @products(
// CHECK:         %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
// CHECK-NEXT:    arith.addf %[[PRODUCT]], %{{.*}} fastmath<reassoc,contract> : f32
// CHECK:         %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:    arith.addf %[[PRODUCT]], %{{.*}} fastmath<reassoc,contract> : f32
func.func @products(%x: tensor<5x6xf32>, %y: tensor<5x6xf32>, %e: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0 = linalg.generic {indexing_maps = [#rows, #rows, #sums], iterator_types = ["parallel", "reduction"]} ins(%x, %y : tensor<5x6xf32>, tensor<5x6xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  %1:2 = linalg.generic {indexing_maps = [#rows, #rows, #sums, #sums], iterator_types = ["parallel", "reduction"]} ins(%x, %y : tensor<5x6xf32>, tensor<5x6xf32>) outs(%e, %e : tensor<5xf32>, tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %p: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %o : f32
    %t = arith.maximumf %m, %p : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<5xf32>, tensor<5xf32>)
  return %0, %1#0, %1#1 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}
