// RUN: tcp-opt %s -settle-buffers -canonicalize -split-input-file | FileCheck %s

// Nobody reads the last one any more when the next one is made: it is made there.
// CHECK-LABEL: func.func @made_there(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %{{.*}}: index)
// CHECK:         %[[CARRIED:.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy %[[X]], %[[CARRIED]]
// CHECK-NEXT:    scf.for %{{[^ ]*}} = %{{.*}} {
// CHECK-NEXT:      %[[BETWEEN:.*]] = memref.alloc()
// CHECK-NEXT:      func.call @kernel(%[[CARRIED]], %[[BETWEEN]])
// CHECK-NEXT:      func.call @kernel(%[[BETWEEN]], %[[CARRIED]])
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[CARRIED]]
func.func @made_there(%x: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%last = %x) -> (memref<4xf32>) {
    %between = memref.alloc() : memref<4xf32>
    func.call @kernel(%last, %between) : (memref<4xf32>, memref<4xf32>) -> ()
    %next = memref.alloc() : memref<4xf32>
    func.call @kernel(%between, %next) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %next : memref<4xf32>
  }
  return %r : memref<4xf32>
}

func.func private @kernel(memref<4xf32>, memref<4xf32>)

// -----

// What makes the next one reads the last one: a copy. What is new in front of the loop needs none.
// CHECK-LABEL: func.func @copied(
// CHECK:         %[[CARRIED:.*]] = memref.alloc()
// CHECK-NEXT:    call @fill(%[[CARRIED]])
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      %[[NEXT:.*]] = memref.alloc()
// CHECK-NEXT:      func.call @kernel(%[[CARRIED]], %[[NEXT]])
// CHECK-NEXT:      memref.copy %[[NEXT]], %[[CARRIED]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[CARRIED]]
func.func @copied(%n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.alloc() : memref<4xf32>
  call @fill(%x) : (memref<4xf32>) -> ()
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%last = %x) -> (memref<4xf32>) {
    %next = memref.alloc() : memref<4xf32>
    func.call @kernel(%last, %next) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %next : memref<4xf32>
  }
  return %r : memref<4xf32>
}

func.func private @kernel(memref<4xf32>, memref<4xf32>)
func.func private @fill(memref<4xf32>)

// -----

// A part of a buffer does not lie as what a round makes does, which it would be taken for: a copy.
// CHECK-LABEL: func.func @part(
// CHECK:         %[[BOTH:.*]] = memref.alloc()
// CHECK-NEXT:    call @fill(%[[BOTH]])
// CHECK-NEXT:    %[[PART:.*]] = memref.subview %[[BOTH]][4]
// CHECK:         %[[CARRIED:.*]] = memref.alloc()
// CHECK:         memref.copy %{{.*}}, %[[CARRIED]]
// CHECK:         scf.for %{{[^ ]*}} = %{{.*}} {
// CHECK:           memref.copy %{{.*}}, %[[CARRIED]]
// CHECK-NEXT:    }
func.func @part(%n: index) -> memref<4xf32, strided<[1], offset: ?>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %both = memref.alloc() : memref<8xf32>
  call @fill(%both) : (memref<8xf32>) -> ()
  %part = memref.subview %both[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %x = memref.cast %part : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32, strided<[1], offset: ?>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%last = %x) -> (memref<4xf32, strided<[1], offset: ?>>) {
    %next = memref.alloc() : memref<4xf32>
    func.call @kernel(%last, %next) : (memref<4xf32, strided<[1], offset: ?>>, memref<4xf32>) -> ()
    %handed = memref.cast %next : memref<4xf32> to memref<4xf32, strided<[1], offset: ?>>
    scf.yield %handed : memref<4xf32, strided<[1], offset: ?>>
  }
  return %r : memref<4xf32, strided<[1], offset: ?>>
}

func.func private @kernel(memref<4xf32, strided<[1], offset: ?>>, memref<4xf32>)
func.func private @fill(memref<8xf32>)

