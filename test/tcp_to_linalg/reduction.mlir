// RUN: tcp-opt %s -convert-tcp-to-linalg -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @reduce(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "reduction"]
// CHECK:         arith.extf
// CHECK:         arith.addf
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK:         arith.truncf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @reduce(%arg0: tensor<2x?x4xf16>) -> tensor<?xf16> {
  %0 = tcp.reduce %arg0 {accumulation_type = f32, axes = [0, 2], combiner = #tcp<combiner sum>} : tensor<2x?x4xf16> -> tensor<?xf16>
  return %0 : tensor<?xf16>
}

// -----

// CHECK-LABEL: func.func @reduce_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK:         arith.mulf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @reduce_2(%arg0: tensor<2x?x4xf16>) -> tensor<2x?x4xf16> {
  %0 = tcp.reduce %arg0 {accumulation_type = f16, axes = [], combiner = #tcp<combiner prod>} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return %0 : tensor<2x?x4xf16>
}

// -----

// CHECK-LABEL: func.func @reduce_3(
// CHECK:         linalg.generic {{.*}}iterator_types = []
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "reduction", "reduction"]
// CHECK:         arith.maximumf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @reduce_3(%arg0: tensor<2x?x4xf16>) -> tensor<f16> {
  %0 = tcp.reduce %arg0 {axes = [0, 1, 2], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<f16>
  return %0 : tensor<f16>
}

// -----

// CHECK-LABEL: func.func @reduce_4(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK:         arith.andi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @reduce_4(%arg0: tensor<2x?xi1>) -> tensor<2xi1> {
  %0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner and>} : tensor<2x?xi1> -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// -----

// CHECK-LABEL: func.func @reduce_5(
// CHECK:         linalg.generic {{.*}}iterator_types = []
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction"]
// CHECK:         arith.minui
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @reduce_5(%arg0: tensor<3xi8>) -> tensor<i8> {
  %0 = tcp.reduce %arg0 {axes = [0], combiner = #tcp<combiner min>, int_signedness = #tcp<signedness Unsigned>} : tensor<3xi8> -> tensor<i8>
  return %0 : tensor<i8>
}

// -----

// The greatest element, then the first place where it is; a NaN is one, though equal to nothing.
// CHECK-LABEL: func.func @argmax(
// CHECK:         %[[BEST:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
// CHECK:         arith.maximumf
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins(%arg0, %[[BEST]] :
// CHECK-DAG:     arith.cmpf uno,
// CHECK-DAG:     arith.cmpf oeq,
// CHECK:         arith.ori
// CHECK:         linalg.index 1
// CHECK:         arith.select
// CHECK:         arith.minsi {{.*}} : i64
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @argmax(%arg0: tensor<2x?x4xf16>) -> tensor<2x4xi64> {
  %0 = tcp.argmax %arg0 {dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x4xi64>
  return %0 : tensor<2x4xi64>
}

// -----

// CHECK-LABEL: func.func @argmin(
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction"]
// CHECK:         arith.minsi
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction"]
// CHECK:         arith.cmpi eq,
// CHECK:         linalg.index
// CHECK:         arith.index_cast
// CHECK:         arith.select
// CHECK:         arith.minsi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @argmin(%arg0: tensor<3xi8>) -> tensor<i32> {
  %0 = tcp.argmin %arg0 {dim = 0 : index, int_signedness = #tcp<signedness Signed>} : tensor<3xi8> -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

// A dimension of known size is counted through in 32 bits.
// CHECK-LABEL: func.func @argmax_of_known_size(
// CHECK:         arith.index_cast %{{.*}} : index to i32
// CHECK:         arith.minsi {{.*}} : i32
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK:         arith.extsi %{{.*}} : i32 to i64
// CHECK-NEXT:    linalg.yield
func.func @argmax_of_known_size(%arg0: tensor<?x9xf32>) -> tensor<?xi64> {
  %0 = tcp.argmax %arg0 {dim = 1 : index} : tensor<?x9xf32> -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

// CHECK-LABEL: func.func @scan(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         scf.for
// CHECK:         tensor.extract_slice
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.extf
// CHECK:         arith.addf
// CHECK:         arith.truncf
// CHECK:         tensor.insert_slice
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @scan(%arg0: tensor<2x?x4xf16>) -> tensor<2x?x4xf16> {
  %0 = tcp.scan %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return %0 : tensor<2x?x4xf16>
}

// -----

// Contiguous along the dimension, elements are taken one by one.
// CHECK-LABEL: func.func @scan_2(
// CHECK:         scf.for
// CHECK:         tensor.extract
// CHECK:         arith.maxui
// CHECK:         tensor.insert
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @scan_2(%arg0: tensor<3xi8>) -> tensor<3xi8> {
  %0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 0 : index, int_signedness = #tcp<signedness Unsigned>} : tensor<3xi8> -> tensor<3xi8>
  return %0 : tensor<3xi8>
}

// -----

// CHECK-LABEL: func.func @scan_3(
// CHECK:         scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1 iter_args(
// CHECK:           scf.for %[[J:.*]] = %c0 to %c7 step %c1 iter_args(%{{.*}} = %{{.*}}, %[[SO_FAR:.*]] = %cst)
// CHECK:             %[[X:.*]] = tensor.extract %arg0[%[[I]], %[[J]], %c0]
// CHECK:             %[[W:.*]] = arith.extf %[[X]]
// CHECK:             %[[SUM:.*]] = arith.addf %[[SO_FAR]], %[[W]] fastmath<reassoc>
// CHECK:             %[[N:.*]] = arith.truncf %[[SUM]]
// CHECK:             tensor.insert %[[N]] into %{{.*}}[%[[I]], %[[J]], %c0]
func.func @scan_3(%arg0: tensor<?x7x1xf32>) -> tensor<?x7x1xf32> {
  %0 = tcp.scan %arg0 {accumulation_type = f64, combiner = #tcp<combiner sum>, dim = 1 : index} : tensor<?x7x1xf32> -> tensor<?x7x1xf32>
  return %0 : tensor<?x7x1xf32>
}

// -----

// Extremes of half precision are those of the same numbers in f32, which no step has to round.
// CHECK-LABEL: func.func @half_extremes(
// CHECK:         %[[START:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2xf32>)
// CHECK:         %[[MOST:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x3xbf16>) outs(%[[START]] : tensor<2xf32>)
// CHECK-NEXT:    ^bb0(%[[X:[^:]*]]: bf16, %[[SO_FAR:[^:]*]]: f32):
// CHECK-NEXT:      %[[WIDE:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK-NEXT:      arith.maximumf %[[SO_FAR]], %[[WIDE]] : f32
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[MOST]] : {{.*}} outs(%{{.*}} : tensor<2xi32>)
// CHECK-NEXT:    ^bb0(%[[X:[^:]*]]: bf16, %[[BEST:[^:]*]]: f32, %{{.*}}: i32):
// CHECK-NEXT:      %[[WIDE:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK:           arith.cmpf oeq, %[[WIDE]], %[[BEST]] : f32
func.func @half_extremes(%x: tensor<2x3xbf16>) -> (tensor<2xbf16>, tensor<2xi64>) {
  %0 = tcp.reduce %x {axes = [1], combiner = #tcp<combiner max>} : tensor<2x3xbf16> -> tensor<2xbf16>
  %1 = tcp.argmax %x {dim = 1 : index} : tensor<2x3xbf16> -> tensor<2xi64>
  return %0, %1 : tensor<2xbf16>, tensor<2xi64>
}
