"""Loader functions that break the contract, each in one way, and a few that keep it."""

import itertools
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.export import Dim
from torch.nn.utils import rnn

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


def settles_a_size() -> TorchLoaderOutput:
    """Nothing wrong here: it leaves to PyTorch whether sizes are dynamic, and one is not."""
    return TorchLoaderOutput(
        _Module(lambda x: x + torch.ones(4)), (torch.ones(3, 4),), ({0: Dim.AUTO, 1: Dim.AUTO},)
    )


def named() -> TorchLoaderOutput:
    """Nothing wrong here: it has a name of its own."""
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.ones(1),), func_name="own_name")


def changes_directory() -> TorchLoaderOutput:
    """Nothing wrong here, though it goes elsewhere."""
    os.chdir("/")
    return sound()


class _Add(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


class _AddAll(torch.nn.Module):
    def forward(self, *x: torch.Tensor) -> torch.Tensor:
        return torch.stack(x).sum(0)


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


def input_is_a_string() -> TorchLoaderOutput:
    """An argument that is neither a tensor nor a number."""
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.ones(1), "2.5"))


def input_is_half_complex() -> TorchLoaderOutput:
    """A dtype that is not supported."""
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.zeros(1).to(torch.complex32),))


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
    """Nothing wrong here: results in a dict count as the tensors in it."""
    return TorchLoaderOutput(_Module(lambda x: {"y": x, "z": None}), (torch.ones(1),))


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


@torch.library.custom_op("broken_loaders::unknown", mutates_args=())
def _unknown(x: torch.Tensor) -> torch.Tensor:
    # By other means than PyTorch's ops, which it would be taken apart into.
    return torch.from_numpy(x.numpy().sum(-1))


@_unknown.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(x.shape[:-1])


