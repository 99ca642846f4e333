// RUN: tcp-opt %s -torch-backend-to-tcp-backend-pipeline | FileCheck %s

// CHECK-LABEL: func.func @aten_embedding(
// CHECK:         tensor.expand_shape
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @aten_embedding(%w: !torch.vtensor<[9,4],f32>, %i: !torch.vtensor<[?],si64>) -> !torch.vtensor<[?,4],f32> {
  %m1 = torch.constant.int -1
  %false = torch.constant.bool false
  %0 = torch.aten.embedding %w, %i, %m1, %false, %false : !torch.vtensor<[9,4],f32>, !torch.vtensor<[?],si64>, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[?,4],f32>
  return %0 : !torch.vtensor<[?,4],f32>
}

// CHECK-LABEL: func.func @aten_gather(
// CHECK:         tcp.gather
// CHECK:         return
func.func @aten_gather(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.gather %x, %i1, %i, %false : !torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[?,3],si64>, !torch.bool -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_index_Tensor_hacked_twin(
// CHECK:         tensor.from_elements
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate lt>
// CHECK:         tcp.add
// CHECK:         tcp.select
// CHECK:         tensor.expand_shape
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @aten_index_Tensor_hacked_twin(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[2],si64>) -> !torch.vtensor<[2,3],f32> {
  %list1 = torch.prim.ListConstruct %i : (!torch.vtensor<[2],si64>) -> !torch.list<vtensor<[2],si64>>
  %0 = torch.aten.index.Tensor_hacked_twin %x, %list1 : !torch.vtensor<[?,3],f32>, !torch.list<vtensor<[2],si64>> -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @aten_index_put_hacked_twin(
// CHECK:         tensor.from_elements
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate lt>
// CHECK:         tcp.add
// CHECK:         tcp.select
// CHECK:         tensor.expand_shape
// CHECK:         tcp.scatter_nd {{.*}}<combiner sum>
// CHECK:         return
func.func @aten_index_put_hacked_twin(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[2],si64>, %v: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %list1 = torch.prim.ListConstruct %i : (!torch.vtensor<[2],si64>) -> !torch.list<vtensor<[2],si64>>
  %true = torch.constant.bool true
  %0 = torch.aten.index_put.hacked_twin %x, %list1, %v, %true : !torch.vtensor<[?,3],f32>, !torch.list<vtensor<[2],si64>>, !torch.vtensor<[2,3],f32>, !torch.bool -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_index_select(
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast
// CHECK:         tcp.gather
// CHECK:         return
func.func @aten_index_select(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[2],si64>) -> !torch.vtensor<[?,2],f32> {
  %i1 = torch.constant.int 1
  %0 = torch.aten.index_select %x, %i1, %i : !torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[2],si64> -> !torch.vtensor<[?,2],f32>
  return %0 : !torch.vtensor<[?,2],f32>
}

// CHECK-LABEL: func.func @aten_scatter_reduce(
// CHECK:         tcp.slice
// CHECK:         tcp.scatter {{.*}}<combiner sum>
// CHECK:         return
func.func @aten_scatter_reduce(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %radd = torch.constant.str "add"
  %0 = torch.aten.scatter.reduce %x, %i1, %i, %y, %radd : !torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],f32>, !torch.str -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_scatter_src(
// CHECK:         tcp.slice
// CHECK:         tcp.scatter
// CHECK:         return
func.func @aten_scatter_src(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %0 = torch.aten.scatter.src %x, %i1, %i, %y : !torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_scatter_value(
// CHECK:         tcp.broadcast
// CHECK:         tcp.scatter
// CHECK:         return
func.func @aten_scatter_value(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.scatter.value %x, %i1, %i, %f2 : !torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[?,3],si64>, !torch.float -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_scatter_add(
// CHECK:         tcp.slice
// CHECK:         tcp.scatter {{.*}}<combiner sum>
// CHECK:         return
func.func @aten_scatter_add(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %0 = torch.aten.scatter_add %x, %i1, %i, %y : !torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_scatter_reduce_two(
// CHECK:         tcp.slice
// CHECK:         tcp.scatter {{.*}}<combiner sum>
// CHECK:         return
func.func @aten_scatter_reduce_two(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %rsum = torch.constant.str "sum"
  %true = torch.constant.bool true
  %0 = torch.aten.scatter_reduce.two %x, %i1, %i, %y, %rsum, %true : !torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],f32>, !torch.str, !torch.bool -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_nonzero(
// CHECK:         tcp.nonzero {{.*}} : tensor<?xi1> -> tensor<?xi64>
// CHECK:         tensor.expand_shape
// CHECK:         return
func.func @aten_nonzero(%x: !torch.vtensor<[?],i1>) -> !torch.vtensor<[?,1],si64> {
  %0 = torch.aten.nonzero %x : !torch.vtensor<[?],i1> -> !torch.vtensor<[?,1],si64>
  return %0 : !torch.vtensor<[?,1],si64>
}
