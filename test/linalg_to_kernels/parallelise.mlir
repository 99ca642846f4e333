// RUN: tcp-opt %s -parallelise="threads=2" -canonicalize -cse -split-input-file | FileCheck %s
// RUN: tcp-opt %s -parallelise -split-input-file | FileCheck %s --check-prefix=ONE

// One thread needs neither marks nor chunks.
// ONE-NOT: plumbline.parallel
// ONE-NOT: scf.forall
// ONE-NOT: @plumbline_threads

// The buffer that only the loop uses is each chunk's own; that which it reads what was stored into
// before is one for all.

// CHECK-LABEL: func.func private @rows(
// CHECK-SAME:    %[[X:.*]]: memref<4096x512xf32>, %[[Y:.*]]: memref<4096x512xf32>)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[PARTS:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 4096 : index
// CHECK-DAG:     %[[MOST:.*]] = arith.constant 42 : index
// CHECK:         %[[SHARED:.*]] = memref.alloc() : memref<512xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         %[[THREADS:.*]] = call @plumbline_threads(%[[C2]]) : (index) -> index
// CHECK-NEXT:    %[[SHARES:.*]] = arith.minsi %[[THREADS]], %[[MOST]] : index
// CHECK-NEXT:    scf.forall (%[[SHARE:.*]], %[[PIECE:.*]]) in (%[[SHARES]], 4) {
// CHECK-NEXT:      %[[OWN:.*]] = memref.alloc() : memref<512xf32>
// CHECK-NEXT:      %[[VIEW:.*]] = memref.expand_shape %[[OWN]]
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[PIECE]], %[[C1]]
// CHECK-NEXT:      %[[LEFT:.*]] = arith.shrui %[[PARTS]], %[[PIECE]]
// CHECK-NEXT:      %[[NEXT_SHARE:.*]] = arith.addi %[[SHARE]], %[[C1]]
// CHECK-NEXT:      %[[END_OF_SHARE:.*]] = arith.muli %[[NEXT_SHARE]], %[[PARTS]]
// CHECK-NEXT:      %[[DONE:.*]] = arith.subi %[[END_OF_SHARE]], %[[LEFT]]
// CHECK-NEXT:      %[[BEFORE:.*]] = arith.muli %[[DONE]], %[[ROWS]]
// CHECK-NEXT:      %[[ALL_PARTS:.*]] = arith.muli %[[SHARES]], %[[PARTS]]
// CHECK-NEXT:      %[[FIRST:.*]] = arith.divui %[[BEFORE]], %[[ALL_PARTS]]
// CHECK-NEXT:      %[[LEFT:.*]] = arith.shrui %[[PARTS]], %[[NEXT]]
// CHECK-NEXT:      %[[DONE:.*]] = arith.subi %[[END_OF_SHARE]], %[[LEFT]]
// CHECK-NEXT:      %[[AFTER:.*]] = arith.muli %[[DONE]], %[[ROWS]]
// CHECK-NEXT:      %[[END:.*]] = arith.divui %[[AFTER]], %[[ALL_PARTS]]
// CHECK-NEXT:      scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %[[C1]] {
// CHECK:             memref.store %{{.*}}, %[[VIEW]]
// CHECK:             memref.load %[[SHARED]]
// CHECK:           memref.dealloc %[[OWN]]
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc %[[SHARED]]
// CHECK-NEXT:    return
// CHECK-NOT:   plumbline.parallel

// CHECK:       func.func private @plumbline_threads(index) -> index
func.func private @rows(%x: memref<4096x512xf32>, %y: memref<4096x512xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %c4096 = arith.constant 4096 : index
  %one = arith.constant 1.0 : f32
  %shared = memref.alloc() : memref<512xf32>
  %own = memref.alloc() : memref<512xf32>
  %view = memref.expand_shape %own [[0, 1]] output_shape [1, 512] : memref<512xf32> into memref<1x512xf32>
  scf.for %j = %c0 to %c512 step %c1 {
    memref.store %one, %shared[%j] : memref<512xf32>
  }
  scf.for %i = %c0 to %c4096 step %c1 {
    scf.for %j = %c0 to %c512 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<4096x512xf32>
      memref.store %0, %view[%c0, %j] : memref<1x512xf32>
    }
    scf.for %j = %c0 to %c512 step %c1 {
      %0 = memref.load %view[%c0, %j] : memref<1x512xf32>
      %1 = memref.load %shared[%j] : memref<512xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%i, %j] : memref<4096x512xf32>
    }
  } {plumbline.parallel}
  memref.dealloc %own : memref<512xf32>
  memref.dealloc %shared : memref<512xf32>
  return
}