class _Unknown(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = _unknown(x)
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


class _Resizes(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + 1).resize_(6, 6)


def resizes() -> TorchLoaderOutput:
    """A tensor that gets more elements than it was made with."""
    return TorchLoaderOutput(_Resizes(), (torch.ones(4),))


class _OtherDtypes(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.float8_e8m0fnu).to(torch.float32)


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


class _WritesIntoAParameter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            self.weight.mul_(2)
        return x * self.weight


def writes_into_a_parameter() -> TorchLoaderOutput:
    """In-place writes to a parameter."""
    return TorchLoaderOutput(_WritesIntoAParameter(), (torch.ones(3),))


def _loader(
    model: object = _Module(torch.relu), inputs: object = (torch.ones(2, 3),), **fields: Any
) -> Callable[[], TorchLoaderOutput]:
    """A loader of a program of these fields, where nothing is wrong with the others."""
    return lambda: TorchLoaderOutput(model, inputs, **fields)  # type: ignore[arg-type]


def _forward(
    function: Callable[..., object], inputs: Sequence[torch.Tensor] = (torch.ones(2, 3),)
) -> Callable[[], TorchLoaderOutput]:
    """A loader of a program that computes `function` of one tensor."""
    return _loader(_Module(function), inputs)


# Loaders that are none.
returns_nothing_at_all = lambda: None  # noqa: E731
returns_a_tuple = lambda: (torch.nn.ReLU(), (torch.ones(1),))  # noqa: E731
takes_arguments = lambda size: sound()  # noqa: E731
exits = lambda: sys.exit(3)  # noqa: E731
exits_without_a_status = lambda: sys.exit()  # noqa: E731


async def is_a_coroutine() -> TorchLoaderOutput:
    """Calling it runs nothing of it."""
    return sound()


# Fields of the wrong type or value.
model_is_a_class = _loader(model=torch.nn.ReLU)
model_is_none = _loader(model=None)
inputs_is_none = _loader(inputs=None)
inputs_is_a_dict = _loader(inputs={"x": torch.ones(1)})
inputs_is_a_generator = _loader(inputs=(torch.ones(1) for _ in range(1)))
input_is_a_list = _loader(inputs=(["1.0", 2.0],))
input_is_an_array = _loader(inputs=(np.ones(2),))
input_is_none = _loader(inputs=(None,))
input_has_no_memory = _loader(inputs=(torch.ones(2, device="meta"),))
input_is_of_another_float8 = _loader(inputs=(torch.ones(2).to(torch.float8_e8m0fnu),))
name_is_a_number = _loader(func_name=3)
name_is_empty = _loader(func_name="")
name_is_a_keyword = _loader(func_name="while")
name_is_a_macro = _loader(func_name="NULL")
name_is_a_type = _loader(func_name="int32_t")
name_is_predefined = _loader(func_name="linux")
name_is_reserved = _loader(func_name="_init")
name_is_of_the_abi = _loader(func_name="StridedMemRefType")
rtol_is_a_string = _loader(rtol="1e-3")
rtol_is_a_bool = _loader(rtol=True)
rtol_is_empty = _loader(rtol=[])
atol_is_a_list_of_strings = _loader(atol=["0.1"])
atol_is_nan = _loader(atol=float("nan"))
atol_is_infinite = _loader(atol=float("inf"))
atol_is_a_tensor = _loader(atol=torch.ones(1))
shapes_is_a_dim = _loader(dynamic_shapes=Dim("n"))
shapes_is_a_string = _loader(dynamic_shapes="x")
shapes_is_a_set = _loader(dynamic_shapes={0})
shapes_of_no_input = _loader(dynamic_shapes={"y": {0: Dim("n")}})
shapes_beyond_the_rank = _loader(dynamic_shapes={"x": {5: Dim("n")}})
shapes_by_a_string = _loader(dynamic_shapes={"x": {"0": Dim("n")}})
shapes_to_a_string = _loader(dynamic_shapes={"x": {0: "n"}})
shapes_of_too_few = _loader(_Add(), (torch.ones(2), torch.ones(2)), dynamic_shapes=({},))
shapes_of_each_of_many = _loader(
    _AddAll(), (torch.ones(2, 3),) * 2, dynamic_shapes=({0: Dim("n"), 1: Dim("m")},) * 2
)
shapes_out_of_range = _loader(dynamic_shapes={"x": {0: Dim("n", min=4)}})
shapes_upside_down = lambda: _loader(dynamic_shapes={"x": {0: Dim("n", min=9, max=3)}})()  # noqa: E731
further_is_a_tensor = _loader(further_inputs=torch.ones(2, 3))
further_is_flat = _loader(further_inputs=(torch.ones(2, 3),))
further_has_too_many = _loader(further_inputs=[(torch.ones(2, 3), torch.ones(1))])
further_is_of_another_dtype = _loader(further_inputs=[(torch.ones(2, 3, dtype=torch.int64),)])
further_is_of_another_rank = _loader(further_inputs=[(torch.ones(2),)])
further_is_nested_otherwise = _loader(further_inputs=[((torch.ones(2, 3),),)])
further_has_a_number = _loader(further_inputs=[(3,)])
further_is_of_another_size = _loader(further_inputs=[(torch.ones(2, 4),)])
further_is_out_of_range = _loader(
    dynamic_shapes={"x": {0: Dim("n", max=4)}}, further_inputs=[(torch.ones(9, 3),)]
)


class _RefusesOnes(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if torch.compiler.is_exporting() else torch.linalg.cholesky(x)


further_that_the_model_refuses = _loader(
    _RefusesOnes(), (torch.eye(2),), further_inputs=[(torch.ones(2, 2),)]
)


# Models that fail, or give something else than tensors.
takes_more_than_given = _loader(_Add(), (torch.ones(2),))
takes_less_than_given = _loader(_Module(torch.relu), (torch.ones(2), torch.ones(2)))
takes_another_dtype = _loader(torch.nn.Linear(3, 2), (torch.ones(2, 3, dtype=torch.float64),))
takes_another_size = _loader(torch.nn.Linear(4, 2), (torch.ones(2, 3),))
has_no_forward = _loader(torch.nn.Module())
has_no_weights_yet = _loader(torch.nn.Linear(3, 2, device="meta"))
model_raises = _forward(lambda x: dict[str, object]()["layer"])
model_exits = _forward(lambda x: sys.exit(2))
returns_none = _forward(lambda x: None)
returns_a_string = _forward(lambda x: "y")
returns_a_nested_tuple = _forward(lambda x: (x, (x, x)))
returns_an_array = _forward(lambda x: (x.numpy(),))
returns_a_sparse_tensor = _forward(lambda x: x.to_sparse())


# Models that no compiled function can be made of.
draws_at_random = _forward(lambda x: x + torch.randn(3))
drops_out = _forward(lambda x: torch.nn.functional.dropout(x))
makes_a_sparse_tensor = _forward(lambda x: x.to_sparse().to_dense())
branches_on_a_value = _forward(lambda x: x if bool(x.max() > 0) else -x)
branches_on_all_values = _forward(lambda x: x if torch.equal(x, x.abs()) else -x)
branches_on_nans = _forward(lambda x: x if (x == x).all() else -x)
repeats_by_a_value = _forward(lambda x: [x := x + 1 for _ in range(int(x.sum()))][-1])
goes_through_numpy = _forward(lambda x: torch.from_numpy(np.tanh(x.numpy())))
packs_a_sequence = _forward(lambda x: rnn.pack_padded_sequence(x[None], [2], batch_first=True).data)
takes_a_gradient = _forward(
    lambda x: torch.autograd.grad((x.requires_grad_() ** 2).sum(), x)[0],
)
branches_on_a_size = _loader(
    _Module(lambda x: x + 1 if x.shape[0] > 2 else x), dynamic_shapes={"x": {0: Dim("n")}}
)


class _Counts(torch.nn.Module):
    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.calls


counts_its_calls = _loader(_Counts())

# Models that answer otherwise from call to call.
_RANDOM = np.random.default_rng(0)
_COUNT = itertools.count()
_LENGTH = itertools.count(1)
_NUMBER = itertools.count(1)
draws_from_numpy = _forward(lambda x: x + float(_RANDOM.random()))
keeps_a_count = _forward(lambda x: (x, x + next(_COUNT)))
returns_another_size = _forward(lambda x: torch.ones(next(_LENGTH)))
returns_another_number = _forward(lambda x: (x,) * next(_NUMBER))
