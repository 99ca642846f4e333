"""Measures the errors of the elementary functions over all floats, as the functions state them.

    bazel test //test/elementary_functions:every_float_test --test_arg=exp --test_arg=tanh
    bazel test //test/elementary_functions:every_float_test --test_env=TARGET_CPU=x86-64

Without arguments it takes all functions, at half a minute to two each. With two operands,
each float is once the first of them. The target is the machine's own CPU, unless told otherwise.
"""

import os
import sys
from collections.abc import Iterator

import numpy as np

from plumbline.archives.reference_archive import Tensor
from plumbline.target.cpu import cpu_target
from test.elementary_functions.compiled import llvm_ir_of, load
from test.elementary_functions.references import OPERANDS, REFERENCES, worst

_CHUNK = 1 << 15


def _operands(name: str) -> Iterator[tuple[Tensor, ...]]:
    """All floats, in parts; a second operand is drawn, of such as give moderate results."""
    generator = np.random.default_rng(0)
    for first in range(0, 1 << 32, _CHUNK):
        x = np.arange(first, first + _CHUNK, dtype=np.uint32).view(np.float32)
        if OPERANDS[name] == 1:
            yield (x,)
            continue
        with np.errstate(all="ignore"):
            size = np.abs(x.astype(np.float64))
            near = size * np.exp(generator.uniform(-20, 20, _CHUNK))
            if name == "powf":
                near = generator.uniform(-150, 128, _CHUNK) / np.log2(size)
            yield x, (near * generator.choice([-1, 1], _CHUNK)).astype(np.float32)


def main(names: list[str]) -> int:
    """Prints the greatest error of each function, and where it is; 1 if one is beyond its bound."""
    cpu = os.environ.get("TARGET_CPU", "native")
    target = cpu_target(cpu)
    functions = load(llvm_ir_of(OPERANDS, "f32", target), OPERANDS, "f32", target)
    failed = False
    for name in names or REFERENCES:
        error, where = max(
            worst(name, *functions[name](*operands), *operands) for operands in _operands(name)
        )
        bound = REFERENCES[name].bound
        failed |= error > bound
        print(f"{name} ({cpu}): {error:.4f} units at {where}, bound {bound}", flush=True)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
