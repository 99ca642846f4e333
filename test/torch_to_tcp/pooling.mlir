// RUN: tcp-opt %s -torch-backend-to-tcp-backend-pipeline | FileCheck %s

// CHECK-LABEL: func.func @aten__adaptive_avg_pool1d(
// CHECK:         tcp.pool {{.*}}<combiner sum>
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten__adaptive_avg_pool1d(%x: !torch.vtensor<[?,4,8],f32>) -> !torch.vtensor<[?,4,2],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2 : (!torch.int) -> !torch.list<int>
  %0 = torch.operator "torch.aten._adaptive_avg_pool1d"(%x, %list1) : (!torch.vtensor<[?,4,8],f32>, !torch.list<int>) -> !torch.vtensor<[?,4,2],f32>
  return %0 : !torch.vtensor<[?,4,2],f32>
}

// CHECK-LABEL: func.func @aten__adaptive_avg_pool2d(
// CHECK:         tcp.pool {{.*}}<combiner sum>
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten__adaptive_avg_pool2d(%x: !torch.vtensor<[?,4,8,8],f32>) -> !torch.vtensor<[?,4,2,2],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten._adaptive_avg_pool2d %x, %list1 : !torch.vtensor<[?,4,8,8],f32>, !torch.list<int> -> !torch.vtensor<[?,4,2,2],f32>
  return %0 : !torch.vtensor<[?,4,2,2],f32>
}

// CHECK-LABEL: func.func @aten__adaptive_avg_pool3d(
// CHECK:         tcp.pool {{.*}}<combiner sum>
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten__adaptive_avg_pool3d(%x: !torch.vtensor<[?,4,8,8,8],f32>) -> !torch.vtensor<[?,4,2,2,2],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2, %i2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten._adaptive_avg_pool3d %x, %list1 : !torch.vtensor<[?,4,8,8,8],f32>, !torch.list<int> -> !torch.vtensor<[?,4,2,2,2],f32>
  return %0 : !torch.vtensor<[?,4,2,2,2],f32>
}

// CHECK-LABEL: func.func @aten_adaptive_avg_pool1d(
// CHECK:         tcp.pool {{.*}}<combiner sum>
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_adaptive_avg_pool1d(%x: !torch.vtensor<[?,4,8],f32>) -> !torch.vtensor<[?,4,2],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.adaptive_avg_pool1d %x, %list1 : !torch.vtensor<[?,4,8],f32>, !torch.list<int> -> !torch.vtensor<[?,4,2],f32>
  return %0 : !torch.vtensor<[?,4,2],f32>
}

// CHECK-LABEL: func.func @aten_adaptive_avg_pool2d(
// CHECK:         tcp.pool {{.*}}<combiner sum>
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_adaptive_avg_pool2d(%x: !torch.vtensor<[?,4,8,8],f32>) -> !torch.vtensor<[?,4,2,2],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.adaptive_avg_pool2d %x, %list1 : !torch.vtensor<[?,4,8,8],f32>, !torch.list<int> -> !torch.vtensor<[?,4,2,2],f32>
  return %0 : !torch.vtensor<[?,4,2,2],f32>
}

// CHECK-LABEL: func.func @aten_adaptive_avg_pool3d(
// CHECK:         tcp.pool {{.*}}<combiner sum>
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_adaptive_avg_pool3d(%x: !torch.vtensor<[?,4,8,8,8],f32>) -> !torch.vtensor<[?,4,2,2,2],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2, %i2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.adaptive_avg_pool3d %x, %list1 : !torch.vtensor<[?,4,8,8,8],f32>, !torch.list<int> -> !torch.vtensor<[?,4,2,2,2],f32>
  return %0 : !torch.vtensor<[?,4,2,2,2],f32>
}

