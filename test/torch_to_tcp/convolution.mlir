// RUN: tcp-opt %s -torch-backend-to-tcp-backend-pipeline | FileCheck %s

// CHECK-LABEL: func.func @aten_convolution(
// CHECK:         tcp.conv
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast
// CHECK:         tcp.add
// CHECK:         return
func.func @aten_convolution(%x: !torch.vtensor<[?,4,8,8],f32>, %w: !torch.vtensor<[6,2,3,3],f32>, %b: !torch.vtensor<[6],f32>) -> !torch.vtensor<[?,6,4,4],f32> {
  %i2 = torch.constant.int 2
  %list3 = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %i1 = torch.constant.int 1
  %list4 = torch.prim.ListConstruct %i1, %i1 : (!torch.int, !torch.int) -> !torch.list<int>
  %list5 = torch.prim.ListConstruct %i1, %i1 : (!torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %i0 = torch.constant.int 0
  %list7 = torch.prim.ListConstruct %i0, %i0 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.convolution %x, %w, %b, %list3, %list4, %list5, %false, %list7, %i2 : !torch.vtensor<[?,4,8,8],f32>, !torch.vtensor<[6,2,3,3],f32>, !torch.vtensor<[6],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !torch.vtensor<[?,6,4,4],f32>
  return %0 : !torch.vtensor<[?,6,4,4],f32>
}

// CHECK-LABEL: func.func @transposed_convolution(
// CHECK:         tcp.conv_transpose {{.*}}output_padding = [1, 1]
// CHECK:         return
func.func @transposed_convolution(%x: !torch.vtensor<[?,4,8,8],f32>, %w: !torch.vtensor<[4,6,3,3],f32>) -> !torch.vtensor<[?,6,16,16],f32> {
  %none = torch.constant.none
  %i1 = torch.constant.int 1
  %i2 = torch.constant.int 2
  %twos = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %ones = torch.prim.ListConstruct %i1, %i1 : (!torch.int, !torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %0 = torch.aten.convolution %x, %w, %none, %twos, %ones, %ones, %true, %ones, %i1 : !torch.vtensor<[?,4,8,8],f32>, !torch.vtensor<[4,6,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !torch.vtensor<[?,6,16,16],f32>
  return %0 : !torch.vtensor<[?,6,16,16],f32>
}
