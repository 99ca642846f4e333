"""The benchmark beside other frameworks measures what it says, with those that there are."""

import io
import json
import re
import resource
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from test.benchmark import cases, peers, report
from test.benchmark.ceilings import Ceilings, Rates, least_seconds
from test.benchmark.frameworks import FRAMEWORKS
from test.benchmark.measurement import Result, Work
from test.benchmark.report import Row


@dataclass(frozen=True)
class _Printed:
    """What a run has printed and written: a process or two, of ten seconds each."""

    table: str
    figures: Any

    def cells(self) -> list[str]:
        """Those of the case: ours, eager, ONNX Runtime, OpenVINO, and what is said of all."""
        (row,) = re.findall(r"^\| small_softmax \| (.*) \|$", self.table, re.MULTILINE)
        cells: list[str] = row.split(" | ")
        return cells


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> _Printed:
    """Of a run on one case, beside one framework that is there and one that crashes."""
    folder = tmp_path_factory.mktemp("run")
    # A module of that name which ends whoever imports it stands for one that crashes.
    (folder / "openvino.py").write_text("import os\nos.abort()\n")
    figures = folder / "figures.jsonl"
    arguments = ["--quick", "--peers=eager,onnxruntime,openvino", f"--output={figures}"]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as output:
        patch.syspath_prepend(folder)
        assert peers.main(["small_softmax", *arguments]) == 0
    return _Printed(output.getvalue(), json.loads(figures.read_text()))


def test_prints_a_row_with_ratios_and_a_ceiling(printed: _Printed) -> None:
    ours, eager, _, _, best, ceiling, _, _ = printed.cells()
    assert float(ours) > 0
    assert 0 < float(eager) == float(best.strip("*"))
    assert float(ceiling.rstrip("%")) <= 100
    results = {result["framework"]: result for result in printed.figures["results"]}
    assert results.keys() == {"Plumbline", "eager", "onnxruntime", "openvino"}
    assert all(0 < results[name]["error"] < 1e-6 for name in ("Plumbline", "eager"))


def _row(target_cpu: str, *peers: Result) -> Row:
    ours = Result("Plumbline", prepare_seconds=1.0, seconds=0.002, error=1e-7)
    work = Work(1e6, 1e3, 1e3, 0.001, 1e9, 1e9)
    return Row("softmax_4096", target_cpu, 1, [ours, *peers], work)


def test_a_peer_that_fails_is_a_cell_and_a_note() -> None:
    table = report.Table(["eager", "openvino"], "native", 1)
    failed = Result("openvino", problem="ended by SIGSEGV")
    line = table.lines(_row("native", Result("eager", seconds=0.001, error=2e-7), failed))
    cells = "| softmax_4096 | 2.00 | 2.00 | fails | **2.00** | 50% | 1.0e-07 / 2.0e-07 | 1.0 |"
    assert line.splitlines()[-1] == cells
    assert line.startswith("| **row-wise** (goal 0.8) |")
    assert "- softmax_4096, openvino: ended by SIGSEGV" in table.footer()


def test_who_uses_more_than_the_baseline_is_no_peer_there() -> None:
    results = [Result("openvino", seconds=0.004), Result("onnxruntime", seconds=0.001)]
    peers_ = [result.framework for result in results]
    native = report.Table(peers_, "native", 1).lines(_row("native", *results))
    assert "| 2.00 | 0.50 | 2.00 | **2.00** |" in native
    baseline = report.Table(peers_, "baseline", 1).lines(_row("baseline", *results))
    assert "| 2.00 | 0.50 | 2.00* | 0.50 |" in baseline


def test_goes_on_without_a_framework_that_ends_the_process(printed: _Printed) -> None:
    assert printed.cells()[3] == "fails"
    assert "- small_softmax, openvino: ended by SIGABRT" in printed.table


@pytest.mark.skipif(not FRAMEWORKS["onnxruntime"].missing(), reason="it is installed")
def test_a_peer_that_is_not_there_is_said_so(printed: _Printed) -> None:
    assert printed.cells()[2] == "not installed"
    assert "- small_softmax, onnxruntime: not installed: onnxruntime" in printed.table


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["conv_*", "nothing"], "no case matches nothing; there are matmul_1024, "),
        (
            ["--peers=eager,tvm"],
            "'tvm' is none of eager, compile, aot_inductor, onnxruntime, openvino",
        ),
        (["--threads=1,0"], "'0' is no number of threads"),
        (["--target-cpu=native,z80"], "target_cpu 'z80': LLVM knows no such CPU"),
    ],
)
def test_what_there_is_not_is_refused_by_name(
    capfd: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    with pytest.raises(SystemExit):
        peers.main(arguments)
    assert expected in capfd.readouterr().err


def test_patterns_choose_cases_in_the_order_of_the_table() -> None:
    names = [case.name for case in cases.chosen(["softmax_*", "matmul_1024"])]
    assert names[0] == "matmul_1024"
    assert set(names[1:]) == {name for name in cases.CASES if name.startswith("softmax_")}


@pytest.mark.parametrize("target_cpu", ["native", "baseline"])
@pytest.mark.parametrize("threads", [1, 2])
def test_ceilings_are_of_a_machine(target_cpu: str, threads: int) -> None:
    ceilings = Ceilings(target_cpu, threads, 1e6)
    ceilings.measure()
    rates = ceilings.rates()
    # What no core is below or above.
    for rate in (rates.flops, rates.copied, rates.read):
        assert 1e9 < rate < 1e13


def _resident_bytes() -> int:
    """How much of this process's memory there is."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def test_memory_is_there_before_it_is_read() -> None:
    """What was never written is one page of zeros, however much of it is read."""
    before = _resident_bytes()
    ceilings = Ceilings("native", 1, 2**28)
    ceilings.measure()
    assert _resident_bytes() - before > 0.9 * 2**28


def test_the_higher_bound_counts() -> None:
    rates = Rates(flops=100.0, copied=10.0, read=20.0)
    assert least_seconds(rates, flops=1000.0, read=1.0, written=1.0) == 10.0
    assert least_seconds(rates, flops=0.0, read=30.0, written=10.0) == 2.0 + 1.0


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
