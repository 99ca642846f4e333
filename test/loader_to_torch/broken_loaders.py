"""Loader functions that break the contract, each in one way, and a few that keep it."""

import torch
from torch.export import Dim

from plumbline.loader_to_torch.loader import TorchLoaderOutput


class _Module(torch.nn.Module):
    """A module whose forward is a function."""

    def __init__(self, function: object) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> object:
        return self.function(x)  # type: ignore[operator]


not_a_function = 3


def sound() -> TorchLoaderOutput:
    """Nothing wrong here; its weights are random."""
    return TorchLoaderOutput(torch.nn.Linear(3, 2), (torch.randn(4, 3),))


def half_precision() -> TorchLoaderOutput:
    """Nothing wrong here: bfloat16."""
    return TorchLoaderOutput(_Module(torch.neg), (torch.tensor([1.5], dtype=torch.bfloat16),))


def with_tolerance() -> TorchLoaderOutput:
    """Nothing wrong here: two outputs, one relative tolerance, two absolute ones."""
    return TorchLoaderOutput(
        _Module(lambda x: (x, -x)), (torch.ones(2),), rtol=0.5, atol=[0.25, 0.125]
    )


class _Add(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


def one_tensor_twice() -> TorchLoaderOutput:
    """Nothing wrong here: two arguments that share their memory."""
    x = torch.ones(2)
    return TorchLoaderOutput(_Add(), (x, x))


def raises() -> TorchLoaderOutput:
    """A mistake of its own."""
    raise KeyError("no such layer")


def returns_a_module() -> torch.nn.Module:
    """Not the contract's type."""
    return torch.nn.ReLU()


def model_is_a_function() -> TorchLoaderOutput:
    """A function where a module belongs."""
    return TorchLoaderOutput(torch.relu, (torch.ones(1),))  # type: ignore[arg-type]


def inputs_is_a_tensor() -> TorchLoaderOutput:
    """The tuple around the input is missing."""
    return TorchLoaderOutput(torch.nn.ReLU(), torch.ones(1))  # type: ignore[arg-type]


def input_is_a_number() -> TorchLoaderOutput:
    """An argument that is no tensor."""
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.ones(1), 2.5))  # type: ignore[arg-type]


def input_is_complex() -> TorchLoaderOutput:
    """A dtype that is not supported."""
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.ones(1, dtype=torch.complex64),))


def input_is_sparse() -> TorchLoaderOutput:
    """A layout that is not supported."""
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.ones(2).to_sparse(),))


def bad_function_name() -> TorchLoaderOutput:
    """A name that is not one in C."""
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.ones(1),), func_name="my-func")


def function_name_of_libm() -> TorchLoaderOutput:
    """A name that would hide the C library's."""
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.ones(1),), func_name="tanhf")


def has_constraints() -> TorchLoaderOutput:
    """What older loaders gave."""
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.ones(1),), constraints=["dim > 1"])


def returns_a_dict() -> TorchLoaderOutput:
    """Outputs that are not tensors."""
    return TorchLoaderOutput(_Module(lambda x: {"y": x}), (torch.ones(1),))


def returns_a_number() -> TorchLoaderOutput:
    """One output that is not a tensor."""
    return TorchLoaderOutput(_Module(lambda x: (x, 3)), (torch.ones(1),))


def returns_nothing() -> TorchLoaderOutput:
    """No output."""
    return TorchLoaderOutput(_Module(lambda x: ()), (torch.ones(1),))


def negative_tolerance() -> TorchLoaderOutput:
    """A tolerance that nothing meets."""
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.ones(1),), rtol=-1.0)


def too_many_tolerances() -> TorchLoaderOutput:
    """Two tolerances for one output."""
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.ones(1),), atol=[0.1, 0.1])


class _ShapesDisagree(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y  # the line of shapes_disagree


def shapes_disagree() -> TorchLoaderOutput:
    """PyTorch itself refuses the inputs."""
    return TorchLoaderOutput(_ShapesDisagree(), (torch.ones(2), torch.ones(3)))


class _DataDependent(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:  # the line of data_dependent
            return x
        return -x


def data_dependent() -> TorchLoaderOutput:
    """Control flow that torch.export refuses."""
    return TorchLoaderOutput(_DataDependent(), (torch.ones(2),))


class _Specialises(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(4)


def specialises() -> TorchLoaderOutput:
    """A dimension that is declared dynamic and used as 4."""
    return TorchLoaderOutput(_Specialises(), (torch.ones(4),), {"x": {0: Dim("length")}})


def specialises_silently() -> TorchLoaderOutput:
    """The same, declared so that torch.export says nothing."""
    shapes = {"input": {2: Dim.AUTO}}
    return TorchLoaderOutput(torch.nn.MaxPool1d(3), (torch.ones(2, 4, 11),), shapes)


class _Unknown(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = torch.linalg.eigvalsh(x)
        return values + torch.tanh(x)


class _TwiceUnknown(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Sequential(_Unknown(), _Unknown())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.inner(x)
        return y


def unknown_ops() -> TorchLoaderOutput:
    """An op that the Torch dialect does not have, in two modules."""
    return TorchLoaderOutput(_TwiceUnknown(), (torch.ones(2, 2),))


class _SizesDependOnValues(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.nonzero() + 1, x[x > 0] * 2, torch.unique(x), x.repeat_interleave(n)


def sizes_depend_on_values() -> TorchLoaderOutput:
    """Ops whose results have as many elements as values say."""
    return TorchLoaderOutput(_SizesDependOnValues(), (torch.ones(3), torch.tensor([1, 0, 2])))


class _Resizes(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + 1).resize_(6, 6)


def resizes() -> TorchLoaderOutput:
    """A tensor that gets more elements than it was made with."""
    return TorchLoaderOutput(_Resizes(), (torch.ones(4),))


def takes_complex_numbers() -> TorchLoaderOutput:
    """An input of complex numbers."""
    return TorchLoaderOutput(torch.nn.Tanh(), (torch.ones(2, dtype=torch.complex64),))


class _ReturnsComplexNumbers(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.complex(x, x)


def returns_complex_numbers() -> TorchLoaderOutput:
    """A result of complex numbers."""
    return TorchLoaderOutput(_ReturnsComplexNumbers(), (torch.ones(2),))


class _OtherDtypes(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.float8_e4m3fn).to(torch.float32)


def computes_with_other_dtypes() -> TorchLoaderOutput:
    """A dtype that is there between the input and the result only."""
    return TorchLoaderOutput(_OtherDtypes(), (torch.ones(2),))


class _Mutates(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x


def mutates() -> TorchLoaderOutput:
    """In-place writes to an input."""
    return TorchLoaderOutput(_Mutates(), (torch.ones(2),))