// -----

// What is not marked, what does little and what is in no kernel stays as it is.

// CHECK-LABEL: func.func private @not_marked(
// CHECK-NOT:     scf.forall
// CHECK-LABEL: func.func private @little(
// CHECK-NOT:     scf.forall
// CHECK-LABEL: func.func private @no_kernel(
// CHECK-NOT:     scf.forall
// CHECK-NOT:     plumbline.parallel
func.func private @not_marked(%x: memref<1048576xf32>, %y: memref<f32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1048576 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<1048576xf32>
    memref.store %0, %y[] : memref<f32>
  }
  return
}
func.func private @little(%x: memref<1048576xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 524287 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %one, %x[%i] : memref<1048576xf32>
  } {plumbline.parallel}
  return
}
func.func private @no_kernel(%x: memref<1048576xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1048576 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %one, %x[%i] : memref<1048576xf32>
  } {plumbline.parallel}
  return
}

// -----

// Three iterations are too few for two threads: those of the loop inside are counted through. What
// stands before it is done by each chunk, in a buffer of its own.

// CHECK-LABEL: func.func private @few(
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 125 : index
// CHECK-DAG:     %[[ALL:.*]] = arith.constant 375 : index
// CHECK-DAG:     %[[SIZE:.*]] = arith.constant 1000 : index
// CHECK:         scf.forall
// CHECK-NEXT:      %[[OWN:.*]] = memref.alloca
// CHECK:           %[[BEFORE:.*]] = arith.muli %{{.*}}, %[[ALL]]
// CHECK:           %[[FIRST:.*]] = arith.divui %[[BEFORE]],
// CHECK:           %[[END:.*]] = arith.divui
// CHECK-NEXT:      %[[OUTER_FIRST:.*]] = arith.divui %[[FIRST]], %[[BLOCKS]]
// CHECK-NEXT:      %[[OUTER_END:.*]] = arith.ceildivui %[[END]], %[[BLOCKS]]
// CHECK-NEXT:      scf.for %[[I:.*]] = %[[OUTER_FIRST]] to %[[OUTER_END]] step
// CHECK-NEXT:        memref.load
// CHECK-NEXT:        memref.store %{{.*}}, %[[OWN]]
// CHECK-NEXT:        %[[DONE:.*]] = arith.muli %[[I]], %[[BLOCKS]]
// CHECK-NEXT:        %[[LESS:.*]] = arith.subi %[[FIRST]], %[[DONE]]
// CHECK-NEXT:        %[[INNER_FIRST:.*]] = arith.maxsi %[[LESS]], %[[C0]]
// CHECK-NEXT:        %[[REST:.*]] = arith.subi %[[END]], %[[DONE]]
// CHECK-NEXT:        %[[INNER_END:.*]] = arith.minsi %[[REST]], %[[BLOCKS]]
// CHECK-NEXT:        %[[LOWER:.*]] = arith.muli %[[INNER_FIRST]], %[[C8]]
// CHECK-NEXT:        %[[BEYOND:.*]] = arith.muli %[[INNER_END]], %[[C8]]
// CHECK-NEXT:        %[[UPPER:.*]] = arith.minsi %[[BEYOND]], %[[SIZE]]
// CHECK-NEXT:        scf.for %{{.*}} = %[[LOWER]] to %[[UPPER]] step %[[C8]] {
func.func private @few(%x: memref<3xf32>, %y: memref<3x1000x4000xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c1000 = arith.constant 1000 : index
  %c4000 = arith.constant 4000 : index
  %own = memref.alloca() : memref<1xf32>
  scf.for %i = %c0 to %c3 step %c1 {
    %0 = memref.load %x[%i] : memref<3xf32>
    memref.store %0, %own[%c0] : memref<1xf32>
    scf.for %j = %c0 to %c1000 step %c8 {
      scf.for %k = %c0 to %c4000 step %c1 {
        %1 = memref.load %own[%c0] : memref<1xf32>
        memref.store %1, %y[%i, %j, %k] : memref<3x1000x4000xf32>
      }
    } {plumbline.parallel}
  } {plumbline.parallel}
  return
}

