"""Reads a .tflite file, a FlatBuffer (schema.fbs of TensorFlow Lite, version 3).

Whatever it says is held against the file's size: nothing is read that is not there.
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tflite
import torch

from plumbline.errors import UserError
from plumbline.tflite_to_torch.tensors import Quantization, Tensor

_IDENTIFIER = b"TFL3"
"""What stands behind the first offset of a file."""

_DAMAGED = (struct.error, IndexError, ValueError, TypeError, UnicodeDecodeError, OverflowError)
"""What reading raises where a file's offsets lead outside of it, or its text is none."""

_HALF_BYTES = "INT4"

_MOST_BYTES = 1 << 31
"""The largest tensor, as large as a FlatBuffer may be: memory is allocated for what a file says."""

CUSTOM = "CUSTOM"
"""What the schema calls ops that it does not know."""

NOTHING = -1
"""The number of a tensor that is left out."""


@dataclass(frozen=True, eq=False)
class Operator:
    """An op of a graph, and the numbers of the tensors that it takes and gives."""

    name: str
    """As the schema's `BuiltinOperator` has it; of others, `CUSTOM` and what the model calls it."""
    options: Any
    """The table of its options, of a class of the schema's; None: it has none. Those of a custom
    op are bytes, which mean whatever they mean to it."""
    inputs: tuple[int, ...]
    """`NOTHING` for one that is left out."""
    outputs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Subgraph:
    """Ops in an order in which they can be computed."""

    tensors: Sequence[Tensor]
    operators: Sequence[Operator]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Model:
    """A model: the first of its graphs is what it computes; ops call the others."""

    subgraphs: Sequence[Subgraph]
    input_names: tuple[str, ...]
    """What a program that runs the model calls its inputs."""
    output_names: tuple[str, ...]


def names_of(enum: type) -> dict[int, str]:
    """The names of an enumeration of the schema by their numbers."""
    return {number: name for name, number in vars(enum).items() if isinstance(number, int)}


_OPERATORS = names_of(tflite.BuiltinOperator)
_TYPES = names_of(tflite.TensorType)
_OPTIONS = names_of(tflite.BuiltinOptions)


def read_model(file: Path) -> Model:
    """The model of a .tflite file.

    Raises:
      UserError: it cannot be read, or is none.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    if content[4:8] != _IDENTIFIER:
        raise UserError(f"{file}: it is no model of TensorFlow Lite: it has no {_text()} at byte 4")
    try:
        return _model(content)
    except _DAMAGED as error:
        raise UserError(f"{file}: it is no valid model of TensorFlow Lite: {error}") from error


def _text() -> str:
    return _IDENTIFIER.decode()


def _model(content: bytes) -> Model:
    model = tflite.Model.GetRootAs(content, 0)
    subgraphs = [
        _subgraph(content, model, model.Subgraphs(number))
        for number in range(model.SubgraphsLength())
    ]
    if not subgraphs:
        raise ValueError("it has no graph")
    main = subgraphs[0]
    return Model(subgraphs, *_signature(model, main))


def _signature(model: "tflite.Model", main: Subgraph) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of inputs and outputs: those of its signature, or else of its tensors."""
    found: list[dict[int, str]] = [{}, {}]
    for number in range(model.SignatureDefsLength()):
        signature = model.SignatureDefs(number)
        if signature.SubgraphIndex() == 0:
            for names, length, entry in (
                (found[0], signature.InputsLength(), signature.Inputs),
                (found[1], signature.OutputsLength(), signature.Outputs),
            ):
                for each in map(entry, range(length)):
                    names[each.TensorIndex()] = _decoded(each.Name())
            break
    inputs, outputs = (
        tuple(names.get(index, main.tensors[index].name) for index in indices)
        for names, indices in zip(found, (main.inputs, main.outputs), strict=True)
    )
    return inputs, outputs


def _subgraph(content: bytes, model: "tflite.Model", graph: "tflite.SubGraph") -> Subgraph:
    tensors = [
        _tensor(content, model, graph.Tensors(index)) for index in range(graph.TensorsLength())
    ]
    operators = [
        _operator(model, graph.Operators(index), len(tensors))
        for index in range(graph.OperatorsLength())
    ]
    inputs, outputs = (
        _indices(_numbers(length, as_numpy), len(tensors))
        for length, as_numpy in (
            (graph.InputsLength(), graph.InputsAsNumpy),
            (graph.OutputsLength(), graph.OutputsAsNumpy),
        )
    )
    _check_order(tensors, operators, inputs, outputs)
    return Subgraph(tensors, operators, inputs, outputs)


def _check_order(
    tensors: Sequence[Tensor],
    operators: Sequence[Operator],
    inputs: Sequence[int],
    outputs: Sequence[int],
) -> None:
    """Sees to it that whatever an op reads has been computed before."""
    known = {
        index
        for index, tensor in enumerate(tensors)
        if tensor.is_variable or tensor.constant is not None
    }
    known |= {*inputs, NOTHING}
    for operator in operators:
        for index in operator.inputs:
            if index not in known:
                raise ValueError(f"{operator.name} reads {tensors[index].name} before it is there")
        known |= {*operator.outputs}
    for index in outputs:
        if index not in known:
            raise ValueError(f"{tensors[index].name}, a result, is not computed")


def _numbers(length: int, as_numpy: Any) -> Any:
    """A vector of numbers; of none, it is not there."""
    return as_numpy() if length else np.array([], np.int64)


def _indices(numbers: Any, count: int, *, optional: bool = False) -> tuple[int, ...]:
    least = NOTHING if optional else 0
    for number in numbers:
        if not least <= number < count:
            raise ValueError(f"there is no tensor {number}")
    return tuple(map(int, numbers))


