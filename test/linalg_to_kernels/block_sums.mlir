// RUN: tcp-opt %s -block-sums | FileCheck %s

// What is computed in f32 is added up in f32 for 128 elements, and that in f64.
// CHECK-LABEL: func.func private @powers(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?xf32>, %[[Y:[^:]*]]: memref<?xf32>, %[[N:[^:]*]]: index
// CHECK-DAG:     %[[START:.*]] = arith.constant 1.000000e+00 : f64
// CHECK:         %[[ALL:.*]] = scf.for %[[FIRST:.*]] = %c0 to %[[N]] step %c128{{.*}} iter_args(%[[TOTAL:.*]] = %[[START]]) -> (f64) {
// CHECK:           %[[BEYOND:.*]] = arith.addi %[[FIRST]], %c128
// CHECK:           %[[END:.*]] = arith.minsi %[[BEYOND]], %[[N]]
// CHECK:           %[[NONE:.*]] = arith.constant -0.000000e+00 : f32
// CHECK:           %[[PART:.*]] = scf.for %[[I:.*]] = %[[FIRST]] to %[[END]] step %{{.*}} iter_args(%[[SUM:.*]] = %[[NONE]]) -> (f32) {
// CHECK:             memref.load %[[X]][%[[I]]]
// CHECK:             memref.store %[[TERM:.*]], %[[Y]][%[[I]]]
// CHECK-NEXT:        %[[NEXT:.*]] = arith.addf %[[SUM]], %[[TERM]] fastmath<reassoc,contract> : f32
// CHECK-NEXT:        scf.yield %[[NEXT]] : f32
// CHECK:           %[[WIDE:.*]] = arith.extf %[[PART]] : f32 to f64
// CHECK-NEXT:      arith.addf %[[TOTAL]], %[[WIDE]]
// CHECK:         arith.truncf %[[ALL]]
func.func private @powers(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 1.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = arith.mulf %a, %a : f32
    %c = arith.mulf %b, %a : f32
    %d = arith.mulf %c, %a : f32
    %e = arith.mulf %d, %a : f32
    %f = arith.addf %e, %b : f32
    %g = arith.addf %f, %a : f32
    %h = arith.mulf %g, %a : f32
    memref.store %h, %y[%i] : memref<?xf32>
    %w = arith.extf %h : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  %rounded = arith.truncf %0 : f64 to f32
  return %rounded : f32
}

// Of a plain sum eight elements of a block are added up in pairs of pairs before that is widened, and
// what is left one by one.
// CHECK-LABEL: func.func private @plain(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?xf32>, %[[N:[^:]*]]: index
// CHECK:         %[[LEFT:.*]] = arith.remui %{{.*}}, %c256
// CHECK:         %[[END:.*]] = arith.subi %[[N]], %[[LEFT]]
// CHECK:         %[[MOST:.*]] = scf.for %[[FIRST:.*]] = %c0 to %[[END]] step %c256{{.*}} iter_args(%[[TOTAL:.*]] = %{{.*}}) -> (f64) {
// CHECK:           scf.for %[[AT:.*]] = %{{.*}} to %c32{{.*}} iter_args(%[[SUM:.*]] = %[[TOTAL]]) -> (f64) {
// CHECK-COUNT-8:     memref.load %[[X]]
// CHECK-COUNT-7:     arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:        %[[WIDE:.*]] = arith.extf
// CHECK-NEXT:        arith.addf %[[SUM]], %[[WIDE]] fastmath<reassoc,contract> : f64
// CHECK:         scf.for %{{.*}} = %[[END]] to %[[N]] step %{{.*}} iter_args(%{{.*}} = %[[MOST]]) -> (f64) {
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      arith.addf
// CHECK:         return
func.func private @plain(%x: memref<?xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  %mean = arith.divf %0, %z : f64
  %rounded = arith.truncf %mean : f64 to f32
  return %rounded : f32
}

