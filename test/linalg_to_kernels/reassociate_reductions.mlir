// RUN: tcp-opt %s -reassociate-reductions | FileCheck %s

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
