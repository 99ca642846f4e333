"""What a test of StableHLO's numbers is made of.

It is a program that is compiled by the whole chain and held against StableHLO's own interpreter.

The interpreter is part of StableHLO and computes what its specification says, op by op. It takes
static shapes only: the text of a program has its sizes as `{n}`, which the interpreter gets as
numbers and the compiler as `?` where they are to be dynamic.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from plumbline.context import lent_context, make_context
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.signature import element_type
from plumbline.signature.signature import TensorSpec
from plumbline.stablehlo_to_tcp.conversion import convert_stablehlo_to_tcp
from plumbline.stablehlo_to_tcp.pattern import tensor_type_of
from plumbline.target.cpu import cpu_target
from plumbline.tcp.shapes import DYNAMIC
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg
from test.memref_function import MemrefFunction

Array = np.ndarray[Any, np.dtype[Any]]

_NAME = "program"
_SPECIAL_FLOATS = (0.0, -0.0, 0.5, -0.5, 1.0, -2.5, np.inf, -np.inf, np.nan)

Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]


def whole_numbers(low: int, high: int) -> Draw:
    """Draws integers from `low` to `high`, both counted."""
    return lambda generator, shape: generator.integers(low, high, shape, endpoint=True)


def numbers(low: float, high: float) -> Draw:
    """Draws floats between `low` and `high`, none of them special."""
    return lambda generator, shape: generator.uniform(low, high, shape)


@dataclass(frozen=True)
class Case:
    """A program: the text of its arguments and results, and what comes in between."""

    name: str
    arguments: str
    results: str
    body: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    """For each name that stands in braces in the text, a size."""
    draws: Mapping[int, Draw] = field(default_factory=dict)
    """How arguments are drawn that must be within bounds."""
    special: bool = False
    """Whether floats are infinities, NaN and such too, and integers the greatest and least."""
    others: str = ""
    """Functions that it calls."""
    as_interpreted: str = ""
    """What means the same as the body, where the interpreter does not know that."""

    def text(
        self, sizes: Mapping[str, int | str], name: str = _NAME, *, interpreted: bool = False
    ) -> str:
        """The module, with these sizes and its function under that name."""
        body = (interpreted and self.as_interpreted) or self.body
        text = (
            f"func.func @{name}({self.arguments}) -> ({self.results}) {{\n{body}\n}}\n{self.others}"
        )
        for size, number in sizes.items():
            text = text.replace(f"{{{size}}}", str(number))
        return text


def compiled(text: str) -> MemrefFunction:
    """The function of a module of StableHLO, by all stages."""
    with lent_context(torch=True, stablehlo=True) as context:
        llvm_ir, outputs = _lowered(text, context)
    # What kernels become is the same for programs of PyTorch: their tests have it optimised.
    return MemrefFunction(emit_object(llvm_ir, cpu_target("native"), 0), _NAME, outputs)


def _lowered(text: str, context: ir.Context) -> tuple[str, Sequence[TensorSpec]]:
    module = ir.Module.parse(text, context)
    outputs = [*map(_spec, _function_type(module).results)]
    convert_stablehlo_to_tcp(module)
    convert_tcp_to_linalg(module)
    convert_linalg_to_kernels(module)
    convert_kernels_to_llvm(module)
    return translate_to_llvm_ir(module), outputs


def _function_type(module: ir.Module) -> ir.FunctionType:
    attribute = module.body.operations[0].attributes["function_type"]
    return ir.FunctionType(ir.TypeAttr(attribute).value)


def _spec(type_: ir.Type) -> TensorSpec:
    with type_.context:
        tensor = tensor_type_of(type_)
    known = next(known for known in element_type.ELEMENT_TYPES if known.mlir_signed == tensor.dtype)
    return TensorSpec(known, tuple(None if size == DYNAMIC else size for size in tensor.sizes))


def interpreted(module: ir.Module, arguments: Sequence[Array]) -> list[Array]:
    """What StableHLO's interpreter computes; bf16 as float32."""
    with module.context, ir.Location.unknown():
        types = _function_type(module).inputs
        given = [
            ir.DenseElementsAttr.get(array)
            if array.dtype == np.bool_
            else ir.DenseElementsAttr.get(_raw(array), type=type_)
            for array, type_ in zip(arguments, types, strict=True)
        ]
        return [_array(result) for result in _stablehlo.eval_module(module, given)]


