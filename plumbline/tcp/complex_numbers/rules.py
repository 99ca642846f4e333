"""What becomes of the ops that may stand in a TCP module."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg
from torch_mlir.dialects import complex as complex_dialect
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.elementwise import apply
from plumbline.tcp.building.tensors import Tensor
from plumbline.tcp.complex_numbers.parts import (
    CAST,
    Pair,
    as_tensor,
    dynamic_sizes,
    is_complex,
    part_type,
    re_and_im,
    twice,
)
from plumbline.tcp.complex_numbers.splitting import Replacement, Rule, Splitting
from plumbline.tcp.ops.data_movement import (
    BroadcastOp,
    ConcatOp,
    PadOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from plumbline.tcp.ops.elementwise import AddOp, DivfOp, MulOp, NegOp, SelectOp, SubOp
from plumbline.tcp.ops.indexing import GatherNdOp, GatherOp
from plumbline.tcp.ops.symbolic_shape import BindSymbolicShapeOp

_SHORTEST_IN_HEX = 101
"""So many elements MLIR prints by their bits."""

_NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
"""The dtypes of parts."""


def multiply(splitting: Splitting, op: ir.Operation) -> Replacement:
    """Products."""
    (a, b), (c, d) = (map(as_tensor, splitting.pair(operand)) for operand in op.operands)
    real = apply(SubOp, apply(MulOp, a, c), apply(MulOp, b, d))
    imaginary = apply(AddOp, apply(MulOp, a, d), apply(MulOp, b, c))
    return [(real.value, imaginary.value)]


def bilinear(splitting: Splitting, op: ir.Operation) -> Replacement:
    """Sums of products, by four of real numbers."""
    (a, b), (c, d) = map(splitting.pair, op.operands)

    def product(left: ir.Value, right: ir.Value) -> Tensor:
        made = ir.Operation.create(
            op.name,
            results=[part_type(op.results[0].type)],
            operands=[left, right],
            attributes={named: op.attributes[named] for named in op.attributes},
        )
        return as_tensor(made.result)

    real = apply(SubOp, product(a, c), product(b, d))
    imaginary = apply(AddOp, product(a, d), product(b, c))
    return [(real.value, imaginary.value)]


def constant(splitting: Splitting, op: ir.Operation) -> Replacement:
    """Constants. The bindings have no class for such elements, so that folders read them."""
    type_ = part_type(op.results[0].type)
    if not isinstance(type_, ir.RankedTensorType):
        return scalar(splitting, op)
    dtype = _NUMPY.get(str(type_.element_type))
    if dtype is None:
        raise Unsupported(f"constants of {op.results[0].type}")
    bits = _elements_in_hex(op)
    if bits is not None:
        numbers = np.frombuffer(bits, dtype).reshape(*type_.shape, 2)
        real, imaginary = (
            arith.constant(type_, ir.DenseElementsAttr.get(np.ascontiguousarray(part)))
            for part in (numbers[..., 0], numbers[..., 1])
        )
        return [(real, imaginary)]
    # A large one that is not printed by its bits has one element everywhere.
    is_splat = math.prod(type_.shape) >= _SHORTEST_IN_HEX
    places = [(0,) * type_.rank] if is_splat else list(np.ndindex(*type_.shape))
    # The constant stays until it has been read.
    copy = op.clone().result
    elements = [
        tensor_dialect.extract(copy, size_arithmetic.values(list(place))) for place in places
    ]

    def part(take: Callable[[ir.Value], ir.Value]) -> ir.Value:
        numbers = list(map(take, elements))
        if is_splat:
            return tensor_dialect.splat(type_, numbers[0], [])
        return tensor_dialect.from_elements(type_, numbers)

    return [(part(complex_dialect.re), part(complex_dialect.im))]


def on_numbers(compute: Callable[..., ir.Value]) -> Rule:
    """The rule of an op that does to all of tensors what `compute` builds for one of each."""

    def split(splitting: Splitting, op: ir.Operation) -> Replacement:
        pairs = list(map(splitting.pair, op.operands))
        element = pairs[0][0].type.element_type
        result = op.results[0].type
        types = twice(result, part_type(result))

        def build(*numbers: ir.Value) -> list[ir.Value]:
            whole = [
                complex_dialect.create_(ir.ComplexType.get(element), *numbers[at : at + 2])
                for at in range(0, len(numbers), 2)
            ]
            made = compute(*whole)
            return re_and_im(made) if len(types) == 2 else [made]

        made = _generic([part for pair in pairs for part in pair], types, build)
        return [(made[0], made[1]) if len(made) == 2 else made[0]]

    return split


def scalar(splitting: Splitting, op: ir.Operation) -> Replacement:
    """An op on complex numbers that are no tensors, on numbers that are made of parts."""
    operands = [
        complex_dialect.create_(operand.type, *splitting.pair(operand))
        if is_complex(operand.type)
        else operand
        for operand in op.operands
    ]
    copy = op.clone()
    for number, operand in enumerate(operands):
        copy.operands[number] = operand
    results: list[ir.Value | Pair] = []
    for made in copy.results:
        if is_complex(made.type):
            real, imaginary = re_and_im(made)
            results.append((real, imaginary))
        else:
            results.append(made)
    return results


def generic(splitting: Splitting, op: ir.Operation) -> Replacement:
    """A `linalg.generic`, whose body computes with numbers that are made of parts."""
    view = cast("linalg.GenericOp", op.opview)
    maps = list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    inputs, outputs = list(view.inputs), list(view.outputs)
    flat_inputs, flat_outputs = splitting.flat(inputs), splitting.flat(outputs)
    new_maps = [
        map_
        for value, map_ in zip((*inputs, *outputs), maps, strict=True)
        for map_ in twice(value.type, map_)
    ]
    made = linalg.GenericOp(
        [value.type for value in flat_outputs],
        flat_inputs,
        flat_outputs,
        ir.ArrayAttr.get(new_maps),
        op.attributes["iterator_types"],
    )
    (block,) = list(op.regions[0].blocks)
    block.append_to(made.regions[0])
    old = list(block.arguments)
    with ir.InsertionPoint.at_block_begin(block):
        for argument in old:
            parts = [
                block.add_argument(type_, argument.location)
                for type_ in twice(argument.type, part_type(argument.type))
            ]
            whole = complex_dialect.create_(argument.type, *parts) if len(parts) == 2 else parts[0]
            argument.replace_all_uses_with(whole)
    for number in reversed(range(len(old))):
        block.erase_argument(number)
    *_, end = list(block.operations)
    with ir.InsertionPoint(end):
        yielded = [
            part
            for value in end.operands
            for part in (re_and_im(value) if is_complex(value.type) else [value])
        ]
        linalg.YieldOp(yielded)
    end.operation.erase()
    results = iter(made.results)
    return [
        (next(results), next(results)) if is_complex(value.type) else next(results)
        for value in outputs
    ]


def fill(splitting: Splitting, op: ir.Operation) -> Replacement:
    """Tensors of one number everywhere."""
    value, whole = op.operands
    real, imaginary = (
        linalg.fill(splitting.part(value, number), outs=[splitting.part(whole, number)])
        for number in (0, 1)
    )
    return [(real, imaginary)]


def size(splitting: Splitting, op: ir.Operation) -> Replacement:
    """What is asked of a tensor is asked of a part."""
    operands = [splitting.part(operand, 0) for operand in op.operands]
    copy = op.clone()
    for number, operand in enumerate(operands):
        copy.operands[number] = operand
    return [*copy.results]


def bind(splitting: Splitting, op: ir.Operation) -> Replacement:
    """Says of the parts what is said of sizes; of an argument, of itself."""
    operand, *symbols = op.operands
    map_ = ir.AffineMapAttr(op.attributes["shape_expressions"]).value
    stand_in = operand.owner
    if not isinstance(stand_in, ir.Block) and stand_in.name == CAST and len(stand_in.operands) == 1:
        two = ir.AffineConstantExpr.get(2)
        pairs = ir.AffineMap.get(0, map_.n_symbols, [*map_.results, two])
        BindSymbolicShapeOp(stand_in.operands[0], symbols, shape_expressions=pairs)
    for part in splitting.pair(operand):
        BindSymbolicShapeOp(part, symbols, shape_expressions=map_)
    return []


def _generic(
    operands: Sequence[ir.Value],
    types: Sequence[ir.RankedTensorType],
    build: Callable[..., list[ir.Value]],
) -> list[ir.Value]:
    """What `build` makes of the numbers at each place of tensors of one shape."""
    first, rank = operands[0], types[0].rank
    sizes = dynamic_sizes(first)
    empty = [
        ir.Operation.create("tensor.empty", results=[type_], operands=sizes).result
        for type_ in types
    ]
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(rank))
    made = linalg.GenericOp(
        list(types),
        list(operands),
        empty,
        ir.ArrayAttr.get([identity] * (len(operands) + len(types))),
        ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * rank),
    )
    elements = [value.type.element_type for value in (*operands, *empty)]
    block = made.regions[0].blocks.append(*elements, arg_locs=[made.location] * len(elements))
    with ir.InsertionPoint(block):
        linalg.YieldOp(build(*list(block.arguments)[: len(operands)]))
    return list(made.results)


def _elements_in_hex(op: ir.Operation) -> bytes | None:
    """The elements of a large constant, real and imaginary parts in turn."""
    _, is_hex, rest = op.get_asm().partition('dense<"0x')
    return bytes.fromhex(rest.partition('"')[0]) if is_hex else None


_MOVED = (
    *(AddOp, BroadcastOp, ConcatOp, GatherNdOp, GatherOp, NegOp, PadOp, ReverseOp),
    *(SelectOp, SliceOp, SubOp, TransposeOp),
)

RULES: Mapping[str, Rule] = {
    **{op.OPERATION_NAME: Splitting.move for op in _MOVED},
    **dict.fromkeys(
        (
            "arith.select",
            "tensor.cast",
            "tensor.collapse_shape",
            "tensor.concat",
            "tensor.empty",
            "tensor.expand_shape",
            "tensor.extract",
            "tensor.extract_slice",
            "tensor.from_elements",
            "tensor.insert",
            "tensor.insert_slice",
            "tensor.reshape",
            "tensor.splat",
        ),
        Splitting.move,
    ),
    **dict.fromkeys(
        ("scf.condition", "scf.for", "scf.if", "scf.index_switch", "scf.while", "scf.yield"),
        Splitting.flatten,
    ),
    **dict.fromkeys(("func.call", "func.return"), Splitting.as_pairs),
    **dict.fromkeys(
        (
            *("complex.abs", "complex.add", "complex.angle", "complex.atan2", "complex.conj"),
            *("complex.constant", "complex.cos", "complex.create", "complex.div", "complex.eq"),
            *("complex.exp", "complex.expm1", "complex.im", "complex.log", "complex.log1p"),
            *("complex.mul", "complex.neg", "complex.neq", "complex.pow", "complex.powi"),
            *("complex.re", "complex.rsqrt", "complex.sign", "complex.sin", "complex.sqrt"),
            *("complex.sub", "complex.tan", "complex.tanh"),
        ),
        scalar,
    ),
    BindSymbolicShapeOp.OPERATION_NAME: bind,
    DivfOp.OPERATION_NAME: on_numbers(complex_dialect.div),
    MulOp.OPERATION_NAME: multiply,
    "arith.constant": constant,
    "linalg.fill": fill,
    "linalg.generic": generic,
    "tensor.dim": size,
}
"""By the names of ops, of those that may stand in a TCP module."""
