// RUN: tcp-opt %s | FileCheck %s
// RUN: tcp-opt %s -mlir-print-op-generic | tcp-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce_sum(
func.func @reduce_sum(%arg0: tensor<2x?x4xf16>) {
  // CHECK-NEXT: %0 = tcp.reduce %arg0 {accumulation_type = f32, axes = [0, 2], combiner = #tcp<combiner sum>} : tensor<2x?x4xf16> -> tensor<?xf16>
  %0 = tcp.reduce %arg0 {accumulation_type = f32, axes = [0, 2], combiner = #tcp<combiner sum>} : tensor<2x?x4xf16> -> tensor<?xf16>
  return
}

// CHECK-LABEL: func.func @reduce_no_axes(
func.func @reduce_no_axes(%arg0: tensor<2x?x4xf16>) {
  // CHECK-NEXT: %0 = tcp.reduce %arg0 {accumulation_type = f16, axes = [], combiner = #tcp<combiner prod>} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  %0 = tcp.reduce %arg0 {accumulation_type = f16, axes = [], combiner = #tcp<combiner prod>} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return
}

// CHECK-LABEL: func.func @reduce_all_axes(
func.func @reduce_all_axes(%arg0: tensor<2x?x4xf16>) {
  // CHECK-NEXT: %0 = tcp.reduce %arg0 {axes = [0, 1, 2], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<f16>
  %0 = tcp.reduce %arg0 {axes = [0, 1, 2], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<f16>
  return
}

// CHECK-LABEL: func.func @reduce_and(
func.func @reduce_and(%arg0: tensor<2x?xi1>) {
  // CHECK-NEXT: %0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner and>} : tensor<2x?xi1> -> tensor<2xi1>
  %0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner and>} : tensor<2x?xi1> -> tensor<2xi1>
  return
}

// CHECK-LABEL: func.func @reduce_unsigned_minimum(
func.func @reduce_unsigned_minimum(%arg0: tensor<3xi8>) {
  // CHECK-NEXT: %0 = tcp.reduce %arg0 {axes = [0], combiner = #tcp<combiner min>, int_signedness = #tcp<signedness Unsigned>} : tensor<3xi8> -> tensor<i8>
  %0 = tcp.reduce %arg0 {axes = [0], combiner = #tcp<combiner min>, int_signedness = #tcp<signedness Unsigned>} : tensor<3xi8> -> tensor<i8>
  return
}

// CHECK-LABEL: func.func @reduce_logaddexp(
func.func @reduce_logaddexp(%arg0: tensor<2x?x4xf16>) {
  // CHECK-NEXT: %0 = tcp.reduce %arg0 {axes = [0], combiner = #tcp<combiner logaddexp>} : tensor<2x?x4xf16> -> tensor<?x4xf16>
  %0 = tcp.reduce %arg0 {axes = [0], combiner = #tcp<combiner logaddexp>} : tensor<2x?x4xf16> -> tensor<?x4xf16>
  return
}

// CHECK-LABEL: func.func @scan_sum(
func.func @scan_sum(%arg0: tensor<2x?x4xf16>) {
  // CHECK-NEXT: %0 = tcp.scan %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  %0 = tcp.scan %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return
}

// CHECK-LABEL: func.func @scan_unsigned_maximum(
func.func @scan_unsigned_maximum(%arg0: tensor<3xi8>) {
  // CHECK-NEXT: %0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 0 : index, int_signedness = #tcp<signedness Unsigned>} : tensor<3xi8> -> tensor<3xi8>
  %0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 0 : index, int_signedness = #tcp<signedness Unsigned>} : tensor<3xi8> -> tensor<3xi8>
  return
}

// CHECK-LABEL: func.func @argmax(
func.func @argmax(%arg0: tensor<2x?x4xf16>) {
  // CHECK-NEXT: %0 = tcp.argmax %arg0 {dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x4xi64>
  %0 = tcp.argmax %arg0 {dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x4xi64>
  return
}

// CHECK-LABEL: func.func @argmin(
func.func @argmin(%arg0: tensor<3xi8>) {
  // CHECK-NEXT: %0 = tcp.argmin %arg0 {dim = 0 : index, int_signedness = #tcp<signedness Signed>} : tensor<3xi8> -> tensor<i32>
  %0 = tcp.argmin %arg0 {dim = 0 : index, int_signedness = #tcp<signedness Signed>} : tensor<3xi8> -> tensor<i32>
  return
}
