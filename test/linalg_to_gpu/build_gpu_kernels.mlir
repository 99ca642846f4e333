// RUN: tcp-opt %s -build-gpu-kernels -canonicalize -cse -split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// A thread for each element, in strides of the whole grid; those beside one another store so too.
// CHECK-LABEL: func.func private @transposed(
// CHECK-DAG:     %[[N:.*]] = arith.constant 1200 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : index
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 5 : index
// CHECK:         gpu.launch blocks(%[[BX:.*]], %{{.*}}, %{{.*}}) in (%[[GX:.*]] = %[[BLOCKS]], {{.*}} threads(%[[TX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[THREADS]],
// CHECK:           %[[BASE:.*]] = arith.muli %[[BX]], %[[THREADS]]
// CHECK:           %[[FIRST:.*]] = arith.addi %[[BASE]], %[[TX]]
// CHECK:           %[[STRIDE:.*]] = arith.muli %[[GX]], %[[THREADS]]
// CHECK:           scf.for %[[I:.*]] = %[[FIRST]] to %[[N]] step %[[STRIDE]]
// CHECK:             %[[COLUMN:.*]] = arith.remui %[[I]], %c40
// CHECK:             %[[ROW:.*]] = arith.divui %[[I]], %c40
// CHECK:             memref.load %{{.*}}[%[[COLUMN]], %[[ROW]]]
// CHECK:             memref.store %{{.*}}, %{{.*}}[%[[ROW]], %[[COLUMN]]]
func.func private @transposed(%x: tensor<40x30xf32>) -> tensor<30x40xf32> attributes {plumbline.group = "transposed"} {
  %e = tensor.empty() : tensor<30x40xf32>
  %0 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<40x30xf32>) outs(%e : tensor<30x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<30x40xf32>
  return %0 : tensor<30x40xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A block for each row. Its warps sum up by exchanging registers, and then by shared memory.
// CHECK-LABEL: func.func private @sum_div(
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 40 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 128 : index
// CHECK:         gpu.launch blocks(%[[BX:.*]], %{{.*}}, %{{.*}}) in (%[[GX:.*]] = %[[ROWS]], {{.*}} threads(%[[TX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[THREADS]],
// CHECK:           %[[SHARED:.*]] = memref.alloca() : memref<4xf32, #gpu.address_space<workgroup>>
// CHECK:           scf.for %[[ROW:.*]] = %[[BX]] to %[[ROWS]] step %[[GX]]
// CHECK:             scf.for %[[COLUMN:.*]] = %[[TX]] to %c100 step %[[THREADS]] iter_args(%{{.*}} = %[[ZERO:.*]]) -> (f32)
// CHECK:               memref.load %{{.*}}[%[[ROW]], %[[COLUMN]]]
// CHECK-COUNT-5:     gpu.shuffle xor
// CHECK:             memref.store %{{.*}}, %[[SHARED]]
// CHECK:             func.call @plumbline_barrier()
// CHECK-COUNT-4:     memref.load %[[SHARED]]
// CHECK:             func.call @plumbline_barrier()
// CHECK:             scf.for %[[COLUMN:.*]] = %[[TX]] to %c100 step %[[THREADS]] {
// CHECK:               arith.divf
func.func private @sum_div(%x: tensor<40x100xf32>) -> tensor<40x100xf32> attributes {plumbline.group = "sum_div"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40xf32>
  %f = tensor.empty() : tensor<40x100xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<40xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<40xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<40x100xf32>) outs(%1 : tensor<40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<40xf32>
  %3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %2 : tensor<40x100xf32>, tensor<40xf32>) outs(%f : tensor<40x100xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  } -> tensor<40x100xf32>
  return %3 : tensor<40x100xf32>
}

// -----

#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>

// The sizes are found before the launch, by which the grid is as large as they are.
// CHECK-LABEL: func.func private @matmul(
// CHECK-SAME:      %[[N:[^:]*]]: index
// CHECK:         %[[COUNT:.*]] = arith.muli %[[N]], %c50
// CHECK:         %[[BLOCKS:.*]] = arith.ceildivui %[[COUNT]], %c256
// CHECK:         %[[LEAST:.*]] = arith.minsi %[[BLOCKS]], %c65536
// CHECK:         %[[GRID:.*]] = arith.maxsi %[[LEAST]], %c1
// CHECK:         gpu.launch {{.*}} = %[[GRID]], {{.*}}
// CHECK:             scf.for %{{.*}} = %c0 to %c40 step %c1 iter_args
// CHECK:               arith.mulf
// CHECK:             memref.store
func.func private @matmul(%x: tensor<?x40xf32>, %n: index, %y: tensor<40x50xf32>) -> tensor<?x50xf32> attributes {plumbline.group = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x50xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x50xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<?x50xf32>
  %1 = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<?x40xf32>, tensor<40x50xf32>) outs(%0 : tensor<?x50xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<?x50xf32>
  return %1 : tensor<?x50xf32>
}