def _raw(array: Array) -> Array:
    return array.view(np.uint16) if array.dtype.kind == "V" else array


def _array(attribute: Any) -> Array:
    type_ = ir.RankedTensorType(attribute.type)
    if type_.element_type == ir.BF16Type.get():
        wide = ir.RankedTensorType.get(type_.shape, ir.F32Type.get())
        text = (
            f"func.func @main(%x: {type_}) -> {wide} {{\n"
            f"  %0 = stablehlo.convert %x : ({type_}) -> {wide}\n  return %0 : {wide}\n}}"
        )
        (attribute,) = _stablehlo.eval_module(ir.Module.parse(text), [attribute])
    return np.array(attribute)


def _widened(array: Array) -> Array:
    """bf16, which numpy does not have, as float32."""
    if array.dtype.kind != "V":
        return array
    return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def _to_bf16(array: Array) -> Array:
    """Of floats the upper half, which they are cut to."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32) >> 16
    return bits.astype(np.uint16).view("V2")


def draw(case: Case, specs: Sequence[TensorSpec], sizes: Mapping[str, int]) -> list[Array]:
    """Arguments for a case, the same ones each time."""
    generator = np.random.default_rng(len(case.name) + sum(sizes.values()))
    arrays = []
    for index, spec in enumerate(specs):
        shape = tuple(size or 0 for size in spec.sizes)
        name, dtype = spec.element_type.name, spec.element_type.numpy_dtype
        if index in case.draws:
            array = case.draws[index](generator, shape)
        elif name == "i1":
            array = generator.random(shape) < 0.5
        elif "f" in name:
            array = generator.uniform(-4, 4, shape)
            if case.special:
                chosen = generator.choice(_SPECIAL_FLOATS, shape)
                array = np.where(generator.random(shape) < 0.5, chosen, array)
        else:
            limits = np.iinfo(dtype.name)
            array = generator.integers(max(limits.min, -9), 9, shape, endpoint=True)
            if case.special:
                ends = generator.choice(np.array([limits.min, limits.max], dtype), shape)
                array = np.where(generator.random(shape) < 0.5, ends, array.astype(dtype))
        array = np.asarray(array)
        arrays.append(_to_bf16(array) if name == "bf16" else array.astype(dtype))
    return arrays


def check(case: Case, *, dynamic: bool, sizes: Mapping[str, int] | None = None) -> None:
    """Compiles a case and holds what it computes against the interpreter."""
    sizes = sizes or case.sizes
    static = _parsed(case.text(sizes, "main", interpreted=True))
    text = case.text(dict.fromkeys(sizes, "?") if dynamic else sizes)
    specs = [_spec(type_) for type_ in _function_type(static).inputs]
    arguments = draw(case, specs, sizes)
    results = compiled(text)(*arguments)
    expected = interpreted(static, arguments)
    assert len(results) == len(expected)
    outputs = [_spec(type_) for type_ in _function_type(static).results]
    for result, want, spec in zip(results, expected, outputs, strict=True):
        assert result.shape == tuple(spec.sizes)
        np.testing.assert_allclose(
            _widened(result), want, rtol=spec.element_type.rtol, atol=spec.element_type.atol
        )


@functools.cache
def _interpreter() -> ir.Context:
    """One context for all programs that are interpreted: to make one takes as long as the rest."""
    return make_context(stablehlo=True)


def _parsed(text: str) -> ir.Module:
    return ir.Module.parse(text, _interpreter())
