// RUN: tcp-opt %s -launch-loops -canonicalize -cse | FileCheck %s

// A block scans a row: within warps by registers, among them by shared memory. Each thread has four
// elements, which it goes through twice.
// CHECK-LABEL: func.func private @scan_rows(
// CHECK:         gpu.launch blocks({{.*}}) in ({{.*}} = %c40, {{.*}}) threads(%[[TX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c256,
// CHECK:           %[[SHARED:.*]] = memref.alloca() : memref<8xf64, #gpu.address_space<workgroup>>
// CHECK:           scf.for %[[ROW:.*]] = %{{.*}} to %c40
// CHECK:             scf.for %{{.*}} = %c0{{.*}} to %c3000 step %c1024{{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}}) -> (f64)
// CHECK:               memref.load %{{.*}}[%[[ROW]],
// CHECK-COUNT-6:       gpu.shuffle up
// CHECK:               memref.store %{{.*}}, %[[SHARED]]
// CHECK:               func.call @plumbline_barrier()
// CHECK-COUNT-8:       memref.load %[[SHARED]]
// CHECK:               func.call @plumbline_barrier()
// CHECK-COUNT-4:       memref.store %{{.*}}, %{{.*}}[%[[ROW]],
func.func private @scan_rows(%x: memref<40x3000xf32>, %y: memref<40x3000xf32> {llvm.noalias}) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %c3000 = arith.constant 3000 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %c40 step %c1 {
    %0 = scf.for %j = %c0 to %c3000 step %c1 iter_args(%s = %zero) -> (f64) {
      %a = memref.load %x[%i, %j] : memref<40x3000xf32>
      %b = arith.extf %a : f32 to f64
      %c = arith.addf %s, %b : f64
      %d = arith.truncf %c : f64 to f32
      memref.store %d, %y[%i, %j] : memref<40x3000xf32>
      scf.yield %c : f64
    } {plumbline.scan}
  }
  return
}

// Threads part the places of what is updated, and go through all updates in order. A column is the
// place of a thread of its own anyway.
// CHECK-LABEL: func.func private @updates(
// CHECK:         gpu.launch
// CHECK:           %[[COLUMN:.*]] = arith.remui %{{.*}}, %c32
// CHECK:           %[[PART:.*]] = arith.divui
// CHECK:           scf.for %[[I:.*]] = %c0{{.*}} to %c500 step %c1
// CHECK:             %[[PLACE:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK:             %[[ROW:.*]] = arith.index_cast %[[PLACE]]
// CHECK:             %[[OWN:.*]] = arith.cmpi eq, %{{.*}}, %[[PART]]
// CHECK:             scf.if %[[OWN]]
// CHECK:               memref.load %{{.*}}[%[[ROW]], %[[COLUMN]]]
// CHECK:               memref.store %{{.*}}, %{{.*}}[%[[ROW]], %[[COLUMN]]]
func.func private @updates(%x: memref<500x32xf32>, %places: memref<500xi64>, %y: memref<100x32xf32> {llvm.noalias}) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c500 = arith.constant 500 : index
  scf.for %i = %c0 to %c500 step %c1 {
    scf.for %j = %c0 to %c32 step %c1 {
      %p = memref.load %places[%i] : memref<500xi64>
      %row = arith.index_cast %p : i64 to index
      %a = memref.load %x[%i, %j] : memref<500x32xf32>
      %b = memref.load %y[%row, %j] : memref<100x32xf32>
      %c = arith.addf %b, %a : f32
      memref.store %c, %y[%row, %j] : memref<100x32xf32>
    }
  }
  return
}