def _operator(model: "tflite.Model", operator: "tflite.Operator", count: int) -> Operator:
    index = operator.OpcodeIndex()
    if index >= model.OperatorCodesLength():
        raise ValueError(f"there is no code {index} of an op")
    code = model.OperatorCodes(index)
    # Files of before 2020 have the latter alone, which ends at 127.
    number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
    name = _OPERATORS.get(number, f"op {number}")
    options, table = None, operator.BuiltinOptions()
    kind = _OPTIONS.get(operator.BuiltinOptionsType(), "NONE")
    if name == CUSTOM:
        name = f"{CUSTOM} {_decoded(code.CustomCode())}"
        length = operator.CustomOptionsLength()
        options = bytes(_numbers(length, operator.CustomOptionsAsNumpy))
    elif table is not None and kind != "NONE":
        options = getattr(tflite, kind)()
        options.Init(table.Bytes, table.Pos)
    return Operator(
        name,
        options,
        _indices(_numbers(operator.InputsLength(), operator.InputsAsNumpy), count, optional=True),
        _indices(_numbers(operator.OutputsLength(), operator.OutputsAsNumpy), count),
    )


def _decoded(text: bytes | None) -> str:
    return "" if text is None else text.decode()


# -- tensors ---------------------------------------------------------------------------------------


def _tensor(content: bytes, model: "tflite.Model", tensor: "tflite.Tensor") -> Tensor:
    name, type_ = _decoded(tensor.Name()), _TYPES.get(tensor.Type(), "")
    # The schema calls them as PyTorch does, and those of four bits are read as of eight.
    known = "int8" if type_ == _HALF_BYTES else type_.lower()
    dtype = getattr(torch, known, None)
    dtype = dtype if isinstance(dtype, torch.dtype) else None
    shape = tuple(map(int, _numbers(tensor.ShapeLength(), tensor.ShapeAsNumpy)))
    if any(size < 0 for size in shape):
        raise ValueError(f"tensor {name} has the sizes {shape}")
    # Strides are reckoned of what has no elements, too.
    count = math.prod(max(size, 1) for size in shape)
    if dtype is not None and count * dtype.itemsize > _MOST_BYTES:
        raise ValueError(f"tensor {name} has the sizes {shape}, which is over 2 GiB")
    signature = _numbers(tensor.ShapeSignatureLength(), tensor.ShapeSignatureAsNumpy)
    constant = None
    data = _data(content, model, tensor.Buffer())
    if data is None and 0 in shape:
        # What has no elements may have no bytes.
        data = np.array([], np.uint8)
    if data is not None and dtype is not None:
        if tensor.Sparsity() is not None:
            raise ValueError(f"tensor {name} is sparse, which is not known here")
        constant = _constant(name, data, dtype, shape, is_of_half_bytes=type_ == _HALF_BYTES)
    return Tensor(
        name,
        dtype,
        shape,
        tuple(axis for axis, size in enumerate(signature) if size < 0),
        tensor.IsVariable(),
        _quantization(name, tensor.Quantization(), shape),
        constant,
    )


def _data(content: bytes, model: "tflite.Model", index: int) -> Any:
    """The bytes of a buffer; None: it has none, as the first of a model does."""
    if index >= model.BuffersLength():
        raise ValueError(f"there is no buffer {index}")
    buffer = model.Buffers(index)
    if buffer.DataLength():
        return buffer.DataAsNumpy()
    # Of a large model they lie behind the FlatBuffer.
    start, size = buffer.Offset(), buffer.Size()
    if start <= 1:
        return None
    if start + size > len(content):
        raise ValueError(f"buffer {index} ends behind the file")
    return np.frombuffer(content, np.uint8, size, start)


def _constant(
    name: str, data: Any, dtype: torch.dtype, shape: tuple[int, ...], *, is_of_half_bytes: bool
) -> torch.Tensor:
    count = math.prod(shape)
    if is_of_half_bytes:
        halves = np.stack([data << 4, data & 0xF0], -1).reshape(-1)
        # Those of an odd number end with a half that is not used.
        data = (halves.view(np.int8) >> 4)[: max(count, halves.size - 1)]
    if data.nbytes != count * dtype.itemsize:
        has = f"{data.nbytes} bytes, of {dtype} in the sizes {shape}"
        raise ValueError(f"tensor {name} has {has}")
    return (
        torch.frombuffer(bytearray(data.tobytes()), dtype=dtype).reshape(shape)
        if count
        else (torch.empty(shape, dtype=dtype))
    )


def _quantization(name: str, found: Any, shape: tuple[int, ...]) -> Quantization | None:
    if found is None or not found.ScaleLength():
        return None
    if found.DetailsType():
        raise ValueError(f"tensor {name} is quantized in a way that is not known here")
    scales = tuple(map(float, found.ScaleAsNumpy()))
    zero_points = tuple(map(int, _numbers(found.ZeroPointLength(), found.ZeroPointAsNumpy)))
    zero_points = zero_points or (0,) * len(scales)
    if len(zero_points) == 1:
        zero_points *= len(scales)
    axis = found.QuantizedDimension()
    if not all(0 < scale < math.inf for scale in scales):
        raise ValueError(f"tensor {name} has the scales {scales}")
    if len(zero_points) != len(scales):
        raise ValueError(f"tensor {name} has {len(scales)} scales, {len(zero_points)} zero points")
    if len(scales) > 1 and not (0 <= axis < len(shape) and shape[axis] == len(scales)):
        raise ValueError(f"tensor {name} has {len(scales)} scales, of the sizes {shape}")
    return Quantization(scales, zero_points, axis)
