"""The header of the ABI is C11 and C++17, without a warning of any compiler that is there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# One source for both languages, with each macro at its least and at its greatest.
_SOURCE = """
#include "tools/aot/abi.h"

DECL_RANK_0_MEMREF_TYPE(float, Scalar);
DECL_RANK_1_MEMREF_TYPE(const uint16_t, Halves);
DECL_RANK_16_MEMREF_TYPE(double, Widest);

#ifdef __cplusplus
extern "C" {
#endif
Scalar first(DECL_RANK_0_MEMREF_ABI(float), DECL_RANK_1_MEMREF_ABI(const uint16_t));
Widest second(DECL_RANK_16_MEMREF_ABI(double));
Scalar call(Scalar scalar, Halves halves, Widest widest);
#ifdef __cplusplus
}
#endif

Scalar call(Scalar scalar, Halves halves, Widest widest) {
  widest = second(PASS_RANK_16_MEMREF(widest));
  (void)widest;
  return first(PASS_RANK_0_MEMREF(scalar), PASS_RANK_1_MEMREF(halves));
}
"""
_WARNINGS = ("-Wall", "-Wextra", "-pedantic", "-Werror", "-Wstrict-prototypes", "-Wshadow")


@pytest.mark.parametrize(("suffix", "standard"), [("c", "c11"), ("cpp", "c++17")])
@pytest.mark.parametrize("compiler", ["cc", "gcc", "clang"])
def test_no_warnings(compiler: str, suffix: str, standard: str, tmp_path: Path) -> None:
    program = shutil.which(compiler)
    if program is None:
        pytest.skip(f"there is no {compiler}")
    source = tmp_path / f"caller.{suffix}"
    source.write_text(_SOURCE)
    warnings = [name for name in _WARNINGS if suffix == "c" or name != "-Wstrict-prototypes"]
    # From the workspace, where Bazel starts tests, and people too.
    subprocess.run(
        [program, f"-std={standard}", *warnings, "-I.", "-c", source, "-o", tmp_path / "caller.o"],
        check=True,
    )


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
