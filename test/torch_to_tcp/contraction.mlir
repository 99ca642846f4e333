// RUN: tcp-opt %s -torch-backend-to-tcp-backend-pipeline | FileCheck %s

// CHECK-LABEL: func.func @aten_bmm(
// CHECK:         tcp.batch_matmul
// CHECK:         return
func.func @aten_bmm(%a: !torch.vtensor<[?,3,4],f32>, %b: !torch.vtensor<[?,4,5],f32>) -> !torch.vtensor<[?,3,5],f32> {
  %0 = torch.aten.bmm %a, %b : !torch.vtensor<[?,3,4],f32>, !torch.vtensor<[?,4,5],f32> -> !torch.vtensor<[?,3,5],f32>
  return %0 : !torch.vtensor<[?,3,5],f32>
}

// CHECK-LABEL: func.func @aten_mm(
// CHECK:         tcp.matmul
// CHECK:         return
func.func @aten_mm(%a: !torch.vtensor<[3,4],f32>, %b: !torch.vtensor<[4,5],f32>) -> !torch.vtensor<[3,5],f32> {
  %0 = torch.aten.mm %a, %b : !torch.vtensor<[3,4],f32>, !torch.vtensor<[4,5],f32> -> !torch.vtensor<[3,5],f32>
  return %0 : !torch.vtensor<[3,5],f32>
}
