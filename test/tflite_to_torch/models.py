"""Small models of TensorFlow Lite, and what LiteRT's interpreter answers to them, for tests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
import torch
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

import plumbline
from plumbline.tflite_to_torch.program import load_tflite

_VERSIONS = {"BROADCAST_TO": 2}
"""Of ops whose first version LiteRT does not know; files say what they were made for."""

_NOT_OF_REFERENCE = {
    "CEIL",
    "ELU",
    "LOCAL_RESPONSE_NORMALIZATION",
    "ROUND",
    "SEGMENT_SUM",
    "SUM",
}
"""Ops of which LiteRT's kernels of reference are not to be had, or wrong.

That of LOCAL_RESPONSE_NORMALIZATION leaves out the last channel of each window, which TensorFlow
has, and that of SUM gives of quantized numbers what differs from one run to the next.
"""

_OF_XNNPACK = {
    "CUSTOM Convolution2DTransposeBias",
    "CUSTOM MaxPoolingWithArgmax2D",
    "CUSTOM MaxUnpooling2D",
}
"""Ops that LiteRT has no kernels for, but hands to XNNPACK; their results have to have sizes."""

_IN_OTHER_ORDER = {"RESIZE_BILINEAR"}
"""Ops whose results PyTorch and compiled code round on the way, each in its own order."""

_TYPES: dict[torch.dtype, int] = {
    getattr(torch, name.lower()): number
    for name, number in vars(schema.TensorType).items()
    if isinstance(getattr(torch, name.lower(), None), torch.dtype)
}


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of a model, and numbers that it has, as they are stored."""

    numbers: torch.Tensor
    is_known: bool = False
    """Whether they are in the model's file."""
    scales: Sequence[float] = ()
    """None where it is not quantized; several, one for each place of `axis`."""
    zero_points: Sequence[int] = ()
    axis: int = 0
    is_resource: bool = False
    """Whether it stands for a variable, and has no numbers."""
    dynamic_axes: Sequence[int] = ()
    """Those along which it may have other sizes."""
    is_variable: bool = False
    """Whether it is one, of an op that keeps what it holds."""


@dataclass(frozen=True)
class Op:
    """A node, and the numbers of its tensors; -1 is one that is left out."""

    name: str
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: Any = None
    """A table of the schema, such as `AddOptionsT`; of a custom op, bytes."""


def given(
    *shape: int,
    dtype: torch.dtype = torch.float32,
    scale: float | Sequence[float] = (),
    zero_point: int = 0,
    axis: int = 0,
) -> Value:
    """An argument: numbers of the normal distribution, or integers: all that it stores."""
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    if dtype.is_floating_point or dtype.is_complex:
        numbers = torch.randn(shape, generator=generator, dtype=dtype)
    elif dtype == torch.bool or not (scale or zero_point):
        bounds = (0, 2) if dtype == torch.bool else (-50, 50)
        numbers = torch.randint(*bounds, shape, generator=generator).to(dtype)
    else:
        range_ = torch.iinfo(dtype)
        numbers = torch.randint(range_.min, range_.max + 1, shape, generator=generator).to(dtype)
    scales = [scale] if isinstance(scale, float) else scale
    return Value(numbers, False, scales, [zero_point] * len(scales), axis)


def known(numbers: Any, dtype: torch.dtype | None = None) -> Value:
    """A constant; integers are of 32 bits, as those of shapes and axes are."""
    tensor = torch.as_tensor(numbers)
    own = torch.int32 if tensor.dtype == torch.int64 else tensor.dtype
    return Value(tensor.to(dtype or own), True)


def weights(value: Value) -> Value:
    """Such an argument as a constant."""
    return replace(value, is_known=True)


def result(
    dtype: torch.dtype = torch.float32, scale: float | None = None, zero_point: int = 0
) -> Value:
    """What an op gives: of any sizes."""
    quantization = () if scale is None else ([scale], [zero_point])
    return Value(torch.empty(0, dtype=dtype), False, *quantization)


@dataclass(frozen=True)
class Graph:
    """Nodes, and the numbers of the tensors that the graph takes and gives."""

    values: Sequence[Value]
    """Its tensors, which are called t0, t1 and so on."""
    ops: Sequence[Op]
    inputs: Sequence[int]
    outputs: Sequence[int]


def model(*graphs: Graph) -> Any:
    """A model of these graphs, of which the first is the main one, as the schema's object."""
    # The first buffer has no bytes, and is that of all tensors that are computed.
    made = schema.ModelT(
        version=3, operatorCodes=[], subgraphs=[], buffers=[schema.BufferT()], signatureDefs=[]
    )
    for graph in graphs:
        made.subgraphs.append(
            schema.SubGraphT(
                tensors=[_tensor(index, each, made) for index, each in enumerate(graph.values)],
                inputs=np.array(graph.inputs, np.int32),
                outputs=np.array(graph.outputs, np.int32),
                operators=[_operator(op, made) for op in graph.ops],
            )
        )
    return made