// CHECK-LABEL: func.func @aten_adaptive_max_pool1d(
// CHECK:         tcp.pool {{.*}}<combiner max>
// CHECK:         tcp.argmax_pool
// CHECK:         return
func.func @aten_adaptive_max_pool1d(%x: !torch.vtensor<[?,4,8],f32>) -> (!torch.vtensor<[?,4,2],f32>, !torch.vtensor<[?,4,2],si64>) {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2 : (!torch.int) -> !torch.list<int>
  %0, %1 = torch.aten.adaptive_max_pool1d %x, %list1 : !torch.vtensor<[?,4,8],f32>, !torch.list<int> -> !torch.vtensor<[?,4,2],f32>, !torch.vtensor<[?,4,2],si64>
  return %0, %1 : !torch.vtensor<[?,4,2],f32>, !torch.vtensor<[?,4,2],si64>
}

// CHECK-LABEL: func.func @aten_adaptive_max_pool2d(
// CHECK:         tcp.pool {{.*}}<combiner max>
// CHECK:         tcp.argmax_pool
// CHECK:         return
func.func @aten_adaptive_max_pool2d(%x: !torch.vtensor<[?,4,8,8],f32>) -> (!torch.vtensor<[?,4,2,2],f32>, !torch.vtensor<[?,4,2,2],si64>) {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %0, %1 = torch.aten.adaptive_max_pool2d %x, %list1 : !torch.vtensor<[?,4,8,8],f32>, !torch.list<int> -> !torch.vtensor<[?,4,2,2],f32>, !torch.vtensor<[?,4,2,2],si64>
  return %0, %1 : !torch.vtensor<[?,4,2,2],f32>, !torch.vtensor<[?,4,2,2],si64>
}

// CHECK-LABEL: func.func @aten_adaptive_max_pool3d(
// CHECK:         tcp.pool {{.*}}<combiner max>
// CHECK:         tcp.argmax_pool
// CHECK:         return
func.func @aten_adaptive_max_pool3d(%x: !torch.vtensor<[?,4,8,8,8],f32>) -> (!torch.vtensor<[?,4,2,2,2],f32>, !torch.vtensor<[?,4,2,2,2],si64>) {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2, %i2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0, %1 = torch.aten.adaptive_max_pool3d %x, %list1 : !torch.vtensor<[?,4,8,8,8],f32>, !torch.list<int> -> !torch.vtensor<[?,4,2,2,2],f32>, !torch.vtensor<[?,4,2,2,2],si64>
  return %0, %1 : !torch.vtensor<[?,4,2,2,2],f32>, !torch.vtensor<[?,4,2,2,2],si64>
}

// CHECK-LABEL: func.func @aten_avg_pool1d(
// CHECK:         tcp.pool {{.*}}<combiner sum>
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_avg_pool1d(%x: !torch.vtensor<[?,4,8],f32>) -> !torch.vtensor<[?,4,4],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2 : (!torch.int) -> !torch.list<int>
  %list2 = torch.prim.ListConstruct %i2 : (!torch.int) -> !torch.list<int>
  %i0 = torch.constant.int 0
  %list3 = torch.prim.ListConstruct %i0 : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %0 = torch.aten.avg_pool1d %x, %list1, %list2, %list3, %false, %true : !torch.vtensor<[?,4,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.bool -> !torch.vtensor<[?,4,4],f32>
  return %0 : !torch.vtensor<[?,4,4],f32>
}