// -----

// Two that change places.
// CHECK-LABEL: func.func @swapped(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>, %{{.*}}: index)
// CHECK:         memref.copy %[[X]], %[[P:.*]] : memref
// CHECK:         memref.copy %[[Y]], %[[Q:.*]] : memref
// CHECK:         scf.for
// CHECK:           memref.copy %[[Q]], %[[OLD_Q:.*]] : memref
// CHECK:           memref.copy %[[P]], %[[OLD_P:.*]] : memref
// CHECK-NEXT:      memref.copy %[[OLD_Q]], %[[P]] : memref
// CHECK-NEXT:      memref.copy %[[OLD_P]], %[[Q]] : memref
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[P]], %[[Q]]
func.func @swapped(%x: memref<4xf32>, %y: memref<4xf32>, %n: index) -> (memref<4xf32>, memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %q, %p : memref<4xf32>, memref<4xf32>
  }
  return %r#0, %r#1 : memref<4xf32>, memref<4xf32>
}

// -----

// What lies in front of the loop: a copy of it in each round.
// CHECK-LABEL: func.func @from_outside(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>, %{{.*}}: index)
// CHECK:         memref.copy %[[X]], %[[P:.*]] : memref
// CHECK:         scf.for
// CHECK:           memref.copy %{{.*}}, %[[P]] : memref
// CHECK-NEXT:    }
// CHECK-NEXT:    call @use(%[[Y]])
// CHECK-NEXT:    return %[[P]]
func.func @from_outside(%x: memref<4xf32>, %y: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (memref<4xf32>) {
    scf.yield %y : memref<4xf32>
  }
  call @use(%y) : (memref<4xf32>) -> ()
  return %r : memref<4xf32>
}

func.func private @use(memref<4xf32>)

// -----

// The second one is made as large as the first one is, which stays as large as it was, and is in
// one half of a buffer or the other.
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xf32>
// CHECK:         %[[Q:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK:         %[[BOTH:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?xi8>
// CHECK:         %[[FIRST:.*]] = memref.view %[[BOTH]][%c0]
// CHECK:         memref.copy %[[X]], %[[FIRST]] : memref
// CHECK:         scf.for %[[I:[^ ]*]] = %{{.*}} {
// CHECK-NEXT:      %[[ODD:.*]] = arith.remui %[[I]], %c2
// CHECK-NEXT:      %[[AT:.*]] = arith.muli %[[ODD]], %[[HALF:.*]] : index
// CHECK-NEXT:      %[[P:.*]] = memref.view %[[BOTH]][%[[AT]]]
// CHECK-NEXT:      %[[EVEN:.*]] = arith.subi %c1, %[[ODD]]
// CHECK-NEXT:      %[[OTHER:.*]] = arith.muli %[[EVEN]], %[[HALF]]
// CHECK-NEXT:      %[[NEXT:.*]] = memref.view %[[BOTH]][%[[OTHER]]]
// CHECK-NEXT:      func.call @kernel(%[[P]], %[[Q]], %[[NEXT]])
// CHECK-NEXT:      func.call @kernel(%[[NEXT]], %[[NEXT]], %[[Q]])
// CHECK-NEXT:    }
// CHECK:         return %[[Q]]
func.func @sizes(%x: memref<?xf32>, %m: index, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m1 = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%m1) : memref<?xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (memref<?xf32>, memref<?xf32>) {
    %size = memref.dim %p, %c0 : memref<?xf32>
    %next = memref.alloc(%size) : memref<?xf32>
    func.call @kernel(%p, %q, %next) : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
    %other = memref.alloc(%size) : memref<?xf32>
    func.call @kernel(%next, %next, %other) : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
    scf.yield %next, %other : memref<?xf32>, memref<?xf32>
  }
  return %r#1 : memref<?xf32>
}

func.func private @kernel(memref<?xf32>, memref<?xf32>, memref<?xf32>)

