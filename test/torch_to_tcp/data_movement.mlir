// RUN: tcp-opt %s -torch-backend-to-tcp-backend-pipeline | FileCheck %s

// CHECK-LABEL: func.func @aten_arange_start_step(
// CHECK:         tcp.iota
// CHECK:         return
func.func @aten_arange_start_step() -> !torch.vtensor<[4],si64> {
  %i0 = torch.constant.int 0
  %i4 = torch.constant.int 4
  %i1 = torch.constant.int 1
  %none = torch.constant.none
  %0 = torch.aten.arange.start_step %i0, %i4, %i1, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],si64>
  return %0 : !torch.vtensor<[4],si64>
}

// CHECK-LABEL: func.func @aten_broadcast_to(
// CHECK:         tcp.broadcast
// CHECK:         return
func.func @aten_broadcast_to(%x: !torch.vtensor<[1,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %i2 = torch.constant.int 2
  %i3 = torch.constant.int 3
  %list1 = torch.prim.ListConstruct %i2, %i3 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.broadcast_to %x, %list1 : !torch.vtensor<[1,3],f32>, !torch.list<int> -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @aten_cat(
// CHECK:         tcp.concat
// CHECK:         return
func.func @aten_cat(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,6],f32> {
  %list0 = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>) -> !torch.list<vtensor<[?,3],f32>>
  %i1 = torch.constant.int 1
  %0 = torch.aten.cat %list0, %i1 : !torch.list<vtensor<[?,3],f32>>, !torch.int -> !torch.vtensor<[?,6],f32>
  return %0 : !torch.vtensor<[?,6],f32>
}

// CHECK-LABEL: func.func @aten_constant_pad_nd(
// CHECK:         tcp.pad
// CHECK:         return
func.func @aten_constant_pad_nd(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,6],f32> {
  %i1 = torch.constant.int 1
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i1, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.constant_pad_nd %x, %list1, %f2 : !torch.vtensor<[?,3],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[?,6],f32>
  return %0 : !torch.vtensor<[?,6],f32>
}

// CHECK-LABEL: func.func @aten_empty_memory_format(
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast
// CHECK:         return
func.func @aten_empty_memory_format() -> !torch.vtensor<[2,3],f32> {
  %i2 = torch.constant.int 2
  %i3 = torch.constant.int 3
  %list0 = torch.prim.ListConstruct %i2, %i3 : (!torch.int, !torch.int) -> !torch.list<int>
  %none = torch.constant.none
  %0 = torch.aten.empty.memory_format %list0, %none, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @aten_expand(
// CHECK:         tcp.broadcast
// CHECK:         return
func.func @aten_expand(%x: !torch.vtensor<[1,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %i2 = torch.constant.int 2
  %i3 = torch.constant.int 3
  %list1 = torch.prim.ListConstruct %i2, %i3 : (!torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %0 = torch.aten.expand %x, %list1, %false : !torch.vtensor<[1,3],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @aten_flip(
// CHECK:         tcp.reverse
// CHECK:         return
func.func @aten_flip(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %list1 = torch.prim.ListConstruct %i1 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.flip %x, %list1 : !torch.vtensor<[?,3],f32>, !torch.list<int> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_permute(
// CHECK:         tcp.transpose
// CHECK:         return
func.func @aten_permute(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[3,?],f32> {
  %i1 = torch.constant.int 1
  %i0 = torch.constant.int 0
  %list1 = torch.prim.ListConstruct %i1, %i0 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.permute %x, %list1 : !torch.vtensor<[?,3],f32>, !torch.list<int> -> !torch.vtensor<[3,?],f32>
  return %0 : !torch.vtensor<[3,?],f32>
}

// CHECK-LABEL: func.func @aten_roll(
// CHECK:         tcp.slice
// CHECK:         tcp.slice
// CHECK:         tcp.concat
// CHECK:         return
func.func @aten_roll(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %list1 = torch.prim.ListConstruct %i1 : (!torch.int) -> !torch.list<int>
  %list2 = torch.prim.ListConstruct %i1 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.roll %x, %list1, %list2 : !torch.vtensor<[?,3],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_select_int(
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape
// CHECK:         return
func.func @aten_select_int(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?],f32> {
  %i1 = torch.constant.int 1
  %i2 = torch.constant.int 2
  %0 = torch.aten.select.int %x, %i1, %i2 : !torch.vtensor<[?,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[?],f32>
  return %0 : !torch.vtensor<[?],f32>
}

// CHECK-LABEL: func.func @aten_slice_Tensor(
// CHECK:         tcp.slice
// CHECK:         return
func.func @aten_slice_Tensor(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,2],f32> {
  %i1 = torch.constant.int 1
  %i0 = torch.constant.int 0
  %i3 = torch.constant.int 3
  %i2 = torch.constant.int 2
  %0 = torch.aten.slice.Tensor %x, %i1, %i0, %i3, %i2 : !torch.vtensor<[?,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[?,2],f32>
  return %0 : !torch.vtensor<[?,2],f32>
}

// CHECK-LABEL: func.func @aten_slice_scatter(
// CHECK:         tensor.insert_slice
// CHECK:         return
func.func @aten_slice_scatter(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,2],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %i0 = torch.constant.int 0
  %i2 = torch.constant.int 2
  %0 = torch.aten.slice_scatter %x, %y, %i1, %i0, %i2, %i1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,2],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_squeeze(
// CHECK:         tensor.collapse_shape
// CHECK:         return
func.func @aten_squeeze(%x: !torch.vtensor<[2,1],f32>) -> !torch.vtensor<[2],f32> {
  %0 = torch.aten.squeeze %x : !torch.vtensor<[2,1],f32> -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// CHECK-LABEL: func.func @aten_squeeze_dim(
// CHECK:         tensor.collapse_shape
// CHECK:         return
func.func @aten_squeeze_dim(%x: !torch.vtensor<[2,1],f32>) -> !torch.vtensor<[2],f32> {
  %m1 = torch.constant.int -1
  %0 = torch.aten.squeeze.dim %x, %m1 : !torch.vtensor<[2,1],f32>, !torch.int -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// CHECK-LABEL: func.func @aten_t(
// CHECK:         tcp.transpose
// CHECK:         return
func.func @aten_t(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[3,?],f32> {
  %0 = torch.aten.t %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[3,?],f32>
  return %0 : !torch.vtensor<[3,?],f32>
}

// CHECK-LABEL: func.func @aten_transpose_int(
// CHECK:         tcp.transpose
// CHECK:         return
func.func @aten_transpose_int(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[3,?],f32> {
  %i0 = torch.constant.int 0
  %m1 = torch.constant.int -1
  %0 = torch.aten.transpose.int %x, %i0, %m1 : !torch.vtensor<[?,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,?],f32>
  return %0 : !torch.vtensor<[3,?],f32>
}

// CHECK-LABEL: func.func @aten_unsqueeze(
// CHECK:         tensor.expand_shape
// CHECK:         return
func.func @aten_unsqueeze(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3,1],f32> {
  %m1 = torch.constant.int -1
  %0 = torch.aten.unsqueeze %x, %m1 : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.vtensor<[?,3,1],f32>
  return %0 : !torch.vtensor<[?,3,1],f32>
}

// CHECK-LABEL: func.func @aten_view(
// CHECK:         tensor.collapse_shape
// CHECK:         tensor.expand_shape
// CHECK:         return
func.func @aten_view(%x: !torch.vtensor<[2,6],f32>) -> !torch.vtensor<[3,4],f32> {
  %i3 = torch.constant.int 3
  %i4 = torch.constant.int 4
  %list1 = torch.prim.ListConstruct %i3, %i4 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.view %x, %list1 : !torch.vtensor<[2,6],f32>, !torch.list<int> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @prim_NumToTensor_Scalar(
// CHECK:         tcp.const
// CHECK:         return
func.func @prim_NumToTensor_Scalar() -> !torch.vtensor<[],si64> {
  %i3 = torch.constant.int 3
  %0 = torch.prim.NumToTensor.Scalar %i3 : !torch.int -> !torch.vtensor<[],si64>
  return %0 : !torch.vtensor<[],si64>
}

// CHECK-LABEL: func.func @vtensor_literal(
// CHECK:         tcp.const
// CHECK:         return
func.func @vtensor_literal() -> !torch.vtensor<[2],si64> {
  %0 = torch.vtensor.literal(dense<[1, 2]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  return %0 : !torch.vtensor<[2],si64>
}

// CHECK-LABEL: func.func @prim_ListUnpack(
// CHECK:         %[[FIRST:.*]] = tcp.slice
// CHECK:         %[[SECOND:.*]] = tcp.slice
// CHECK:         return %[[FIRST]], %[[SECOND]]
func.func @prim_ListUnpack(%x: !torch.vtensor<[?,3],f32>) -> (!torch.vtensor<[?,1],f32>, !torch.vtensor<[?,2],f32>) {
  %i1 = torch.constant.int 1
  %i2 = torch.constant.int 2
  %sizes = torch.prim.ListConstruct %i1, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %list = torch.aten.split_with_sizes %x, %sizes, %i1 : !torch.vtensor<[?,3],f32>, !torch.list<int>, !torch.int -> !torch.list<vtensor>
  %0, %1 = torch.prim.ListUnpack %list : !torch.list<vtensor> -> !torch.vtensor<[?,1],f32>, !torch.vtensor<[?,2],f32>
  return %0, %1 : !torch.vtensor<[?,1],f32>, !torch.vtensor<[?,2],f32>
}

// A loop over a whole dimension takes places that lie within.

// CHECK-LABEL: func.func @slice_at_the_number_of_a_round(
// CHECK:         scf.for %[[PLACE:.*]] = %c0 to %c5 step %c1
// CHECK-NEXT:      tcp.slice %{{.*}} starts(%[[PLACE]], %c0) sizes(%c1, %c3)
// CHECK-NOT:       arith.
// CHECK:           tensor.insert_slice %{{.*}} into %{{.*}}[%[[PLACE]], 0] [1, 3] [1, 1]
// CHECK-NEXT:      scf.yield
func.func @slice_at_the_number_of_a_round(%x: !torch.vtensor<[5,3],f32>, %y: !torch.vtensor<[5,3],f32>) -> !torch.vtensor<[5,3],f32> {
  %true = torch.constant.bool true
  %i0 = torch.constant.int 0
  %i1 = torch.constant.int 1
  %i5 = torch.constant.int 5
  %0 = torch.prim.Loop %i5, %true, init(%y) {
  ^bb0(%i: !torch.int, %z: !torch.vtensor<[5,3],f32>):
    %end = torch.aten.add.int %i, %i1 : !torch.int, !torch.int -> !torch.int
    %row = torch.aten.slice.Tensor %x, %i0, %i, %end, %i1 : !torch.vtensor<[5,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[1,3],f32>
    %1 = torch.aten.slice_scatter %z, %row, %i0, %i, %end, %i1 : !torch.vtensor<[5,3],f32>, !torch.vtensor<[1,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[5,3],f32>
    torch.prim.Loop.condition %true, iter(%1 : !torch.vtensor<[5,3],f32>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[5,3],f32>) -> !torch.vtensor<[5,3],f32>
  return %0 : !torch.vtensor<[5,3],f32>
}

// One of more rounds takes none beyond the last.

// CHECK-LABEL: func.func @slice_at_the_number_of_some_round(
// CHECK:         scf.for %[[PLACE:.*]] = %c0 to %c6 step %c1
// CHECK:           arith.minsi
// CHECK:           tcp.slice
func.func @slice_at_the_number_of_some_round(%x: !torch.vtensor<[5,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %true = torch.constant.bool true
  %i0 = torch.constant.int 0
  %i1 = torch.constant.int 1
  %i6 = torch.constant.int 6
  %0 = torch.prim.Loop %i6, %true, init(%y) {
  ^bb0(%i: !torch.int, %z: !torch.vtensor<[?,3],f32>):
    %end = torch.aten.add.int %i, %i1 : !torch.int, !torch.int -> !torch.int
    %row = torch.aten.slice.Tensor %x, %i0, %i, %end, %i1 : !torch.vtensor<[5,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[?,3],f32>
    torch.prim.Loop.condition %true, iter(%row : !torch.vtensor<[?,3],f32>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}
