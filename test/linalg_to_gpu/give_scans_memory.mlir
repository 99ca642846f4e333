// RUN: tcp-opt %s -give-scans-memory | FileCheck %s

// CHECK-LABEL: func.func @calls(
// CHECK-SAME:      %[[X:.*]]: memref<1x20000xf32>, %[[Y:.*]]: memref<900x20000xf32>)
// CHECK:         %[[MEMORY:.*]] = memref.alloc() : memref<512xf64>
// CHECK-NEXT:    call @long(%[[X]], %{{.*}}, %[[MEMORY]])
// CHECK-NEXT:    memref.dealloc %[[MEMORY]]
// CHECK-NOT:     memref.alloc() : memref<512xf64>
// CHECK:         call @many(%[[Y]], %{{.*}}) :
func.func @calls(%x: memref<1x20000xf32>, %y: memref<900x20000xf32>) {
  %a = memref.alloc() : memref<1x20000xf32>
  %b = memref.alloc() : memref<900x20000xf32>
  call @long(%x, %a) : (memref<1x20000xf32>, memref<1x20000xf32>) -> ()
  call @many(%y, %b) : (memref<900x20000xf32>, memref<900x20000xf32>) -> ()
  return
}

// Few long rows may be scanned in parts.
// CHECK:       func.func private @long(
// CHECK-SAME:      %{{.*}}: memref<512xf64> {llvm.noalias}) attributes {no_inline, plumbline.has_memory}
func.func private @long(%x: memref<1x20000xf32> {llvm.noalias}, %y: memref<1x20000xf32> {llvm.noalias}) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20000 = arith.constant 20000 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %c1 step %c1 {
    %0 = scf.for %j = %c0 to %c20000 step %c1 iter_args(%s = %zero) -> (f64) {
      %1 = memref.load %x[%i, %j] : memref<1x20000xf32>
      %2 = arith.extf %1 : f32 to f64
      %3 = arith.addf %s, %2 : f64
      %4 = arith.truncf %3 : f64 to f32
      memref.store %4, %y[%i, %j] : memref<1x20000xf32>
      scf.yield %3 : f64
    } {plumbline.scan}
  }
  return
}

// Many are a block's each.
// CHECK:       func.func private @many(
// CHECK-NOT:     memref<512xf64>
func.func private @many(%x: memref<900x20000xf32> {llvm.noalias}, %y: memref<900x20000xf32> {llvm.noalias}) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c900 = arith.constant 900 : index
  %c20000 = arith.constant 20000 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %c900 step %c1 {
    %0 = scf.for %j = %c0 to %c20000 step %c1 iter_args(%s = %zero) -> (f64) {
      %1 = memref.load %x[%i, %j] : memref<900x20000xf32>
      %2 = arith.extf %1 : f32 to f64
      %3 = arith.addf %s, %2 : f64
      %4 = arith.truncf %3 : f64 to f32
      memref.store %4, %y[%i, %j] : memref<900x20000xf32>
      scf.yield %3 : f64
    } {plumbline.scan}
  }
  return
}
