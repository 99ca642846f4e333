"""The benchmark of models measures what it says."""

import re
import sys

import pytest

from test.AotCompile.models import benchmark


def test_measures_a_model(capfd: pytest.CaptureFixture[str]) -> None:
    """Every stage, both runs, and errors of the size of float32's precision."""
    assert benchmark.main(["--seconds=0", "lstm_small"]) == 0
    report = capfd.readouterr().out
    for stage in ("torch", "tcp", "linalg", "kernels", "llvm", "llvm_ir", "machine_code"):
        assert re.search(rf"^  {stage} +\d+\.\d +\d+$", report, re.MULTILINE), report
    errors = dict(re.findall(r"^    (Plumbline|PyTorch) +(\S+)", report, re.MULTILINE))
    assert 0 < float(errors["Plumbline"]) < 1e-5
    assert 0 < float(errors["PyTorch"]) < 1e-5
    (ratio,) = re.findall(r"run, ms: .* ratio (\S+)", report)
    assert float(ratio) > 0


def test_an_unknown_model_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    """With the names of those that there are."""
    with pytest.raises(SystemExit):
        benchmark.main(["lstm_tiny"])
    assert "lstm_small" in capfd.readouterr().err


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
