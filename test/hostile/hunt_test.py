"""Runs mutated files through every stage; HUNT_INPUTS says how many, HUNT_SEED which.

bazel test //test/hostile:hunt_sample_test
bazel test //test/hostile:hunt_test --test_env=HUNT_INPUTS=100000 --test_timeout=20000
"""

import os
import sys
from pathlib import Path

import pytest

from test.hostile.hunt import BAD, Figures, hunt
from test.hostile.seeds import Seeds

INPUTS = int(os.environ.get("HUNT_INPUTS", "300"))
SEED = int(os.environ.get("HUNT_SEED", "1"))


def _keep_findings(figures: Figures, folder: Path) -> None:
    """Files that ended badly, each with its command."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "figures.txt").write_text(figures.report())
    for number, (what, trial) in enumerate(figures.findings.items()):
        place = folder / str(number)
        place.mkdir(exist_ok=True)
        (place / "what").write_text(f"{what}\n{trial.stage} {' '.join(trial.arguments)}\n")
        for name, content in trial.files.items():
            (place / name).write_bytes(content)


def test_every_mutated_file_ends_in_a_result_or_in_one_message(tmp_path: Path) -> None:
    seeds = Seeds(Path("test").absolute(), Path("tools/aot/execute_test.template.cpp").absolute())
    for kind, files in vars(seeds).items():
        assert files, f"there is no valid file of kind {kind} to start from"
    findings = Path(os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", tmp_path)).absolute()

    def progress(number: int, figures: Figures) -> None:
        if number % 500 == 499:
            _keep_findings(figures, findings)

    figures = hunt(seeds, SEED, INPUTS, progress)
    _keep_findings(figures, findings)
    print(figures.report())
    assert not [what for what in figures.findings if what.startswith(BAD)], figures.report()


if __name__ == "__main__":
    # A file that ends its process is no news here, nor where in Python that was.
    options = ["-q", "-s", "-p", "no:faulthandler"]
    raise SystemExit(pytest.main([__file__, *options, *sys.argv[1:]]))
