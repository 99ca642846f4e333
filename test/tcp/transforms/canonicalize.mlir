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

// A roll along two axes puts slices of the operand together, and none of what has been put together.

// CHECK-LABEL: func.func @slices_of_a_concatenation(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<?x4x6xf32>
// CHECK-DAG:     %[[TOP:.*]] = tcp.slice %[[X]] starts(%{{.*}}, %c3, %c0) sizes(%{{.*}}, %c1, %c6)
// CHECK-DAG:     %[[REST:.*]] = tcp.slice %[[X]] starts(%{{.*}}, %c0, %c0) sizes(%{{.*}}, %c3, %c6)
// CHECK-DAG:     %[[TOP_LEFT:.*]] = tcp.slice %[[TOP]] starts(%c0, %c0, %c4) sizes(%{{.*}}, %c1, %c2) {{.*}} -> tensor<?x1x2xf32>
// CHECK-DAG:     %[[LEFT:.*]] = tcp.slice %[[REST]] starts(%c0, %c0, %c4) sizes(%{{.*}}, %c3, %c2) {{.*}} -> tensor<?x3x2xf32>
// CHECK-DAG:     %[[FIRST:.*]] = tcp.concat %[[TOP_LEFT]], %[[LEFT]] {dim = 1 : index} {{.*}} -> tensor<?x4x2xf32>
// CHECK-DAG:     %[[TOP_RIGHT:.*]] = tcp.slice %[[TOP]] starts(%c0, %c0, %c0) sizes(%{{.*}}, %c1, %c4) {{.*}} -> tensor<?x1x4xf32>
// CHECK-DAG:     %[[RIGHT:.*]] = tcp.slice %[[REST]] starts(%c0, %c0, %c0) sizes(%{{.*}}, %c3, %c4) {{.*}} -> tensor<?x3x4xf32>
// CHECK-DAG:     %[[SECOND:.*]] = tcp.concat %[[TOP_RIGHT]], %[[RIGHT]] {dim = 1 : index} {{.*}} -> tensor<?x4x4xf32>
// CHECK:         %[[OUT:.*]] = tcp.concat %[[FIRST]], %[[SECOND]] {dim = 2 : i64}
// CHECK:         return %[[OUT]]
func.func @slices_of_a_concatenation(%x: tensor<?x4x6xf32>) -> tensor<?x4x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x6xf32>
  %0 = tcp.slice %x starts(%c0, %c3, %c0) sizes(%n, %c1, %c6) strides(%c1, %c1, %c1) : tensor<?x4x6xf32> -> tensor<?x1x6xf32>
  %1 = tcp.slice %x starts(%c0, %c0, %c0) sizes(%n, %c3, %c6) strides(%c1, %c1, %c1) : tensor<?x4x6xf32> -> tensor<?x3x6xf32>
  %2 = tcp.concat %0, %1 {dim = 1 : i64} : tensor<?x1x6xf32>, tensor<?x3x6xf32> -> tensor<?x4x6xf32>
  %m = tensor.dim %2, %c0 : tensor<?x4x6xf32>
  %3 = tcp.slice %2 starts(%c0, %c0, %c4) sizes(%m, %c4, %c2) strides(%c1, %c1, %c1) : tensor<?x4x6xf32> -> tensor<?x4x2xf32>
  %4 = tcp.slice %2 starts(%c0, %c0, %c0) sizes(%m, %c4, %c4) strides(%c1, %c1, %c1) : tensor<?x4x6xf32> -> tensor<?x4x4xf32>
  %5 = tcp.concat %3, %4 {dim = 2 : i64} : tensor<?x4x2xf32>, tensor<?x4x4xf32> -> tensor<?x4x6xf32>
  return %5 : tensor<?x4x6xf32>
}

