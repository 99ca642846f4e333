"""What becomes of ops of StableHLO that take or make complex numbers."""

from collections.abc import Callable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects import complex as complex_dialect

from plumbline.bindings.pipeline import Pass
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp.attributes import direction
from plumbline.stablehlo_to_tcp.fourier import convert_fft
from plumbline.stablehlo_to_tcp.linear_algebra import convert_complex_routine
from plumbline.tcp.complex_numbers.parts import is_complex, part_type
from plumbline.tcp.complex_numbers.rules import (
    RULES,
    bilinear,
    constant,
    multiply,
    on_numbers,
    size,
)
from plumbline.tcp.complex_numbers.splitting import Replacement, Rule, Splitting


def _complex(splitting: Splitting, op: ir.Operation) -> Replacement:
    """Numbers of parts."""
    return [(op.operands[0], op.operands[1])]


def _part(number: int) -> Rule:
    return lambda splitting, op: [splitting.part(op.operands[0], number)]


def _convert(splitting: Splitting, op: ir.Operation) -> Replacement:
    """To complex numbers or from such; of those that become real ones the real part stays."""
    operand, type_ = op.operands[0], op.results[0].type
    if not is_complex(operand.type):
        converted = _converted(operand, part_type(type_))
        return [splitting.pair(converted)]
    parts = [_converted(part, part_type(type_)) for part in splitting.pair(operand)]
    return [(parts[0], parts[1]) if is_complex(type_) else parts[0]]


def _converted(value: ir.Value, type_: ir.Type) -> ir.Value:
    if value.type == type_:
        return value
    return ir.Operation.create("stablehlo.convert", results=[type_], operands=[value]).result


def _iota(splitting: Splitting, op: ir.Operation) -> Replacement:
    """Whole numbers, which have no other part."""
    attributes = {name: op.attributes[name] for name in op.attributes}
    types = [part_type(op.results[0].type)]
    made = ir.Operation.create(op.name, types, list(op.operands), attributes)
    return [splitting.pair(made.result)]


def _compare(splitting: Splitting, op: ir.Operation) -> Replacement:
    """Whether numbers are equal, or not; there is no order among them."""
    compute = {"eq": complex_dialect.eq, "ne": complex_dialect.neq}.get(direction(op.opview))
    if compute is None:
        raise Unsupported("an order of complex numbers")
    return on_numbers(compute)(splitting, op)


def _logistic(number: ir.Value) -> ir.Value:
    """1 / (1 + exp(-z))."""
    element = number.type.element_type
    parts = (arith.constant(element, value) for value in (1.0, 0.0))
    one = complex_dialect.create_(number.type, *parts)
    power = complex_dialect.exp(complex_dialect.neg(number))
    return complex_dialect.div(one, complex_dialect.add(one, power))


_MOVED = (
    *("add", "broadcast", "broadcast_in_dim", "concatenate", "dynamic_broadcast_in_dim"),
    *("dynamic_gather", "dynamic_pad", "dynamic_reshape", "dynamic_slice", "dynamic_update_slice"),
    *("gather", "negate", "pad", "real_dynamic_slice", "reduce", "reduce_window", "reshape"),
    *("reverse", "scatter", "select", "slice", "subtract", "transpose"),
)
"""Ops that do to numbers what they do to each of their parts, if what they combine is added."""

_ON_NUMBERS: Mapping[str, Callable[..., ir.Value]] = {
    "abs": complex_dialect.abs,
    "atan2": complex_dialect.atan2,
    "cosine": complex_dialect.cos,
    "divide": complex_dialect.div,
    "exponential": complex_dialect.exp,
    "exponential_minus_one": complex_dialect.expm1,
    "log": complex_dialect.log,
    "logistic": _logistic,
    "log_plus_one": complex_dialect.log1p,
    "power": complex_dialect.pow,
    "rsqrt": complex_dialect.rsqrt,
    "sign": complex_dialect.sign,
    "sine": complex_dialect.sin,
    "sqrt": complex_dialect.sqrt,
    "tan": complex_dialect.tan,
    "tanh": complex_dialect.tanh,
}
"""Ops on each number, by what builds them of the dialect `complex`."""

STABLEHLO_RULES: Mapping[str, Rule] = {
    **{f"stablehlo.{name}": Splitting.move for name in _MOVED},
    **{f"stablehlo.{name}": on_numbers(compute) for name, compute in _ON_NUMBERS.items()},
    **dict.fromkeys(
        (
            *("shape.assuming", "shape.assuming_yield", "stablehlo.case", "stablehlo.if"),
            *("stablehlo.optimization_barrier", "stablehlo.return", "stablehlo.while"),
        ),
        Splitting.flatten,
    ),
    **dict.fromkeys(("stablehlo.convolution", "stablehlo.dot_general"), bilinear),
    "shape.shape_of": size,
    "stablehlo.compare": _compare,
    "stablehlo.complex": _complex,
    "stablehlo.constant": constant,
    "stablehlo.convert": _convert,
    "stablehlo.custom_call": convert_complex_routine,
    "stablehlo.dynamic_iota": _iota,
    "stablehlo.fft": convert_fft,
    "stablehlo.get_dimension_size": size,
    "stablehlo.imag": _part(1),
    "stablehlo.iota": _iota,
    "stablehlo.multiply": multiply,
    "stablehlo.real": _part(0),
}


def _split(operation: ir.Operation) -> None:
    Splitting({**RULES, **STABLEHLO_RULES}).run(operation)


STABLEHLO_SPLIT_COMPLEX_NUMBERS = Pass(
    "stablehlo-split-complex-numbers",
    "Make two tensors of real numbers of each tensor of complex ones, where StableHLO computes",
    _split,
)
