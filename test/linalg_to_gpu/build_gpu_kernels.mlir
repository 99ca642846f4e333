// RUN: tcp-opt %s -build-gpu-kernels -canonicalize -cse -split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// What lies transposed goes through shared memory: it is read along its own lines, and taken from
// there along those of the result. Lines there have one element more, for the sake of banks.
// CHECK-LABEL: func.func private @transposed(
// CHECK-DAG:     %[[SQUARES:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : index
// CHECK:         gpu.launch blocks(%[[BX:.*]], %{{.*}}, %{{.*}}) in (%[[GX:.*]] = %[[SQUARES]], {{.*}} threads(%[[TX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[THREADS]],
// CHECK:           %[[SHARED:.*]] = memref.alloca() : memref<32x33xf32, #gpu.address_space<workgroup>>
// CHECK:           %[[LANE:.*]] = arith.remui %[[TX]], %c32
// CHECK:           %[[LINE:.*]] = arith.divui %[[TX]], %c32
// CHECK:           scf.for %{{.*}} = %[[BX]] to %[[SQUARES]] step %[[GX]]
// CHECK:             scf.for %[[I:.*]] = %[[LINE]] to %c32 step %c8
// CHECK:               %[[X:.*]] = memref.load %{{.*}}[%[[COLUMN:.*]], %[[ROW:.*]]]
// CHECK:               memref.store %[[X]], %[[SHARED]][%[[I]], %[[LANE]]]
// CHECK:             func.call @plumbline_barrier()
// CHECK:             scf.for %[[J:.*]] = %[[LINE]] to %c32 step %c8
// CHECK:               %[[Y:.*]] = memref.load %[[SHARED]][%[[LANE]], %[[J]]]
// CHECK:               %[[R:.*]] = arith.negf %[[Y]]
// CHECK:               memref.store %[[R]], %{{.*}}[
// CHECK:             func.call @plumbline_barrier()
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
#col = affine_map<(d0, d1) -> (d1)>

// A thread has four elements at a time, in strides of the whole grid.
// CHECK-LABEL: func.func private @negated(
// CHECK-DAG:     %[[N:.*]] = arith.constant 300 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : index
// CHECK:         gpu.launch blocks(%[[BX:.*]], %{{.*}}, %{{.*}}) in (%[[GX:.*]] = %c2, {{.*}} threads(%[[TX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[THREADS]],
// CHECK:           %[[BASE:.*]] = arith.muli %[[BX]], %[[THREADS]]
// CHECK:           %[[FIRST:.*]] = arith.addi %[[BASE]], %[[TX]]
// CHECK:           %[[STRIDE:.*]] = arith.muli %[[GX]], %[[THREADS]]
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %[[N]] step %[[STRIDE]]
// CHECK-COUNT-2:     vector.load %{{.*}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-COUNT-4:     arith.subf
// CHECK:             vector.store %{{.*}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
func.func private @negated(%x: tensor<30x40xf32>, %y: tensor<40xf32>) -> tensor<30x40xf32> attributes {plumbline.group = "negated"} {
  %e = tensor.empty() : tensor<30x40xf32>
  %0 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<30x40xf32>, tensor<40xf32>) outs(%e : tensor<30x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %b, %a : f32
    linalg.yield %r : f32
  } -> tensor<30x40xf32>
  return %0 : tensor<30x40xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A block for each row, of which a thread reads and writes two elements at once. Its warps sum up by
// exchanging registers, and then by shared memory.
// CHECK-LABEL: func.func private @sum_div(
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 40 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[RUNS:.*]] = arith.constant 50 : index
// CHECK:         gpu.launch blocks(%[[BX:.*]], %{{.*}}, %{{.*}}) in (%[[GX:.*]] = %[[ROWS]], {{.*}} threads(%[[TX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[THREADS]],
// CHECK:           %[[SHARED:.*]] = memref.alloca() : memref<2xf32, #gpu.address_space<workgroup>>
// CHECK:           scf.for %[[ROW:.*]] = %[[BX]] to %[[ROWS]] step %[[GX]]
// CHECK:             scf.for %[[PLACE:.*]] = %[[TX]] to %[[RUNS]] step %[[THREADS]] iter_args(%{{.*}} = %[[ZERO:.*]]) -> (f32)
// CHECK:               %[[COLUMN:.*]] = arith.muli %[[PLACE]], %c2
// CHECK:               vector.load {{.*}} {alignment = 8 : i64} : {{.*}}, vector<2xf32>
// CHECK-COUNT-5:     gpu.shuffle xor
// CHECK:             memref.store %{{.*}}, %[[SHARED]]
// CHECK:             func.call @plumbline_barrier()
// CHECK-COUNT-2:     memref.load %[[SHARED]]
// CHECK:             func.call @plumbline_barrier()
// CHECK:             scf.for %[[PLACE:.*]] = %[[TX]] to %[[RUNS]] step %[[THREADS]] {
// CHECK-COUNT-2:       arith.divf
// CHECK:               vector.store {{.*}} {alignment = 8 : i64} : {{.*}}, vector<2xf32>
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