// So of sizes that are not known, of which two parts are the whole.
// CHECK-LABEL: func.func @parts_of_a_concatenation(
// CHECK:         %[[LEFT:.*]] = tcp.concat %{{.*}}, %{{.*}} {dim = 0 : index}
// CHECK:         %[[RIGHT:.*]] = tcp.concat %{{.*}}, %{{.*}} {dim = 0 : index}
// CHECK:         tcp.concat %[[RIGHT]], %[[LEFT]] {dim = 1
func.func @parts_of_a_concatenation(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %part: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tcp.concat %x, %y {dim = 0 : i64} : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  %n = tensor.dim %0, %c0 : tensor<?x?xf32>
  %m = tensor.dim %0, %c1 : tensor<?x?xf32>
  %rest = arith.subi %m, %part : index
  %1 = tcp.slice %0 starts(%c0, %c0) sizes(%n, %part) strides(%c1, %c1) : tensor<?x?xf32> -> tensor<?x?xf32>
  %2 = tcp.slice %0 starts(%c0, %part) sizes(%n, %rest) strides(%c1, %c1) : tensor<?x?xf32> -> tensor<?x?xf32>
  %3 = tcp.concat %2, %1 {dim = 1 : i64} : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}

// -----

// Slices stay that may be read where they lie: of what something else takes, too; that together are
// more than the whole, or are taken again and again; or that go from operand to operand.

// CHECK-LABEL: func.func @slices_that_stay(
// CHECK:         %[[TAKEN:.*]] = tcp.concat %{{.*}}, %{{.*}} {dim = 0
// CHECK-NEXT:    %[[A:.*]] = tcp.slice %[[TAKEN]]
// CHECK-NEXT:    %[[OVERLAPPING:.*]] = tcp.concat %{{.*}}, %{{.*}} {dim = 0
// CHECK-NEXT:    %[[B:.*]] = tcp.slice %[[OVERLAPPING]]
// CHECK-NEXT:    %[[C:.*]] = tcp.slice %[[OVERLAPPING]]
// CHECK-NEXT:    %[[ALONG:.*]] = tcp.concat %{{.*}}, %{{.*}} {dim = 1
// CHECK-NEXT:    %[[D:.*]] = tcp.slice %[[ALONG]]
// CHECK-NEXT:    %[[AGAIN:.*]] = tcp.concat %{{.*}}, %{{.*}} {dim = 0
// CHECK:         scf.for
// CHECK-NEXT:      tcp.slice %[[AGAIN]]
// CHECK:         return %[[TAKEN]], %[[A]], %[[B]], %[[C]], %[[D]]
func.func @slices_that_stay(%x: tensor<2x6xf32>, %y: tensor<2x6xf32>) -> (tensor<4x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x8xf32>, tensor<4x1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %0 = tcp.concat %x, %y {dim = 0 : i64} : tensor<2x6xf32>, tensor<2x6xf32> -> tensor<4x6xf32>
  %1 = tcp.slice %0 starts(%c0, %c0) sizes(%c4, %c4) strides(%c1, %c1) : tensor<4x6xf32> -> tensor<4x4xf32>
  %2 = tcp.concat %y, %x {dim = 0 : i64} : tensor<2x6xf32>, tensor<2x6xf32> -> tensor<4x6xf32>
  %3 = tcp.slice %2 starts(%c0, %c0) sizes(%c4, %c4) strides(%c1, %c1) : tensor<4x6xf32> -> tensor<4x4xf32>
  %4 = tcp.slice %2 starts(%c0, %c2) sizes(%c4, %c4) strides(%c1, %c1) : tensor<4x6xf32> -> tensor<4x4xf32>
  %5 = tcp.concat %x, %y {dim = 1 : i64} : tensor<2x6xf32>, tensor<2x6xf32> -> tensor<2x12xf32>
  %6 = tcp.slice %5 starts(%c0, %c2) sizes(%c2, %c8) strides(%c1, %c1) : tensor<2x12xf32> -> tensor<2x8xf32>
  %7 = tcp.concat %x, %x {dim = 0 : i64} : tensor<2x6xf32>, tensor<2x6xf32> -> tensor<4x6xf32>
  %z = tensor.empty() : tensor<4x1xf32>
  %8 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %z) -> tensor<4x1xf32> {
    %9 = tcp.slice %7 starts(%c0, %i) sizes(%c4, %c1) strides(%c1, %c1) : tensor<4x6xf32> -> tensor<4x1xf32>
    %10 = tcp.add %a, %9 : tensor<4x1xf32>, tensor<4x1xf32> -> tensor<4x1xf32>
    scf.yield %10 : tensor<4x1xf32>
  }
  return %0, %1, %3, %4, %6, %8 : tensor<4x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x8xf32>, tensor<4x1xf32>
}

