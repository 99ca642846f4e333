// RUN: tcp-opt %s -convert-torch-to-tcp-custom-op -canonicalize -split-input-file | FileCheck %s
// RUN: tcp-opt %s -convert-torch-to-tcp-custom-op=convert-torch-ops=my.op -canonicalize -split-input-file | FileCheck %s --check-prefix=ONE

// Tensors are operands under PyTorch's names for them, constants attributes; None is left out.

// CHECK-LABEL: func.func @gather(
// CHECK:         tcp.custom_op("torch.aten.gather") %{{[0-9]+}}, %{{[0-9]+}}
// CHECK-SAME:      {dim = 1 : i64, sparse_grad = false, torch_operand_names = ["self", "index"]}
// CHECK-SAME:      : tensor<?x3xf32>, tensor<?x3xi64> -> tensor<?x3xf32>
// ONE:           = torch.aten.gather
func.func @gather(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],f32> {
  %dim = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.gather %x, %dim, %i, %false : !torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[?,3],si64>, !torch.bool -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// -----

// CHECK-LABEL: func.func @operator(
// CHECK:         %[[OUT:.*]]:2 = tcp.custom_op("torch.my.op")
// CHECK-SAME:      arg1 = [1, 2]
// CHECK-SAME:      arg3 = 5.000000e-01 : f64
// CHECK-SAME:      torch_operand_names = ["arg0"]
// CHECK-SAME:      : tensor<3xf32> -> tensor<3xf32>, tensor<i64>
// ONE:           tcp.custom_op("torch.my.op")
func.func @operator(%x: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[],si64>) {
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %none = torch.constant.none
  %half = torch.constant.float 0.5
  %list = torch.prim.ListConstruct %one, %two : (!torch.int, !torch.int) -> !torch.list<int>
  %0:2 = torch.operator "torch.my.op"(%x, %list, %none, %half) : (!torch.vtensor<[3],f32>, !torch.list<int>, !torch.none, !torch.float) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[],si64>)
  return %0#0, %0#1 : !torch.vtensor<[3],f32>, !torch.vtensor<[],si64>
}

// -----

// Numbers that are computed at run time are operands too, and a list of some has an operand for each
// of its entries.

// CHECK-LABEL: func.func @run_time(
// CHECK:         %[[DIM:.*]] = torch_c.to_i64 %arg1
// CHECK:         tcp.custom_op("torch.aten.cumsum") %{{.*}}, %[[DIM]] {torch_operand_names = ["self", "dim"]}
// CHECK-SAME:      : tensor<3xf32>, i64 -> tensor<3xf32>
func.func @run_time(%x: !torch.vtensor<[3],f32>, %dim: !torch.int) -> !torch.vtensor<[3],f32> {
  %none = torch.constant.none
  %0 = torch.aten.cumsum %x, %dim, %none : !torch.vtensor<[3],f32>, !torch.int, !torch.none -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// CHECK-LABEL: func.func @view(
// CHECK:         %[[THREE:.*]] = arith.constant 3 : i64
// CHECK:         %[[SIZE:.*]] = torch_c.to_i64 %arg1
// CHECK:         tcp.custom_op("torch.aten.view") %{{.*}}, %[[SIZE]], %[[THREE]]
// CHECK-SAME:      {torch_operand_names = ["self", "size_0", "size_1"]} : tensor<?xf32>, i64, i64 -> tensor<?x3xf32>
func.func @view(%x: !torch.vtensor<[?],f32>, %n: !torch.int) -> !torch.vtensor<[?,3],f32> {
  %three = torch.constant.int 3
  %size = torch.prim.ListConstruct %n, %three : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.view %x, %size : !torch.vtensor<[?],f32>, !torch.list<int> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// -----

// CHECK-LABEL: func.func @arange(
// CHECK:         %[[END:.*]] = torch_c.to_i64 %arg0
// CHECK:         tcp.custom_op("torch.aten.arange.start_step") %[[END]]
// CHECK-SAME:      {dtype = 4 : i64, start = 0 : i64, step = 2 : i64, torch_operand_names = ["end"]} : i64 -> tensor<?xi64>
func.func @arange(%end: !torch.int) -> !torch.vtensor<[?],si64> {
  %zero = torch.constant.int 0
  %two = torch.constant.int 2
  %dtype = torch.constant.int 4
  %none = torch.constant.none
  %0 = torch.aten.arange.start_step %zero, %end, %two, %dtype, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?],si64>
  return %0 : !torch.vtensor<[?],si64>
}

// -----

// CHECK-LABEL: func.func @index_put(
// CHECK:         tcp.custom_op("torch.aten._index_put_impl") %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}
// CHECK-SAME:      {accumulate = true, torch_operand_names = ["self", "indices_1", "values"], unsafe = false}
// CHECK-SAME:      : tensor<?x4xf32>, tensor<2xi64>, tensor<?x2xf32> -> tensor<?x4xf32>
func.func @index_put(%x: !torch.vtensor<[?,4],f32>, %i: !torch.vtensor<[2],si64>, %y: !torch.vtensor<[?,2],f32>) -> !torch.vtensor<[?,4],f32> {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %list = torch.prim.ListConstruct %none, %i : (!torch.none, !torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  %0 = torch.aten._index_put_impl %x, %list, %y, %true, %false : !torch.vtensor<[?,4],f32>, !torch.list<optional<vtensor>>, !torch.vtensor<[?,2],f32>, !torch.bool, !torch.bool -> !torch.vtensor<[?,4],f32>
  return %0 : !torch.vtensor<[?,4],f32>
}

// -----

// A literal is no op of PyTorch's, and keeps its value; what is noted of an op stays noted.

// CHECK-LABEL: func.func @attributes(
// CHECK:         %[[VALUE:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:         tcp.custom_op("torch.my.op") %[[VALUE]] {my.note = "kept", torch_operand_names = ["arg0"]}
func.func @attributes() -> !torch.vtensor<[2],f32> {
  %0 = torch.vtensor.literal(dense<[1.0, 2.0]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %1 = torch.operator "torch.my.op"(%0) {my.note = "kept"} : (!torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>
  return %1 : !torch.vtensor<[2],f32>
}

// -----

// What is computed at run time and neither a tensor nor a number has no place in the op, which stays.

// CHECK-LABEL: func.func @text(
// CHECK:         torch.operator "torch.my.op"
func.func @text(%x: !torch.vtensor<[3],f32>, %text: !torch.str) -> !torch.vtensor<[3],f32> {
  %0 = torch.operator "torch.my.op"(%x, %text) : (!torch.vtensor<[3],f32>, !torch.str) -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}
