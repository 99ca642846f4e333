"""Times programs as modules of WebAssembly beside ONNX Runtime Web, on one thread of node.

    bazel run //test/benchmark:webassembly -- resnet50 'conv_*'

Both are called in turns within a process for each case (`webassembly.mjs`). A time is that of the
process's CPUs a call, the mean of a turn, and of all turns the best. ONNX Runtime Web comes from
the registry of npm, 150 MB, into a folder that is gone afterwards.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

import plumbline
from plumbline.errors import UserError
from test.AotCompile.models.float64 import exact_outputs
from test.benchmark.cases import CASES, Case, chosen
from test.benchmark.frameworks import onnx_file

_PEER = "onnxruntime-web@1.30.0"
_SCRIPT = Path(__file__).with_name("webassembly.mjs")
_HEADING = "| case | ms | onnxruntime-web | error | bytes |\n| --- | ---: | ---: | ---: | ---: |"


def _row(case: Case, peer: Path) -> str:
    program = case.make()
    if any(tensor.dtype not in (torch.float32, torch.int64) for tensor in program.inputs):
        return f"| {case.name} | it takes other tensors than of float32 and int64 |"
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        module = plumbline.aot(
            program.module, *program.inputs, name="program", out=folder, target_cpu="wasm32"
        )
        onnx_file(program, folder, external_data=False)
        exact = exact_outputs(program.module, program.inputs)[0]
        for number, tensor in enumerate(program.inputs):
            tensor.numpy().tofile(Path(folder, f"input{number}.bin"))
        exact.numpy().astype(np.float64).tofile(Path(folder, "exact.bin"))
        shapes = [list(tensor.shape) for tensor in program.inputs]
        command = ["node", str(_SCRIPT), str(peer), folder, json.dumps(shapes)]
        result = subprocess.run(command, capture_output=True, text=True)
        size = module.stat().st_size
    if result.returncode != 0:
        return f"| {case.name} | {result.stderr.strip().splitlines()[-1][:200]} |"
    found = json.loads(result.stdout)
    ours, theirs = found["ours"], found["theirs"]
    ratio = f"{ours['ms'] / theirs['ms']:.2f}" if theirs["ms"] else theirs["problem"]
    errors = " / ".join(f"{each['error']:.1e}" for each in (ours, theirs) if each["ms"])
    return f"| {case.name} | {ours['ms']:.4g} | {ratio} | {errors} | {size:,} |"


def main(arguments: Sequence[str]) -> int:
    """Prints a table of the cases that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cases", nargs="+", metavar="CASE", help=f"such as {next(iter(CASES))}")
    given = parser.parse_args(arguments)
    try:
        cases = chosen(given.cases)
    except ValueError as error:
        parser.error(str(error))
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        subprocess.run(
            ["npm", "install", "--silent", "--ignore-scripts", "--prefix", folder, _PEER],
            check=True,
        )
        peer = Path(folder, "node_modules", "onnxruntime-web", "dist", "ort.wasm.min.mjs")
        print(_HEADING)
        for case in cases:
            try:
                print(_row(case, peer), flush=True)
            except UserError as error:
                print(f"| {case.name} | {error} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