// -----

// Elements of windows that lie in the padding in all of them are left out, and there are as many windows as before.

// CHECK-LABEL: func.func @windows(
// CHECK:         tcp.pool %{{.*}} {combiner = #tcp<combiner max>, dilations = [1, 2], kernel = [8, 4], padding_high = [0, 1], padding_low = [1, 1], strides = [900, 3]} : tensor<7x6xf32> -> tensor<1x1xf32>
func.func @windows(%x: tensor<7x6xf32>) -> tensor<1x1xf32> {
  %0 = tcp.pool %x {combiner = #tcp<combiner max>, dilations = [1, 2], kernel = [900, 6], padding_high = [892, 5], padding_low = [1, 1], strides = [900, 3]} : tensor<7x6xf32> -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// -----

// A sum of what is zero but for a part is the parts put together: two of one place are added up,
// zeros stand where no part is, and -0.0 becomes 0.0. What else is summed comes last.

// CHECK-LABEL: func.func @sum_of_parts(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<2x8xf32>, %[[A:[^:]*]]: tensor<2x1xf32>, %[[B:[^:]*]]: tensor<2x2xf32>, %[[C:[^:]*]]: tensor<2x1xf32>, %[[D:[^:]*]]: tensor<2x1xf32>
// CHECK-DAG:     %[[SAME:.*]] = tcp.add %[[A]], %[[D]]
// CHECK-DAG:     %[[GAP:.*]] = tcp.const {value = dense<0.000000e+00> : tensor<2x1xf32>}
// CHECK-DAG:     %[[END:.*]] = tcp.const {value = dense<0.000000e+00> : tensor<2x2xf32>}
// CHECK-DAG:     %[[ZEROS:.*]] = tcp.const {value = dense<0.000000e+00> : tensor<2x8xf32>}
// CHECK-DAG:     %[[PARTS:.*]] = tcp.concat %[[D]], %[[B]], %[[SAME]], %[[GAP]], %[[C]], %[[END]] {dim = 1 : index}
// CHECK:         %[[POSITIVE:.*]] = tcp.add %[[PARTS]], %[[ZEROS]]
// CHECK:         %[[OUT:.*]] = tcp.add %[[X]], %[[POSITIVE]]
// CHECK:         return %[[OUT]]
func.func @sum_of_parts(%x: tensor<2x8xf32>, %a: tensor<2x1xf32>, %b: tensor<2x2xf32>, %c: tensor<2x1xf32>, %d: tensor<2x1xf32>) -> tensor<2x8xf32> {
  %zeros = tcp.const {value = dense<0.0> : tensor<2x8xf32>} : tensor<2x8xf32>
  %0 = tensor.insert_slice %a into %zeros[0, 3] [2, 1] [1, 1] : tensor<2x1xf32> into tensor<2x8xf32>
  %1 = tensor.insert_slice %b into %zeros[0, 1] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<2x8xf32>
  %2 = tensor.insert_slice %c into %zeros[0, 5] [2, 1] [1, 1] : tensor<2x1xf32> into tensor<2x8xf32>
  %3 = tensor.insert_slice %d into %zeros[0, 3] [2, 1] [1, 1] : tensor<2x1xf32> into tensor<2x8xf32>
  %4 = tensor.insert_slice %d into %zeros[0, 0] [2, 1] [1, 1] : tensor<2x1xf32> into tensor<2x8xf32>
  %5 = tcp.add %0, %1 : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  %6 = tcp.add %5, %x : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  %7 = tcp.add %2, %3 : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  %8 = tcp.add %6, %7 : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  %9 = tcp.add %8, %4 : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  return %9 : tensor<2x8xf32>
}

// -----

// Parts that overlap, or lie in something else than zeros, stay summands.

// CHECK-LABEL: func.func @sum_of_what_overlaps(
// CHECK-NOT:     tcp.concat
func.func @sum_of_what_overlaps(%a: tensor<2xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zeros = tcp.const {value = dense<0.0> : tensor<8xf32>} : tensor<8xf32>
  %0 = tensor.insert_slice %a into %zeros[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %1 = tensor.insert_slice %a into %zeros[1] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %2 = tensor.insert_slice %a into %zeros[4] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %3 = tensor.insert_slice %a into %zeros[6] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %4 = tensor.insert_slice %a into %x[2] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %5 = tcp.add %0, %1 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %6 = tcp.add %5, %2 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %7 = tcp.add %6, %3 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %8 = tcp.add %0, %4 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %9 = tcp.add %8, %2 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %10 = tcp.add %9, %3 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  return %7, %10 : tensor<8xf32>, tensor<8xf32>
}

// What takes a size off the indices below 0, and adds it to those again.
// CHECK-LABEL: func.func @counted_from_the_start(
// CHECK-SAME:      %[[I:.*]]: tensor<?xi64>, %[[X:.*]]: tensor<?xf32>
// CHECK-NOT:     tcp.select
// CHECK:         return %[[I]]
func.func @counted_from_the_start(%i: tensor<?xi64>, %x: tensor<?xf32>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %count = tensor.dim %i, %c0 : tensor<?xi64>
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %number = arith.index_cast %size : index to i64
  %one = tensor.from_elements %number : tensor<1xi64>
  %zero = tcp.const {value = dense<0> : tensor<1xi64>} : tensor<1xi64>
  %zeros = tcp.broadcast %zero, %count {axes = [0]} : tensor<1xi64>, index -> tensor<?xi64>
  %below = tcp.compare %i, %zeros {int_signedness = #tcp<signedness Signed>, predicate = #tcp<predicate lt>} : tensor<?xi64>, tensor<?xi64> -> tensor<?xi1>
  %sizes = tcp.broadcast %one, %count {axes = [0]} : tensor<1xi64>, index -> tensor<?xi64>
  %less = tcp.sub %i, %sizes : tensor<?xi64>, tensor<?xi64> -> tensor<?xi64>
  %j = tcp.select %below, %less, %i : tensor<?xi1>, tensor<?xi64>, tensor<?xi64> -> tensor<?xi64>
  %still_below = tcp.compare %j, %zeros {predicate = #tcp<predicate lt>} : tensor<?xi64>, tensor<?xi64> -> tensor<?xi1>
  %same_sizes = tcp.broadcast %one, %count {axes = [0]} : tensor<1xi64>, index -> tensor<?xi64>
  %more = tcp.add %j, %same_sizes : tensor<?xi64>, tensor<?xi64> -> tensor<?xi64>
  %k = tcp.select %still_below, %more, %j : tensor<?xi1>, tensor<?xi64>, tensor<?xi64> -> tensor<?xi64>
  return %k : tensor<?xi64>
}

// Another number is added.
// CHECK-LABEL: func.func @moved_by_another(
// CHECK-COUNT-2: tcp.select
func.func @moved_by_another(%i: tensor<4xi64>) -> tensor<4xi64> {
  %zero = tcp.const {value = dense<0> : tensor<4xi64>} : tensor<4xi64>
  %five = tcp.const {value = dense<5> : tensor<4xi64>} : tensor<4xi64>
  %six = tcp.const {value = dense<6> : tensor<4xi64>} : tensor<4xi64>
  %below = tcp.compare %i, %zero {int_signedness = #tcp<signedness Signed>, predicate = #tcp<predicate lt>} : tensor<4xi64>, tensor<4xi64> -> tensor<4xi1>
  %less = tcp.sub %i, %five : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  %j = tcp.select %below, %less, %i : tensor<4xi1>, tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  %still_below = tcp.compare %j, %zero {predicate = #tcp<predicate lt>} : tensor<4xi64>, tensor<4xi64> -> tensor<4xi1>
  %more = tcp.add %j, %six : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  %k = tcp.select %still_below, %more, %j : tensor<4xi1>, tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  return %k : tensor<4xi64>
}