// CHECK-LABEL: func.func @aten_avg_pool2d(
// CHECK:         tcp.pool {{.*}}<combiner sum>
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_avg_pool2d(%x: !torch.vtensor<[?,4,8,8],f32>) -> !torch.vtensor<[?,4,4,4],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %list2 = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %i0 = torch.constant.int 0
  %list3 = torch.prim.ListConstruct %i0, %i0 : (!torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.aten.avg_pool2d %x, %list1, %list2, %list3, %false, %true, %none : !torch.vtensor<[?,4,8,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[?,4,4,4],f32>
  return %0 : !torch.vtensor<[?,4,4,4],f32>
}

// CHECK-LABEL: func.func @aten_avg_pool3d(
// CHECK:         tcp.pool {{.*}}<combiner sum>
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_avg_pool3d(%x: !torch.vtensor<[?,4,8,8,8],f32>) -> !torch.vtensor<[?,4,4,4,4],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2, %i2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %list2 = torch.prim.ListConstruct %i2, %i2, %i2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %i0 = torch.constant.int 0
  %list3 = torch.prim.ListConstruct %i0, %i0, %i0 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.aten.avg_pool3d %x, %list1, %list2, %list3, %false, %true, %none : !torch.vtensor<[?,4,8,8,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[?,4,4,4,4],f32>
  return %0 : !torch.vtensor<[?,4,4,4,4],f32>
}

// CHECK-LABEL: func.func @aten_max_pool1d(
// CHECK:         tcp.pool {{.*}}<combiner max>
// CHECK:         return
func.func @aten_max_pool1d(%x: !torch.vtensor<[?,4,8],f32>) -> !torch.vtensor<[?,4,4],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2 : (!torch.int) -> !torch.list<int>
  %list2 = torch.prim.ListConstruct %i2 : (!torch.int) -> !torch.list<int>
  %i0 = torch.constant.int 0
  %list3 = torch.prim.ListConstruct %i0 : (!torch.int) -> !torch.list<int>
  %i1 = torch.constant.int 1
  %list4 = torch.prim.ListConstruct %i1 : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %0 = torch.aten.max_pool1d %x, %list1, %list2, %list3, %list4, %false : !torch.vtensor<[?,4,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,4,4],f32>
  return %0 : !torch.vtensor<[?,4,4],f32>
}

// CHECK-LABEL: func.func @aten_max_pool1d_with_indices(
// CHECK:         tcp.pool {{.*}}<combiner max>
// CHECK:         tcp.argmax_pool
// CHECK:         return
func.func @aten_max_pool1d_with_indices(%x: !torch.vtensor<[?,4,8],f32>) -> (!torch.vtensor<[?,4,4],f32>, !torch.vtensor<[?,4,4],si64>) {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2 : (!torch.int) -> !torch.list<int>
  %list2 = torch.prim.ListConstruct %i2 : (!torch.int) -> !torch.list<int>
  %i0 = torch.constant.int 0
  %list3 = torch.prim.ListConstruct %i0 : (!torch.int) -> !torch.list<int>
  %i1 = torch.constant.int 1
  %list4 = torch.prim.ListConstruct %i1 : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %0, %1 = torch.aten.max_pool1d_with_indices %x, %list1, %list2, %list3, %list4, %false : !torch.vtensor<[?,4,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,4,4],f32>, !torch.vtensor<[?,4,4],si64>
  return %0, %1 : !torch.vtensor<[?,4,4],f32>, !torch.vtensor<[?,4,4],si64>
}

// CHECK-LABEL: func.func @aten_max_pool2d(
// CHECK:         tcp.pool {{.*}}<combiner max>
// CHECK:         return
func.func @aten_max_pool2d(%x: !torch.vtensor<[?,4,8,8],f32>) -> !torch.vtensor<[?,4,4,4],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %list2 = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %i0 = torch.constant.int 0
  %list3 = torch.prim.ListConstruct %i0, %i0 : (!torch.int, !torch.int) -> !torch.list<int>
  %i1 = torch.constant.int 1
  %list4 = torch.prim.ListConstruct %i1, %i1 : (!torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %0 = torch.aten.max_pool2d %x, %list1, %list2, %list3, %list4, %false : !torch.vtensor<[?,4,8,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,4,4,4],f32>
  return %0 : !torch.vtensor<[?,4,4,4],f32>
}

