// RUN: tcp-opt %s -tcp-canonicalize -split-input-file | FileCheck %s

// Equal constants become one, also across groups, which see what is around them.

// CHECK-LABEL: func.func @merge(
// CHECK-NEXT:    %[[C:.*]] = tcp.const {value = dense<2.000000e+00> : tensor<3xf32>}
// CHECK-NEXT:    tcp.group {
// CHECK-NEXT:      tcp.add %[[C]], %arg0
// CHECK:         return %[[C]], %[[C]]
func.func @merge(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = tcp.const {value = dense<2.0> : tensor<3xf32>} : tensor<3xf32>
  %1 = tcp.const {value = dense<2.0> : tensor<3xf32>} : tensor<3xf32>
  %2 = tcp.group {
    %3 = tcp.const {value = dense<2.0> : tensor<3xf32>} : tensor<3xf32>
    %4 = tcp.add %3, %a : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
    tcp.yield %4 : tensor<3xf32>
  } : tensor<3xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// An isolated group has constants of its own, and those of another type are others.

// CHECK-LABEL: func.func @do_not_merge(
// CHECK:         tcp.const {value = dense<2.000000e+00> : tensor<3xf32>}
// CHECK:         tcp.const {value = dense<2.000000e+00> : tensor<2xf32>}
// CHECK:         tcp.isolated_group {
// CHECK:           tcp.const {value = dense<2.000000e+00> : tensor<3xf32>}
func.func @do_not_merge() -> (tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) {
  %0 = tcp.const {value = dense<2.0> : tensor<3xf32>} : tensor<3xf32>
  %1 = tcp.const {value = dense<2.0> : tensor<2xf32>} : tensor<2xf32>
  %2 = tcp.isolated_group {
    %3 = tcp.const {value = dense<2.0> : tensor<3xf32>} : tensor<3xf32>
    tcp.yield %3 : tensor<3xf32>
  } : () -> tensor<3xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<2xf32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @fold_arithmetic(
// CHECK-DAG:     %[[SUM:.*]] = tcp.const {value = dense<[4.000000e+00, 6.000000e+00]> : tensor<2xf32>}
// CHECK-DAG:     %[[WRAPPED:.*]] = tcp.const {value = dense<-128> : tensor<2xi8>}
// CHECK-DAG:     %[[QUOTIENT:.*]] = tcp.const {value = dense<0x7F800000> : tensor<2xf32>}
// CHECK:         return %[[SUM]], %[[WRAPPED]], %[[QUOTIENT]]
func.func @fold_arithmetic() -> (tensor<2xf32>, tensor<2xi8>, tensor<2xf32>) {
  %0 = tcp.const {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %1 = tcp.const {value = dense<[3.0, 4.0]> : tensor<2xf32>} : tensor<2xf32>
  %2 = tcp.add %0, %1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %3 = tcp.const {value = dense<127> : tensor<2xi8>} : tensor<2xi8>
  %4 = tcp.const {value = dense<1> : tensor<2xi8>} : tensor<2xi8>
  %5 = tcp.add %3, %4 : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  %6 = tcp.const {value = dense<0.0> : tensor<2xf32>} : tensor<2xf32>
  %7 = tcp.divf %0, %6 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return %2, %5, %7 : tensor<2xf32>, tensor<2xi8>, tensor<2xf32>
}

// -----

// Comparisons and choices take integers as the op says.

// CHECK-LABEL: func.func @fold_signedness(
// CHECK-DAG:     %[[FALSE:.*]] = tcp.const {value = dense<false> : tensor<2xi1>}
// CHECK-DAG:     %[[TRUE:.*]] = tcp.const {value = dense<true> : tensor<2xi1>}
// CHECK-DAG:     %[[ONE:.*]] = tcp.const {value = dense<1> : tensor<2xi8>}
// CHECK-DAG:     %[[FLOAT:.*]] = tcp.const {value = dense<2.550000e+02> : tensor<2xf32>}
// CHECK:         return %[[TRUE]], %[[FALSE]], %[[ONE]], %[[FLOAT]]
func.func @fold_signedness() -> (tensor<2xi1>, tensor<2xi1>, tensor<2xi8>, tensor<2xf32>) {
  %0 = tcp.const {value = dense<-1> : tensor<2xi8>} : tensor<2xi8>
  %1 = tcp.const {value = dense<1> : tensor<2xi8>} : tensor<2xi8>
  %2 = tcp.compare %0, %1 {predicate = #tcp<predicate lt>} : tensor<2xi8>, tensor<2xi8> -> tensor<2xi1>
  %3 = tcp.compare %0, %1 {predicate = #tcp<predicate lt>, int_signedness = #tcp<signedness Unsigned>} : tensor<2xi8>, tensor<2xi8> -> tensor<2xi1>
  %4 = tcp.minimum %0, %1 {int_signedness = #tcp<signedness Unsigned>} : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  %5 = tcp.cast %0 {in_int_signedness = #tcp<signedness Unsigned>} : tensor<2xi8> -> tensor<2xf32>
  return %2, %3, %4, %5 : tensor<2xi1>, tensor<2xi1>, tensor<2xi8>, tensor<2xf32>
}

// -----

// A NaN wins.

// CHECK-LABEL: func.func @fold_nan(
// CHECK:         tcp.const {value = dense<[0x7FC00000, 2.000000e+00]> : tensor<2xf32>}
func.func @fold_nan() -> tensor<2xf32> {
  %0 = tcp.const {value = dense<[0x7FC00000, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %1 = tcp.const {value = dense<[1.0, 1.0]> : tensor<2xf32>} : tensor<2xf32>
  %2 = tcp.maximum %0, %1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @fold_data_movement(
// CHECK-DAG:     %[[TRANSPOSED:.*]] = tcp.const {value = dense<{{\[\[}}1, 3], [2, 4]]> : tensor<2x2xi32>}
// CHECK-DAG:     %[[REVERSED:.*]] = tcp.const {value = dense<{{\[\[}}2, 1], [4, 3]]> : tensor<2x2xi32>}
// CHECK-DAG:     %[[BROADCAST:.*]] = tcp.const {value = dense<7> : tensor<4x2xi32>}
// CHECK:         return %[[TRANSPOSED]], %[[REVERSED]], %[[BROADCAST]]
func.func @fold_data_movement() -> (tensor<2x2xi32>, tensor<2x2xi32>, tensor<4x2xi32>) {
  %four = arith.constant 4 : index
  %0 = tcp.const {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : tensor<2x2xi32>
  %1 = tcp.transpose %0 {permutation = [1, 0]} : tensor<2x2xi32> -> tensor<2x2xi32>
  %2 = tcp.reverse %0 {axes = [1]} : tensor<2x2xi32> -> tensor<2x2xi32>
  %3 = tcp.const {value = dense<7> : tensor<1x2xi32>} : tensor<1x2xi32>
  %4 = tcp.broadcast %3, %four {axes = [0]} : tensor<1x2xi32>, index -> tensor<4x2xi32>
  return %1, %2, %4 : tensor<2x2xi32>, tensor<2x2xi32>, tensor<4x2xi32>
}

// -----

// What would make the program grow, what numpy has no type for, and what is undefined stays.

// CHECK-LABEL: func.func @do_not_fold(
// CHECK:         tcp.broadcast
// CHECK:         tcp.neg
// CHECK:         tcp.cast
func.func @do_not_fold() -> (tensor<4x2xi32>, tensor<2xbf16>, tensor<2xi8>) {
  %four = arith.constant 4 : index
  %0 = tcp.const {value = dense<[[7, 8]]> : tensor<1x2xi32>} : tensor<1x2xi32>
  %1 = tcp.broadcast %0, %four {axes = [0]} : tensor<1x2xi32>, index -> tensor<4x2xi32>
  %2 = tcp.const {value = dense<1.0> : tensor<2xbf16>} : tensor<2xbf16>
  %3 = tcp.neg %2 : tensor<2xbf16> -> tensor<2xbf16>
  %4 = tcp.const {value = dense<1.0e9> : tensor<2xf32>} : tensor<2xf32>
  %5 = tcp.cast %4 {out_int_signedness = #tcp<signedness Signed>} : tensor<2xf32> -> tensor<2xi8>
  return %1, %3, %5 : tensor<4x2xi32>, tensor<2xbf16>, tensor<2xi8>
}

// -----

// CHECK-LABEL: func.func @identities(
// CHECK-SAME:      %[[A:.*]]: tensor<2x?xf32>)
// CHECK-NEXT:    return %[[A]], %[[A]], %[[A]], %[[A]], %[[A]], %[[A]]
func.func @identities(%a: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) {
  %0 = tcp.cast %a : tensor<2x?xf32> -> tensor<2x?xf32>
  %1 = tcp.transpose %a {permutation = [0, 1]} : tensor<2x?xf32> -> tensor<2x?xf32>
  %2 = tcp.reverse %a {axes = []} : tensor<2x?xf32> -> tensor<2x?xf32>
  %3 = tcp.broadcast %a {axes = []} : tensor<2x?xf32> -> tensor<2x?xf32>
  %4 = tcp.concat %a {dim = 0 : i64} : tensor<2x?xf32> -> tensor<2x?xf32>
  %5 = tcp.transpose %a {permutation = [1, 0]} : tensor<2x?xf32> -> tensor<?x2xf32>
  %6 = tcp.transpose %5 {permutation = [1, 0]} : tensor<?x2xf32> -> tensor<2x?xf32>
  return %0, %1, %2, %3, %4, %6 : tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>
}

// -----

// A one that is multiplied with, also where it is stretched; -0.0 + 0.0 is 0.0, so that stays.

// CHECK-LABEL: func.func @drop_neutral(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<?xbf16>, %[[Y:[^:]*]]: tensor<2xf32>, %[[I:[^:]*]]: tensor<2xi64>
// CHECK:         %[[ZERO:.*]] = tcp.const {value = dense<0.000000e+00> : tensor<2xf32>}
// CHECK-NEXT:    %[[SUM:.*]] = tcp.add %[[Y]], %[[ZERO]]
// CHECK-NEXT:    return %[[X]], %[[SUM]], %[[Y]], %[[Y]], %[[I]], %[[I]]
func.func @drop_neutral(%x: tensor<?xbf16>, %y: tensor<2xf32>, %i: tensor<2xi64>, %n: index)
    -> (tensor<?xbf16>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi64>, tensor<2xi64>) {
  %one = tcp.const {value = dense<1.0> : tensor<bf16>} : tensor<bf16>
  %expanded = tensor.expand_shape %one [] output_shape [1] : tensor<bf16> into tensor<1xbf16>
  %ones = tcp.broadcast %expanded, %n {axes = [0]} : tensor<1xbf16>, index -> tensor<?xbf16>
  %0 = tcp.mul %ones, %x : tensor<?xbf16>, tensor<?xbf16> -> tensor<?xbf16>
  %zero = tcp.const {value = dense<0.0> : tensor<2xf32>} : tensor<2xf32>
  %minus_zero = tcp.const {value = dense<-0.0> : tensor<2xf32>} : tensor<2xf32>
  %1 = tcp.add %y, %zero : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %2 = tcp.sub %y, %zero : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %3 = tcp.add %minus_zero, %y : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %none = tcp.const {value = dense<0> : tensor<2xi64>} : tensor<2xi64>
  %4 = tcp.add %i, %none : tensor<2xi64>, tensor<2xi64> -> tensor<2xi64>
  %unit = tcp.const {value = dense<1> : tensor<2xi64>} : tensor<2xi64>
  %5 = tcp.divsi %i, %unit {rounding_mode = #tcp<rounding_mode Floor>} : tensor<2xi64>, tensor<2xi64> -> tensor<2xi64>
  return %0, %1, %2, %3, %4, %5 : tensor<?xbf16>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi64>, tensor<2xi64>
}

// -----

// What stands first is no neutral element of a difference or a quotient.

// CHECK-LABEL: func.func @keep_first(
// CHECK:         tcp.sub
// CHECK:         tcp.divf
func.func @keep_first(%y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = tcp.const {value = dense<0.0> : tensor<2xf32>} : tensor<2xf32>
  %one = tcp.const {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %0 = tcp.sub %zero, %y : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %1 = tcp.divf %one, %y : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// One value everywhere is never more than one element, however large the tensor.

// CHECK-LABEL: func.func @huge(
// CHECK:         tcp.const {value = dense<2.000000e+00> : tensor<100000x1000000xf32>}
// CHECK-NOT:     tcp.add
func.func @huge() -> tensor<100000x1000000xf32> {
  %one = tcp.const {value = dense<1.0> : tensor<100000x1000000xf32>} : tensor<100000x1000000xf32>
  %0 = tcp.add %one, %one : tensor<100000x1000000xf32>, tensor<100000x1000000xf32> -> tensor<100000x1000000xf32>
  return %0 : tensor<100000x1000000xf32>
}

// -----

// Of two constants that each have one value everywhere, the joined one has two.

// CHECK-LABEL: func.func @concat(
// CHECK-DAG:     %[[TWO:.*]] = tcp.const {value = dense<[3.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<3xf32>}
// CHECK-DAG:     %[[ONE:.*]] = tcp.const {value = dense<3.000000e+00> : tensor<2000xf32>}
// CHECK-DAG:     %[[LARGE:.*]] = tcp.concat
// CHECK:         return %[[TWO]], %[[ONE]], %[[LARGE]]
func.func @concat() -> (tensor<3xf32>, tensor<2000xf32>, tensor<2000xf32>) {
  %0 = tcp.const {value = dense<3.0> : tensor<2xf32>} : tensor<2xf32>
  %1 = tcp.const {value = dense<4.0> : tensor<1xf32>} : tensor<1xf32>
  %2 = tcp.concat %0, %1 {dim = 0 : i64} : tensor<2xf32>, tensor<1xf32> -> tensor<3xf32>
  %3 = tcp.const {value = dense<3.0> : tensor<1000xf32>} : tensor<1000xf32>
  %4 = tcp.const {value = dense<4.0> : tensor<1000xf32>} : tensor<1000xf32>
  %5 = tcp.concat %3, %3 {dim = 0 : i64} : tensor<1000xf32>, tensor<1000xf32> -> tensor<2000xf32>
  %6 = tcp.concat %3, %4 {dim = 0 : i64} : tensor<1000xf32>, tensor<1000xf32> -> tensor<2000xf32>
  return %2, %5, %6 : tensor<3xf32>, tensor<2000xf32>, tensor<2000xf32>
}

// -----

// Elements of windows that lie in the padding in all of them are left out, and there are as many windows as before.

// CHECK-LABEL: func.func @windows(
// CHECK:         tcp.pool %{{.*}} {combiner = #tcp<combiner max>, dilations = [1, 2], kernel = [8, 4], padding_high = [0, 1], padding_low = [1, 1], strides = [900, 3]} : tensor<7x6xf32> -> tensor<1x1xf32>
func.func @windows(%x: tensor<7x6xf32>) -> tensor<1x1xf32> {
  %0 = tcp.pool %x {combiner = #tcp<combiner max>, dilations = [1, 2], kernel = [900, 6], padding_high = [892, 5], padding_low = [1, 1], strides = [900, 3]} : tensor<7x6xf32> -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
