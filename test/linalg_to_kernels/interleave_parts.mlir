// RUN: tcp-opt %s -interleave-parts | FileCheck %s
// RUN: tcp-opt %s -linalg-to-kernels-pipeline | FileCheck %s --check-prefix=KERNELS

#id = affine_map<(i) -> (i)>
#row = affine_map<(i, j) -> (i, j)>

// The real and the imaginary parts of complex numbers, however many, are chosen by the innermost
// loop. A kernel that computes them reads a pair of each argument, which it is given as a whole, and
// writes a pair.
// CHECK-DAG:   #[[PART:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG:   #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @product(
// CHECK-DAG:     %[[RE:.*]] = tensor.expand_shape {{.*}} into tensor<?x1xf32>
// CHECK-DAG:     %[[IM:.*]] = tensor.expand_shape {{.*}} into tensor<?x1xf32>
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[RE]]
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[SIZE]]) : tensor<?x2xf32>
// CHECK:         %[[PAIRS:.*]] = linalg.generic {indexing_maps = [#[[PART]], #[[PART]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[RE]], %[[IM]] : tensor<?x1xf32>, tensor<?x1xf32>) outs(%[[EMPTY]] : tensor<?x2xf32>)
// CHECK-NEXT:    ^bb0(%[[R:.*]]: f32, %[[I:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[NUMBER:.*]] = linalg.index 1
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0
// CHECK-NEXT:      %[[IS_FIRST:.*]] = arith.cmpi eq, %[[NUMBER]], %[[ZERO]]
// CHECK-NEXT:      %[[CHOSEN:.*]] = arith.select %[[IS_FIRST]], %[[R]], %[[I]]
// CHECK-NEXT:      linalg.yield %[[CHOSEN]]
// CHECK:         return %[[PAIRS]]

// KERNELS-LABEL: func.func @product(
// KERNELS-SAME:      %[[X:.*]]: memref<?x2xf32>, %[[Y:.*]]: memref<?x2xf32>)
// KERNELS:         %[[OUT:.*]] = memref.alloc
// KERNELS-NEXT:    call @mul_sub_add_interleave(%[[X]], %{{.*}}, %[[Y]], %[[OUT]])
// KERNELS-NEXT:    return %[[OUT]]
// KERNELS:       func.func private @mul_sub_add_interleave(%[[A:.*]]: memref<?x2xf32> {{.*}}, %[[N:.*]]: index, %[[B:.*]]: memref<?x2xf32> {{.*}}, %[[TO:.*]]: memref<?x2xf32>
// KERNELS-DAG:     %[[C0:.*]] = arith.constant 0 : index
// KERNELS-DAG:     %[[C1:.*]] = arith.constant 1 : index
// KERNELS:         scf.for %[[AT:.*]] = %[[C0]] to %[[N]] step %[[C1]] {
// KERNELS-NEXT:      %[[AR:.*]] = memref.load %[[A]][%[[AT]], %[[C0]]]
// KERNELS-NEXT:      %[[AI:.*]] = memref.load %[[A]][%[[AT]], %[[C1]]]
// KERNELS-NEXT:      %[[BR:.*]] = memref.load %[[B]][%[[AT]], %[[C0]]]
// KERNELS-NEXT:      %[[BI:.*]] = memref.load %[[B]][%[[AT]], %[[C1]]]
// KERNELS-NEXT:      %[[RR:.*]] = arith.mulf %[[AR]], %[[BR]]
// KERNELS-NEXT:      %[[II:.*]] = arith.mulf %[[AI]], %[[BI]]
// KERNELS-NEXT:      %[[REAL:.*]] = arith.subf %[[RR]], %[[II]]
// KERNELS-NEXT:      %[[RI:.*]] = arith.mulf %[[AR]], %[[BI]]
// KERNELS-NEXT:      %[[IR:.*]] = arith.mulf %[[AI]], %[[BR]]
// KERNELS-NEXT:      %[[IMAGINARY:.*]] = arith.addf %[[RI]], %[[IR]]
// KERNELS-NEXT:      memref.store %[[REAL]], %[[TO]][%[[AT]], %[[C0]]]
// KERNELS-NEXT:      memref.store %[[IMAGINARY]], %[[TO]][%[[AT]], %[[C1]]]
// KERNELS-NEXT:    }
// KERNELS-NEXT:    return
func.func @product(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %xr = tensor.extract_slice %x[0, 0] [%n, 1] [1, 1] : tensor<?x2xf32> to tensor<?x1xf32>
  %a = tensor.collapse_shape %xr [[0, 1]] : tensor<?x1xf32> into tensor<?xf32>
  %xi = tensor.extract_slice %x[0, 1] [%n, 1] [1, 1] : tensor<?x2xf32> to tensor<?x1xf32>
  %b = tensor.collapse_shape %xi [[0, 1]] : tensor<?x1xf32> into tensor<?xf32>
  %yr = tensor.extract_slice %y[0, 0] [%n, 1] [1, 1] : tensor<?x2xf32> to tensor<?x1xf32>
  %c = tensor.collapse_shape %yr [[0, 1]] : tensor<?x1xf32> into tensor<?xf32>
  %yi = tensor.extract_slice %y[0, 1] [%n, 1] [1, 1] : tensor<?x2xf32> to tensor<?x1xf32>
  %d = tensor.collapse_shape %yi [[0, 1]] : tensor<?x1xf32> into tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %real = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b, %c, %d : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%ar: f32, %ai: f32, %br: f32, %bi: f32, %o: f32):
    %p = arith.mulf %ar, %br : f32
    %q = arith.mulf %ai, %bi : f32
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %imaginary = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b, %c, %d : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%ar: f32, %ai: f32, %br: f32, %bi: f32, %o: f32):
    %p = arith.mulf %ar, %bi : f32
    %q = arith.mulf %ai, %br : f32
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %re = tensor.expand_shape %real [[0, 1]] output_shape [%n, 1] : tensor<?xf32> into tensor<?x1xf32>
  %im = tensor.expand_shape %imaginary [[0, 1]] output_shape [%n, 1] : tensor<?xf32> into tensor<?x1xf32>
  %0 = tensor.concat dim(1) %re, %im : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// Three parts, of which one is taken out again. Whoever knows how many elements there are says so.
