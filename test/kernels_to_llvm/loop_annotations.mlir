// RUN: tcp-opt %s -attach-loop-annotations | FileCheck %s --check-prefixes=CHECK,BRANCH
// RUN: tcp-opt %s -kernels-to-llvm-pipeline | FileCheck %s --check-prefixes=CHECK,LOOP

// What is said of a loop reaches the branch that goes back to its beginning, as LLVM's own property.
// CHECK:       #[[ANNOTATION:.*]] = #llvm.loop_annotation<

// LOOP-LABEL:  llvm.func internal @kernel(
// LOOP:          llvm.br ^{{.*}} {loop_annotation = #[[ANNOTATION]]}
// LOOP-NOT:      llvm.loop_annotation
func.func private @kernel(%x: memref<8xf32> {llvm.noalias}) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %z, %x[%i] : memref<8xf32>
  } {llvm.loop_annotation = #llvm.loop_annotation<vectorize = <width = 16 : i32>>}
  return
}

func.func @zeros() -> memref<8xf32> {
  %0 = memref.alloc() : memref<8xf32>
  call @kernel(%0) : (memref<8xf32>) -> ()
  return %0 : memref<8xf32>
}

// BRANCH-LABEL: llvm.func internal @for_ever()
// BRANCH:         llvm.br ^{{.*}} {loop_annotation = #[[ANNOTATION]]}
llvm.func internal @for_ever() {
  llvm.br ^bb1
^bb1:
  llvm.br ^bb1 {llvm.loop_annotation = #llvm.loop_annotation<vectorize = <width = 16 : i32>>}
}