// By tiles of 128 rows, or as many as there are, and 64 columns: so many blocks there are. A stage in
// shared memory is copied while the one before is multiplied. The sums go through there as well.
// CHECK-LABEL: func.func private @matmul(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?x40xf32, {{.*}}, %[[N:[^:]*]]: index, %[[Y:[^:]*]]: memref<40x52xf32,
// CHECK:         %[[ROWS:.*]] = arith.ceildivui %[[N]], %c{{.*}} : index
// CHECK:         %[[LEAST:.*]] = arith.minsi %[[ROWS]], %c65536
// CHECK:         %[[GRID:.*]] = arith.maxsi %[[LEAST]], %c1
// CHECK:         gpu.launch {{.*}} = %[[GRID]], {{.*}}
// CHECK:           %[[SHARED:.*]] = memref.alloca() : memref<{{.*}}xi8, #gpu.address_space<workgroup>>
// CHECK-DAG:       %[[LEFT:.*]] = memref.view %[[SHARED]]{{.*}} to memref<4x8x{{.*}}xf32, #gpu.address_space<workgroup>>
// CHECK-DAG:       %[[RIGHT:.*]] = memref.view %[[SHARED]]{{.*}} to memref<4x8x64xf32, #gpu.address_space<workgroup>>
// CHECK:           scf.for
// CHECK:             nvgpu.device_async_copy %{{.*}}, %[[LEFT]][%c0, {{.*}}], 1, %{{.*}}
// CHECK:             nvgpu.device_async_copy %{{.*}}, %[[RIGHT]][%c0, {{.*}}], 4, %{{.*}}
// CHECK:             func.call @plumbline_commit()
// CHECK:             nvgpu.device_async_copy %{{.*}}, %[[RIGHT]][%c1, {{.*}}], 4, %{{.*}}
// CHECK:             func.call @plumbline_commit()
// CHECK:             nvgpu.device_async_copy %{{.*}}, %[[RIGHT]][%c2, {{.*}}], 4, %{{.*}}
// CHECK:             func.call @plumbline_commit()
// The loop has the number of the stage, and the sums.
// CHECK:             %[[SUMS:.*]]:17 = scf.for %[[AT:.*]] = %c0 to %c40 step %c8 iter_args
// Two stages are left on their way, and another one begins when this one has been read.
// CHECK:               func.call @plumbline_wait_for_copies_2()
// CHECK:               func.call @plumbline_barrier()
// CHECK:                 vector.load %[[LEFT]][{{.*}}] {alignment = 16 : i64}
// CHECK:                 vector.load %[[RIGHT]][{{.*}}] {alignment = 16 : i64}
// CHECK-COUNT-64:        vector.fma
// CHECK:               nvgpu.device_async_copy
// CHECK:               func.call @plumbline_commit()
// CHECK:             func.call @plumbline_wait_for_copies_0()
// CHECK:             func.call @plumbline_barrier()
// CHECK:             vector.store %[[SUMS]]#1, %[[STAGED:.*]][
// CHECK:             func.call @plumbline_barrier()
// CHECK:               scf.if
// CHECK:                 vector.load %[[STAGED]][{{.*}}] {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK:                 vector.store {{.*}} {alignment = 16 : i64}
func.func private @matmul(%x: tensor<?x40xf32>, %n: index, %y: tensor<40x52xf32>) -> tensor<?x52xf32> attributes {plumbline.group = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x52xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x52xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<?x52xf32>
  %1 = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<?x40xf32>, tensor<40x52xf32>) outs(%0 : tensor<?x52xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<?x52xf32>
  return %1 : tensor<?x52xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d1, d2)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>

