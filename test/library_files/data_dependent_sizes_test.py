"""Libraries of programs whose results are as large as values say, called from C and Python."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError
from plumbline.library.load import describe


class _Chosen(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x[x > 0], (x > 0).nonzero()


class _Counted(torch.nn.Module):
    def forward(self, count: torch.Tensor) -> torch.Tensor:
        return torch.arange(count.item())


_MAIN = """
#include "chosen.h"

#include <stdio.h>

int main(void) {
  const float x[4] = {-1, 2, 0, 4};
  float out0[4] = {-9, -9, -9, -9};
  int64_t out1[4] = {-9, -9, -9, -9}, out0_size0 = -1, out1_size0 = -1, shape[2];
  int i, code = chosen(x, out0, out1, &out0_size0, &out1_size0, 4);
  printf("%d %d %d:", code, (int)out0_size0, (int)out1_size0);
  for (i = 0; i < 4; ++i) printf(" %g", (double)out0[i]);
  for (i = 0; i < 4; ++i) printf(" %d", (int)out1[i]);
  chosen_output_shape(1, 4, shape);
  printf("\\n%d %d\\n", (int)shape[0], (int)shape[1]);
  printf("%s\\n", chosen_error(chosen(x, out0, out1, NULL, &out1_size0, 4)));
  return 0;
}
"""


def test_c_is_told_how_much_there_is(tmp_path: Path) -> None:
    dims = {"x": {0: Dim("n")}}
    file = plumbline.aot(
        _Chosen(), torch.randn(6), name="chosen", out=tmp_path, dynamic_shapes=dims
    )
    text = (tmp_path / "chosen.h").read_text()
    assert "//   out1        int64 [out1_size0, 1], 8*n bytes" in text
    assert "//   out1_size0  a size of out1, which depends on values, at most n" in text
    (tmp_path / "main.c").write_text(_MAIN)
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "main.c", "libchosen.a", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    ran = subprocess.run(["./a.out"], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert ran.stdout.splitlines() == [
        "0 2 2: 2 4 -9 -9 1 3 -9 -9",
        "4 1",
        "out0_size0 is null",
    ]
    (description,) = describe(file)
    assert '"unbacked"' in description.to_json()
    assert type(description).from_json("it", description.to_json()) == description
    chosen, places = plumbline.load(file)(np.array([3, -1, 5], np.float32))
    assert (chosen.tolist(), places.tolist()) == ([3, 5], [[0], [2]])


def test_memrefs_have_the_sizes_of_the_run(tmp_path: Path) -> None:
    count = torch.tensor(3)
    file = plumbline.aot(_Counted(), count, name="counted", out=tmp_path, abi="memref")
    assert "//   out0        int64 [out0_size0]\n" in (tmp_path / "counted.h").read_text()
    counted = plumbline.load(file)
    for number in (4, 0, 100_000):
        assert np.array_equal(counted(np.array(number))[0], np.arange(number))
    with pytest.raises(UserError, match="nothing says how large"):
        counted(np.array(4), out=np.zeros(4, np.int64))
    # By pointers, nobody could bring memory for it.
    with pytest.raises(UserError, match=r"torch\._check\(n <= 64\)"):
        plumbline.aot(_Counted(), count, name="counted", out=tmp_path)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
