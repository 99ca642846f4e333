"""What the benchmark of training says of its figures."""

import sys
from collections.abc import Iterator

import pytest
import torch

import plumbline
from test.benchmark import training
from test.benchmark.cases import Program


@pytest.fixture(autouse=True)
def _nothing_compiled_after() -> Iterator[None]:
    yield
    torch._dynamo.reset()


def test_a_program_is_timed_and_what_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("there is no compiler\nand so on")

    backends = {"ours": lambda _: plumbline.Backend(threads=1), "inductor": lambda _: fails}
    monkeypatch.setattr(training, "_BACKENDS", backends)
    monkeypatch.setattr(training, "_SECONDS", 0.0)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5))
    row = training.measure("small", Program(model, (torch.randn(5, 3),)), 1)
    assert row.seconds.keys() == {"eager", "ours"}
    row.seconds = {"eager": 0.002, "ours": 0.001}
    row.compilation = {"ours": 1.5}
    text = training.table([row])
    assert "| small | 2.0 | 0.50 | failed | 1.50 | failed |" in text
    assert "small: inductor: backend='fails' raised:" in text


def test_other_gradients_are_said() -> None:
    one, other = torch.ones(2), torch.tensor([1.0, 1.5])
    assert training._difference([one], [other]) == pytest.approx(1 / 3)


def test_a_program_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        training.main(["resnet51"])
    assert "no case matches resnet51" in capsys.readouterr().err


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