// CHECK-LABEL: func.func @aten_max_pool2d_with_indices(
// CHECK:         tcp.pool {{.*}}<combiner max>
// CHECK:         tcp.argmax_pool
// CHECK:         return
func.func @aten_max_pool2d_with_indices(%x: !torch.vtensor<[?,4,8,8],f32>) -> (!torch.vtensor<[?,4,4,4],f32>, !torch.vtensor<[?,4,4,4],si64>) {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %list2 = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %i0 = torch.constant.int 0
  %list3 = torch.prim.ListConstruct %i0, %i0 : (!torch.int, !torch.int) -> !torch.list<int>
  %i1 = torch.constant.int 1
  %list4 = torch.prim.ListConstruct %i1, %i1 : (!torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %0, %1 = torch.aten.max_pool2d_with_indices %x, %list1, %list2, %list3, %list4, %false : !torch.vtensor<[?,4,8,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,4,4,4],f32>, !torch.vtensor<[?,4,4,4],si64>
  return %0, %1 : !torch.vtensor<[?,4,4,4],f32>, !torch.vtensor<[?,4,4,4],si64>
}

// CHECK-LABEL: func.func @aten_max_pool3d(
// CHECK:         tcp.pool {{.*}}<combiner max>
// CHECK:         return
func.func @aten_max_pool3d(%x: !torch.vtensor<[?,4,8,8,8],f32>) -> !torch.vtensor<[?,4,4,4,4],f32> {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2, %i2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %list2 = torch.prim.ListConstruct %i2, %i2, %i2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %i0 = torch.constant.int 0
  %list3 = torch.prim.ListConstruct %i0, %i0, %i0 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %i1 = torch.constant.int 1
  %list4 = torch.prim.ListConstruct %i1, %i1, %i1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %0 = torch.aten.max_pool3d %x, %list1, %list2, %list3, %list4, %false : !torch.vtensor<[?,4,8,8,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,4,4,4,4],f32>
  return %0 : !torch.vtensor<[?,4,4,4,4],f32>
}

// CHECK-LABEL: func.func @aten_max_pool3d_with_indices(
// CHECK:         tcp.pool {{.*}}<combiner max>
// CHECK:         tcp.argmax_pool
// CHECK:         return
func.func @aten_max_pool3d_with_indices(%x: !torch.vtensor<[?,4,8,8,8],f32>) -> (!torch.vtensor<[?,4,4,4,4],f32>, !torch.vtensor<[?,4,4,4,4],si64>) {
  %i2 = torch.constant.int 2
  %list1 = torch.prim.ListConstruct %i2, %i2, %i2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %list2 = torch.prim.ListConstruct %i2, %i2, %i2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %i0 = torch.constant.int 0
  %list3 = torch.prim.ListConstruct %i0, %i0, %i0 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %i1 = torch.constant.int 1
  %list4 = torch.prim.ListConstruct %i1, %i1, %i1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %0, %1 = torch.aten.max_pool3d_with_indices %x, %list1, %list2, %list3, %list4, %false : !torch.vtensor<[?,4,8,8,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,4,4,4,4],f32>, !torch.vtensor<[?,4,4,4,4],si64>
  return %0, %1 : !torch.vtensor<[?,4,4,4,4],f32>, !torch.vtensor<[?,4,4,4,4],si64>
}

// Of 60 elements in 45 windows, there are 15 times the same 3 of 4 elements.
// CHECK-LABEL: func.func @repeated_windows(
// CHECK:         %[[PARTS:.*]] = tensor.expand_shape %arg0 {{.*}} output_shape [%dim, 4, 15, 4, 10]
// CHECK:         %[[FIRST:.*]] = tcp.slice %[[PARTS]] starts(%c0, %c0, %c0, %c0, %c0) sizes(%dim, %c4, %c15, %c2, %c10)
// CHECK:         tcp.reduce %[[FIRST]] {{.*}}axes = [3]
// CHECK:         tcp.slice %[[PARTS]] starts(%c0, %c0, %c0, %c1, %c0)
// CHECK:         tcp.slice %[[PARTS]] starts(%c0, %c0, %c0, %c2, %c0)
// CHECK:         tcp.concat {{.*}} -> tensor<?x4x15x3x10xf32>
// CHECK-NOT:     tcp.slice
// CHECK:         return
func.func @repeated_windows(%x: !torch.vtensor<[?,4,60,10],f32>) -> !torch.vtensor<[?,4,45,10],f32> {
  %int45 = torch.constant.int 45
  %int10 = torch.constant.int 10
  %counts = torch.prim.ListConstruct %int45, %int10 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten._adaptive_avg_pool2d %x, %counts : !torch.vtensor<[?,4,60,10],f32>, !torch.list<int> -> !torch.vtensor<[?,4,45,10],f32>
  return %0 : !torch.vtensor<[?,4,45,10],f32>
}
