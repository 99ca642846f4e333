// RUN: tcp-opt %s -build-kernels -canonicalize -cse | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#t = affine_map<(d0, d1) -> (d1, d0)>
#plane = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Rows that are contiguous are done some at once, each step with these innermost. What the sum reads
// is computed before it, and not again for the division.
// CHECK-LABEL: func.func private @softmax_of_columns(
// CHECK-SAME:      %[[X:[^:]*]]: memref<40x100xf32, strided<[?, ?], offset: ?>> {llvm.noalias}, %[[Y:[^:]*]]: memref<40x100xf32, strided<[?, ?], offset: ?>> {llvm.noalias}) attributes {no_inline}
// CHECK-DAG:     %[[EXP:.*]] = memref.alloca() {alignment = 64 : i64} : memref<40x64xf32>
// CHECK-DAG:     %[[SUM:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64xf32>
// CHECK:         scf.for %[[FIRST:.*]] = %c0 to %c100 step %c64
// CHECK:           scf.for %{{.*}} = %c0 to %c40
// CHECK:             scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %c1
// CHECK:               math.exp
// CHECK:               memref.store %{{.*}}, %[[EXP]]
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to
// CHECK:             memref.store %{{.*}}, %[[SUM]]
// CHECK:           scf.for %{{.*}} = %c0 to %c40{{.*}} step %c8
// CHECK:             scf.for %{{.*}} = %[[FIRST]] to
// CHECK:               arith.addf
// CHECK:               memref.store %{{.*}}, %[[SUM]]
// CHECK:           scf.for %{{.*}} = %c0 to %c40
// CHECK-NOT:           math.exp
// CHECK:               arith.divf
// CHECK:               memref.store %{{.*}}, %[[Y]]
func.func private @softmax_of_columns(%x: tensor<40x100xf32>) -> tensor<40x100xf32> attributes {plumbline.group = "softmax_of_columns"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %f = tensor.empty() : tensor<40x100xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<40x100xf32>) outs(%f : tensor<40x100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<40x100xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<100xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<100xf32>
  %4 = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%2 : tensor<40x100xf32>) outs(%3 : tensor<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<100xf32>
  %5 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %4 : tensor<40x100xf32>, tensor<100xf32>) outs(%f : tensor<40x100xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  } -> tensor<40x100xf32>
  return %5 : tensor<40x100xf32>
}

// A row is read once or twice, and what is known of it is a value.
// CHECK-LABEL: func.func private @softmax_of_rows(
// CHECK:         %[[EXP:.*]] = memref.alloca() {alignment = 64 : i64} : memref<100xf32>
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %c40
// CHECK-NEXT:      %[[SUM:.*]] = scf.for %[[AT:.*]] = %c0 to %c100 step %c1 iter_args(
// CHECK:             memref.store %{{.*}}, %[[EXP]][%[[AT]]]
// CHECK:             scf.yield
// CHECK:           scf.for
// CHECK:             memref.load %[[EXP]]
// CHECK:             arith.divf %{{.*}}, %[[SUM]]
func.func private @softmax_of_rows(%x: tensor<40x100xf32>) -> tensor<40x100xf32> attributes {plumbline.group = "softmax_of_rows"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40xf32>
  %f = tensor.empty() : tensor<40x100xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<40x100xf32>) outs(%f : tensor<40x100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<40x100xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<40xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<40xf32>
  %4 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<40x100xf32>) outs(%3 : tensor<40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<40xf32>
  %5 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %4 : tensor<40x100xf32>, tensor<40xf32>) outs(%f : tensor<40x100xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  } -> tensor<40x100xf32>
  return %5 : tensor<40x100xf32>
}

// Rows are contiguous in the result, but what is summed is contiguous within each.
// CHECK-LABEL: func.func private @cast_sum_of_rows(
// CHECK-NOT:     memref.alloca
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %c40 step %c1
// CHECK-NEXT:      %[[SUM:.*]] = scf.for %[[AT:.*]] = %c0 to %c100 step %c1 iter_args(
// CHECK-NEXT:        memref.load %{{.*}}[%[[ROW]], %[[AT]]]
// CHECK:           arith.truncf %[[SUM]]
func.func private @cast_sum_of_rows(%x: tensor<40x100xf32>) -> tensor<40xf32> attributes {plumbline.group = "cast_sum_of_rows"} {
  %zero = arith.constant dense<0.0> : tensor<40xf64>
  %e = tensor.empty() : tensor<40xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<40x100xf32>) outs(%zero : tensor<40xf64>) {
  ^bb0(%a: f32, %o: f64):
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %o, %w : f64
    linalg.yield %r : f64
  } -> tensor<40xf64>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%0 : tensor<40xf64>) outs(%e : tensor<40xf32>) {
  ^bb0(%a: f64, %o: f32):
    %r = arith.truncf %a : f64 to f32
    linalg.yield %r : f32
  } -> tensor<40xf32>
  return %1 : tensor<40xf32>
}

