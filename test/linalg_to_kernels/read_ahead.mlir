// RUN: tcp-opt %s -form-fusion-groups -build-kernels -canonicalize -cse | FileCheck %s

// A tile asks for its share of what comes after of a packed right operand, little by little, as it
// goes over its products. That which finishes its sums asks before that for what the next one's epilogue
// reads, and for where its result is written.

#l = affine_map<(m, n, k) -> (m, k)>
#r = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#image = affine_map<(m, n, k, t) -> (k, m + t)>
#weights = affine_map<(m, n, k, t) -> (n, k, t)>
#out = affine_map<(m, n, k, t) -> (m, n)>

// Panels that are packed before the function runs: the next block of elements side by side.
// CHECK-LABEL: func.func private @matmul_kernel
// CHECK-SAME:    (%{{[^ ]*}}: memref<?x?xf32{{[^%]*}}, %[[PANELS:[^:]*]]: memref<?x?x?xf32{{[^%]*}}, %{{[^ ]*}}: memref<?x?xf32{{[^%]*}}, %[[RESULT:[^:]*]]: memref<?x?xf32
// CHECK:         %[[FLAT:.*]] = memref.reinterpret_cast %[[PANELS]]
// CHECK:         %[[OUT:.*]] = memref.reinterpret_cast %[[RESULT]]
// Chunks of rows are alike.
// CHECK:         %[[CHUNKS:.*]] = arith.ceildivui %[[ROWS:.*]], %c252
// CHECK:         %[[NOT_NONE:.*]] = arith.maxui %[[CHUNKS]], %c1
// CHECK:         arith.ceildivui %[[ROWS]], %[[NOT_NONE]]
// CHECK:         %[[IS_FIRST:.*]] = arith.cmpi eq, %[[BLOCK:.*]], %c0
// CHECK:         %[[IS_LAST:.*]] = arith.cmpi eq, %[[BLOCK]],
// CHECK:         %[[FINISHES:.*]] = arith.andi %{{.*}}, %[[IS_LAST]]
// CHECK:         %[[FEW:.*]] = arith.cmpi ult, %{{.*}}, %c4
// CHECK:         %[[SHARE:.*]] = arith.select %[[FEW]], %c0
// CHECK:         scf.if %[[FINISHES]]
// CHECK-COUNT-12:  memref.prefetch %[[OUT]][%{{.*}}], write, locality<3>, data
// CHECK-NOT:     memref.prefetch
// CHECK:         %[[EACH:.*]] = arith.ceildivui %[[SHARE]]
// CHECK-NEXT:    scf.for %[[AT:.*]] = %[[LOWER:.*]] to {{.*}} iter_args
// CHECK-NEXT:      %[[STEP:.*]] = arith.subi %[[AT]], %[[LOWER]]
// CHECK-NEXT:      %[[DONE:.*]] = arith.muli %[[STEP]], %[[EACH]]
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %{{.*}}, %[[DONE]]
// CHECK-NEXT:      memref.prefetch %[[FLAT]][%[[NEXT]]], read, locality<3>, data
// CHECK-NOT:       memref.prefetch
// CHECK:           vector.load %[[FLAT]]
// CHECK:         %[[SUMS:.*]]:12 = scf.if %[[IS_FIRST]]
// CHECK:           scf.yield
// CHECK:         } else {
// CHECK-COUNT-12:  arith.addf
// CHECK:         scf.if %{{.*}} {
// CHECK:           arith.addf %[[SUMS]]#0, %{{.*}}
// CHECK:           vector.store %{{.*}}, %[[OUT]]
// CHECK:         } else {
// CHECK-COUNT-12:  vector.store %[[SUMS]]#
func.func @packed(%x: tensor<60x800xf32>, %w: tensor<800x100xf32> {plumbline.weight = "w"}) -> tensor<60x100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<60x100xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<60x100xf32>) -> tensor<60x100xf32>
  %p = linalg.generic {indexing_maps = [#l, #r, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<60x800xf32>, tensor<800x100xf32>) outs(%z : tensor<60x100xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<60x100xf32>
  return %p : tensor<60x100xf32>
}

// Panels that a kernel copies: as a row is, one further on is asked for, by lines. Masks, which are
// slow with AVX2, are for the last panel. Tiles ask for what is added to the products, by vectors of
// a tile of 4x3, but not the bias, of which one element is read for all of a row. Each row of the
// result may lie in three lines.
// CHECK-LABEL: func.func private @matmul_add
// CHECK-SAME:    (%{{[^ ]*}}: memref<?x?xf32{{[^%]*}}, %[[RIGHT:[^:]*]]: memref<?x?xf32{{[^%]*}}, %{{[^ ]*}}: memref<?x?xf32{{[^%]*}}, %{{[^ ]*}}: memref<?xf32{{[^%]*}}, %[[MORE:[^:]*]]: memref<?x?xf32{{[^%]*}}, %[[RESULT:[^:]*]]: memref<?x?xf32
// CHECK:         %[[FLAT:.*]] = memref.reinterpret_cast %[[RIGHT]]
// CHECK:         %[[OUT:.*]] = memref.reinterpret_cast %[[RESULT]]
// CHECK:         %[[FURTHER:.*]] = arith.muli %[[STRIDE:.*]], %c8 : index
// CHECK:         %[[IS_WHOLE:.*]] = arith.cmpi sge, %{{.*}}, %c24
// CHECK-NEXT:    scf.if %[[IS_WHOLE]] {
// CHECK-NEXT:      scf.for %[[ROW:.*]] = %c0 to
// CHECK-NEXT:        %[[PLACE:.*]] = arith.muli %[[ROW]], %[[STRIDE]]
// CHECK-NEXT:        %[[FIRST:.*]] = arith.addi %{{.*}}, %[[PLACE]]
// CHECK-NEXT:        %[[AHEAD:.*]] = arith.addi %[[FIRST]], %[[FURTHER]]
// CHECK-NEXT:        memref.prefetch %[[FLAT]][%[[AHEAD]]], read, locality<3>, data
// CHECK-COUNT-2:     memref.prefetch %[[FLAT]][%{{.*}}], read, locality<3>, data
// CHECK:             vector.load %[[FLAT]][%[[FIRST]]]
// CHECK-COUNT-2:     vector.load %[[FLAT]]
// CHECK:         } else {
// CHECK-COUNT-3:     vector.maskedload %[[FLAT]]
// CHECK:         %[[ADDED:.*]] = memref.reinterpret_cast %[[MORE]]
// CHECK-COUNT-12: memref.prefetch %[[ADDED]][%{{.*}}], read, locality<3>, data
// CHECK-COUNT-12: memref.prefetch %[[OUT]][%{{.*}}], write, locality<3>, data
// CHECK-NOT:     memref.prefetch
// CHECK:         scf.for {{.*}} iter_args
func.func @copied(%x: tensor<60x80xf32>, %y: tensor<80x240xf32>, %bias: tensor<60xf32>, %more: tensor<60x240xf32>) -> tensor<60x240xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<60x240xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<60x240xf32>) -> tensor<60x240xf32>
  %p = linalg.generic {indexing_maps = [#l, #r, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<60x80xf32>, tensor<80x240xf32>) outs(%z : tensor<60x240xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<60x240xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d0)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %more : tensor<60x240xf32>, tensor<60xf32>, tensor<60x240xf32>) outs(%e : tensor<60x240xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %m = arith.addf %a, %b : f32
    %t = arith.addf %m, %c : f32
    linalg.yield %t : f32
  } -> tensor<60x240xf32>
  return %r : tensor<60x240xf32>
}