// -----

// Where an iteration is less than is worth a share, what is inside of it is not counted through.

// CHECK-LABEL: func.func private @short(
// CHECK-SAME:    %[[M:[a-z0-9]*]]: index,
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[SIZE:.*]] = arith.constant 131071 : index
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) in (%{{.*}}, 4) {
// CHECK:           arith.muli %{{.*}}, %[[M]] : index
// CHECK:           scf.for
// CHECK-NEXT:        scf.for %{{.*}} = %[[C0]] to %[[SIZE]] step
func.func private @short(%m: index, %x: memref<?x131071xf32>, %y: memref<?x131071xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 131071 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %size step %c1 {
      %0 = memref.load %x[%i, %j] : memref<?x131071xf32>
      memref.store %0, %y[%i, %j] : memref<?x131071xf32>
    } {plumbline.parallel}
  } {plumbline.parallel}
  return
}

// -----

// Nothing inside is counted through where chunks would store to the same memory, or would need all
// that others have stored. Shares of one iteration are one piece.

// CHECK-LABEL: func.func private @shared_before(
// CHECK:         scf.forall (%{{.*}}) in (%{{.*}}) {
// CHECK:           scf.for
// CHECK:             memref.store %{{.*}}, %arg0
// CHECK-NEXT:        scf.for %{{.*}} = %{{.*}} to %{{c1000.*}} step
// CHECK-LABEL: func.func private @needed_after(
// CHECK:         scf.forall
// CHECK:           scf.for
// CHECK-NEXT:        scf.for %{{.*}} = %{{.*}} to %{{c1000000.*}} step
func.func private @shared_before(%x: memref<3xf32>, %y: memref<3x1000000xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c1000000 = arith.constant 1000000 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c3 step %c1 {
    memref.store %one, %x[%i] : memref<3xf32>
    scf.for %j = %c0 to %c1000000 step %c1 {
      memref.store %one, %y[%i, %j] : memref<3x1000000xf32>
    } {plumbline.parallel}
  } {plumbline.parallel}
  return
}
func.func private @needed_after(%x: memref<3xf32>, %y: memref<3x1000000xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c1000000 = arith.constant 1000000 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c1000000 step %c1 {
      memref.store %one, %y[%i, %j] : memref<3x1000000xf32>
    } {plumbline.parallel}
    %0 = memref.load %y[%i, %c3] : memref<3x1000000xf32>
    memref.store %0, %x[%i] : memref<3xf32>
  } {plumbline.parallel}
  return
}

// -----

// Of sizes that are not known, it is found out when the kernel runs whether there is enough to do.

// CHECK-LABEL: func.func private @unknown(
// CHECK-SAME:    %[[M:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index
// CHECK-DAG:     %[[ENOUGH:.*]] = arith.constant 1048576 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK:         %[[ALL:.*]] = arith.muli %[[M]], %[[N]] : index
// CHECK:         %[[ROW:.*]] = arith.muli %[[N]], %[[C8]] : index
// CHECK:         %[[WORK:.*]] = arith.muli %[[M]], %[[ROW]] : index
// CHECK:         %[[WORTH:.*]] = arith.divui %[[WORK]], %[[ENOUGH]] : index
// CHECK:         %[[SOME:.*]] = arith.maxsi %[[WORTH]], %[[C1]] : index
// CHECK:         %[[MOST:.*]] = arith.minsi %[[ALL]], %[[SOME]] : index
// CHECK:         %[[THREADS:.*]] = call @plumbline_threads
// CHECK:         %[[SHARES:.*]] = arith.minsi %[[THREADS]], %[[MOST]] : index
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) in (%[[SHARES]], 4)
func.func private @unknown(%m: index, %n: index, %x: memref<?x?xf32>, %y: memref<?x?xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %0 = memref.load %x[%i, %j] : memref<?x?xf32>
      memref.store %0, %y[%i, %j] : memref<?x?xf32>
    } {plumbline.parallel}
  } {plumbline.parallel}
  return
}

// -----

// Of a kernel that is one nest it is said how deep that is parallel.

