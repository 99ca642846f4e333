"""Loader functions of the suite: each returns a program and the inputs that it is tried on."""

import torch
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def broadcast_add_mixed_ranks_loader() -> TorchLoaderOutput:
    """A rank-0 tensor and a dynamic rank-1 tensor."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.tensor(10.0), torch.tensor([1.0, 2.0, 3.0])),
        dynamic_shapes={"x": {}, "y": {0: Dim("dim_0")}},
    )


def add_mul_single_output_loader() -> TorchLoaderOutput:
    """Add, then multiply, on two dynamic dimensions."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
            return (x + y) * z

    shape = {0: Dim("dim_0"), 1: Dim("dim_1")}
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(2, 3), torch.randn(2, 3), torch.randn(2, 3)),
        dynamic_shapes={"x": shape, "y": shape, "z": shape},
    )


def add_mul_multi_output_loader() -> TorchLoaderOutput:
    """The same, with the sum returned as well."""

    class Model(torch.nn.Module):
        def forward(
            self, x: torch.Tensor, y: torch.Tensor, z: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor]:
            total = x + y
            return total, total * z

    shape = {0: Dim("dim_0"), 1: Dim("dim_1")}
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(2, 3), torch.randn(2, 3), torch.randn(2, 3)),
        dynamic_shapes={"x": shape, "y": shape, "z": shape},
    )


def add_tensor_with_alpha_loader() -> TorchLoaderOutput:
    """`torch.add` with a factor for its second operand."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.add(x, y, alpha=2)

    shape = {0: Dim("dim_0"), 1: Dim("dim_1")}
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(2, 3), torch.randn(2, 3)),
        dynamic_shapes={"x": shape, "y": shape},
    )


def sub_tensor_with_alpha_loader() -> TorchLoaderOutput:
    """`torch.sub` with a factor for its second operand."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.sub(x, y, alpha=0.3)

    shape = {0: Dim("dim_0"), 1: Dim("dim_1")}
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(2, 3), torch.randn(2, 3)),
        dynamic_shapes={"x": shape, "y": shape},
    )


def div_tensor_mixed_ranks_loader() -> TorchLoaderOutput:
    """A rank-1 tensor divided by a tensor of rank 0, and the other way about."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x / y, y / x

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.tensor([1.0, -2.0, 0.0, 1e-3]), torch.tensor(3.0)),
        dynamic_shapes={"x": {0: Dim("dim_0")}, "y": {}},
    )


def add_sub_mul_div_scalar_loader() -> TorchLoaderOutput:
    """Python numbers as operands, on either side."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x + 0.1, x - 3, 2 - x, x * 0.7, x / 3, 1 / x

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(4, 3),),
        dynamic_shapes={"x": {0: Dim("dim_0")}},
    )


# Values at which elementwise functions go wrong: around zero, large, and not finite.
_TELLING_VALUES = (0.0, -0.0, 1e-6, -1e-6, 0.5, -0.5, 3.0, -3.0, 88.0, -88.0, 1e4, -1e4)
_NOT_FINITE = (float("inf"), float("-inf"), float("nan"))


def _telling_inputs() -> torch.Tensor:
    return torch.tensor(_TELLING_VALUES + _NOT_FINITE)


def tanh_loader() -> TorchLoaderOutput:
    """tanh; the tolerance shows that small values keep their relative precision."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.tanh(x)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(_telling_inputs(),),
        dynamic_shapes={"x": {0: Dim("dim_0")}},
        # The target's name is that of a function of the C library.
        func_name="tanh_of_values",
        atol=0.0,
    )


def sigmoid_loader() -> TorchLoaderOutput:
    """sigmoid, out to where exp overflows."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sigmoid(x)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(_telling_inputs(),),
        dynamic_shapes={"x": {0: Dim("dim_0")}},
    )


def relu_loader() -> TorchLoaderOutput:
    """relu, which keeps NaN."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(_telling_inputs(),),
        dynamic_shapes={"x": {0: Dim("dim_0")}},
    )


def clamp_loader() -> TorchLoaderOutput:
    """Both bounds, either one, and bounds that cross."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (
                torch.clamp(x, min=-0.7, max=0.1),
                torch.clamp(x, min=0.1),
                torch.clamp(x, max=0.1),
                torch.clamp(x, min=1.0, max=-1.0),
            )

    return TorchLoaderOutput(
        model=Model(),
        inputs=(_telling_inputs(),),
        dynamic_shapes={"x": {0: Dim("dim_0")}},
    )