// Planes are contiguous, so that their loops, though short, will be one long one.
// CHECK-LABEL: func.func private @sum_of_planes(
// CHECK-NOT:     memref.alloca
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %c40 step %c1
// CHECK-NEXT:      scf.for %[[I:.*]] = %c0 to %c7 step %c1 iter_args(
// CHECK-NEXT:        scf.for %[[J:.*]] = %c0 to %c7 step %c1 iter_args(
// CHECK-NEXT:          memref.load %{{.*}}[%[[ROW]], %[[I]], %[[J]]]
func.func private @sum_of_planes(%x: tensor<40x7x7xf32>) -> tensor<40xf32> attributes {plumbline.group = "sum_of_planes"} {
  %zero = arith.constant dense<0.0> : tensor<40xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<40x7x7xf32>) outs(%zero : tensor<40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// Both contiguous loops of a transposition run in pieces, of whole lines of what is written. It is
// noted which sizes are the same.
// CHECK-LABEL: func.func private @transposition(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?x?xf32, strided<[?, ?], offset: ?>> {llvm.noalias, plumbline.sizes = array<i64: 0, 1>},
// CHECK-SAME:      %[[N:[^:]*]]: index {plumbline.sizes = array<i64: 1>}, %[[M:[^:]*]]: index {plumbline.sizes = array<i64: 0>},
// CHECK-SAME:      memref<?x?xf32, strided<[?, ?], offset: ?>> {llvm.noalias, plumbline.sizes = array<i64: 1, 0>})
// CHECK:         scf.for %[[I:.*]] = %c0 to %[[N]] step %c64
// CHECK-NEXT:      scf.for %[[J:.*]] = %c0 to %[[M]] step %c256
// CHECK:             scf.for %[[A:.*]] = %[[I]] to
// CHECK-NEXT:          scf.for %[[B:.*]] = %[[J]] to
// CHECK-NEXT:            memref.load %[[X]][%[[B]], %[[A]]]
func.func private @transposition(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> attributes {plumbline.group = "transposition"} {
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Where rows that are transposed are added up first, this is done for some at once, too, along which they
// are contiguous, and the transposition of these runs in pieces: of so many as stay in a cache until then.
// CHECK-LABEL: func.func private @shares_of_columns(
// CHECK-SAME:      %[[X:[^:]*]]: memref<1024x1000xf32, {{[^)]*}}, %[[Y:[^:]*]]: memref<1000x1024xf32, {{[^)]*}}) attributes
// CHECK:         %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64xf32>
// CHECK:         scf.for %[[FIRST:.*]] = %c0 to %c1000 step %c64
// CHECK:           %[[END:.*]] = arith.minsi %{{.*}}, %c1000
// CHECK:           scf.for %{{.*}} = %c0 to %c1024 step %c8
// CHECK:             scf.for %[[AT:.*]] = %[[FIRST]] to %[[END]] step %c1
// CHECK:               memref.load %[[X]][%{{.*}}, %[[AT]]]
// CHECK:               memref.store %{{.*}}, %[[SUMS]]
// CHECK:           scf.for %[[I:.*]] = %[[FIRST]] to %[[END]] step %c64
// CHECK-NEXT:        scf.for %[[J:.*]] = %c0 to %c1024 step %c16
// CHECK:               scf.for %[[A:.*]] = %[[I]] to
// CHECK:                 scf.for %[[B:.*]] = %[[J]] to
// CHECK:                   memref.load %[[X]][%[[B]], %[[A]]]
// CHECK:                   memref.store %{{.*}}, %[[Y]][%[[A]], %[[B]]]
func.func private @shares_of_columns(%x: tensor<1024x1000xf32>, %i: tensor<1000xf32>) -> tensor<1000x1024xf32> attributes {plumbline.group = "shares_of_columns"} {
  %0 = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<1024x1000xf32>) outs(%i : tensor<1000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<1000xf32>
  %e = tensor.empty() : tensor<1000x1024xf32>
  %1 = linalg.generic {indexing_maps = [#t, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %0 : tensor<1024x1000xf32>, tensor<1000xf32>) outs(%e : tensor<1000x1024xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  } -> tensor<1000x1024xf32>
  return %1 : tensor<1000x1024xf32>
}

// The few terms of each of elements whose number is not known are added up without a loop.
// CHECK-LABEL: func.func private @sums_of_four(
// CHECK:         scf.for
// CHECK-NEXT:      scf.for
// CHECK-NOT:         scf.for
// CHECK-COUNT-4:     memref.load
// CHECK-NOT:         memref.load
// CHECK:             memref.store
// CHECK-NOT:         memref.store
// CHECK:         return
func.func private @sums_of_four(%x: tensor<?x?xf32>, %w: tensor<2x2xf32>, %n: index, %m: index) -> tensor<?x?xf32> attributes {plumbline.group = "sums_of_four"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %z = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i * 2 + k, j * 2 + l)>, affine_map<(i, j, k, l) -> (k, l)>, affine_map<(i, j, k, l) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<?x?xf32>, tensor<2x2xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// A sum that contiguous elements are added to in turns is added up in memory, a piece at a time: four
// terms at once, and one by one what is left.
// CHECK-LABEL: func.func private @sum_of_columns(
// CHECK-SAME:      %[[X:[^:]*]]: memref<42x1000xf32
// CHECK:         scf.for %{{.*}} = %c0 to %c1000 step %c512
// CHECK:           scf.for
// CHECK-NEXT:        memref.load
// CHECK-NEXT:        memref.store
// CHECK:           scf.for %{{.*}} = %c0 to %c40 step %c8
// CHECK:             scf.for
// CHECK-COUNT-8:       memref.load %[[X]]
// CHECK-NOT:           memref.load
// CHECK:               memref.store
// CHECK-NOT:           memref.store
// CHECK:           scf.for %{{.*}} = %c40 to %c42 step %c1
// CHECK-NEXT:        scf.for
// CHECK:               memref.load %[[X]]
// CHECK-NOT:           memref.load
// CHECK:               memref.store
func.func private @sum_of_columns(%x: tensor<42x1000xf32>, %i: tensor<1000xf32>) -> tensor<1000xf32> attributes {plumbline.group = "sum_of_columns"} {
  %0 = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<42x1000xf32>) outs(%i : tensor<1000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// Of columns of which a sum is kept alone, as here in f64 until it is rounded, more are done at once than
// where elements are kept (`softmax` above).
// CHECK-LABEL: func.func private @rounded_sum_of_columns(
// CHECK:         %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<256xf64>
// CHECK:         scf.for %{{.*}} = %c0 to %c1000 step %c256
// CHECK:           memref.store %{{.*}}, %[[SUMS]]
// CHECK:           arith.truncf
func.func private @rounded_sum_of_columns(%x: tensor<42x1000xf32>, %i: tensor<1000xf64>) -> tensor<1000xf32> attributes {plumbline.group = "rounded_sum_of_columns"} {
  %0 = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<42x1000xf32>) outs(%i : tensor<1000xf64>) {
  ^bb0(%a: f32, %o: f64):
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %o, %w : f64
    linalg.yield %r : f64
  } -> tensor<1000xf64>
  %e = tensor.empty() : tensor<1000xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%0 : tensor<1000xf64>) outs(%e : tensor<1000xf32>) {
  ^bb0(%a: f64, %o: f32):
    %n = arith.truncf %a : f64 to f32
    linalg.yield %n : f32
  } -> tensor<1000xf32>
  return %1 : tensor<1000xf32>
}

// What reads neighbours along rows does a block of rows after what computes these, and two rows more:
// four at once, which read six rows and not eight, and one by one what is left.
// CHECK-LABEL: func.func private @stencil(
// CHECK:         %[[ROWS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<66x300xf32>
// CHECK:         scf.for %[[FIRST:.*]] = %c0 to %c198 step %c64 {
// CHECK:           %[[BEYOND:.*]] = arith.addi %[[FIRST]], %c66
// CHECK:           %[[END:.*]] = arith.minsi %[[BEYOND]], %c200
// CHECK:           scf.for %[[Y:.*]] = %[[FIRST]] to %[[END]] step %c1 {
// CHECK-NEXT:        scf.for %[[X:.*]] = %c0 to %c300 step %c1 {
// CHECK:               math.exp
// CHECK:               %[[AT:.*]] = arith.subi %[[Y]], %[[FIRST]]
// CHECK:               memref.store %{{.*}}, %[[ROWS]][%[[AT]], %[[X]]]
// CHECK:           %[[LAST:.*]] = arith.addi %[[FIRST]], %c64
// CHECK:           %[[STOP:.*]] = arith.minsi %[[LAST]], %c198
// CHECK:           %[[COUNT:.*]] = arith.subi %[[STOP]], %[[FIRST]]
// CHECK:           %[[REST:.*]] = arith.remui %[[COUNT]], %c4
// CHECK:           %[[WHOLE:.*]] = arith.subi %[[STOP]], %[[REST]]
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %[[WHOLE]] step %c4 {
// CHECK-NEXT:        scf.for %{{.*}} = %c0 to %c300 step %c1 {
// CHECK-COUNT-6:       memref.load %[[ROWS]]
// CHECK-NOT:           memref.load
// CHECK-COUNT-4:       memref.store
// CHECK-NOT:           memref.{{load|store}}
// CHECK:           scf.for %{{.*}} = %[[WHOLE]] to %[[STOP]] step %c1 {
// CHECK-NEXT:        scf.for %{{.*}} = %c0 to %c300 step %c1 {
// CHECK-COUNT-2:       memref.load %[[ROWS]]
// CHECK:               arith.addf
// CHECK-NEXT:          memref.store
// CHECK-NEXT:        }
func.func private @stencil(%x: tensor<200x300xf32>) -> tensor<198x300xf32> attributes {plumbline.group = "stencil"} {
  %e = tensor.empty() : tensor<200x300xf32>
  %f = tensor.empty() : tensor<198x300xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<200x300xf32>) outs(%e : tensor<200x300xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<200x300xf32>
  %first = tensor.extract_slice %0[0, 0] [198, 300] [1, 1] : tensor<200x300xf32> to tensor<198x300xf32>
  %third = tensor.extract_slice %0[2, 0] [198, 300] [1, 1] : tensor<200x300xf32> to tensor<198x300xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%first, %third : tensor<198x300xf32>, tensor<198x300xf32>) outs(%f : tensor<198x300xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<198x300xf32>
  return %1 : tensor<198x300xf32>
}

// Results are new memory of the caller's.
// CHECK-LABEL: func.func @call(
// CHECK:         %[[X:.*]] = bufferization.to_buffer %arg0 read_only
// CHECK:         %[[Y:.*]] = memref.alloc(%arg1, %arg2) {alignment = 64 : i64} : memref<?x?xf32>
// CHECK:         call @transposition(%[[X]], %arg1, %arg2, %{{.*}})
// CHECK:         bufferization.to_tensor %[[Y]] restrict writable
func.func @call(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %0 = call @transposition(%x, %n, %m) : (tensor<?x?xf32>, index, index) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// What is reshaped by way of fewer dimensions is read by those dimensions that have the same size.
// CHECK-LABEL: func.func private @reshaped(
// CHECK-SAME:      %[[X:[^:]*]]: memref<32x8x784xf32
// CHECK:         scf.for %[[C:.*]] = %c0 to %c256
// CHECK:           scf.for %[[H:.*]] = %c0 to %c28
// CHECK:             scf.for %[[W:.*]] = %c0 to %c28
// CHECK-DAG:           %[[A:.*]] = arith.divui %[[C]], %c8
// CHECK-DAG:           %[[B:.*]] = arith.remui %[[C]], %c8
// CHECK-DAG:           %[[LINE:.*]] = arith.muli %[[H]], %c28
// CHECK:               %[[AT:.*]] = arith.addi %[[LINE]], %[[W]]
// CHECK:               memref.load %[[X]][%[[A]], %[[B]], %[[AT]]]
func.func private @reshaped(%x: tensor<32x8x784xf32>) -> tensor<256x28x28xf32> attributes {plumbline.group = "reshaped"} {
  %f = tensor.collapse_shape %x [[0, 1, 2]] : tensor<32x8x784xf32> into tensor<200704xf32>
  %y = tensor.expand_shape %f [[0, 1, 2]] output_shape [256, 28, 28] : tensor<200704xf32> into tensor<256x28x28xf32>
  %e = tensor.empty() : tensor<256x28x28xf32>
  %0 = linalg.generic {indexing_maps = [#plane, #plane], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<256x28x28xf32>) outs(%e : tensor<256x28x28xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.mulf %a, %a : f32
    linalg.yield %r : f32
  } -> tensor<256x28x28xf32>
  return %0 : tensor<256x28x28xf32>
}
