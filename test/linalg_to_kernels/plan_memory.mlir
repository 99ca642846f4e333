// RUN: tcp-opt %s -plan-memory -canonicalize -split-input-file | FileCheck %s

// The third may lie where the first did, which is used no more. The arena tells how well it does, and
// calls what is in use while they run.
// CHECK-LABEL: func.func @chain(
// CHECK:         %[[ARENA:.*]] = memref.alloc() {alignment = 64 : i64, plumbline.memory_plan = {lower_bound = 512 : i64, peak = 512 : i64, sum = 768 : i64}} : memref<512xi8>
// CHECK:         %[[A:.*]] = memref.view %[[ARENA]][%c0][] : memref<512xi8> to memref<64xf32>
// CHECK:         call @kernel(%{{.*}}, %[[A]]) {plumbline.live_bytes = 256 : i64}
// CHECK:         %[[B:.*]] = memref.view %[[ARENA]][%c256][] : memref<512xi8> to memref<8x8xf32>
// CHECK:         call @kernel(%[[A]], %{{.*}}) {plumbline.live_bytes = 512 : i64}
// CHECK:         %[[C:.*]] = memref.view %[[ARENA]][%c0][] : memref<512xi8> to memref<64xf32>
// CHECK:         call @kernel(%{{.*}}, %[[C]]) {plumbline.live_bytes = 512 : i64}
// CHECK:         call @kernel(%[[C]], %{{.*}}) {plumbline.live_bytes = 256 : i64}
// CHECK:         memref.dealloc %[[ARENA]]
// CHECK-NOT:     memref.dealloc
// CHECK:         return %{{.*}} : memref<64xf32>
func.func @chain(%x: memref<64xf32>) -> memref<64xf32> {
  %a = memref.alloc() : memref<64xf32>
  call @kernel(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
  %b = memref.alloc() : memref<8x8xf32>
  %flat = memref.collapse_shape %b [[0, 1]] : memref<8x8xf32> into memref<64xf32>
  call @kernel(%a, %flat) : (memref<64xf32>, memref<64xf32>) -> ()
  %c = memref.alloc() : memref<64xf32>
  call @kernel(%flat, %c) : (memref<64xf32>, memref<64xf32>) -> ()
  %d = memref.alloc() : memref<64xf32>
  call @kernel(%c, %d) : (memref<64xf32>, memref<64xf32>) -> ()
  memref.dealloc %a : memref<64xf32>
  memref.dealloc %b : memref<8x8xf32>
  memref.dealloc %c : memref<64xf32>
  return %d : memref<64xf32>
}

func.func private @kernel(%x: memref<64xf32>, %y: memref<64xf32>) attributes {no_inline}

// -----

// Where a loop is handed a buffer, it may live on: it stays as it is, as does one of an unknown size.
// CHECK-LABEL: func.func @loop(
// CHECK-NOT:     memref.view
func.func @loop(%x: memref<64xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  %d = memref.alloc(%n) : memref<?xf32>
  %one = arith.constant 1.0 : f32
  memref.store %one, %d[%c0] : memref<?xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (memref<64xf32>, memref<64xf32>) {
    memref.store %one, %q[%c0] : memref<64xf32>
    scf.yield %q, %p : memref<64xf32>, memref<64xf32>
  }
  %0 = memref.load %r#0[%c0] : memref<64xf32>
  memref.dealloc %a : memref<64xf32>
  memref.dealloc %b : memref<64xf32>
  memref.dealloc %d : memref<?xf32>
  return %0 : f32
}

// What each round of a loop allocates is there for all rounds, in one arena within that of the function.
// CHECK-LABEL: func.func @rounds(
// CHECK:         %[[ARENA:.*]] = memref.alloc() {alignment = 64 : i64, plumbline.memory_plan = {lower_bound = 768 : i64, peak = 768 : i64, sum = 1024 : i64}} : memref<768xi8>
// CHECK:         %[[OWN:.*]] = memref.view %[[ARENA]][%{{.*}}][] : memref<768xi8> to memref<64xf32>
// CHECK:         %[[INNER:.*]] = memref.view %[[ARENA]][%{{.*}}][] : memref<768xi8> to memref<512xi8>
// CHECK:         scf.for
// CHECK:           %[[A:.*]] = memref.view %[[INNER]][%c0][] : memref<512xi8> to memref<64xf32>
// CHECK:           call @kernel(%[[OWN]], %[[A]]) {plumbline.live_bytes = 768 : i64}
// CHECK:           %[[B:.*]] = memref.view %[[INNER]][%c256][] : memref<512xi8> to memref<64xf32>
// CHECK:           call @kernel(%[[A]], %[[B]])
// CHECK:           %[[C:.*]] = memref.view %[[INNER]][%c0][] : memref<512xi8> to memref<64xf32>
// CHECK:           call @kernel(%[[B]], %[[C]])
// CHECK-NOT:       memref.dealloc
// CHECK:         }
// CHECK:         memref.dealloc %[[ARENA]]
// CHECK-NOT:     memref.dealloc
func.func @rounds(%x: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %own = memref.alloc() : memref<64xf32>
  call @kernel(%x, %own) : (memref<64xf32>, memref<64xf32>) -> ()
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<64xf32>
    func.call @kernel(%own, %a) : (memref<64xf32>, memref<64xf32>) -> ()
    %b = memref.alloc() : memref<64xf32>
    func.call @kernel(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
    %c = memref.alloc() : memref<64xf32>
    func.call @kernel(%b, %c) : (memref<64xf32>, memref<64xf32>) -> ()
    memref.dealloc %a : memref<64xf32>
    memref.dealloc %b : memref<64xf32>
    memref.dealloc %c : memref<64xf32>
  }
  memref.dealloc %own : memref<64xf32>
  return
}

func.func private @kernel(%x: memref<64xf32>, %y: memref<64xf32>) attributes {no_inline}

// -----

// More than any memory has, together: no arena could say its size.
// CHECK-LABEL: func.func @beyond_all_memory(
// CHECK-COUNT-2: memref.alloc() : memref<4611686018427387904xi8>
// CHECK:         return
func.func @beyond_all_memory(%x: i8, %i: index) -> i8 {
  %a = memref.alloc() : memref<4611686018427387904xi8>
  %b = memref.alloc() : memref<4611686018427387904xi8>
  memref.store %x, %a[%i] : memref<4611686018427387904xi8>
  memref.store %x, %b[%i] : memref<4611686018427387904xi8>
  %0 = memref.load %a[%i] : memref<4611686018427387904xi8>
  %1 = memref.load %b[%i] : memref<4611686018427387904xi8>
  %2 = arith.addi %0, %1 : i8
  memref.dealloc %a : memref<4611686018427387904xi8>
  memref.dealloc %b : memref<4611686018427387904xi8>
  return %2 : i8
}

// -----

// What has a row for each of %n is planned for one of them: the third lies where the first did. A size
// may be some times another; what a row has few bytes of stays as it is, for none are left between rows.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:      %{{.*}}: memref<?x64xf32>, %[[N:.*]]: index)
// CHECK:         %[[ARENA:.*]] = memref.alloc(%[[N]]) {alignment = 64 : i64, plumbline.memory_plan = {lower_bound = 512 : i64, peak = 512 : i64, sum = 768 : i64}} : memref<?x512xi8>
// CHECK:         %[[BYTES:.*]] = memref.collapse_shape %[[ARENA]] {{\[\[}}0, 1]] : memref<?x512xi8> into memref<?xi8>
// CHECK:         %[[A:.*]] = memref.view %[[BYTES]][%c0][%[[N]]] : memref<?xi8> to memref<?x64xf32>
// CHECK:         call @kernel(%{{.*}}, %[[A]]) : (
// CHECK:         %[[FOUR:.*]] = affine.apply
// CHECK:         %[[OFFSET:.*]] = arith.muli %[[N]], %c256
// CHECK:         %[[B:.*]] = memref.view %[[BYTES]][%[[OFFSET]]][%[[FOUR]]] : memref<?xi8> to memref<?x16xf32>
// CHECK:         call @other_kernel(%[[A]], %[[B]])
// CHECK:         %[[C:.*]] = memref.view %[[BYTES]][%c0][%[[N]]] : memref<?xi8> to memref<?x64xf32>
// CHECK:         memref.dealloc %[[ARENA]]
// CHECK-COUNT-2: memref.alloc(%[[N]]) : memref<?xf32>
func.func @rows(%x: memref<?x64xf32>, %n: index) {
  %a = memref.alloc(%n) : memref<?x64xf32>
  call @kernel(%x, %a) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
  %four = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%n]
  %b = memref.alloc(%four) : memref<?x16xf32>
  call @other_kernel(%a, %b) : (memref<?x64xf32>, memref<?x16xf32>) -> ()
  %c = memref.alloc(%n) : memref<?x64xf32>
  call @other_kernel(%c, %b) : (memref<?x64xf32>, memref<?x16xf32>) -> ()
  memref.dealloc %a : memref<?x64xf32>
  memref.dealloc %b : memref<?x16xf32>
  memref.dealloc %c : memref<?x64xf32>
  %d = memref.alloc(%n) : memref<?xf32>
  call @few(%d) : (memref<?xf32>) -> ()
  memref.dealloc %d : memref<?xf32>
  %e = memref.alloc(%n) : memref<?xf32>
  call @few(%e) : (memref<?xf32>) -> ()
  memref.dealloc %e : memref<?xf32>
  return
}