// What all rows have in common is near since the tile before: of it nothing is asked for.
// CHECK-LABEL: func.func private @matmul_add_0
// CHECK-NOT:     memref.prefetch %{{.*}}, read
// CHECK-COUNT-12: memref.prefetch %{{.*}}, write, locality<3>, data
// CHECK-NOT:     memref.prefetch %{{.*}}, read
// CHECK:         scf.for {{.*}} iter_args
func.func @added_to_all_rows(%x: tensor<60x80xf32>, %w: tensor<80x100xf32> {plumbline.weight = "w"}, %bias: tensor<100xf32>) -> tensor<60x100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<60x100xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<60x100xf32>) -> tensor<60x100xf32>
  %p = linalg.generic {indexing_maps = [#l, #r, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<60x80xf32>, tensor<80x100xf32>) outs(%z : tensor<60x100xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<60x100xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias : tensor<60x100xf32>, tensor<100xf32>) outs(%e : tensor<60x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<60x100xf32>
  return %r : tensor<60x100xf32>
}

// One that is read in place: as products take a row, one further on is asked for.
// CHECK-LABEL: func.func private @matmul_kernel
// CHECK-SAME:    (%{{[^ ]*}}: memref<?x?xf32{{[^%]*}}, %[[RIGHT:[^:]*]]: memref<?x?xf32
// CHECK:         %[[FLAT:.*]] = memref.reinterpret_cast %[[RIGHT]]
// CHECK:         %[[FURTHER:.*]] = arith.muli %[[STRIDE:.*]], %c8 : index
// CHECK:         scf.for %[[ROW:.*]] = %{{.*}} iter_args
// CHECK:           %[[PLACE:.*]] = arith.muli %[[ROW]], %[[STRIDE]]
// CHECK-NEXT:      %[[FIRST:.*]] = arith.addi %{{.*}}, %[[PLACE]]
// CHECK:           %[[AHEAD:.*]] = arith.addi %[[FIRST]], %[[FURTHER]]
// CHECK-NEXT:      memref.prefetch %[[FLAT]][%[[AHEAD]]], read, locality<3>, data
// CHECK-COUNT-2:   memref.prefetch %[[FLAT]][%{{.*}}], read, locality<3>, data
// CHECK:           vector.load %[[FLAT]][%[[FIRST]]]
func.func @in_place(%x: tensor<8x80xf32>, %y: tensor<80x240xf32>) -> tensor<8x240xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x240xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x240xf32>) -> tensor<8x240xf32>
  %p = linalg.generic {indexing_maps = [#l, #r, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<8x80xf32>, tensor<80x240xf32>) outs(%z : tensor<8x240xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x240xf32>
  return %p : tensor<8x240xf32>
}

// Windows need several rows of a panel for a step of the outermost loop, which asks for several lines.
// CHECK-LABEL: func.func private @conv_kernel
// CHECK-SAME:    (%{{[^ ]*}}: memref<?x?xf32{{[^%]*}}, %[[PANELS:[^:]*]]: memref<?x?x?x?xf32
// CHECK:         %[[FLAT:.*]] = memref.reinterpret_cast %[[PANELS]]
// CHECK-COUNT-12: memref.prefetch %{{.*}}, write, locality<3>, data
// CHECK:         %[[EACH:.*]] = arith.ceildivui
// CHECK-NEXT:    scf.for %{{.*}} iter_args
// CHECK:           scf.for %[[LINE:.*]] = %c0 to %[[EACH]] step %c16 {
// CHECK-NEXT:        %[[PLACE:.*]] = arith.addi %{{.*}}, %[[LINE]]
// CHECK-NEXT:        memref.prefetch %[[FLAT]][%[[PLACE]]], read, locality<3>, data
// CHECK-NEXT:      }
// CHECK:           scf.for %{{.*}} iter_args
// CHECK:             vector.load %[[FLAT]]
func.func @windows(%x: tensor<80x98xf32>, %w: tensor<64x80x3xf32> {plumbline.weight = "v"}) -> tensor<96x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
  %p = linalg.generic {indexing_maps = [#image, #weights, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<80x98xf32>, tensor<64x80x3xf32>) outs(%z : tensor<96x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<96x64xf32>
  return %p : tensor<96x64xf32>
}
