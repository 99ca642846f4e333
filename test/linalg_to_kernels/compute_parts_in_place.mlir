// RUN: tcp-opt %s -split-input-file -compute-parts-in-place | FileCheck %s

#any = strided<[?, ?, ?], offset: ?>

// Both parts of a concatenation are computed where they are to lie. Of the whole a kernel is told
// what it is faster for to know, not where its part begins.
// CHECK-LABEL: func.func @concatenation(
// CHECK-SAME:      %[[X:.*]]: memref<2x4x8xf32>)
// CHECK:         %[[WHOLE:.*]] = memref.alloc() : memref<2x12x8xf32>
// CHECK:         %[[FIRST:.*]] = memref.subview %[[WHOLE]][0, 0, 0] [2, 4, 8]
// CHECK:         %[[FIRST_THERE:.*]] = memref.cast %[[FIRST]] : {{.*}} to memref<2x4x8xf32, strided<[?, 8, 1], offset: ?>>
// CHECK:         %[[FIRST_ANYWHERE:.*]] = memref.cast %[[FIRST_THERE]] : {{.*}} to memref<2x4x8xf32, strided<[?, ?, ?], offset: ?>>
// CHECK:         call @kernel(%{{.*}}, %[[FIRST_ANYWHERE]])
// CHECK:         %[[SECOND:.*]] = memref.subview %[[WHOLE]][0, 4, 0] [2, 4, 8]
// CHECK:         %[[SECOND_THERE:.*]] = memref.cast %[[SECOND]]
// CHECK:         %[[SECOND_ANYWHERE:.*]] = memref.cast %[[SECOND_THERE]]
// CHECK:         call @kernel(%[[FIRST_ANYWHERE]], %[[SECOND_ANYWHERE]])
// CHECK-NOT:     memref.copy %alloc
// CHECK:         %[[THIRD:.*]] = memref.subview %[[WHOLE]][0, 8, 0] [2, 4, 8]
// An argument has to be copied.
// CHECK:         memref.copy %[[X]], %[[THIRD]]
// CHECK-NOT:     memref.copy
// CHECK-NOT:     memref.dealloc
// CHECK:         return %[[WHOLE]]
func.func @concatenation(%x: memref<2x4x8xf32>) -> memref<2x12x8xf32> {
  %any = memref.cast %x : memref<2x4x8xf32> to memref<2x4x8xf32, #any>
  %a = memref.alloc() : memref<2x4x8xf32>
  %a_any = memref.cast %a : memref<2x4x8xf32> to memref<2x4x8xf32, #any>
  call @kernel(%any, %a_any) : (memref<2x4x8xf32, #any>, memref<2x4x8xf32, #any>) -> ()
  %b = memref.alloc() : memref<2x4x8xf32>
  %b_any = memref.cast %b : memref<2x4x8xf32> to memref<2x4x8xf32, #any>
  call @kernel(%a_any, %b_any) : (memref<2x4x8xf32, #any>, memref<2x4x8xf32, #any>) -> ()
  %whole = memref.alloc() : memref<2x12x8xf32>
  %first = memref.subview %whole[0, 0, 0] [2, 4, 8] [1, 1, 1] : memref<2x12x8xf32> to memref<2x4x8xf32, strided<[96, 8, 1]>>
  memref.copy %a, %first : memref<2x4x8xf32> to memref<2x4x8xf32, strided<[96, 8, 1]>>
  %second = memref.subview %whole[0, 4, 0] [2, 4, 8] [1, 1, 1] : memref<2x12x8xf32> to memref<2x4x8xf32, strided<[96, 8, 1], offset: 32>>
  memref.copy %b, %second : memref<2x4x8xf32> to memref<2x4x8xf32, strided<[96, 8, 1], offset: 32>>
  %third = memref.subview %whole[0, 8, 0] [2, 4, 8] [1, 1, 1] : memref<2x12x8xf32> to memref<2x4x8xf32, strided<[96, 8, 1], offset: 64>>
  memref.copy %x, %third : memref<2x4x8xf32> to memref<2x4x8xf32, strided<[96, 8, 1], offset: 64>>
  memref.dealloc %a : memref<2x4x8xf32>
  memref.dealloc %b : memref<2x4x8xf32>
  return %whole : memref<2x12x8xf32>
}
func.func private @kernel(%0: memref<2x4x8xf32, #any>, %1: memref<2x4x8xf32, #any>) attributes {no_inline} {
  return
}

// -----

#any = strided<[?, ?, ?], offset: ?>

// A kernel whose result has to be contiguous, or contiguous from some axis on.
// CHECK-LABEL: func.func @contiguous(
// CHECK:         call @from_the_first
// CHECK:         memref.copy
// CHECK:         call @from_the_second
// CHECK-NOT:     memref.copy
// CHECK:         return
// CHECK:       func.func private @from_the_first(
// CHECK-NOT:     plumbline.contiguous
func.func @contiguous(%x: memref<2x4x8xf32, #any>) -> memref<2x8x8xf32> {
  %a = memref.alloc() : memref<2x4x8xf32>
  %a_any = memref.cast %a : memref<2x4x8xf32> to memref<2x4x8xf32, #any>
  %whole = memref.alloc() : memref<2x8x8xf32>
  call @from_the_first(%x, %a_any) : (memref<2x4x8xf32, #any>, memref<2x4x8xf32, #any>) -> ()
  %first = memref.subview %whole[0, 0, 0] [2, 4, 8] [1, 1, 1] : memref<2x8x8xf32> to memref<2x4x8xf32, strided<[64, 8, 1]>>
  memref.copy %a, %first : memref<2x4x8xf32> to memref<2x4x8xf32, strided<[64, 8, 1]>>
  %b = memref.alloc() : memref<2x4x8xf32>
  %b_any = memref.cast %b : memref<2x4x8xf32> to memref<2x4x8xf32, #any>
  call @from_the_second(%x, %b_any) : (memref<2x4x8xf32, #any>, memref<2x4x8xf32, #any>) -> ()
  %second = memref.subview %whole[0, 4, 0] [2, 4, 8] [1, 1, 1] : memref<2x8x8xf32> to memref<2x4x8xf32, strided<[64, 8, 1], offset: 32>>
  memref.copy %b, %second : memref<2x4x8xf32> to memref<2x4x8xf32, strided<[64, 8, 1], offset: 32>>
  return %whole : memref<2x8x8xf32>
}
func.func private @from_the_first(%0: memref<2x4x8xf32, #any>, %1: memref<2x4x8xf32, #any>) attributes {no_inline, plumbline.contiguous = array<i64: 0, 0>} {
  return
}
func.func private @from_the_second(%0: memref<2x4x8xf32, #any>, %1: memref<2x4x8xf32, #any>) attributes {no_inline, plumbline.contiguous = array<i64: 0, 1>} {
  return
}

// -----

#any = strided<[?, ?, ?], offset: ?>

// How far apart the rows are of a buffer of any size is not known, be the part as wide or not.
// CHECK-LABEL: func.func @of_any_size(
// CHECK:         call @from_the_second
// CHECK:         memref.copy
// CHECK:         call @from_the_third
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @of_any_size(%x: memref<2x4x?xf32, #any>, %size: index, %sum: index) -> memref<2x4x?xf32> {
  %a = memref.alloc(%size) : memref<2x4x?xf32>
  %a_any = memref.cast %a : memref<2x4x?xf32> to memref<2x4x?xf32, #any>
  call @from_the_second(%x, %a_any) : (memref<2x4x?xf32, #any>, memref<2x4x?xf32, #any>) -> ()
  %whole = memref.alloc(%sum) : memref<2x4x?xf32>
  %first = memref.subview %whole[0, 0, 0] [2, 4, %size] [1, 1, 1] : memref<2x4x?xf32> to memref<2x4x?xf32, strided<[?, ?, 1]>>
  memref.copy %a, %first : memref<2x4x?xf32> to memref<2x4x?xf32, strided<[?, ?, 1]>>
  %b = memref.alloc(%size) : memref<2x4x?xf32>
  %b_any = memref.cast %b : memref<2x4x?xf32> to memref<2x4x?xf32, #any>
  call @from_the_third(%x, %b_any) : (memref<2x4x?xf32, #any>, memref<2x4x?xf32, #any>) -> ()
  %second = memref.subview %whole[0, 0, %size] [2, 4, %size] [1, 1, 1] : memref<2x4x?xf32> to memref<2x4x?xf32, strided<[?, ?, 1], offset: ?>>
  memref.copy %b, %second : memref<2x4x?xf32> to memref<2x4x?xf32, strided<[?, ?, 1], offset: ?>>
  return %whole : memref<2x4x?xf32>
}
func.func private @from_the_second(%0: memref<2x4x?xf32, #any>, %1: memref<2x4x?xf32, #any>) attributes {no_inline, plumbline.contiguous = array<i64: 0, 1>} {
  return
}
func.func private @from_the_third(%0: memref<2x4x?xf32, #any>, %1: memref<2x4x?xf32, #any>) attributes {no_inline, plumbline.contiguous = array<i64: 0, 2>} {
  return
}

// -----

#any = strided<[?, ?], offset: ?>

// What is written where the part is to lie, between its computation and the copy; what is read
// afterwards; rows of few elements.
// CHECK-LABEL: func.func @copied(
// CHECK:         memref.copy
// CHECK:         memref.copy
// CHECK:         memref.copy
// CHECK-NOT:     memref.copy
func.func @copied(%x: memref<4x64xf32, #any>, %column: memref<64x1xf32, strided<[?, ?], offset: ?>>) -> (memref<8x64xf32>, memref<8x64xf32>, memref<4x64xf32>, memref<64x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x64xf32>
  %a_any = memref.cast %a : memref<4x64xf32> to memref<4x64xf32, #any>
  call @kernel(%x, %a_any) : (memref<4x64xf32, #any>, memref<4x64xf32, #any>) -> ()
  %zeros = memref.alloc() : memref<8x64xf32>
  linalg.fill ins(%zero : f32) outs(%zeros : memref<8x64xf32>)
  %part = memref.subview %zeros[2, 0] [4, 64] [1, 1] : memref<8x64xf32> to memref<4x64xf32, strided<[64, 1], offset: 128>>
  memref.copy %a, %part : memref<4x64xf32> to memref<4x64xf32, strided<[64, 1], offset: 128>>

  %b = memref.alloc() : memref<4x64xf32>
  %b_any = memref.cast %b : memref<4x64xf32> to memref<4x64xf32, #any>
  call @kernel(%x, %b_any) : (memref<4x64xf32, #any>, memref<4x64xf32, #any>) -> ()
  %whole = memref.alloc() : memref<8x64xf32>
  %first = memref.subview %whole[0, 0] [4, 64] [1, 1] : memref<8x64xf32> to memref<4x64xf32, strided<[64, 1]>>
  memref.copy %b, %first : memref<4x64xf32> to memref<4x64xf32, strided<[64, 1]>>

  %c = memref.alloc() : memref<64x1xf32>
  %c_any = memref.cast %c : memref<64x1xf32> to memref<64x1xf32, strided<[?, ?], offset: ?>>
  call @column_kernel(%column, %c_any) : (memref<64x1xf32, strided<[?, ?], offset: ?>>, memref<64x1xf32, strided<[?, ?], offset: ?>>) -> ()
  %columns = memref.alloc() : memref<64x3xf32>
  %second = memref.subview %columns[0, 1] [64, 1] [1, 1] : memref<64x3xf32> to memref<64x1xf32, strided<[3, 1], offset: 1>>
  memref.copy %c, %second : memref<64x1xf32> to memref<64x1xf32, strided<[3, 1], offset: 1>>
  return %zeros, %whole, %b, %columns : memref<8x64xf32>, memref<8x64xf32>, memref<4x64xf32>, memref<64x3xf32>
}
func.func private @kernel(%0: memref<4x64xf32, #any>, %1: memref<4x64xf32, #any>) attributes {no_inline} {
  return
}
func.func private @column_kernel(%0: memref<64x1xf32, strided<[?, ?], offset: ?>>, %1: memref<64x1xf32, strided<[?, ?], offset: ?>>) attributes {no_inline} {
  return
}

// -----

#any = strided<[?, ?], offset: ?>

// What is used besides a part that is clear of it: all of the buffer, by another shape.
// CHECK-LABEL: func.func @reshaped(
// CHECK:         memref.copy
// CHECK:         return
func.func @reshaped(%x: memref<4x64xf32, #any>) -> memref<8x64xf32> {
  %a = memref.alloc() : memref<4x64xf32>
  %a_any = memref.cast %a : memref<4x64xf32> to memref<4x64xf32, #any>
  call @kernel(%x, %a_any) : (memref<4x64xf32, #any>, memref<4x64xf32, #any>) -> ()
  %whole = memref.alloc() : memref<8x64xf32>
  %first = memref.subview %whole[0, 0] [4, 64] [1, 1] : memref<8x64xf32> to memref<4x64xf32, strided<[64, 1]>>
  %first_any = memref.cast %first : memref<4x64xf32, strided<[64, 1]>> to memref<4x64xf32, #any>
  %flat = memref.collapse_shape %whole [[0, 1]] : memref<8x64xf32> into memref<512xf32>
  %flat_any = memref.cast %flat : memref<512xf32> to memref<512xf32, strided<[?], offset: ?>>
  call @both(%first_any, %flat_any) : (memref<4x64xf32, #any>, memref<512xf32, strided<[?], offset: ?>>) -> ()
  %second = memref.subview %whole[4, 0] [4, 64] [1, 1] : memref<8x64xf32> to memref<4x64xf32, strided<[64, 1], offset: 256>>
  memref.copy %a, %second : memref<4x64xf32> to memref<4x64xf32, strided<[64, 1], offset: 256>>
  return %whole : memref<8x64xf32>
}
func.func private @kernel(%0: memref<4x64xf32, #any>, %1: memref<4x64xf32, #any>) attributes {no_inline} {
  return
}
func.func private @both(%0: memref<4x64xf32, #any>, %1: memref<512xf32, strided<[?], offset: ?>>) attributes {no_inline} {
  return
}

// -----

#any = strided<[?, 1], offset: ?>

// A part of a size that is not known, after one of which it is known where that ends.
// CHECK-LABEL: func.func @after_what_ends(
// CHECK:         %[[WHOLE:.*]] = memref.alloc(%{{.*}}) : memref<8x?xf32>
// CHECK:         %[[PART:.*]] = memref.subview %[[WHOLE]][0, 2]
// CHECK:         call @kernel(%{{.*}}, %{{.*}})
// CHECK:         memref.copy %{{.*}} : memref<8x2xf32> to
// CHECK-NOT:     memref.copy
// CHECK:         return %[[WHOLE]]
func.func @after_what_ends(%x: memref<8x?xf32, #any>, %few: memref<8x2xf32>, %n: index) -> memref<8x?xf32> {
  %c2 = arith.constant 2 : index
  %a = memref.alloc(%n) : memref<8x?xf32>
  %a_any = memref.cast %a : memref<8x?xf32> to memref<8x?xf32, #any>
  call @kernel(%x, %a_any) : (memref<8x?xf32, #any>, memref<8x?xf32, #any>) -> ()
  %size = arith.addi %n, %c2 : index
  %whole = memref.alloc(%size) : memref<8x?xf32>
  %first = memref.subview %whole[0, 0] [8, 2] [1, 1] : memref<8x?xf32> to memref<8x2xf32, strided<[?, 1]>>
  memref.copy %few, %first : memref<8x2xf32> to memref<8x2xf32, strided<[?, 1]>>
  %second = memref.subview %whole[0, 2] [8, %n] [1, 1] : memref<8x?xf32> to memref<8x?xf32, strided<[?, 1], offset: 2>>
  memref.copy %a, %second : memref<8x?xf32> to memref<8x?xf32, strided<[?, 1], offset: 2>>
  return %whole : memref<8x?xf32>
}
func.func private @kernel(%0: memref<8x?xf32, #any>, %1: memref<8x?xf32, #any>) attributes {no_inline} {
  return
}

// -----

#any = strided<[?, ?], offset: ?>

// Parts of what is in front of a loop are computed there too in each round, unless what computes
// them reads the whole, or the loop carries it, under a name of its own.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         %[[WHOLE:.*]] = memref.alloc() : memref<8x64xf32>
// CHECK:         scf.for
// CHECK:           %[[PART:.*]] = memref.subview %[[WHOLE]][4, 0]
// CHECK:           %[[THERE:.*]] = memref.cast %[[PART]]
// CHECK:           %[[ANYWHERE:.*]] = memref.cast %[[THERE]]
// CHECK:           call @kernel(%{{.*}}, %[[ANYWHERE]])
// CHECK-NOT:       memref.copy
// CHECK:         scf.for
// CHECK:           memref.copy
// CHECK:         scf.for
// CHECK:           memref.copy
// CHECK:         return
func.func @in_a_loop(%x: memref<4x64xf32, #any>, %count: index) -> (memref<8x64xf32>, memref<8x64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %whole = memref.alloc() : memref<8x64xf32>
  scf.for %i = %zero to %count step %one {
    %a = memref.alloc() : memref<4x64xf32>
    %a_any = memref.cast %a : memref<4x64xf32> to memref<4x64xf32, #any>
    func.call @kernel(%x, %a_any) : (memref<4x64xf32, #any>, memref<4x64xf32, #any>) -> ()
    %part = memref.subview %whole[4, 0] [4, 64] [1, 1] : memref<8x64xf32> to memref<4x64xf32, strided<[64, 1], offset: 256>>
    memref.copy %a, %part : memref<4x64xf32> to memref<4x64xf32, strided<[64, 1], offset: 256>>
    memref.dealloc %a : memref<4x64xf32>
  }
  %read = memref.alloc() : memref<8x64xf32>
  scf.for %i = %zero to %count step %one {
    %b = memref.alloc() : memref<4x64xf32>
    %b_any = memref.cast %b : memref<4x64xf32> to memref<4x64xf32, #any>
    %upper = memref.subview %read[0, 0] [4, 64] [1, 1] : memref<8x64xf32> to memref<4x64xf32, strided<[64, 1]>>
    %upper_any = memref.cast %upper : memref<4x64xf32, strided<[64, 1]>> to memref<4x64xf32, #any>
    func.call @kernel(%upper_any, %b_any) : (memref<4x64xf32, #any>, memref<4x64xf32, #any>) -> ()
    memref.copy %b, %upper : memref<4x64xf32> to memref<4x64xf32, strided<[64, 1]>>
    memref.dealloc %b : memref<4x64xf32>
  }
  %carried = memref.alloc() : memref<8x64xf32>
  %last = scf.for %i = %zero to %count step %one iter_args(%before = %carried) -> (memref<8x64xf32>) {
    %c = memref.alloc() : memref<4x64xf32>
    %c_any = memref.cast %c : memref<4x64xf32> to memref<4x64xf32, #any>
    %lower = memref.subview %before[4, 0] [4, 64] [1, 1] : memref<8x64xf32> to memref<4x64xf32, strided<[64, 1], offset: 256>>
    %lower_any = memref.cast %lower : memref<4x64xf32, strided<[64, 1], offset: 256>> to memref<4x64xf32, #any>
    func.call @kernel(%lower_any, %c_any) : (memref<4x64xf32, #any>, memref<4x64xf32, #any>) -> ()
    %place = memref.subview %carried[4, 0] [4, 64] [1, 1] : memref<8x64xf32> to memref<4x64xf32, strided<[64, 1], offset: 256>>
    memref.copy %c, %place : memref<4x64xf32> to memref<4x64xf32, strided<[64, 1], offset: 256>>
    memref.dealloc %c : memref<4x64xf32>
    scf.yield %before : memref<8x64xf32>
  }
  return %whole, %last : memref<8x64xf32>, memref<8x64xf32>
}
func.func private @kernel(%0: memref<4x64xf32, #any>, %1: memref<4x64xf32, #any>) attributes {no_inline} {
  return
}

// -----

#any = strided<[?, ?, ?, ?], offset: ?>

// What is collapsed to be copied is computed in the part with the axes that it has. A whole buffer
// has no such part.
// CHECK-LABEL: func.func @collapsed(
// CHECK:         %[[PART:.*]] = memref.subview %{{.*}}[4, 0] [4, 16]
// CHECK:         %[[AXES:.*]] = memref.expand_shape %[[PART]] {{\[\[}}0], [1, 2, 3]] {{.*}} : {{.*}} into memref<4x4x2x2xf32, strided<[16, 4, 2, 1], offset: 64>>
// CHECK:         %[[THERE:.*]] = memref.cast %[[AXES]]
// CHECK:         %[[ANYWHERE:.*]] = memref.cast %[[THERE]]
// CHECK:         call @kernel(%[[ANYWHERE]])
// CHECK-NOT:     memref.copy
// CHECK:         call @kernel(
// CHECK:         %[[COLLAPSED:.*]] = memref.collapse_shape
// CHECK:         memref.copy %[[COLLAPSED]]
func.func @collapsed() -> (memref<8x16xf32>, memref<4x16xf32>) {
  %a = memref.alloc() : memref<4x4x2x2xf32>
  %a_any = memref.cast %a : memref<4x4x2x2xf32> to memref<4x4x2x2xf32, #any>
  call @kernel(%a_any) : (memref<4x4x2x2xf32, #any>) -> ()
  %whole = memref.alloc() : memref<8x16xf32>
  %part = memref.subview %whole[4, 0] [4, 16] [1, 1] : memref<8x16xf32> to memref<4x16xf32, strided<[16, 1], offset: 64>>
  %0 = memref.collapse_shape %a [[0], [1, 2, 3]] : memref<4x4x2x2xf32> into memref<4x16xf32>
  memref.copy %0, %part : memref<4x16xf32> to memref<4x16xf32, strided<[16, 1], offset: 64>>
  %b = memref.alloc() : memref<4x4x2x2xf32>
  %b_any = memref.cast %b : memref<4x4x2x2xf32> to memref<4x4x2x2xf32, #any>
  call @kernel(%b_any) : (memref<4x4x2x2xf32, #any>) -> ()
  %other = memref.alloc() : memref<4x16xf32>
  %1 = memref.collapse_shape %b [[0], [1, 2, 3]] : memref<4x4x2x2xf32> into memref<4x16xf32>
  memref.copy %1, %other : memref<4x16xf32> to memref<4x16xf32>
  return %whole, %other : memref<8x16xf32>, memref<4x16xf32>
}
func.func private @kernel(%out: memref<4x4x2x2xf32, #any>) attributes {no_inline} {
  return
}

// -----

// Nor has what is all of one axis.
// CHECK-LABEL: func.func @one_axis(
// CHECK:         %[[COLLAPSED:.*]] = memref.collapse_shape
// CHECK:         memref.copy %[[COLLAPSED]]
func.func @one_axis(%x: memref<8x8xf32>) -> memref<64xf32> {
  %whole = memref.alloc() : memref<64xf32>
  %all = memref.subview %whole[0] [64] [1] : memref<64xf32> to memref<64xf32, strided<[1]>>
  %0 = memref.collapse_shape %x [[0, 1]] : memref<8x8xf32> into memref<64xf32>
  memref.copy %0, %all : memref<64xf32> to memref<64xf32, strided<[1]>>
  return %whole : memref<64xf32>
}