// CHECK-LABEL: func.func private @nest(
// CHECK-SAME:    attributes {no_inline} {
// CHECK:         scf.forall
// CHECK:           scf.for
// CHECK-NEXT:        scf.for
// CHECK-NEXT:          %{{.*}} = scf.for
func.func private @nest(%x: memref<64x64x256xf32>, %y: memref<64x64xf32>) attributes {no_inline, plumbline.parallel = 2 : index} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = scf.for %k = %c0 to %c256 step %c1 iter_args(%sum = %zero) -> (f32) {
        %1 = memref.load %x[%i, %j, %k] : memref<64x64x256xf32>
        %2 = arith.addf %sum, %1 : f32
        scf.yield %2 : f32
      }
      memref.store %0, %y[%i, %j] : memref<64x64xf32>
    }
  }
  return
}

// -----

// Of a buffer that two loops use one after the other, without telling each other anything, each chunk
// has a copy.

// CHECK-LABEL: func.func private @scratch(
// CHECK:         %[[REST:.*]] = memref.alloca() : memref<256xf32>
// CHECK:         scf.forall
// CHECK-NEXT:      %[[OWN:.*]] = memref.alloca() : memref<256xf32>
// CHECK:           memref.store %{{.*}}, %[[OWN]]
// CHECK:           memref.load %[[OWN]]
// CHECK:         memref.store %{{.*}}, %[[REST]]
// CHECK:         memref.load %[[REST]]
// ONE-LABEL:   func.func private @scratch(
// ONE-NEXT:      memref.alloca() : memref<256xf32>
func.func private @scratch(%x: memref<4096x256xf32>, %rest: memref<256xf32>) attributes {no_inline} {
  %scratch = memref.alloca() {plumbline.scratch} : memref<256xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %c4096 = arith.constant 4096 : index
  scf.for %i = %c0 to %c4096 step %c1 {
    scf.for %j = %c0 to %c256 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<4096x256xf32>
      memref.store %0, %scratch[%j] : memref<256xf32>
    }
    scf.for %j = %c0 to %c256 step %c1 {
      %0 = memref.load %scratch[%j] : memref<256xf32>
      memref.store %0, %x[%i, %j] : memref<4096x256xf32>
    }
  } {plumbline.parallel}
  scf.for %j = %c0 to %c256 step %c1 {
    %0 = memref.load %rest[%j] : memref<256xf32>
    memref.store %0, %scratch[%j] : memref<256xf32>
    %1 = memref.load %scratch[%j] : memref<256xf32>
    memref.store %1, %rest[%j] : memref<256xf32>
  } {plumbline.parallel}
  return
}

// -----

// What a kernel is given as scratch is there for one thread: each chunk has its own.

// CHECK-LABEL: func.func private @given(
// CHECK-SAME:    %{{.*}}: memref<4096x256xf32>, %[[GIVEN:.*]]: memref<?xf32, strided<[?]>> {llvm.noalias})
// CHECK:         scf.forall
// CHECK-DAG:       %[[SIZE:.*]] = memref.dim %[[GIVEN]]
// CHECK:           %[[OWN:.*]] = memref.alloc(%[[SIZE]]) : memref<?xf32>
// CHECK:           scf.for
// CHECK:             memref.store %{{.*}}, %[[OWN]]
// CHECK:             memref.load %[[OWN]]
// CHECK:           memref.dealloc %[[OWN]]
// CHECK-NEXT:    }
// ONE-LABEL:   func.func private @given(
// ONE-SAME:      %{{.*}}: memref<?xf32, strided<[?]>> {llvm.noalias})
// ONE-NOT:       memref.alloc
func.func private @given(%x: memref<4096x256xf32>, %scratch: memref<?xf32, strided<[?]>> {llvm.noalias, plumbline.scratch}) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %c4096 = arith.constant 4096 : index
  scf.for %i = %c0 to %c4096 step %c1 {
    scf.for %j = %c0 to %c256 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<4096x256xf32>
      memref.store %0, %scratch[%j] : memref<?xf32, strided<[?]>>
    }
    scf.for %j = %c0 to %c256 step %c1 {
      %0 = memref.load %scratch[%j] : memref<?xf32, strided<[?]>>
      memref.store %0, %x[%i, %j] : memref<4096x256xf32>
    }
  } {plumbline.parallel}
  return
}

