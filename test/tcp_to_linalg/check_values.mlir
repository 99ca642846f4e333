// RUN: tcp-opt %s -check-values -canonicalize -cse -split-input-file | FileCheck %s

// The greatest of the indices, taken as numbers without a sign, is held against the size.

// CHECK-LABEL: func.func @gather(
// CHECK-SAME:      %{{.*}}: tensor<5x3xf32>, %[[INDICES:.*]]: tensor<5x2xi64>)
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG:     %[[SIZE:.*]] = arith.constant 3 : i64
// CHECK:         %[[REDUCED:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]} ins(%[[INDICES]] : tensor<5x2xi64>)
// CHECK:           arith.maxui
// CHECK:         %[[GREATEST:.*]] = tensor.extract %[[REDUCED]][]
// CHECK:         %[[FITS:.*]] = arith.cmpi ult, %[[GREATEST]], %[[SIZE]] : i64
// CHECK-NEXT:    call @plumbline_require(%[[FITS]], %[[GREATEST]], %[[SIZE]], %[[ZERO]]) {plumbline.message = "{{.*}}check_values.mlir:[[# @LINE + 3]]:8: error: 'tcp.gather' op index {} is out of range for dimension 1 of size {}"}
// CHECK-NEXT:    tcp.gather
func.func @gather(%x: tensor<5x3xf32>, %i: tensor<5x2xi64>) -> tensor<5x2xf32> {
  %0 = tcp.gather %x, %i {dim = 1 : index} : tensor<5x3xf32>, tensor<5x2xi64> -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// -----

// A size of 0 fits no index, but fits none at all; the other sizes are those of loops.

// CHECK-LABEL: func.func @gather_of_dynamic_sizes(
// CHECK-SAME:      %[[X:.*]]: tensor<?x?xf32>, %[[INDICES:.*]]: tensor<?x?xi32>)
// CHECK-DAG:     %[[ROWS:.*]] = tensor.dim %[[INDICES]], %c0
// CHECK-DAG:     %[[MOST:.*]] = tensor.dim %[[X]], %c0
// CHECK:         %[[ENOUGH:.*]] = arith.cmpi sle, %[[ROWS]], %[[MOST]] : index
// CHECK:         call @plumbline_require(%[[ENOUGH]], {{.*}}op indices have size {} in dimension 0, where the input has {}"
// CHECK:           arith.extsi %{{.*}} : i32 to i64
// CHECK:         %[[FITS:.*]] = arith.cmpi ult
// CHECK:         %[[EMPTY:.*]] = arith.ori
// CHECK:         %[[FINE:.*]] = arith.ori %[[FITS]], %[[EMPTY]] : i1
// CHECK:         call @plumbline_require(%[[FINE]], {{.*}} is out of range for dimension 1 of size {}"
func.func @gather_of_dynamic_sizes(%x: tensor<?x?xf32>, %i: tensor<?x?xi32>) -> tensor<?x?xf32> {
  %0 = tcp.gather %x, %i {dim = 1 : index} : tensor<?x?xf32>, tensor<?x?xi32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// What is known to fit is not checked.

// CHECK-LABEL: func.func @known(
// CHECK-NOT:     plumbline_require
func.func @known(%x: tensor<5x3xf32>, %n: tensor<4xi32>) -> (tensor<2x3xf32>, tensor<5x3xf32>, tensor<4xi32>) {
  %i = tcp.const {value = dense<[[0], [4]]> : tensor<2x1xi64>} : tensor<2x1xi64>
  %0 = tcp.gather_nd %x, %i : tensor<5x3xf32>, tensor<2x1xi64> -> tensor<2x3xf32>
  %j = tcp.iota () {dim = 0 : index} : tensor<5xi64>
  %k = tensor.expand_shape %j [[0, 1]] output_shape [5, 1] : tensor<5xi64> into tensor<5x1xi64>
  %1 = tcp.gather_nd %x, %k : tensor<5x3xf32>, tensor<5x1xi64> -> tensor<5x3xf32>
  %three = tcp.const {value = dense<-3> : tensor<4xi32>} : tensor<4xi32>
  %2 = tcp.divsi %n, %three {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<5x3xf32>, tensor<4xi32>
}

// -----

// So are indices that bounds keep within the operand, counted from its end or not; half of them is not.

// CHECK-LABEL: func.func @within_bounds(
// CHECK-NOT:     plumbline_require
// CHECK-COUNT-2: tcp.gather
// CHECK:         call @plumbline_require({{.*}}op index {} is out of range for dimension 0 of size {}"
// CHECK-NOT:     call @plumbline_require
func.func @within_bounds(%x: tensor<5x3xf32>, %i: tensor<5x3xi64>) -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
  %zero = tcp.const {value = dense<0> : tensor<5x3xi64>} : tensor<5x3xi64>
  %five = tcp.const {value = dense<5> : tensor<5x3xi64>} : tensor<5x3xi64>
  %j = tcp.clamp %i {min_int = 0 : i64, max_int = 4 : i64} : tensor<5x3xi64> -> tensor<5x3xi64>
  %0 = tcp.gather %x, %j {dim = 0 : index} : tensor<5x3xf32>, tensor<5x3xi64> -> tensor<5x3xf32>
  %k = tcp.clamp %i {min_int = -5 : i64, max_int = 4 : i64} : tensor<5x3xi64> -> tensor<5x3xi64>
  %negative = tcp.compare %k, %zero {predicate = #tcp<predicate lt>} : tensor<5x3xi64>, tensor<5x3xi64> -> tensor<5x3xi1>
  %moved = tcp.add %k, %five : tensor<5x3xi64>, tensor<5x3xi64> -> tensor<5x3xi64>
  %l = tcp.select %negative, %moved, %k : tensor<5x3xi1>, tensor<5x3xi64>, tensor<5x3xi64> -> tensor<5x3xi64>
  %1 = tcp.gather %x, %l {dim = 0 : index} : tensor<5x3xf32>, tensor<5x3xi64> -> tensor<5x3xf32>
  %m = tcp.clamp %i {min_int = 0 : i64} : tensor<5x3xi64> -> tensor<5x3xi64>
  %2 = tcp.gather %x, %m {dim = 0 : index} : tensor<5x3xf32>, tensor<5x3xi64> -> tensor<5x3xf32>
  return %0, %1, %2 : tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>
}

// -----

// CHECK-LABEL: func.func @known_not_to_fit(
// CHECK:         call @plumbline_require(
func.func @known_not_to_fit(%x: tensor<5x3xf32>) -> tensor<2x3xf32> {
  %i = tcp.const {value = dense<[[0], [5]]> : tensor<2x1xi64>} : tensor<2x1xi64>
  %0 = tcp.gather_nd %x, %i : tensor<5x3xf32>, tensor<2x1xi64> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// As PyTorch counts them: the tensors that rows are put together from, negative ones from the end.

// CHECK-LABEL: func.func @counted_from_the_end(
// CHECK-SAME:      %[[I:[a-z0-9]*]]: tensor<2xi64>, %[[J:[a-z0-9]*]]: tensor<2xi64>)
// CHECK-DAG:     %[[FIVE:.*]] = arith.constant 5 : i64
// CHECK-DAG:     %[[TEN:.*]] = arith.constant 10 : i64
// CHECK:         linalg.generic {{.*}} ins(%[[I]] : tensor<2xi64>)
// CHECK:           arith.addi %{{.*}}, %[[FIVE]] : i64
// CHECK:         arith.cmpi ult, %[[GREATEST:.*]], %[[TEN]] : i64
// CHECK:         %[[INDEX:.*]] = arith.subi %[[GREATEST]], %[[FIVE]] : i64
// CHECK:         call @plumbline_require(%{{.*}}, %[[INDEX]], %[[FIVE]], {{.*}}for dimension 0
// CHECK:         linalg.generic {{.*}} ins(%[[J]] : tensor<2xi64>)
// CHECK:         call @plumbline_require({{.*}}for dimension 1
func.func @counted_from_the_end(%x: tensor<5x3xf32>, %i: tensor<2xi64>, %j: tensor<2xi64>) -> tensor<2xf32> {
  %zero = tcp.const {value = dense<0> : tensor<2xi64>} : tensor<2xi64>
  %size = tcp.const {value = dense<5> : tensor<2xi64>} : tensor<2xi64>
  %negative = tcp.compare %i, %zero {predicate = #tcp<predicate lt>} : tensor<2xi64>, tensor<2xi64> -> tensor<2xi1>
  %moved = tcp.add %i, %size : tensor<2xi64>, tensor<2xi64> -> tensor<2xi64>
  %own = tcp.select %negative, %moved, %i : tensor<2xi1>, tensor<2xi64>, tensor<2xi64> -> tensor<2xi64>
  %0 = tensor.expand_shape %own [[0, 1]] output_shape [2, 1] : tensor<2xi64> into tensor<2x1xi64>
  %1 = tensor.expand_shape %j [[0, 1]] output_shape [2, 1] : tensor<2xi64> into tensor<2x1xi64>
  %rows = tcp.concat %0, %1 {dim = 1 : index} : tensor<2x1xi64>, tensor<2x1xi64> -> tensor<2x2xi64>
  %2 = tcp.gather_nd %x, %rows : tensor<5x3xf32>, tensor<2x2xi64> -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// Rows that come from elsewhere are checked column by column.

// CHECK-LABEL: func.func @scatter_nd(
// CHECK-SAME:      %{{.*}}: tensor<5x3xf32>, %[[ROWS:.*]]: tensor<?x2xi64>, %[[UPDATES:.*]]: tensor<?xf32>)
// CHECK:         call @plumbline_require({{.*}}'tcp.scatter_nd' op updates have size {} in dimension 0, where indices have {} in dimension 0"
// CHECK:         linalg.generic {indexing_maps = [#[[FIRST:.*]], #{{.*}}], iterator_types = ["reduction"]} ins(%[[ROWS]] : tensor<?x2xi64>)
// CHECK:         call @plumbline_require({{.*}}for dimension 0
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["reduction"]} ins(%[[ROWS]] : tensor<?x2xi64>)
// CHECK:         call @plumbline_require({{.*}}for dimension 1
func.func @scatter_nd(%x: tensor<5x3xf32>, %rows: tensor<?x2xi64>, %updates: tensor<?xf32>) -> tensor<5x3xf32> {
  %0 = tcp.scatter_nd %x, %rows, %updates : tensor<5x3xf32>, tensor<?x2xi64>, tensor<?xf32> -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// CHECK-LABEL: func.func @scatter(
// CHECK:         call @plumbline_require({{.*}}'tcp.scatter' op indices have size {} in dimension 1, where the input has {}"
// CHECK:         call @plumbline_require({{.*}}'tcp.scatter' op updates have size {} in dimension 1, where indices have {} in dimension 1"
// CHECK:         call @plumbline_require({{.*}}'tcp.scatter' op index {} is out of range for dimension 0 of size {}"
func.func @scatter(%x: tensor<5x?xf32>, %i: tensor<2x?xi64>, %updates: tensor<2x?xf32>) -> tensor<5x?xf32> {
  %0 = tcp.scatter %x, %i, %updates {dim = 0 : index} : tensor<5x?xf32>, tensor<2x?xi64>, tensor<2x?xf32> -> tensor<5x?xf32>
  return %0 : tensor<5x?xf32>
}

// -----

// CHECK-LABEL: func.func @divisors(
// CHECK-SAME:      %{{.*}}: tensor<4xi8>, %[[DIVISOR:.*]]: tensor<1xi8>)
// CHECK:         %[[REDUCED:.*]] = linalg.generic {{.*}} ins(%[[DIVISOR]] : tensor<1xi8>)
// CHECK:           arith.minui
// CHECK:         %[[LEAST:.*]] = tensor.extract %[[REDUCED]][]
// CHECK:         %[[FINE:.*]] = arith.cmpi ne, %[[LEAST]], %{{.*}} : i64
// CHECK:         call @plumbline_require(%[[FINE]], {{.*}}'tcp.divui' op an integer is divided by zero"
// CHECK:         call @plumbline_require({{.*}}'tcp.remsi' op an integer is divided by zero"
func.func @divisors(%x: tensor<4xi8>, %y: tensor<1xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %four = arith.constant 4 : index
  %divisor = tcp.broadcast %y, %four {axes = [0]} : tensor<1xi8>, index -> tensor<4xi8>
  %0 = tcp.divui %x, %divisor {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<4xi8>, tensor<4xi8> -> tensor<4xi8>
  %1 = tcp.remsi %x, %divisor : tensor<4xi8>, tensor<4xi8> -> tensor<4xi8>
  return %0, %1 : tensor<4xi8>, tensor<4xi8>
}