// -----

// Both change places within the outer loop, and are made anew as large as one of them: what one of
// the loops keeps is told by what the other one does.
// CHECK-LABEL: func.func @loops_within_loops(
// CHECK:         scf.for %{{[^ ]*}} = %{{.*}} {
// CHECK:           scf.for %{{[^ ]*}} = %{{.*}} {
// CHECK-NOT:     scf.yield
// CHECK:         return
func.func @loops_within_loops(%x: memref<?xf32>, %n: index) -> (memref<?xf32>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%size) : memref<?xf32>
  call @kernel(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (memref<?xf32>, memref<?xf32>) {
    %s:2 = scf.for %j = %c0 to %i step %c1 iter_args(%a = %q, %b = %p) -> (memref<?xf32>, memref<?xf32>) {
      %b_size = memref.dim %b, %c0 : memref<?xf32>
      // A number of elements that is computed is not below 0.
      %count = arith.maxsi %b_size, %c0 : index
      %next = memref.alloc(%count) : memref<?xf32>
      func.call @kernel(%b, %next) : (memref<?xf32>, memref<?xf32>) -> ()
      scf.yield %next, %a : memref<?xf32>, memref<?xf32>
    }
    scf.yield %s#0, %s#1 : memref<?xf32>, memref<?xf32>
  }
  return %r#0, %r#1 : memref<?xf32>, memref<?xf32>
}

func.func private @kernel(memref<?xf32>, memref<?xf32>)

// -----

// A part is as large as has been asked for, also as one of less dimensions. What the first round finds
// nobody else has use for: it is where that round looks.
// CHECK-LABEL: func.func @parts(
// CHECK-NOT:     memref.copy
// CHECK:         scf.for %{{[^ ]*}} = %{{.*}} {
// CHECK-NOT:     scf.yield
// CHECK:         return
func.func @parts(%x: memref<?x?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %y = memref.alloc(%columns) : memref<?xf32>
  %r = scf.for %i = %c0 to %rows step %c1 iter_args(%last = %y) -> (memref<?xf32>) {
    %row = memref.subview %x[%i, 0] [1, %columns] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    %elements = memref.collapse_shape %row [[0, 1]] : memref<1x?xf32, strided<[?, 1], offset: ?>> into memref<?xf32, strided<[?], offset: ?>>
    %size = memref.dim %elements, %c0 : memref<?xf32, strided<[?], offset: ?>>
    %next = memref.alloc(%size) : memref<?xf32>
    func.call @kernel(%last, %elements, %next) : (memref<?xf32>, memref<?xf32, strided<[?], offset: ?>>, memref<?xf32>) -> ()
    scf.yield %next : memref<?xf32>
  }
  return %r : memref<?xf32>
}

func.func private @kernel(memref<?xf32>, memref<?xf32, strided<[?], offset: ?>>, memref<?xf32>)

// -----

// One that grows stays with those that hand it on.
// CHECK-LABEL: func.func @grows(
// CHECK-NOT:     memref.copy
// CHECK:         scf.yield %{{.*}} : memref<?xf32>
func.func @grows(%x: memref<?xf32>, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (memref<?xf32>) {
    %size = memref.dim %p, %c0 : memref<?xf32>
    %more = arith.addi %size, %c1 : index
    %next = memref.alloc(%more) : memref<?xf32>
    func.call @kernel(%p, %next) : (memref<?xf32>, memref<?xf32>) -> ()
    scf.yield %next : memref<?xf32>
  }
  return %r : memref<?xf32>
}

func.func private @kernel(memref<?xf32>, memref<?xf32>)

// -----

