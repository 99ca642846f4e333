"""Runs PyTorch's operator database through `plumbline.compile`, and prints what passes."""

import argparse
import json
import os
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from plumbline.target.choices import TARGETS
from test.op_db.outcome import FAMILIES, SAMPLES, How, Outcome, entries
from test.op_db.workers import outcomes

_KINDS = ("all", "some", "none", "skipped")


def main() -> int:
    """Runs the program: 0, or 2 for an entry that there is not."""
    arguments = _parse()
    # Samples of deprecated ops warn, and every process anew.
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    known = entries()
    if unknown := set(arguments.op) - known.keys():
        print(f"no entry of the operator database: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    done = _read(arguments.output)
    names = [name for name in arguments.op or known if name not in done]
    how = How(arguments.target, arguments.samples, arguments.calls)
    for outcome in outcomes(names, how, workers=arguments.workers):
        done[outcome.op] = outcome
        print(f"{len(done)}/{len(known)} {outcome.op}: {outcome.kind}", file=sys.stderr)
        if arguments.output:
            with arguments.output.open("a") as file:
                file.write(json.dumps(asdict(outcome)) + "\n")
    chosen = [done[name] for name in arguments.op or done]
    print("\n".join(report(chosen, arguments.samples)))
    if arguments.passing:
        passing = sorted(outcome.op for outcome in chosen if outcome.kind == "all")
        arguments.passing.write_text("".join(f"{name}\n" for name in passing))
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--op", action="append", default=[], help="an entry, such as nn_functional_relu; repeatable"
    )
    parser.add_argument(
        "--output",
        type=_path,
        help="a .jsonl file with an outcome on each line; entries that are in it are not run again",
    )
    parser.add_argument(
        "--passing", type=_path, help="a file to list the entries in that pass on every sample"
    )
    parser.add_argument(
        "--target",
        choices=TARGETS,
        default="host",
        help="what to compile for; a stand-in for the driver runs the kernels of nvptx",
    )
    parser.add_argument(
        "--samples", type=int, default=SAMPLES, help="how many of each entry, at most"
    )
    parser.add_argument(
        "--no-calls", dest="calls", action="store_false", help="compile, but call nothing"
    )
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="processes at a time"
    )
    return parser.parse_args()


def _path(text: str) -> Path:
    # `bazel run` starts a program in its runfiles.
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ""), text)


def _read(path: Path | None) -> dict[str, Outcome]:
    if path is None or not path.exists():
        return {}
    found = (Outcome(**json.loads(line)) for line in path.read_text().splitlines())
    return {outcome.op: outcome for outcome in found}


def report(found: Sequence[Outcome], samples: int) -> list[str]:
    """A table by family, the count of ATen ops, and what stops the rest, the most common first."""
    lines = [f"{'family':<22}" + "".join(f"{kind:>9}" for kind in _KINDS)]
    for family in FAMILIES:
        lines.append(_row(family, [outcome for outcome in found if outcome.family == family]))
    lines.append(_row("together", found))
    aten = {name for outcome in found for name in outcome.aten}
    lines += [
        "",
        f"all, some, none: of up to {samples} samples",
        f"distinct ATen ops in samples that pass: {len(aten)}",
        "",
        "what stops the rest:",
    ]
    stopped: dict[str, list[str]] = defaultdict(list)
    for outcome in found:
        for failure in sorted(set(outcome.failures)):
            stopped[failure].append(outcome.op)
    for failure, ops in sorted(stopped.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"{len(ops):4} {failure}")
        lines.append(f"       {' '.join(ops)}")
    return lines


def _row(name: str, found: Sequence[Outcome]) -> str:
    counts = Counter(outcome.kind for outcome in found)
    return f"{name:<22}" + "".join(f"{counts[kind]:>9}" for kind in _KINDS)


if __name__ == "__main__":
    sys.exit(main())
