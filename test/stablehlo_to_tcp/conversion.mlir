// RUN: tcp-opt %s -stablehlo-to-tcp-pipeline -split-input-file -verify-diagnostics | FileCheck %s

// Functions are inlined, ops of older and other dialects taken apart, and signs left to the ops.

// CHECK-LABEL: func.func @program(
// CHECK-SAME:      %arg0: tensor<?x3xi8>, %arg1: tensor<3xf32>) -> (tensor<?xf32>, tensor<?x3xi8>)
// CHECK:         tcp.divui %arg0, %{{.*}}
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Unsigned>}
// CHECK:         tcp.matmul
// CHECK-NOT:     stablehlo.
// CHECK-NOT:     call
// CHECK-NOT:     unrealized_conversion_cast
// CHECK:         return
func.func @program(%x: tensor<?x3xui8>, %y: tensor<3xf32>) -> (tensor<?xf32>, tensor<?x3xui8>) {
  %0 = call @ratio(%x) : (tensor<?x3xui8>) -> tensor<?x3xui8>
  %1 = stablehlo.convert %0 : (tensor<?x3xui8>) -> tensor<?x3xf32>
  %2 = stablehlo.dot %1, %y : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?xf32>
  %3 = chlo.lgamma %2 : tensor<?xf32> -> tensor<?xf32>
  return %3, %0 : tensor<?xf32>, tensor<?x3xui8>
}

// CHECK-NOT: @ratio
func.func private @ratio(%x: tensor<?x3xui8>) -> tensor<?x3xui8> {
  %0 = stablehlo.divide %x, %x : tensor<?x3xui8>
  return %0 : tensor<?x3xui8>
}

// -----

// All that cannot be lowered is told of at once, wherever it stands.

func.func @illegal(%x: tensor<2x3xf32>, %n: tensor<f32>, %c: tensor<i1>) -> (tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) {
  // expected-error @below {{'stablehlo.reduce' op cannot be lowered to TCP: its body is none of add, multiply, maximum, minimum, and, or, logaddexp of the two values; split what is combined into such}}
  %0 = stablehlo.reduce(%x init: %n) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %5 = stablehlo.custom_call @library.fast(%b) : (tensor<f32>) -> tensor<f32>
      %6 = stablehlo.add %a, %5 : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }
  %1 = "stablehlo.if"(%c) ({
    // expected-error @below {{'stablehlo.custom_call' op cannot be lowered to TCP: 'library.fast', of which only the runtime that it is exported for knows what it computes; export the ops that it stands for}}
    %7 = stablehlo.custom_call @library.fast(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    stablehlo.return %7 : tensor<2x3xf32>
  }, {
    stablehlo.return %x : tensor<2x3xf32>
  }) : (tensor<i1>) -> tensor<2x3xf32>
  // expected-error @below {{'stablehlo.reduce_precision' op cannot be lowered to TCP: a float of 4 and 3 bits, which is no element type}}
  %2 = stablehlo.reduce_precision %0, format = e4m3 : tensor<3xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>
}

// -----

// What becomes of a tensor that cannot be carried is not guessed at.

func.func @complex(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  // expected-error @below {{'stablehlo.cbrt' op cannot be lowered to TCP: complex numbers; compute real and imaginary parts as tensors of their own}}
  %0 = stablehlo.cbrt %x : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

// -----

// A type that TCP has not is refused where no op is to blame for it as well.

// expected-error @below {{'func.func' op is not legal at the TCP stage, as its type '(tensor<2xf32>, !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)' is not}}
func.func @type(%x: tensor<2xf32>, %t: !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token) {
  return %x, %t : tensor<2xf32>, !stablehlo.token
}
