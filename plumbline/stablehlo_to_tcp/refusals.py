"""Ops that are refused whatever their operands are, with what to do instead."""

from torch_mlir import ir

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp.pattern import Pattern, Patterns
from plumbline.tcp.building.tensors import Tensor

_RANDOM = "random numbers; draw them outside and pass them as an argument"
_DEVICES = "communication between devices; export the program for one"
_OUTSIDE = "communication with a host; pass what it gives and takes as arguments and results"
_ORDER = "tokens, which order effects that TCP has none of; export a program without effects"
_TRANSFORM = "a Fourier transform along a dimension whose size is not known; export a known one"
_TUPLES = "tuples; export values one by one"
_QUANTIZED = "quantized numbers; export them dequantized"

_REASONS = {
    "stablehlo.after_all": _ORDER,
    "stablehlo.all_gather": _DEVICES,
    "stablehlo.all_reduce": _DEVICES,
    "stablehlo.all_to_all": _DEVICES,
    "stablehlo.batch_norm_grad": "the gradient of a batch norm; export it as the ops it is made of",
    "stablehlo.collective_broadcast": _DEVICES,
    "stablehlo.collective_permute": _DEVICES,
    "stablehlo.create_token": _ORDER,
    "stablehlo.dynamic_conv": "padding that is computed; export the convolution with a known one",
    "stablehlo.fft": _TRANSFORM,
    "stablehlo.get_tuple_element": _TUPLES,
    "stablehlo.infeed": _OUTSIDE,
    "stablehlo.outfeed": _OUTSIDE,
    "stablehlo.partition_id": _DEVICES,
    "stablehlo.recv": _DEVICES,
    "stablehlo.reduce_scatter": _DEVICES,
    "stablehlo.replica_id": _DEVICES,
    "stablehlo.rng": _RANDOM,
    "stablehlo.rng_bit_generator": _RANDOM,
    "stablehlo.send": _DEVICES,
    "stablehlo.tuple": _TUPLES,
    "stablehlo.uniform_dequantize": _QUANTIZED,
    "stablehlo.uniform_quantize": _QUANTIZED,
}


def _refusing(reason: str) -> Pattern:
    def convert(op: ir.OpView) -> Tensor:
        raise Unsupported(reason)

    return convert


PATTERNS: Patterns = {name: _refusing(reason) for name, reason in _REASONS.items()}