// Sizes of other products have arenas of their own, whatever the order of the factors.
// CHECK-LABEL: func.func @products(
// CHECK-SAME:      %[[N:.*]]: index, %[[M:.*]]: index)
// CHECK-DAG:     %[[BOTH:.*]] = arith.muli %[[N]], %[[M]] : index
// CHECK-DAG:     memref.alloc(%[[BOTH]]) {{.*}}peak = 256 : i64{{.*}} : memref<?x256xi8>
// CHECK-DAG:     memref.alloc(%[[N]]) {{.*}}peak = 256 : i64{{.*}} : memref<?x256xi8>
// CHECK-NOT:     memref.alloc
func.func @products(%n: index, %m: index) {
  %a = memref.alloc(%n, %m) : memref<?x?x64xf32>
  call @plane(%a) : (memref<?x?x64xf32>) -> ()
  memref.dealloc %a : memref<?x?x64xf32>
  %b = memref.alloc(%m, %n) : memref<?x?x64xf32>
  call @plane(%b) : (memref<?x?x64xf32>) -> ()
  memref.dealloc %b : memref<?x?x64xf32>
  %c = memref.alloc(%n) : memref<?x64xf32>
  call @kernel(%c, %c) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
  memref.dealloc %c : memref<?x64xf32>
  %d = memref.alloc(%n) : memref<?x64xf32>
  call @kernel(%d, %d) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
  memref.dealloc %d : memref<?x64xf32>
  return
}

