// RUN: tcp-opt %s -round-by-sums -canonicalize | FileCheck %s

// Bounds are moved by what is added to what has been rounded, and that is added to the integer.
// CHECK-LABEL: func.func @quantized(
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant -1.250000e+02 : f32
// CHECK-DAG:     %[[GREATEST:.*]] = arith.constant 1.300000e+02 : f32
// CHECK-DAG:     %[[WHOLE:.*]] = arith.constant 0x4B400000 : f32
// CHECK-DAG:     %[[LESS:.*]] = arith.constant 1262485507 : i32
// CHECK:         %[[ABOVE:.*]] = arith.maximumf %[[X]], %[[LEAST]]
// CHECK:         %[[CLAMPED:.*]] = arith.minimumf %[[ABOVE]], %[[GREATEST]]
// CHECK:         %[[SUM:.*]] = arith.addf %[[CLAMPED]], %[[WHOLE]]
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[SUM]] : f32 to i32
// CHECK:         %[[INTEGER:.*]] = arith.subi %[[BITS]], %[[LESS]]
// CHECK:         arith.trunci %[[INTEGER]] : i32 to i8
func.func @quantized(%x: f32) -> i8 {
  %three = arith.constant -3.0 : f32
  %least = arith.constant -128.0 : f32
  %greatest = arith.constant 127.0 : f32
  %0 = math.roundeven %x : f32
  %1 = arith.addf %0, %three : f32
  %2 = arith.maximumf %1, %least : f32
  %3 = arith.minimumf %2, %greatest : f32
  %4 = arith.fptosi %3 : f32 to i8
  return %4 : i8
}

// CHECK-LABEL: func.func @vectors_clamped_twice(
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-DAG:     %[[GREATEST:.*]] = arith.constant dense<1.000000e+02> : vector<8xf32>
// CHECK:         %[[BELOW:.*]] = arith.maximumf %{{.*}}, %[[LEAST]]
// CHECK:         arith.minimumf %[[BELOW]], %[[GREATEST]]
// CHECK:         %[[INTEGER:.*]] = arith.subi %{{.*}} : vector<8xi32>
// CHECK:         arith.extsi %[[INTEGER]] : vector<8xi32> to vector<8xi64>
func.func @vectors_clamped_twice(%x: vector<8xf32>) -> vector<8xi64> {
  %least = arith.constant dense<0.0> : vector<8xf32>
  %greatest = arith.constant dense<255.0> : vector<8xf32>
  %lower = arith.constant dense<100.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.minimumf %0, %greatest : vector<8xf32>
  %2 = arith.maximumf %1, %least : vector<8xf32>
  %3 = arith.minimumf %2, %lower : vector<8xf32>
  %4 = arith.fptoui %3 : vector<8xf32> to vector<8xi64>
  return %4 : vector<8xi64>
}

// CHECK-LABEL: func.func @bounds_that_are_none(
// CHECK:         math.roundeven
// CHECK:         math.roundeven
// CHECK:         math.roundeven
// CHECK:         math.roundeven
func.func @bounds_that_are_none(%x: f32, %y: f32, %d: f64) -> (i32, i32, i32, i32, f32) {
  %least = arith.constant -128.0 : f32
  %half = arith.constant 127.5 : f32
  %far = arith.constant 4194304.0 : f32
  %least_double = arith.constant -128.0 : f64
  %greatest_double = arith.constant 127.0 : f64
  %0 = math.roundeven %x : f32
  %1 = arith.maximumf %0, %least : f32
  %2 = arith.minimumf %1, %half : f32
  %3 = arith.fptosi %2 : f32 to i32
  %4 = math.roundeven %y : f32
  %5 = arith.maximumf %4, %least : f32
  %6 = arith.minimumf %5, %far : f32
  %7 = arith.fptosi %6 : f32 to i32
  %8 = math.roundeven %d : f64
  %9 = arith.maximumf %8, %least_double : f64
  %10 = arith.minimumf %9, %greatest_double : f64
  %11 = arith.fptosi %10 : f64 to i32
  // What is read beside has to be there as a float.
  %12 = math.roundeven %y : f32
  %13 = arith.maximumf %12, %least : f32
  %14 = arith.minimumf %13, %y : f32
  %15 = arith.fptosi %13 : f32 to i32
  return %3, %7, %11, %15, %14 : i32, i32, i32, i32, f32
}
