"""What XLA and earlier versions of MLIR spell otherwise than the version here reads it.

XLA has ops that StableHLO has none of, and writes them in its own dialect. Before 2026 the truth
values of a large constant were spelled as bits, eight to a byte; now each is a byte.
"""

import re

import numpy as np

_OPS = {
    "copy": r"= stablehlo.optimization_barrier \2 : \3",
    "erf": r"= chlo.erf \2 : \3 -> \3",
    "tan": r"= chlo.tan \2 : \3 -> \3",
}
"""What stands for an op of XLA's on tensors of one type."""

_OP = re.compile(rf"= mhlo\.({'|'.join(_OPS)}) (%[\w#]+) : (tensor<[^()\n]*>)(?= loc\(|\s*$)", re.M)

_BITS = re.compile(r'dense<"0x([0-9A-Fa-f]+)"> : tensor<((?:\d+x)+)i1>')


def as_read_here(text: str) -> str:
    """The text of a module of StableHLO as this version reads it; lines stay where they were."""
    if " mhlo." in text:
        text = _OP.sub(lambda found: found.expand(_OPS[found[1]]), text)
    if "i1>" in text:
        text = _BITS.sub(_in_bytes, text)
    return text


def _in_bytes(constant: re.Match[str]) -> str:
    """A constant of truth values with a byte for each, if it has a bit for each."""
    content = bytes.fromhex(constant[1])
    sizes = [int(size) for size in constant[2].split("x")[:-1]]
    count = int(np.prod(sizes, dtype=np.int64))
    if len(content) != -(-count // 8) or len(content) == count:
        return constant[0]
    bits = np.unpackbits(np.frombuffer(content, np.uint8), count=count, bitorder="little")
    return f'dense<"0x{bits.tobytes().hex().upper()}"> : tensor<{constant[2]}i1>'