def sqrt_float_loader() -> TorchLoaderOutput:
    """sqrt; negative numbers give NaN."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sqrt(x)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(_telling_inputs(),),
        dynamic_shapes={"x": {0: Dim("dim_0")}},
    )


def sqrt_int_loader() -> TorchLoaderOutput:
    """The square root of integers, which PyTorch computes in float32."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sqrt(x)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.tensor([0, 1, 2, 16, 1 << 25], dtype=torch.int32),),
        dynamic_shapes={"x": {0: Dim("dim_0")}},
    )


def broadcast_unit_dim_to_dynamic_with_rank_increase_loader() -> TorchLoaderOutput:
    """A unit dimension stretched to a dynamic one, and a dimension added in front."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(1, 2), torch.randn(4, 3, 2)),
        dynamic_shapes={"x": {}, "y": {0: Dim("dim_0"), 1: Dim("dim_1")}},
    )


def add_mul_f64_loader() -> TorchLoaderOutput:
    """Double precision."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.tanh(x + y) * 0.1

    shape = {0: Dim("dim_0")}
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(5, dtype=torch.float64), torch.randn(5, dtype=torch.float64)),
        dynamic_shapes={"x": shape, "y": shape},
    )


def add_mul_i64_loader() -> TorchLoaderOutput:
    """64-bit integers that no float holds exactly, wrapping around."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return (x + y) * 3

    shape = {0: Dim("dim_0")}
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.tensor([1, -2, (1 << 53) + 1, (1 << 62)]), torch.tensor([5, -7, 1, 1])),
        dynamic_shapes={"x": shape, "y": shape},
    )


def greater_than_loader() -> TorchLoaderOutput:
    """A bool output; comparisons with NaN are false."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x > y

    return TorchLoaderOutput(
        model=Model(),
        inputs=(_telling_inputs(), torch.tensor(0.5)),
        dynamic_shapes={"x": {0: Dim("dim_0")}, "y": {}},
    )


def add_empty_tensor_loader() -> TorchLoaderOutput:
    """No elements at all, along a static and along a dynamic dimension."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.tanh(x + y)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(4, 0), torch.randn(1, 0)),
        dynamic_shapes={"x": {0: Dim("dim_0")}, "y": {}},
    )


def half_precision_loader() -> TorchLoaderOutput:
    """f16 and bf16, which round after each operation, and numbers beside them."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return torch.tanh(x) * 0.1 + x, torch.sigmoid(y) * 0.1 + y, x + y

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(9, dtype=torch.float16), torch.randn(9, dtype=torch.bfloat16)),
        dynamic_shapes={"x": {0: (size := Dim("dim_0"))}, "y": {0: size}},
    )


def aliasing_outputs_loader() -> TorchLoaderOutput:
    """Outputs that are an input, one another, and a constant: each must own its memory once."""

    class Model(torch.nn.Module):
        constant: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("constant", torch.randn(3))

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            total = x + y
            return x, total, self.constant, total, x, y

    return TorchLoaderOutput(model=Model(), inputs=(torch.randn(3), torch.tensor(2.0)))


def rank_zero_loader() -> TorchLoaderOutput:
    """Nothing but rank 0, which the C ABI returns in its own way."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 3

    return TorchLoaderOutput(model=Model(), inputs=(torch.tensor(7, dtype=torch.uint8),))


def mlp_loader() -> TorchLoaderOutput:
    """Weights: parameters, a tied one, a buffer that is not persistent, a literal, a bool mask."""

    class Model(torch.nn.Module):
        scale: torch.Tensor
        mask: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(6, 5)
            self.second = torch.nn.Linear(5, 6, bias=False)
            self.second.weight = torch.nn.Parameter(self.first.weight.t().contiguous())
            self.norm = torch.nn.BatchNorm1d(6)
            self.register_buffer("scale", torch.randn(6), persistent=False)
            self.register_buffer("mask", torch.tensor([True, False, True, True, False, True]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.norm(self.second(torch.relu(self.first(x)))) * self.scale
            return torch.where(self.mask, y, y + torch.tensor([0.5]))

    return TorchLoaderOutput(
        model=Model().eval(), inputs=(torch.randn(3, 6),), dynamic_shapes={"x": {0: Dim("batch")}}
    )