// What is added to a sum in a buffer in turns is added up first.
// CHECK-LABEL: func.func private @in_turns(
// CHECK:         %[[A:.*]] = memref.load %{{.*}}[%c0, %{{.*}}] : memref<3x?xf32>
// CHECK:         %[[B:.*]] = memref.load %{{.*}}[%c1, %{{.*}}]
// CHECK:         %[[C:.*]] = memref.load %{{.*}}[%c2, %{{.*}}]
// CHECK:         %[[AB:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK:         %[[ABC:.*]] = arith.addf %[[AB]], %[[C]] : f32
// CHECK:         %[[WIDE:.*]] = arith.extf %[[ABC]]
// CHECK-NEXT:    %[[SUM:.*]] = arith.addf %{{.*}}, %[[WIDE]]
// CHECK-NEXT:    memref.store %[[SUM]]
func.func private @in_turns(%x: memref<3x?xf32>, %out: memref<?xf32>, %n: index) {
  %y = memref.alloc(%n) : memref<?xf64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.load %y[%i] : memref<?xf64>
    %a = memref.load %x[%c0, %i] : memref<3x?xf32>
    %aw = arith.extf %a : f32 to f64
    %as = arith.addf %s, %aw fastmath<reassoc,contract> : f64
    %b = memref.load %x[%c1, %i] : memref<3x?xf32>
    %bw = arith.extf %b : f32 to f64
    %bs = arith.addf %as, %bw fastmath<reassoc,contract> : f64
    %c = memref.load %x[%c2, %i] : memref<3x?xf32>
    %cw = arith.extf %c : f32 to f64
    %cs = arith.addf %bs, %cw fastmath<reassoc,contract> : f64
    memref.store %cs, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.load %y[%i] : memref<?xf64>
    %rounded = arith.truncf %s : f64 to f32
    memref.store %rounded, %out[%i] : memref<?xf32>
  }
  memref.dealloc %y : memref<?xf64>
  return
}

// A sum that somebody is given in f64 is added up in that, in whatever loops.
// CHECK-LABEL: func.func private @in_double(
// CHECK-NOT:     -> (f32)
// CHECK-NOT:     arith.addf %{{.*}} : f32
// CHECK:         return
func.func private @in_double(%x: memref<?xf32>, %y: memref<?xf64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = arith.mulf %a, %a : f32
    %c = arith.mulf %b, %a : f32
    %d = arith.mulf %c, %a : f32
    %e = arith.mulf %d, %a : f32
    %f = arith.mulf %e, %a : f32
    %g = arith.mulf %f, %a : f32
    %w = arith.extf %g : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  memref.store %1, %y[%c0] : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.load %y[%i] : memref<?xf64>
    %a = memref.load %x[%c0] : memref<?xf32>
    %aw = arith.extf %a : f32 to f64
    %as = arith.addf %s, %aw fastmath<reassoc,contract> : f64
    %b = memref.load %x[%c1] : memref<?xf32>
    %bw = arith.extf %b : f32 to f64
    %bs = arith.addf %as, %bw fastmath<reassoc,contract> : f64
    memref.store %bs, %y[%i] : memref<?xf64>
  }
  return %0 : f64
}

// A sum that is to be in order stays so, and one of few elements as it is.
// CHECK-LABEL: func.func private @others(
// CHECK-NOT:     -> (f32)
// CHECK-NOT:     arith.addf %{{.*}} : f32
// CHECK:         return
func.func private @others(%x: memref<?xf32>, %n: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %z = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %c200 step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = arith.mulf %a, %a : f32
    %w = arith.extf %b : f32 to f64
    %r = arith.addf %s, %w : f64
    scf.yield %r : f64
  }
  %2 = arith.truncf %0 : f64 to f32
  %3 = arith.truncf %1 : f64 to f32
  return %2, %3 : f32, f32
}

// A function that is not spelled yet is as much as many operations.
// CHECK-LABEL: func.func private @function(
// CHECK:         scf.for {{.*}} step %c128
// CHECK:           scf.for {{.*}} -> (f32) {
// CHECK:             math.exp
func.func private @function(%x: memref<?xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 1.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = math.exp %a : f32
    %w = arith.extf %b : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  %rounded = arith.truncf %0 : f64 to f32
  return %rounded : f32
}

// A sum that another kernel rounds is one of f32 as well.
// CHECK-LABEL: func.func private @handed_on(
// CHECK-COUNT-7: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:         memref.store
func.func private @handed_on(%x: memref<?xf32>, %n: index, %y: memref<f64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  memref.store %0, %y[] : memref<f64>
  return
}

