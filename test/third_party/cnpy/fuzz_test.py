"""Fuzzes the library for a minute, under the address and undefined-behaviour sanitizers.

It needs clang++ with its runtime libraries (Debian: clang, libclang-rt-14-dev), and runs apart:

    bazel test //test/third_party/cnpy:fuzz_test
    bazel test //test/third_party/cnpy:fuzz_test --test_env=FUZZ_SECONDS=3600 --test_timeout=4000
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from test.third_party.cnpy import numpy_files

# Relative to the workspace, where Bazel starts tests, and people too.
LIBRARY = Path("third_party/cnpy")
HERE = Path("test/third_party/cnpy")

COMPILER_OPTIONS = (
    *("-std=c++17", "-O1", "-g", "-I."),
    "-fsanitize=fuzzer,address,undefined",
    "-fno-sanitize-recover=all",
)


def fuzzer_options(seconds: int) -> list[str]:
    return [
        f"-max_total_time={seconds}",
        # Longer inputs are seldom new and always slow.
        "-max_len=8192",
        # An input of 8 KiB inflates to 8 MiB at most.
        "-malloc_limit_mb=64",
        "-timeout=10",
        "-print_final_stats=1",
        f"-dict={HERE / 'cnpy_fuzz.dict'}",
    ]


def test_fuzz(tmp_path: Path) -> None:
    compiler = shutil.which("clang++")
    assert compiler is not None, "clang++ is needed (Debian: clang and libclang-rt-14-dev)"
    fuzzer = tmp_path / "cnpy_fuzz"
    sources = [HERE / "cnpy_fuzz.cpp", *sorted(LIBRARY.glob("*.cpp"))]
    assert len(sources) > 5
    subprocess.run([compiler, *COMPILER_OPTIONS, *sources, "-lz", "-o", fuzzer], check=True)

    seeds = tmp_path / "seeds"
    numpy_files.write_seeds(seeds)
    assert any(seeds.iterdir())
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    seconds = int(os.environ.get("FUZZ_SECONDS", "60"))
    # Bazel keeps what lies here, so that an input that was found can be tried again.
    findings = Path(os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", str(tmp_path)))
    subprocess.run(
        [fuzzer, *fuzzer_options(seconds), f"-artifact_prefix={findings}/", corpus, seeds],
        check=True,
    )


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", "-s", *sys.argv[1:]]))