// What a loop allocates in each round by the size of a buffer around lies in the arena of the function.
// CHECK-LABEL: func.func @rounds_of_rows(
// CHECK:         memref.alloc(%{{.*}}) {{.*}} : memref<?x{{[0-9]+}}xi8>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for
// CHECK-NOT:     memref.alloc
func.func @rounds_of_rows(%x: memref<?x64xf32>, %rounds: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %own = memref.alloc(%n) : memref<?x64xf32>
  call @kernel(%x, %own) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
  scf.for %i = %c0 to %rounds step %c1 {
    %m = memref.dim %x, %c0 : memref<?x64xf32>
    %a = memref.alloc(%m) : memref<?x64xf32>
    func.call @kernel(%own, %a) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
    %b = memref.alloc(%m) : memref<?x64xf32>
    func.call @kernel(%a, %b) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
    memref.dealloc %a : memref<?x64xf32>
    memref.dealloc %b : memref<?x64xf32>
  }
  memref.dealloc %own : memref<?x64xf32>
  return
}

// Sizes that are computed of each other leave a loop in their order.
// CHECK-LABEL: func.func @rounds_of_planes(
// CHECK:         memref.alloc(
// CHECK:         scf.for
// CHECK-NOT:     memref.alloc
func.func @rounds_of_planes(%x: memref<?x64xf32>, %rounds: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rounds step %c1 {
    %n = memref.dim %x, %c0 : memref<?x64xf32>
    %four = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%n]
    %a = memref.alloc(%four, %n) : memref<?x?x64xf32>
    func.call @plane(%a) : (memref<?x?x64xf32>) -> ()
    memref.dealloc %a : memref<?x?x64xf32>
  }
  return
}

func.func private @kernel(%x: memref<?x64xf32>, %y: memref<?x64xf32>)
func.func private @other_kernel(%x: memref<?x64xf32>, %y: memref<?x16xf32>)
func.func private @plane(%x: memref<?x?x64xf32>)
func.func private @few(%x: memref<?xf32>)
