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

// What is computed at run time and no tensor has no place in the op, which stays.

// CHECK-LABEL: func.func @run_time(
// CHECK:         torch.aten.cumsum
func.func @run_time(%x: !torch.vtensor<[3],f32>, %dim: !torch.int) -> !torch.vtensor<[3],f32> {
  %none = torch.constant.none
  %0 = torch.aten.cumsum %x, %dim, %none : !torch.vtensor<[3],f32>, !torch.int, !torch.none -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}