// -----

// So it is where the loop uses views of it.

// CHECK-LABEL: func.func private @views(
// CHECK-SAME:    %{{.*}}: memref<4096x256xf32>, %[[GIVEN:.*]]: memref<2x128xf32> {llvm.noalias})
// CHECK-NOT:     memref.collapse_shape %[[GIVEN]]
// CHECK:         scf.forall
// CHECK:           %[[OWN:.*]] = memref.alloc() : memref<2x128xf32>
// CHECK:           %[[VIEW:.*]] = memref.collapse_shape %[[OWN]]
// CHECK:             memref.store %{{.*}}, %[[VIEW]]
// CHECK:             memref.load %[[VIEW]]
// CHECK:           memref.dealloc %[[OWN]]
func.func private @views(%x: memref<4096x256xf32>, %scratch: memref<2x128xf32> {llvm.noalias, plumbline.scratch}) attributes {no_inline} {
  %view = memref.collapse_shape %scratch [[0, 1]] : memref<2x128xf32> into memref<256xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %c4096 = arith.constant 4096 : index
  scf.for %i = %c0 to %c4096 step %c1 {
    scf.for %j = %c0 to %c256 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<4096x256xf32>
      memref.store %0, %view[%j] : memref<256xf32>
    }
    scf.for %j = %c0 to %c256 step %c1 {
      %0 = memref.load %view[%j] : memref<256xf32>
      memref.store %0, %x[%i, %j] : memref<4096x256xf32>
    }
  } {plumbline.parallel}
  return
}

// -----

// Of loops that no builder has marked it is found out: each row of a scan is for itself.

// CHECK-LABEL: func.func private @scan(
// CHECK:         scf.forall
// CHECK:           scf.for
// CHECK-NEXT:        scf.for {{.*}} iter_args(
func.func private @scan(%x: memref<4096x512xf32> {llvm.noalias}, %y: memref<4096x512xf32> {llvm.noalias}) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c4096 step %c1 {
    %0 = scf.for %j = %c0 to %c512 step %c1 iter_args(%sum = %zero) -> (f32) {
      %1 = memref.load %x[%i, %j] : memref<4096x512xf32>
      %2 = arith.addf %sum, %1 : f32
      memref.store %2, %y[%i, %j] : memref<4096x512xf32>
      scf.yield %2 : f32
    }
  }
  return
}

// -----

// Not so where both buffers may be one.

// CHECK-LABEL: func.func private @perhaps_one(
// CHECK-NOT:     scf.forall
// CHECK:         return
func.func private @perhaps_one(%x: memref<4096x512xf32> {llvm.noalias}, %y: memref<4096x512xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %c4096 = arith.constant 4096 : index
  scf.for %i = %c0 to %c4096 step %c1 {
    scf.for %j = %c0 to %c512 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<4096x512xf32>
      memref.store %0, %y[%i, %j] : memref<4096x512xf32>
    }
  }
  return
}

// -----

// Nor where each row reads the one before; columns are, but are not outermost.

// CHECK-LABEL: func.func private @rows_before(
// CHECK-NOT:     scf.forall
// CHECK:         return
func.func private @rows_before(%y: memref<4097x512xf32> {llvm.noalias}) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %c4096 = arith.constant 4096 : index
  scf.for %i = %c0 to %c4096 step %c1 {
    %after = arith.addi %i, %c1 : index
    scf.for %j = %c0 to %c512 step %c1 {
      %0 = memref.load %y[%i, %j] : memref<4097x512xf32>
      memref.store %0, %y[%after, %j] : memref<4097x512xf32>
    }
  }
  return
}

// -----

// Nor where the places are data.

// CHECK-LABEL: func.func private @places(
// CHECK-NOT:     scf.forall
// CHECK:         return
func.func private @places(%x: memref<4194304xindex> {llvm.noalias}, %y: memref<512xf32> {llvm.noalias}) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 4194304 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %end step %c1 {
    %0 = memref.load %x[%i] : memref<4194304xindex>
    %1 = memref.load %y[%0] : memref<512xf32>
    %2 = arith.addf %1, %one : f32
    memref.store %2, %y[%0] : memref<512xf32>
  }
  return
}