// A condition that copies what it hands on hands it on itself.
// CHECK-LABEL: func.func @while(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>)
// CHECK:         memref.copy %[[X]], %[[CARRIED:.*]] : memref
// CHECK-NEXT:    scf.while : () -> () {
// CHECK-NEXT:      %[[GOES_ON:.*]] = func.call @condition(%[[CARRIED]])
// CHECK-NEXT:      scf.condition(%[[GOES_ON]])
// CHECK:           func.call @kernel(%[[CARRIED]], %[[NEXT:.*]]) : (
// CHECK-NEXT:      memref.copy %[[NEXT]], %[[CARRIED]]
// CHECK:         return %[[CARRIED]]
func.func @while(%x: memref<4xf32>) -> memref<4xf32> {
  %r = scf.while (%p = %x) : (memref<4xf32>) -> (memref<4xf32>) {
    %goes_on = func.call @condition(%p) : (memref<4xf32>) -> i1
    %copy = memref.alloc() : memref<4xf32>
    memref.copy %p, %copy : memref<4xf32> to memref<4xf32>
    scf.condition(%goes_on) %copy : memref<4xf32>
  } do {
  ^bb0(%p: memref<4xf32>):
    %next = memref.alloc() : memref<4xf32>
    func.call @kernel(%p, %next) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %next : memref<4xf32>
  }
  return %r : memref<4xf32>
}

func.func private @kernel(memref<4xf32>, memref<4xf32>)
func.func private @condition(memref<4xf32>) -> i1

// -----

// Its size is told by what it is a view of, and by what a view of a new one has been asked for.
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[X:.*]]: memref<?x4xf32>
// CHECK:         scf.for %{{[^ ]*}} = %{{.*}} {
// CHECK-NOT:       memref.dealloc
// CHECK:           %[[LAST:.*]] = memref.view %[[BOTH:.*]][%{{.*}}][
// CHECK:           %[[NEXT:.*]] = memref.view %[[BOTH]][
// CHECK:           func.call @kernel(%[[LAST]], %[[NEXT]])
// CHECK-NEXT:    }
func.func @views(%x: memref<?x4xf32>, %n: index, %size: index) -> memref<2x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %first = memref.expand_shape %x [[0, 1], [2]] output_shape [2, %size, 4] : memref<?x4xf32> into memref<2x?x4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%last = %first) -> (memref<2x?x4xf32>) {
    %half = memref.dim %last, %c1 : memref<2x?x4xf32>
    %both = arith.muli %half, %c2 : index
    %made = memref.alloc(%both) : memref<?x4xf32>
    func.call @kernel(%last, %made) : (memref<2x?x4xf32>, memref<?x4xf32>) -> ()
    %next = memref.expand_shape %made [[0, 1], [2]] output_shape [2, %half, 4] : memref<?x4xf32> into memref<2x?x4xf32>
    scf.yield %next : memref<2x?x4xf32>
  }
  return %r : memref<2x?x4xf32>
}

func.func private @kernel(memref<2x?x4xf32>, memref<?x4xf32>)

// -----