def packed(model: Any) -> bytes:
    """The file of a model."""
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _tensor(index: int, value: Value, model: Any) -> Any:
    type_ = schema.TensorType.RESOURCE if value.is_resource else _TYPES[value.numbers.dtype]
    if value.is_known:
        data = np.frombuffer(value.numbers.numpy().tobytes(), np.uint8)
        model.buffers.append(schema.BufferT(data=data))
    quantization = None
    if value.scales:
        quantization = schema.QuantizationParametersT(
            scale=np.array(value.scales, np.float32),
            zeroPoint=np.array(value.zero_points, np.int64),
            quantizedDimension=value.axis,
        )
    signature = np.array(value.numbers.shape, np.int32)
    signature[[*value.dynamic_axes]] = -1
    return schema.TensorT(
        shape=np.array(value.numbers.shape, np.int32),
        shapeSignature=signature if value.dynamic_axes else None,
        type=type_,
        buffer=len(model.buffers) - 1 if value.is_known else 0,
        name=f"t{index}",
        quantization=quantization,
        isVariable=value.is_variable,
    )


def _operator(op: Op, model: Any) -> Any:
    kind, _, custom = op.name.partition(" ")
    code = schema.BuiltinOperator.__dict__[kind]
    model.operatorCodes.append(
        schema.OperatorCodeT(
            # Files of before 2020 had no more than this.
            deprecatedBuiltinCode=min(code, 127),
            builtinCode=code,
            customCode=custom or None,
            version=_VERSIONS.get(op.name, 1),
        )
    )
    node = schema.OperatorT(
        opcodeIndex=len(model.operatorCodes) - 1,
        inputs=np.array(op.inputs, np.int32),
        outputs=np.array(op.outputs, np.int32),
    )
    if custom:
        node.customOptions = np.frombuffer(op.options, np.uint8)
    elif op.options is not None:
        name = type(op.options).__name__.removesuffix("T")
        node.builtinOptionsType = schema.BuiltinOptions.__dict__[name]
        node.builtinOptions = op.options
    return node


def answers(
    content: bytes,
    *calls: Sequence[torch.Tensor],
    resolver: OpResolverType = OpResolverType.BUILTIN_REF,
) -> list[list[torch.Tensor]]:
    """What LiteRT's interpreter answers to some calls, one after the other.

    Args:
      content: the model's file.
      calls: the arguments of each.
      resolver: which kernels it has: those of reference, those for the CPU, or XNNPACK's first.
    """
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    made = []
    for inputs in calls:
        for details, each in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(details["index"], each.numpy())
        interpreter.invoke()
        results = interpreter.get_output_details()
        made.append(
            [torch.from_numpy(np.array(interpreter.get_tensor(each["index"]))) for each in results]
        )
    return made


def _resolver(op: str) -> OpResolverType:
    if op in _OF_XNNPACK:
        return OpResolverType.BUILTIN
    if op in _NOT_OF_REFERENCE:
        return OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return OpResolverType.BUILTIN_REF


@dataclass(frozen=True)
class Case:
    """A node, as a model of its own."""

    op: str
    operands: Sequence[Value | None]
    """None for one that is left out."""
    options: Any = None
    results: Sequence[Value] = (result(),)
    steps: int = 1
    """How far a quantized result may be off LiteRT's."""

    @property
    def inputs(self) -> list[torch.Tensor]:
        """What the model is called with."""
        return [each.numbers for each in self.operands if each is not None and not each.is_known]

    def write(self, folder: Path) -> tuple[Path, list[torch.Tensor]]:
        """Writes the model's file, its results of the sizes that LiteRT's have, and gives these."""
        (expected,) = answers(
            self.content(self.results),
            self.inputs,
            resolver=_resolver(self.op),
        )
        results = [
            replace(each, numbers=answer)
            for each, answer in zip(self.results, expected, strict=True)
        ]
        file = folder / "model.tflite"
        file.write_bytes(self.content(results))
        return file, expected

    def content(self, results: Sequence[Value]) -> bytes:
        """The model's file, where its results are such."""
        values = [*(each for each in self.operands if each is not None), *results]
        indices = {id(each): index for index, each in enumerate(values)}
        taken = [-1 if each is None else indices[id(each)] for each in self.operands]
        arguments = [
            index
            for each, index in zip(self.operands, taken, strict=True)
            if each is not None and not each.is_known
        ]
        made = [*range(len(values) - len(results), len(values))]
        op = Op(self.op, taken, made, self.options)
        return packed(model(Graph(values, [op], arguments, made)))


def check(case: Case, folder: Path, *, is_compiled: bool = False) -> None:
    """Sees to it that our program answers as LiteRT does, and what is compiled of it as it does.

    Floats differ by no more than rounding. Quantized results may differ by one step: LiteRT
    multiplies integers by scales that it has rounded to fixed-point numbers, and we by scales as
    floats. Compiled code gives what PyTorch gives, as sums of products are not rounded.
    """
    file, expected = case.write(folder)
    program = load_tflite(file)
    results = [*program.model(*case.inputs).values()]
    pairs = [(results, expected, case.steps)]
    if is_compiled:
        steps = int(case.op in _IN_OTHER_ORDER)
        pairs.append(([*plumbline.compile(program)(*case.inputs)], results, steps))
    for found, wanted, steps in pairs:
        for one, other, value in zip(found, wanted, case.results, strict=True):
            _assert_close(one, other, steps if value.scales else None)


def _assert_close(one: torch.Tensor, other: torch.Tensor, steps: int | None) -> None:
    if steps is not None:
        assert one.dtype == other.dtype
        torch.testing.assert_close(one.to(torch.int64), other.to(torch.int64), atol=steps, rtol=0)
    else:
        torch.testing.assert_close(one, other, equal_nan=True)
