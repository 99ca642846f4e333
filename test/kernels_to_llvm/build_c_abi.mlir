// RUN: tcp-opt %s -build-c-abi -split-input-file -verify-diagnostics | FileCheck %s

// Weights come from memory of the library; what C hands over is taken as it is, checked, and only
// then taken for what the function says.

// CHECK:       memref.global constant @f.weight.a : memref<2x3xf32> {alignment = 4 : i64}
// CHECK-LABEL: func.func @f(
// CHECK-SAME:      %[[RESULTS:.*]]: !llvm.ptr {llvm.sret = !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, struct<(ptr, ptr, i64)>)>},
// CHECK-SAME:      %[[X:.*]]: memref<?x?xf32, strided<[?, ?], offset: ?>>) attributes {plumbline.program = "f"} {
// CHECK:         %[[CAST:.*]] = memref.cast %[[X]] : {{.*}} to memref<?x4xf32>
// CHECK:         %[[CALL:.*]]:2 = call @f_body(%[[CAST]])
// CHECK:         %[[FIRST:.*]] = llvm.getelementptr {{.*}}%[[RESULTS]][0, 0]
// CHECK:         %[[STRUCT:.*]] = builtin.unrealized_conversion_cast %[[CALL]]#0
// CHECK:         llvm.store %[[STRUCT]], %[[FIRST]]
// CHECK:         return

// CHECK-LABEL: func.func @f_checked(
// CHECK-SAME:      %{{.*}}: !llvm.ptr, %[[X:.*]]: memref<?x?xf32, strided<[?, ?], offset: ?>>) -> !llvm.ptr attributes {plumbline.program = "f"} {
// CHECK:         %{{.*}}, %[[OFFSET:.*]], %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[HOLDS:.*]] = arith.cmpi eq, %[[SIZES]]#1, %c4
// CHECK:         call @plumbline_require(%[[HOLDS]], {{.*}}) {plumbline.message = "argument 0 has size {} in dimension 1, not 4"}
// CHECK:         call @plumbline_require({{.*}}argument 0 are not those of row-major memory without gaps
// CHECK:         call @f_body(
// CHECK:         return %{{.*}} : !llvm.ptr

// CHECK-LABEL: func.func private @f_body(
// CHECK-SAME:      %{{.*}}: memref<?x4xf32>) -> (memref<?xf32>, memref<f32>) attributes {llvm.linkage = #llvm.linkage<internal>, no_inline} {
// CHECK:         %[[W:.*]] = memref.get_global @f.weight.a : memref<2x3xf32>
// CHECK:         memref.load %[[W]]
func.func @f(%w: memref<2x3xf32> {plumbline.weight = "a"}, %x: memref<?x4xf32> {plumbline.shape = affine_map<()[s0] -> (s0, 4)>}) -> (memref<?xf32>, memref<f32>) attributes {plumbline.symbols = [{name = "n", min_val = 1 : i64, max_val = 9223372036854775807 : i64}]} {
  %c1 = arith.constant 1 : index
  %0 = memref.alloc(%c1) : memref<?xf32>
  %1 = memref.alloc() : memref<f32>
  %2 = memref.load %w[%c1, %c1] : memref<2x3xf32>
  memref.store %2, %1[] : memref<f32>
  return %0, %1 : memref<?xf32>, memref<f32>
}

// -----

// What is about more numbers than other requirements are takes a function of its own.

// CHECK-LABEL: func.func @sum_checked(
// CHECK-SAME:      %[[X:.*]]: memref<?x?xf32, strided<[?, ?], offset: ?>>, %[[Y:.*]]: memref<?xf32, strided<[?], offset: ?>>)
// CHECK:         %[[XM:.*]], %{{.*}}, %[[SIZES:.*]]:2, %{{.*}}:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[YM:.*]], %{{.*}}, %[[SIZE:.*]], %{{.*}} = memref.extract_strided_metadata %[[Y]]
// CHECK:         %[[SUM:.*]] = arith.addi %[[SIZES]]#0, %[[SIZES]]#1
// CHECK-NEXT:    %[[HOLDS:.*]] = arith.cmpi eq, %[[SIZE]], %[[SUM]]
// CHECK:         call @plumbline_require_4(%[[HOLDS]], {{.*}}) {plumbline.message = "argument 1 has size {} in dimension 0, not n + m = {}; n is {} by dimension 0 of argument 0; m is {} by dimension 1 of argument 0"}
func.func @sum(%x: memref<?x?xf32> {plumbline.shape = affine_map<()[s0, s1] -> (s0, s1)>}, %y: memref<?xf32> {plumbline.shape = affine_map<()[s0, s1] -> (s0 + s1)>}) attributes {plumbline.symbols = [{name = "n", min_val = 1 : i64, max_val = 9223372036854775807 : i64}, {name = "m", min_val = 1 : i64, max_val = 9223372036854775807 : i64}]} {
  return
}

// -----

// expected-error @below {{func.func @tensor: argument 0 has type tensor<2xf32>; a compiled function takes and returns row-major memrefs of integers or floats}}
func.func @tensor(%x: tensor<2xf32>) {
  return
}

// expected-error @below {{func.func @strided: argument 0 has type memref<2xf32, strided<[2]>>}}
func.func @strided(%x: memref<2xf32, strided<[2]>>) {
  return
}

// expected-error @below {{func.func @elsewhere: argument 0 has type memref<2xf32, 3>}}
func.func @elsewhere(%x: memref<2xf32, 3>) {
  return
}