// Branches: one makes its result there, and the other one copies it.
// CHECK-LABEL: func.func @branches(
// CHECK-SAME:    %[[HOLDS:.*]]: i1, %[[X:.*]]: memref<?xf32>)
// CHECK:         %[[SIZE:.*]] = memref.dim %[[X]]
// CHECK-NEXT:    %[[RESULT:.*]] = memref.alloc(%[[SIZE]])
// CHECK-NEXT:    scf.if %[[HOLDS]] {
// CHECK-NEXT:      func.call @kernel(%[[X]], %[[RESULT]])
// CHECK-NEXT:    } else {
// CHECK-NEXT:      memref.copy %[[X]], %[[RESULT]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[RESULT]]
func.func @branches(%holds: i1, %x: memref<?xf32>) -> memref<?xf32> {
  %r = scf.if %holds -> (memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %size = memref.dim %x, %c0 : memref<?xf32>
    %made = memref.alloc(%size) : memref<?xf32>
    func.call @kernel(%x, %made) : (memref<?xf32>, memref<?xf32>) -> ()
    scf.yield %made : memref<?xf32>
  } else {
    scf.yield %x : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// Of another size in each branch.
// CHECK-LABEL: func.func @branches_of_other_sizes(
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @branches_of_other_sizes(%holds: i1, %x: memref<?xf32>, %y: memref<?xf32>) -> memref<?xf32> {
  %r = scf.if %holds -> (memref<?xf32>) {
    scf.yield %y : memref<?xf32>
  } else {
    func.call @kernel(%x, %x) : (memref<?xf32>, memref<?xf32>) -> ()
    scf.yield %x : memref<?xf32>
  }
  return %r : memref<?xf32>
}

func.func private @kernel(memref<?xf32>, memref<?xf32>)

// -----

// What is made is the result of the last round, in that half where an even or an odd one leaves it.
// CHECK-LABEL: func.func @large(
// CHECK:         %[[BOTH:.*]] = memref.alloc() {{.*}} : memref<32768xi8>
// CHECK:         %[[ODD:.*]] = arith.remui %{{.*}}, %c2
// CHECK:         %[[AT:.*]] = arith.muli %[[ODD]], %c16384
// CHECK:         %[[LAST:.*]] = memref.view %[[BOTH]][%[[AT]]]
// CHECK:         scf.for
// CHECK-NOT:       memref.copy
// CHECK:         return %[[LAST]]
func.func @large(%x: memref<4096xf32>, %n: index) -> memref<4096xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (memref<4096xf32>) {
    %next = memref.alloc() : memref<4096xf32>
    func.call @kernel(%p, %next) : (memref<4096xf32>, memref<4096xf32>) -> ()
    func.call @kernel(%p, %next) : (memref<4096xf32>, memref<4096xf32>) -> ()
    scf.yield %next : memref<4096xf32>
  }
  return %r : memref<4096xf32>
}

func.func private @kernel(memref<4096xf32>, memref<4096xf32>)

// -----

// Branches within branches make what they give in one buffer, also if it has other dimensions there.
// CHECK-LABEL: func.func @reshaped(
// CHECK:         %[[R:.*]] = memref.alloc() {{.*}} : memref<2x6xf32>
// CHECK:         scf.if
// CHECK-NEXT:      %[[MADE:.*]] = memref.expand_shape %[[R]] {{.*}} into memref<2x2x3xf32>
// CHECK-NEXT:      call @kernel(%[[MADE]])
// CHECK:         else
// CHECK:           scf.if
// CHECK-NEXT:        memref.expand_shape %[[R]]
// CHECK:           else
// CHECK-NEXT:        call @other(%[[R]])
// CHECK-NOT:     memref.copy
// CHECK:         return %[[R]]
func.func @reshaped(%this: i1, %that: i1) -> memref<2x6xf32> {
  %r = scf.if %this -> (memref<2x6xf32>) {
    %made = memref.alloc() : memref<2x2x3xf32>
    func.call @kernel(%made) : (memref<2x2x3xf32>) -> ()
    %given = memref.collapse_shape %made [[0], [1, 2]] : memref<2x2x3xf32> into memref<2x6xf32>
    scf.yield %given : memref<2x6xf32>
  } else {
    %s = scf.if %that -> (memref<2x6xf32>) {
      %made = memref.alloc() : memref<2x2x3xf32>
      func.call @kernel(%made) : (memref<2x2x3xf32>) -> ()
      %given = memref.collapse_shape %made [[0], [1, 2]] : memref<2x2x3xf32> into memref<2x6xf32>
      scf.yield %given : memref<2x6xf32>
    } else {
      %made = memref.alloc() : memref<2x6xf32>
      func.call @other(%made) : (memref<2x6xf32>) -> ()
      scf.yield %made : memref<2x6xf32>
    }
    scf.yield %s : memref<2x6xf32>
  }
  return %r : memref<2x6xf32>
}

func.func private @kernel(memref<2x2x3xf32>)

func.func private @other(memref<2x6xf32>)
