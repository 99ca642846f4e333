"""Loops that stay loops, against PyTorch."""

import sys

import pytest
import torch
from torch._higher_order_ops.while_loop import while_loop

import plumbline


class _Doubled(torch.nn.Module):
    """Doubles the second operand as often as the first says."""

    def forward(self, times: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        _, _, doubled = while_loop(  # type: ignore[no-untyped-call]
            lambda done, times, y: done < times,
            lambda done, times, y: (done + 1, times.clone(), y * 2),
            (torch.zeros((), dtype=torch.int64), times, x),
        )
        result: torch.Tensor = doubled
        return result


def test_a_loop_ends_when_its_condition_says() -> None:
    program = plumbline.compile(_Doubled(), (torch.tensor(3), torch.ones(2)))
    assert "scf.while" in program.stage("tcp")
    for times in (0, 1, 5):
        [actual] = program(torch.tensor(times), torch.ones(2))
        torch.testing.assert_close(actual, torch.full((2,), 2.0**times))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
