// RUN: tcp-opt %s -convert-stablehlo-to-tcp | FileCheck %s

// CHECK-LABEL: func.func @add_f64_0_0_2(
// CHECK:         tcp.reduce {{.*}} {accumulation_type = f64, axes = [0, 2], combiner = #tcp<combiner sum>}
// CHECK:         return
func.func @add_f64_0_0_2(%x: tensor<?x3x?xf64>) -> (tensor<3xf64>) {
  %i = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0, 2] : (tensor<?x3x?xf64>, tensor<f64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// CHECK-LABEL: func.func @add_f32_0_0_2(
// CHECK:         tcp.reduce {{.*}} {accumulation_type = f64, axes = [0, 2], combiner = #tcp<combiner sum>}
// CHECK:         return
func.func @add_f32_0_0_2(%x: tensor<?x3x?xf32>) -> (tensor<3xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0, 2] : (tensor<?x3x?xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @add_bf16_0_0_2(
// CHECK:         tcp.reduce {{.*}} {accumulation_type = f32, axes = [0, 2], combiner = #tcp<combiner sum>}
// CHECK:         return
func.func @add_bf16_0_0_2(%x: tensor<?x3x?xbf16>) -> (tensor<3xbf16>) {
  %i = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0, 2] : (tensor<?x3x?xbf16>, tensor<bf16>) -> tensor<3xbf16>
  return %0 : tensor<3xbf16>
}

// CHECK-LABEL: func.func @add_i32_0_0_2(
// CHECK:         tcp.reduce {{.*}} {accumulation_type = i32, axes = [0, 2], combiner = #tcp<combiner sum>, int_signedness = #tcp<signedness Signed>}
// CHECK:         return
func.func @add_i32_0_0_2(%x: tensor<?x3x?xi32>) -> (tensor<3xi32>) {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0, 2] : (tensor<?x3x?xi32>, tensor<i32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// CHECK-LABEL: func.func @add_ui8_0_0_2(
// CHECK:         tcp.reduce {{.*}} {accumulation_type = i8, axes = [0, 2], combiner = #tcp<combiner sum>, int_signedness = #tcp<signedness Unsigned>}
// CHECK:         return
func.func @add_ui8_0_0_2(%x: tensor<?x3x?xui8>) -> (tensor<3xui8>) {
  %i = stablehlo.constant dense<0> : tensor<ui8>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0, 2] : (tensor<?x3x?xui8>, tensor<ui8>) -> tensor<3xui8>
  return %0 : tensor<3xui8>
}

// CHECK-LABEL: func.func @add_i1_false_0_2(
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner or>, int_signedness = #tcp<signedness Signless>}
// CHECK:         return
func.func @add_i1_false_0_2(%x: tensor<?x3x?xi1>) -> (tensor<3xi1>) {
  %i = stablehlo.constant dense<false> : tensor<i1>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0, 2] : (tensor<?x3x?xi1>, tensor<i1>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// CHECK-LABEL: func.func @multiply_f64_1_0_2(
// CHECK:         tcp.reduce {{.*}} {accumulation_type = f64, axes = [0, 2], combiner = #tcp<combiner prod>}
// CHECK:         return
func.func @multiply_f64_1_0_2(%x: tensor<?x3x?xf64>) -> (tensor<3xf64>) {
  %i = stablehlo.constant dense<1.0> : tensor<f64>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<?x3x?xf64>, tensor<f64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// CHECK-LABEL: func.func @multiply_f32_1_0_2(
// CHECK:         tcp.reduce {{.*}} {accumulation_type = f32, axes = [0, 2], combiner = #tcp<combiner prod>}
// CHECK:         return
func.func @multiply_f32_1_0_2(%x: tensor<?x3x?xf32>) -> (tensor<3xf32>) {
  %i = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<?x3x?xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @multiply_i32_1_0_2(
// CHECK:         tcp.reduce {{.*}} {accumulation_type = i32, axes = [0, 2], combiner = #tcp<combiner prod>, int_signedness = #tcp<signedness Signed>}
// CHECK:         return
func.func @multiply_i32_1_0_2(%x: tensor<?x3x?xi32>) -> (tensor<3xi32>) {
  %i = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<?x3x?xi32>, tensor<i32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// CHECK-LABEL: func.func @multiply_ui8_1_0_2(
// CHECK:         tcp.reduce {{.*}} {accumulation_type = i8, axes = [0, 2], combiner = #tcp<combiner prod>, int_signedness = #tcp<signedness Unsigned>}
// CHECK:         return
func.func @multiply_ui8_1_0_2(%x: tensor<?x3x?xui8>) -> (tensor<3xui8>) {
  %i = stablehlo.constant dense<1> : tensor<ui8>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<?x3x?xui8>, tensor<ui8>) -> tensor<3xui8>
  return %0 : tensor<3xui8>
}

// CHECK-LABEL: func.func @multiply_i1_true_0_2(
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner and>, int_signedness = #tcp<signedness Signless>}
// CHECK:         return
func.func @multiply_i1_true_0_2(%x: tensor<?x3x?xi1>) -> (tensor<3xi1>) {
  %i = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<?x3x?xi1>, tensor<i1>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// CHECK-LABEL: func.func @maximum_f32_3_0_2(
// CHECK:         tcp.const
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner max>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.maximum
// CHECK:         return
func.func @maximum_f32_3_0_2(%x: tensor<?x3x?xf32>) -> (tensor<3xf32>) {
  %i = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<?x3x?xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @maximum_bf16_3_0_2(
// CHECK:         tcp.const
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner max>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.maximum
// CHECK:         return
func.func @maximum_bf16_3_0_2(%x: tensor<?x3x?xbf16>) -> (tensor<3xbf16>) {
  %i = stablehlo.constant dense<3.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<?x3x?xbf16>, tensor<bf16>) -> tensor<3xbf16>
  return %0 : tensor<3xbf16>
}

// CHECK-LABEL: func.func @maximum_i8_3_0_2(
// CHECK:         tcp.const
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner max>, int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         return
func.func @maximum_i8_3_0_2(%x: tensor<?x3x?xi8>) -> (tensor<3xi8>) {
  %i = stablehlo.constant dense<3> : tensor<i8>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<?x3x?xi8>, tensor<i8>) -> tensor<3xi8>
  return %0 : tensor<3xi8>
}

// CHECK-LABEL: func.func @maximum_ui8_3_0_2(
// CHECK:         tcp.const
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner max>, int_signedness = #tcp<signedness Unsigned>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Unsigned>}
// CHECK:         return
func.func @maximum_ui8_3_0_2(%x: tensor<?x3x?xui8>) -> (tensor<3xui8>) {
  %i = stablehlo.constant dense<3> : tensor<ui8>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<?x3x?xui8>, tensor<ui8>) -> tensor<3xui8>
  return %0 : tensor<3xui8>
}

// CHECK-LABEL: func.func @maximum_i1_false_0_2(
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner or>, int_signedness = #tcp<signedness Signless>}
// CHECK:         return
func.func @maximum_i1_false_0_2(%x: tensor<?x3x?xi1>) -> (tensor<3xi1>) {
  %i = stablehlo.constant dense<false> : tensor<i1>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<?x3x?xi1>, tensor<i1>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// CHECK-LABEL: func.func @minimum_f32_3_0_2(
// CHECK:         tcp.const
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner min>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum
// CHECK:         return
func.func @minimum_f32_3_0_2(%x: tensor<?x3x?xf32>) -> (tensor<3xf32>) {
  %i = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<?x3x?xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @minimum_bf16_3_0_2(
// CHECK:         tcp.const
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner min>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum
// CHECK:         return
func.func @minimum_bf16_3_0_2(%x: tensor<?x3x?xbf16>) -> (tensor<3xbf16>) {
  %i = stablehlo.constant dense<3.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<?x3x?xbf16>, tensor<bf16>) -> tensor<3xbf16>
  return %0 : tensor<3xbf16>
}

// CHECK-LABEL: func.func @minimum_i8_3_0_2(
// CHECK:         tcp.const
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner min>, int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         return
func.func @minimum_i8_3_0_2(%x: tensor<?x3x?xi8>) -> (tensor<3xi8>) {
  %i = stablehlo.constant dense<3> : tensor<i8>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<?x3x?xi8>, tensor<i8>) -> tensor<3xi8>
  return %0 : tensor<3xi8>
}

// CHECK-LABEL: func.func @minimum_ui8_3_0_2(
// CHECK:         tcp.const
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner min>, int_signedness = #tcp<signedness Unsigned>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Unsigned>}
// CHECK:         return
func.func @minimum_ui8_3_0_2(%x: tensor<?x3x?xui8>) -> (tensor<3xui8>) {
  %i = stablehlo.constant dense<3> : tensor<ui8>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<?x3x?xui8>, tensor<ui8>) -> tensor<3xui8>
  return %0 : tensor<3xui8>
}

// CHECK-LABEL: func.func @minimum_i1_true_0_2(
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner and>, int_signedness = #tcp<signedness Signless>}
// CHECK:         return
func.func @minimum_i1_true_0_2(%x: tensor<?x3x?xi1>) -> (tensor<3xi1>) {
  %i = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<?x3x?xi1>, tensor<i1>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// CHECK-LABEL: func.func @and_i1_true_0_2(
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner and>, int_signedness = #tcp<signedness Signless>}
// CHECK:         return
func.func @and_i1_true_0_2(%x: tensor<?x3x?xi1>) -> (tensor<3xi1>) {
  %i = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.and across dimensions = [0, 2] : (tensor<?x3x?xi1>, tensor<i1>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// CHECK-LABEL: func.func @or_i1_false_0_2(
// CHECK:         tcp.reduce {{.*}} {axes = [0, 2], combiner = #tcp<combiner or>, int_signedness = #tcp<signedness Signless>}
// CHECK:         return
func.func @or_i1_false_0_2(%x: tensor<?x3x?xi1>) -> (tensor<3xi1>) {
  %i = stablehlo.constant dense<false> : tensor<i1>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.or across dimensions = [0, 2] : (tensor<?x3x?xi1>, tensor<i1>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// CHECK-LABEL: func.func @add_f32_5_0_2(
// CHECK:         tcp.const
// CHECK:         tcp.reduce {{.*}} {accumulation_type = f64, axes = [0, 2], combiner = #tcp<combiner sum>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.add
// CHECK:         return
func.func @add_f32_5_0_2(%x: tensor<?x3x?xf32>) -> (tensor<3xf32>) {
  %i = stablehlo.constant dense<5.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0, 2] : (tensor<?x3x?xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @side_by_side(
// CHECK:         tcp.reduce {{.*}} {accumulation_type = f64, axes = [1], combiner = #tcp<combiner sum>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.add
// CHECK:         tcp.reduce {{.*}} {axes = [1], combiner = #tcp<combiner min>, int_signedness = #tcp<signedness Unsigned>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Unsigned>}
// CHECK:         return
func.func @side_by_side(%x: tensor<?x3xf32>, %y: tensor<?x3xui8>, %i: tensor<f32>, %j: tensor<ui8>) -> (tensor<?xf32>, tensor<?xui8>) {

  %0:2 = stablehlo.reduce(%x init: %i), (%y init: %j) across dimensions = [1] : (tensor<?x3xf32>, tensor<?x3xui8>, tensor<f32>, tensor<ui8>) -> (tensor<?xf32>, tensor<?xui8>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<ui8>, %d: tensor<ui8>) {
      %1 = stablehlo.add %a, %b : tensor<f32>
      %2 = stablehlo.minimum %d, %c : tensor<ui8>
      stablehlo.return %1, %2 : tensor<f32>, tensor<ui8>
    }
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @best_GT_f32(
// CHECK:         tcp.argmax
// CHECK:         tcp.reduce {{.*}} {axes = [1], combiner = #tcp<combiner max>}
// CHECK:         return
func.func @best_GT_f32(%x: tensor<30x7xf32>) -> (tensor<30xf32>, tensor<30xi32>) {

  %i = stablehlo.iota dim = 0 : tensor<7xi32>
  %p = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<7xi32>) -> tensor<30x7xi32>
  %w = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %w), (%p init: %z) across dimensions = [1] : (tensor<30x7xf32>, tensor<30x7xi32>, tensor<f32>, tensor<i32>) -> (tensor<30xf32>, tensor<30xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %2 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %a, %b : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<30xf32>, tensor<30xi32>
}

// CHECK-LABEL: func.func @best_LE_ui8(
// CHECK:         tcp.argmin
// CHECK:         tcp.reduce {{.*}} {axes = [1], combiner = #tcp<combiner min>, int_signedness = #tcp<signedness Unsigned>}
// CHECK:         return
func.func @best_LE_ui8(%x: tensor<30x7xui8>) -> (tensor<30xui8>, tensor<30xi32>) {

  %i = stablehlo.iota dim = 0 : tensor<7xi32>
  %p = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<7xi32>) -> tensor<30x7xi32>
  %w = stablehlo.constant dense<255> : tensor<ui8>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %w), (%p init: %z) across dimensions = [1] : (tensor<30x7xui8>, tensor<30x7xi32>, tensor<ui8>, tensor<i32>) -> (tensor<30xui8>, tensor<30xi32>)
    reducer(%a: tensor<ui8>, %b: tensor<ui8>) (%c: tensor<i32>, %d: tensor<i32>) {
      %2 = stablehlo.compare LE, %a, %b, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      %3 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<ui8>
      %4 = stablehlo.compare EQ, %a, %b, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      %5 = stablehlo.minimum %c, %d : tensor<i32>
      %6 = stablehlo.select %2, %c, %d : tensor<i1>, tensor<i32>
      %7 = stablehlo.select %4, %5, %6 : tensor<i1>, tensor<i32>
      stablehlo.return %3, %7 : tensor<ui8>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<30xui8>, tensor<30xi32>
}

// Places that do not count along the dimension are taken as they come, slice by slice.

// CHECK-LABEL: func.func @places(
// CHECK:         scf.for %{{.*}} iter_args(%{{.*}}, %{{.*}}) -> (tensor<2xf32>, tensor<2xi32>)
// CHECK:         tcp.compare {{.*}} {predicate = #tcp<predicate ge>}
// CHECK:         tcp.select
// CHECK:         tcp.select
// CHECK:         scf.yield
func.func @places(%x: tensor<2x3xf32>, %p: tensor<2x3xi32>, %n: tensor<f32>, %z: tensor<i32>) -> tensor<2xi32> {
  %0:2 = stablehlo.reduce(%x init: %n), (%p init: %z) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
      %3 = stablehlo.select %1, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
    }
  return %0#1 : tensor<2xi32>
}

// So is what combines by several ops, whose constants are numbers for each element.

// CHECK-LABEL: func.func @bits(
// CHECK:         scf.for
// CHECK:         tcp.bitwise_xor
// CHECK:         tcp.const {value = dense<3> : tensor<i8>}
// CHECK:         tcp.broadcast
// CHECK:         tcp.add
func.func @bits(%x: tensor<4x?xui8>, %n: tensor<ui8>) -> tensor<?xui8> {
  %0 = stablehlo.reduce(%x init: %n) across dimensions = [0] : (tensor<4x?xui8>, tensor<ui8>) -> tensor<?xui8>
    reducer(%a: tensor<ui8>, %b: tensor<ui8>) {
      %1 = stablehlo.xor %a, %b : tensor<ui8>
      %2 = stablehlo.constant dense<3> : tensor<ui8>
      %3 = stablehlo.add %1, %2 : tensor<ui8>
      stablehlo.return %3 : tensor<ui8>
    }
  return %0 : tensor<?xui8>
}
