// RUN: tcp-opt %s -stablehlo-expand-random-bits | FileCheck %s

// Ten rounds of two products each, of the words of two counters.

// CHECK-LABEL: func.func @philox(
// CHECK-NOT:     rng_bit_generator
// CHECK:         stablehlo.iota dim = 0 : tensor<2xui64>
// CHECK:         stablehlo.select
// CHECK-COUNT-20: stablehlo.multiply {{.*}} : tensor<2xui64>
// CHECK-NOT:     stablehlo.multiply
// CHECK:         stablehlo.slice %{{.*}} [0:5] : (tensor<8xui64>) -> tensor<5xui64>
// CHECK:         stablehlo.concatenate %{{.*}}, %{{.*}}, %{{.*}}, dim = 0 : {{.*}} -> tensor<3xui64>
// CHECK:         stablehlo.convert %{{.*}} : (tensor<5xui64>) -> tensor<5xui32>
func.func @philox(%s: tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>)
  return %0, %1 : tensor<3xui64>, tensor<5xui32>
}

// What is not known to be drawn so stays.

// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: stablehlo.rng_bit_generator
func.func @others(%s: tensor<2xui64>, %n: tensor<4xui64>) -> (tensor<2xui32>, tensor<2xui16>, tensor<2xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
  %2, %3 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui16>)
  %4, %5 = stablehlo.rng_bit_generator %n, algorithm = DEFAULT : (tensor<4xui64>) -> (tensor<4xui64>, tensor<2xui32>)
  return %1, %3, %5 : tensor<2xui32>, tensor<2xui16>, tensor<2xui32>
}