// Half precision goes to tensor cores as it is, though it is widened before it is multiplied. What
// is done to the sums is done in the same kernel.
// CHECK-LABEL: func.func private @half(
// CHECK:         nvgpu.device_async_copy %{{.*}}, %{{.*}}, 8, %{{.*}} {bypassL1} : memref<?xf16, {{.*}}> to memref<2x{{.*}}x72xf16, #gpu.address_space<workgroup>>
// CHECK:         nvgpu.ldmatrix %{{.*}} {numTiles = 4 : i32, transpose = false} : {{.*}} -> vector<4x2xf16>
// CHECK:         nvgpu.mma.sync(%{{.*}}) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
// CHECK:         arith.maximumf
// CHECK:         vector.store {{.*}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
func.func private @half(%x: tensor<40x64xf16>, %y: tensor<48x64xf16>) -> tensor<40x48xf32> attributes {plumbline.group = "half"} {
  %zero = arith.constant 0.0 : f32
  %a = tensor.empty() : tensor<40x64xf32>
  %b = tensor.empty() : tensor<48x64xf32>
  %e = tensor.empty() : tensor<40x48xf32>
  %wide_x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<40x64xf16>) outs(%a : tensor<40x64xf32>) {
  ^bb0(%i: f16, %o: f32):
    %r = arith.extf %i : f16 to f32
    linalg.yield %r : f32
  } -> tensor<40x64xf32>
  %wide_y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<48x64xf16>) outs(%b : tensor<48x64xf32>) {
  ^bb0(%i: f16, %o: f32):
    %r = arith.extf %i : f16 to f32
    linalg.yield %r : f32
  } -> tensor<48x64xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<40x48xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<40x48xf32>
  %1 = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%wide_x, %wide_y : tensor<40x64xf32>, tensor<48x64xf32>) outs(%0 : tensor<40x48xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %m = arith.mulf %i, %j : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<40x48xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<40x48xf32>) outs(%e : tensor<40x48xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = arith.maximumf %i, %zero : f32
    linalg.yield %r : f32
  } -> tensor<40x48xf32>
  return %2 : tensor<40x48xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Few rows of many elements are done in parts: one launch reduces these, and one what they come to.
// CHECK-LABEL: func.func private @few_rows(
// CHECK-SAME:      %[[X:[^:]*]]: memref<2x100000xf32, {{.*}}, %[[Y:[^:]*]]: memref<2xf32, {{.*}}, %[[PARTIALS:[^:]*]]: memref<2x12xf32> {llvm.noalias})
// CHECK:         gpu.launch blocks(%[[BX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c24, {{.*}} threads(%[[TX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c256,
// CHECK:           scf.for
// CHECK:             scf.for %{{.*}} = %[[TX]] to %{{.*}} step %c256 iter_args
// CHECK:               vector.load {{.*}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-COUNT-5:     gpu.shuffle xor
// CHECK:             memref.store %{{.*}}, %[[PARTIALS]][
// CHECK:         gpu.launch {{.*}} in (%{{.*}} = %c2, {{.*}} in (%{{.*}} = %c32,
// CHECK:             memref.load %[[PARTIALS]]
// CHECK-COUNT-5:     gpu.shuffle xor
// CHECK:             arith.divf
// CHECK:             memref.store %{{.*}}, %[[Y]][
func.func private @few_rows(%x: tensor<2x100000xf32>) -> tensor<2xf32> attributes {plumbline.group = "few_rows"} {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 1.0e5 : f32
  %e = tensor.empty() : tensor<2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<2xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<2xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x100000xf32>) outs(%0 : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%1 : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %a, %count : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
func.func @calls(%x: tensor<2x100000xf32>) -> tensor<2xf32> {
  %0 = func.call @few_rows(%x) : (tensor<2x100000xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>

// A result of few tiles, of long sums: blocks do parts of these, and a second launch adds up what
// the parts come to, in their order, and does what follows.
// CHECK-LABEL: func.func private @long_sums(
// CHECK-SAME:      %[[Y:[^:]*]]: memref<32x32xf32, {{.*}}, %[[PARTIALS:[^:]*]]: memref<32x1x32x32xf32> {llvm.noalias})
// CHECK:         gpu.launch blocks(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %c32,
// CHECK:           %[[FIRST:.*]] = arith.muli %{{.*}}, %c64
// CHECK:           scf.for
// CHECK:           vector.store %{{.*}}, %[[PARTIALS]][
// CHECK:         gpu.launch blocks(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %c4,
// CHECK:           %[[SUM:.*]] = scf.for %[[PART:.*]] = %c1 to %c32 step %c1
// CHECK:             memref.load %[[PARTIALS]][%[[PART]],
// CHECK:           %[[R:.*]] = math.absf %[[SUM]]
// CHECK:           memref.store %[[R]], %[[Y]][
func.func private @long_sums(%x: tensor<32x2048xf32>, %y: tensor<2048x32xf32>) -> tensor<32x32xf32> attributes {plumbline.group = "long_sums"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<32x32xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<32x32xf32>
  %1 = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<32x2048xf32>, tensor<2048x32xf32>) outs(%0 : tensor<32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x32xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}
func.func @calls(%x: tensor<32x2048xf32>, %y: tensor<2048x32xf32>) -> tensor<32x32xf32> {
  %0 = func.call @long_sums(%x, %y) : (tensor<32x2048xf32>, tensor<2048x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