// Squares of how much elements deviate from their mean are of f32, and added up as such. Where these
// are too large for it, or too small, the loop is left as it was.
// CHECK-LABEL: func.func private @deviations(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?xf32>, %[[N:[^:]*]]: index
// CHECK:         %[[MEAN:.*]] = arith.divf
// CHECK:         %[[ROUNDED:.*]] = arith.truncf %[[MEAN]] : f64 to f32
// CHECK:         scf.for {{.*}} step %c256
// CHECK:             memref.load %[[X]]
// CHECK-NEXT:        %[[DEVIATION:.*]] = arith.subf %{{.*}}, %[[ROUNDED]] : f32
// CHECK-NEXT:        arith.mulf %[[DEVIATION]], %[[DEVIATION]] : f32
// CHECK-COUNT-7:     arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:        arith.extf
// CHECK:         %[[SQUARES:.*]] = scf.for {{.*}} step %c1
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant 8.67{{.*}}E-19 : f64
// CHECK-DAG:     %[[INFINITY:.*]] = arith.constant 0x7FF0000000000000 : f64
// CHECK:         %[[ENOUGH:.*]] = arith.cmpf oge, %[[SQUARES]], %[[LEAST]] : f64
// CHECK:         %[[FINITE:.*]] = arith.cmpf olt, %[[SQUARES]], %[[INFINITY]] : f64
// CHECK:         %[[HOLDS:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK:         scf.if %[[HOLDS]] -> (f64) {
// CHECK-NEXT:      scf.yield %[[SQUARES]]
// CHECK-NEXT:    } else {
// CHECK:           arith.subf %{{.*}}, %[[MEAN]] : f64
func.func private @deviations(%x: memref<?xf32>, %n: index, %count: f64) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  %mean = arith.divf %0, %count : f64
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %d = arith.subf %w, %mean : f64
    %q = arith.mulf %d, %d : f64
    %r = arith.addf %s, %q fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  %rounded = arith.truncf %1 : f64 to f32
  return %rounded : f32
}

// Those from any other number, which rounding may move further than they are apart, are not.
// CHECK-LABEL: func.func private @distances(
// CHECK-NOT:     arith.subf {{.*}} : f32
// CHECK:         return
func.func private @distances(%x: memref<?xf32>, %n: index, %from: f64) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %d = arith.subf %w, %from : f64
    %q = arith.mulf %d, %d : f64
    %r = arith.addf %s, %q fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  %rounded = arith.truncf %0 : f64 to f32
  return %rounded : f32
}

// And one that a kernel gives to somebody else as it is is none, be it rounded elsewhere.
// CHECK-LABEL: func.func private @handed_to_two(
// CHECK-NOT:     arith.addf %{{.*}} : f32
// CHECK:         return
func.func private @handed_to_two(%x: memref<?xf32>, %n: index, %y: memref<f64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  memref.store %0, %y[] : memref<f64>
  return
}

func.func private @rounded(%x: memref<f64>, %y: memref<f32>) {
  %0 = memref.load %x[] : memref<f64>
  %1 = arith.truncf %0 : f64 to f32
  memref.store %1, %y[] : memref<f32>
  return
}

func.func private @copied(%x: memref<f64>, %y: memref<f64>) {
  %0 = memref.load %x[] : memref<f64>
  memref.store %0, %y[] : memref<f64>
  return
}

func.func @calls(%x: memref<?xf32>, %n: index, %arena: memref<64xi8>) -> (memref<f32>, memref<f64>) {
  %c0 = arith.constant 0 : index
  %total = memref.view %arena[%c0][] : memref<64xi8> to memref<f64>
  call @handed_on(%x, %n, %total) : (memref<?xf32>, index, memref<f64>) -> ()
  %result = memref.alloc() : memref<f32>
  call @rounded(%total, %result) : (memref<f64>, memref<f32>) -> ()
  %other = memref.alloc() : memref<f64>
  call @handed_to_two(%x, %n, %other) : (memref<?xf32>, index, memref<f64>) -> ()
  call @rounded(%other, %result) : (memref<f64>, memref<f32>) -> ()
  %copy = memref.alloc() : memref<f64>
  call @copied(%other, %copy) : (memref<f64>, memref<f64>) -> ()
  memref.dealloc %other : memref<f64>
  return %result, %copy : memref<f32>, memref<f64>
}