// CHECK-LABEL: func.func @one_of_three(
// CHECK-SAME:      %[[A:.*]]: tensor<?x1xi64>, %[[B:.*]]: tensor<4x1xi64>, %[[C:.*]]: tensor<4x1xi64>)
// CHECK:         %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]], %[[C]] : tensor<?x1xi64>, tensor<4x1xi64>, tensor<4x1xi64>) outs(%{{.*}} : tensor<4x3xi64>)
// CHECK-COUNT-2:   arith.select
// CHECK:         return %[[ALL]], %[[B]]

// KERNELS-LABEL: func.func private @interleave_kernel(
// KERNELS-COUNT-1: scf.for
// KERNELS-COUNT-3: memref.load
// KERNELS-COUNT-3: memref.store
// KERNELS-NEXT:    }
func.func @one_of_three(%a: tensor<?x1xi64>, %b: tensor<4x1xi64>, %c: tensor<4x1xi64>) -> (tensor<4x3xi64>, tensor<4x1xi64>) {
  %0 = tensor.concat dim(1) %a, %b, %c : (tensor<?x1xi64>, tensor<4x1xi64>, tensor<4x1xi64>) -> tensor<4x3xi64>
  %1 = tensor.extract_slice %0[0, 1] [4, 1] [1, 1] : tensor<4x3xi64> to tensor<4x1xi64>
  return %0, %1 : tensor<4x3xi64>, tensor<4x1xi64>
}

// What is computed of pairs that lie in rows is computed of each part before that.
// CHECK-LABEL: func.func @rounded(
// CHECK:         %[[PAIRS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x3x2xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[PAIRS]] : tensor<4x3x2xf32>) outs(%{{.*}} : tensor<4x3x2xf16>)
// CHECK:           arith.truncf
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<4x3x2xf16> into tensor<4x6xf16>
// CHECK:         return %[[ROWS]]
func.func @rounded(%re: tensor<4x3x1xf32>, %im: tensor<4x3x1xf32>) -> tensor<4x6xf16> {
  %0 = tensor.concat dim(2) %re, %im : (tensor<4x3x1xf32>, tensor<4x3x1xf32>) -> tensor<4x3x2xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<4x3x2xf32> into tensor<4x6xf32>
  %2 = tensor.empty() : tensor<4x6xf16>
  %3 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x6xf32>) outs(%2 : tensor<4x6xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<4x6xf16>
  return %3 : tensor<4x6xf16>
}

// Along another axis, of many parts, of parts that are wider, or of numbers: copied as they were.
// CHECK-LABEL: func.func @copied(
// CHECK-COUNT-4: tensor.concat
// CHECK-NOT:     linalg.generic
func.func @copied(%x: tensor<4x1xf32>, %y: tensor<4x2xf32>, %z: tensor<1xf32>) -> (tensor<8x1xf32>, tensor<4x3xf32>, tensor<4x5xf32>, tensor<2xf32>) {
  %0 = tensor.concat dim(0) %x, %x : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<8x1xf32>
  %1 = tensor.concat dim(1) %x, %y : (tensor<4x1xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  %2 = tensor.concat dim(1) %x, %x, %x, %x, %x : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  %3 = tensor.concat dim(0) %z, %z : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<8x1xf32>, tensor<4x3xf32>, tensor<4x5xf32>, tensor<2xf32>
}

// What puts the parts of one tensor together again is that tensor.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<8x2xf32>
// CHECK:         return %[[X]] : tensor<8x2xf32>
func.func @whole(%x: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %a = tensor.extract_slice %x[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8x1xf32>
  %b = tensor.extract_slice %x[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8x1xf32>
  %c = tensor.concat dim(1) %a, %b : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x2xf32>
  return %c : tensor<8x2xf32>
}

// Not if they are in another order, or of a part of it.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-2: linalg.generic
func.func @others(%x: tensor<8x2xf32>, %y: tensor<8x3xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>) {
  %a = tensor.extract_slice %x[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8x1xf32>
  %b = tensor.extract_slice %x[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8x1xf32>
  %c = tensor.concat dim(1) %b, %a : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x2xf32>
  %d = tensor.extract_slice %y[0, 0] [8, 1] [1, 1] : tensor<8x3xf32> to tensor<8x1xf32>
  %e = tensor.extract_slice %y[0, 1] [8, 1] [1, 1] : tensor<8x3xf32> to tensor<8x1xf32>
  %f = tensor.concat dim(1) %d, %e : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x2xf32>
  return %c, %f : tensor<8x2xf32>, tensor<8x2xf32>
}
