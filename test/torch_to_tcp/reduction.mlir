// RUN: tcp-opt %s -torch-backend-to-tcp-backend-pipeline | FileCheck %s

// CHECK-LABEL: func.func @aten__log_softmax(
// CHECK:         tcp.reduce {{.*}}<combiner max>
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast
// CHECK:         tcp.sub
// CHECK:         tcp.exp
// CHECK:         tcp.reduce {{.*}}<combiner sum>
// CHECK:         tensor.expand_shape
// CHECK:         tcp.log
// CHECK:         tcp.broadcast
// CHECK:         tcp.sub
// CHECK:         return
func.func @aten__log_softmax(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten._log_softmax %x, %i1, %false : !torch.vtensor<[?,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten__softmax(
// CHECK:         tcp.reduce {{.*}}<combiner max>
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast
// CHECK:         tcp.sub
// CHECK:         tcp.exp
// CHECK:         tcp.reduce {{.*}}<combiner sum>
// CHECK:         %[[TOTAL:.*]] = tensor.expand_shape
// CHECK:         %[[FACTOR:.*]] = tcp.divf %{{.*}}, %[[TOTAL]]
// CHECK:         tcp.broadcast %[[FACTOR]]
// CHECK:         tcp.mul
// CHECK-NOT:     tcp.divf
// CHECK:         return
func.func @aten__softmax(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten._softmax %x, %i1, %false : !torch.vtensor<[?,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten__safe_softmax(
// CHECK:         %[[MOST:.*]] = tcp.reduce {{.*}}<combiner max>
// CHECK:         %[[ROW:.*]] = tensor.expand_shape %[[MOST]]
// CHECK-NOT:     tcp.reduce {{.*}}<combiner and>
// CHECK:         %[[MASKED:.*]] = tcp.compare {{.*}}%[[ROW]], {{.*}}eq
// CHECK:         %[[ROWS:.*]] = tcp.broadcast %[[MASKED]]
// CHECK:         tcp.select %[[ROWS]]
// CHECK:         return
func.func @aten__safe_softmax(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %none = torch.constant.none
  %0 = torch.aten._safe_softmax %x, %i1, %none : !torch.vtensor<[?,3],f32>, !torch.int, !torch.none -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_all(
// CHECK:         tcp.reduce {{.*}}<combiner and>
// CHECK:         return
func.func @aten_all(%x: !torch.vtensor<[?,3],i1>) -> !torch.vtensor<[],i1> {
  %0 = torch.aten.all %x : !torch.vtensor<[?,3],i1> -> !torch.vtensor<[],i1>
  return %0 : !torch.vtensor<[],i1>
}

// CHECK-LABEL: func.func @aten_all_dim(
// CHECK:         tcp.reduce {{.*}}<combiner and>
// CHECK:         return
func.func @aten_all_dim(%x: !torch.vtensor<[?,3],i1>) -> !torch.vtensor<[?],i1> {
  %m1 = torch.constant.int -1
  %false = torch.constant.bool false
  %0 = torch.aten.all.dim %x, %m1, %false : !torch.vtensor<[?,3],i1>, !torch.int, !torch.bool -> !torch.vtensor<[?],i1>
  return %0 : !torch.vtensor<[?],i1>
}

// CHECK-LABEL: func.func @aten_amax(
// CHECK:         tcp.reduce {{.*}}<combiner max>
// CHECK:         tensor.expand_shape
// CHECK:         return
func.func @aten_amax(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,1],f32> {
  %i1 = torch.constant.int 1
  %list1 = torch.prim.ListConstruct %i1 : (!torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %0 = torch.aten.amax %x, %list1, %true : !torch.vtensor<[?,3],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,1],f32>
  return %0 : !torch.vtensor<[?,1],f32>
}

// CHECK-LABEL: func.func @aten_amin(
// CHECK:         tcp.reduce {{.*}}<combiner min>
// CHECK:         tensor.expand_shape
// CHECK:         return
func.func @aten_amin(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,1],f32> {
  %i1 = torch.constant.int 1
  %list1 = torch.prim.ListConstruct %i1 : (!torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %0 = torch.aten.amin %x, %list1, %true : !torch.vtensor<[?,3],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,1],f32>
  return %0 : !torch.vtensor<[?,1],f32>
}

// CHECK-LABEL: func.func @aten_any(
// CHECK:         tcp.reduce {{.*}}<combiner or>
// CHECK:         return
func.func @aten_any(%x: !torch.vtensor<[?,3],i1>) -> !torch.vtensor<[],i1> {
  %0 = torch.aten.any %x : !torch.vtensor<[?,3],i1> -> !torch.vtensor<[],i1>
  return %0 : !torch.vtensor<[],i1>
}

// CHECK-LABEL: func.func @aten_any_dim(
// CHECK:         tcp.reduce {{.*}}<combiner or>
// CHECK:         return
func.func @aten_any_dim(%x: !torch.vtensor<[?,3],i1>) -> !torch.vtensor<[?],i1> {
  %m1 = torch.constant.int -1
  %false = torch.constant.bool false
  %0 = torch.aten.any.dim %x, %m1, %false : !torch.vtensor<[?,3],i1>, !torch.int, !torch.bool -> !torch.vtensor<[?],i1>
  return %0 : !torch.vtensor<[?],i1>
}

// CHECK-LABEL: func.func @aten_argmax(
// CHECK:         tcp.argmax
// CHECK:         return
func.func @aten_argmax(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?],si64> {
  %i1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.argmax %x, %i1, %false : !torch.vtensor<[?,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[?],si64>
  return %0 : !torch.vtensor<[?],si64>
}

// CHECK-LABEL: func.func @aten_argmin(
// CHECK:         tcp.argmin
// CHECK:         return
func.func @aten_argmin(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?],si64> {
  %i1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.argmin %x, %i1, %false : !torch.vtensor<[?,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[?],si64>
  return %0 : !torch.vtensor<[?],si64>
}

// What the Torch dialect has no op for is carried by its name. No NaN is equal to the extreme.
// CHECK-LABEL: func.func @aten_cummax(
// CHECK:         %[[MOST:.*]] = tcp.scan %arg0 {combiner = #tcp<combiner max>
// CHECK:         tcp.compare %arg0, %[[MOST]] {predicate = #tcp<predicate eq>}
// CHECK:         tcp.compare %arg0, %arg0 {predicate = #tcp<predicate ne>}
// CHECK:         %[[PLACES:.*]] = tcp.select
// CHECK:         %[[LAST:.*]] = tcp.scan %[[PLACES]] {combiner = #tcp<combiner max>
// CHECK:         return %[[MOST]], %[[LAST]]
func.func @aten_cummax(%x: !torch.vtensor<[?,3],f32>) -> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],si64>) {
  %i1 = torch.constant.int 1
  %0:2 = torch.operator "torch.aten.cummax"(%x, %i1) : (!torch.vtensor<[?,3],f32>, !torch.int) -> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],si64>)
  return %0#0, %0#1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_cummin(
// CHECK:         %[[LEAST:.*]] = tcp.scan %arg0 {combiner = #tcp<combiner min>
// CHECK:         tcp.compare %arg0, %[[LEAST]] {predicate = #tcp<predicate eq>}
// CHECK:         tcp.compare %arg0, %arg0 {predicate = #tcp<predicate ne>}
// CHECK:         %[[PLACES:.*]] = tcp.select
// CHECK:         %[[LAST:.*]] = tcp.scan %[[PLACES]] {combiner = #tcp<combiner max>
// CHECK:         return %[[LEAST]], %[[LAST]]
func.func @aten_cummin(%x: !torch.vtensor<[?,3],f32>) -> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],si64>) {
  %i1 = torch.constant.int 1
  %0:2 = torch.operator "torch.aten.cummin"(%x, %i1) : (!torch.vtensor<[?,3],f32>, !torch.int) -> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],si64>)
  return %0#0, %0#1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_cumprod(
// CHECK:         tcp.scan {{.*}}<combiner prod>
// CHECK:         return
func.func @aten_cumprod(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %none = torch.constant.none
  %0 = torch.aten.cumprod %x, %i1, %none : !torch.vtensor<[?,3],f32>, !torch.int, !torch.none -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_cumsum(
// CHECK:         tcp.scan {{.*}}<combiner sum>
// CHECK:         return
func.func @aten_cumsum(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %none = torch.constant.none
  %0 = torch.aten.cumsum %x, %i1, %none : !torch.vtensor<[?,3],f32>, !torch.int, !torch.none -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_linalg_vector_norm(
// CHECK:         tcp.mul
// CHECK:         tcp.reduce {{.*}}<combiner sum>
// CHECK:         tcp.sqrt
// CHECK:         return
func.func @aten_linalg_vector_norm(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?],f32> {
  %f2 = torch.constant.float 2.000000e+00
  %i1 = torch.constant.int 1
  %list2 = torch.prim.ListConstruct %i1 : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.linalg_vector_norm %x, %f2, %list2, %false, %none : !torch.vtensor<[?,3],f32>, !torch.float, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[?],f32>
  return %0 : !torch.vtensor<[?],f32>
}

// CHECK-LABEL: func.func @aten_logcumsumexp(
// CHECK:         tcp.cast
// CHECK:         tcp.scan {{.*}}<combiner logaddexp>
// CHECK:         tcp.cast
// CHECK:         return
func.func @aten_logcumsumexp(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %0 = torch.aten.logcumsumexp %x, %i1 : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// A greatest of no elements is an error.

// CHECK-LABEL: func.func @aten_max(
// CHECK:         %[[SIZE:.*]] = tensor.dim
// CHECK:         %[[SOME:.*]] = arith.cmpi ne, %[[SIZE]], %c0
// CHECK-NEXT:    cf.assert %[[SOME]], "aten.max over dimension 0, which has size 0"
// CHECK:         tcp.reduce {{.*}}<combiner max>
// CHECK:         return
func.func @aten_max(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[],f32> {
  %0 = torch.aten.max %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// CHECK-LABEL: func.func @aten_max_of_none(
// CHECK:         cf.assert %{{.*}}, "aten.max.dim over dimension 0, which has size 0"
// CHECK:         return
func.func @aten_max_of_none(%x: !torch.vtensor<[0,3],f32>) -> !torch.vtensor<[3],f32> {
  %i0 = torch.constant.int 0
  %false = torch.constant.bool false
  %0, %1 = torch.aten.max.dim %x, %i0, %false : !torch.vtensor<[0,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3],f32>, !torch.vtensor<[3],si64>
  return %0 : !torch.vtensor<[3],f32>
}

// CHECK-LABEL: func.func @aten_max_dim(
// CHECK:         tcp.argmax
// CHECK:         tcp.reduce {{.*}}<combiner max>
// CHECK:         return
func.func @aten_max_dim(%x: !torch.vtensor<[?,3],f32>) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>) {
  %i1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0, %1 = torch.aten.max.dim %x, %i1, %false : !torch.vtensor<[?,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>
  return %0, %1 : !torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>
}

// CHECK-LABEL: func.func @aten_mean(
// CHECK:         tcp.reduce {{.*}}<combiner sum>
// CHECK:         tensor.from_elements
// CHECK:         tcp.cast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_mean(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %0 = torch.aten.mean %x, %none : !torch.vtensor<[?,3],f32>, !torch.none -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// CHECK-LABEL: func.func @aten_mean_dim(
// CHECK:         tcp.reduce {{.*}}<combiner sum>
// CHECK:         tensor.from_elements
// CHECK:         tcp.cast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_mean_dim(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[],f32> {
  %i0 = torch.constant.int 0
  %i1 = torch.constant.int 1
  %list1 = torch.prim.ListConstruct %i0, %i1 : (!torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.mean.dim %x, %list1, %false, %none : !torch.vtensor<[?,3],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// CHECK-LABEL: func.func @aten_min(
// CHECK:         tcp.reduce {{.*}}<combiner min>
// CHECK:         return
func.func @aten_min(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[],f32> {
  %0 = torch.aten.min %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// CHECK-LABEL: func.func @aten_min_dim(
// CHECK:         tcp.argmin
// CHECK:         tcp.reduce {{.*}}<combiner min>
// CHECK:         return
func.func @aten_min_dim(%x: !torch.vtensor<[?,3],f32>) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>) {
  %i1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0, %1 = torch.aten.min.dim %x, %i1, %false : !torch.vtensor<[?,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>
  return %0, %1 : !torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>
}

// CHECK-LABEL: func.func @aten_prod(
// CHECK:         tcp.reduce {{.*}}<combiner prod>
// CHECK:         return
func.func @aten_prod(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %0 = torch.aten.prod %x, %none : !torch.vtensor<[?,3],f32>, !torch.none -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// CHECK-LABEL: func.func @aten_prod_dim_int(
// CHECK:         tcp.reduce {{.*}}<combiner prod>
// CHECK:         tensor.expand_shape
// CHECK:         return
func.func @aten_prod_dim_int(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,1],f32> {
  %i1 = torch.constant.int 1
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.aten.prod.dim_int %x, %i1, %true, %none : !torch.vtensor<[?,3],f32>, !torch.int, !torch.bool, !torch.none -> !torch.vtensor<[?,1],f32>
  return %0 : !torch.vtensor<[?,1],f32>
}

// CHECK-LABEL: func.func @aten_sum(
// CHECK:         tcp.reduce {{.*}}<combiner sum>
// CHECK:         return
func.func @aten_sum(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %0 = torch.aten.sum %x, %none : !torch.vtensor<[?,3],f32>, !torch.none -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// CHECK-LABEL: func.func @aten_sum_dim_IntList(
// CHECK:         tcp.reduce {{.*}}<combiner sum>
// CHECK:         return
func.func @aten_sum_dim_IntList(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[3],f32> {
  %i0 = torch.constant.int 0
  %list1 = torch.prim.ListConstruct %i0 : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.sum.dim_IntList %x, %list1, %false, %none : !torch.vtensor<[?,3],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// CHECK-LABEL: func.func @aten_var_correction(
// CHECK:         tcp.cast
// CHECK:         tcp.reduce {{.*}}<combiner sum>
// CHECK:         tensor.expand_shape
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         tcp.broadcast
// CHECK:         tcp.sub
// CHECK:         tcp.mul
// CHECK:         tcp.reduce {{.*}}<combiner sum>
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         tcp.cast
// CHECK:         return
func.func @aten_var_correction(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?],f32> {
  %i1 = torch.constant.int 1
  %list1 = torch.prim.ListConstruct %i1 : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %0 = torch.aten.var.correction %x, %list1, %i1, %false : !torch.vtensor<[?,3],f32>, !torch.list<int>, !torch.int, !torch.bool -> !torch.vtensor<[?],f32>
  return %0 : !torch.vtensor<[?],f32>
}

// CHECK-LABEL: func.func @aten_var_mean_correction(
// CHECK:         tcp.cast
// CHECK:         tcp.reduce {{.*}}<combiner sum>
// CHECK:         tensor.expand_shape
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         tcp.broadcast
// CHECK:         tcp.sub
// CHECK:         tcp.mul
// CHECK:         tcp.reduce {{.*}}<combiner sum>
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         tcp.cast
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         tcp.cast
// CHECK:         return
func.func @aten_var_mean_correction(%x: !torch.vtensor<[?,3],f32>) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>) {
  %i1 = torch.constant.int 1
  %list1 = torch.prim.ListConstruct %i1 : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %0, %1 = torch.aten.var_mean.correction %x, %list1, %i1, %false : !torch.vtensor<[?,3],f32>, !torch.list<int>, !torch.int, !torch.bool -> !torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>
  return %0, %1 : !torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>
}
