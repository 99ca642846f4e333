import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch.export import Dim
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg

from plumbline.bindings.walk import operations_of
from plumbline.bisect import bisection
from plumbline.bisect.bisection import Bisection, Outcome, bisect
from plumbline.bisect.report import report
from plumbline.compiler import compile_export
from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.errors.location import describe
from plumbline.loader_to_torch import export
from plumbline.loader_to_torch.decompositions import decomposition_table
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.tcp.assembly.module import parse_module
from plumbline.tcp.building.shapes import full
from plumbline.tcp.building.tensors import Tensor
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import elementwise as tcp
from plumbline.torch_to_tcp.pattern import Pattern, tensor, tensor_type
from test.bisect.planted_faults import tcp_op_lowered, torch_op_lowered

_ROWS = {"x": {0: Dim("rows")}}


class _Layers(torch.nn.Module):
    """Twenty ops and more of many kinds, with tanh three times over."""

    mask: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(6, 8)
        self.norm = torch.nn.LayerNorm(8)
        self.second = torch.nn.Linear(8, 4)
        self.register_buffer("mask", torch.tensor([True, False, True, True]))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.tanh(self.first(x))
        y = self.norm(y * 3)
        y = torch.tanh(y.reshape(y.shape[0] * 2, 4))  # of another shape
        y = y.reshape(-1, 8)
        y = torch.tanh(self.second(y))
        y = torch.where(self.mask, y, -y)
        best, place = y.max(dim=1)
        return torch.softmax(y, 1) * best[:, None] * 100, place


def _program(
    model: torch.nn.Module, inputs: Sequence[torch.Tensor], shapes: Any = None, **options: Any
) -> TorchLoaderOutput:
    return TorchLoaderOutput(model.eval(), inputs, shapes, **options)


def _layers(**options: Any) -> TorchLoaderOutput:
    torch.manual_seed(0)
    return _program(_Layers(), (torch.randn(3, 6),), _ROWS, **options)


def _line_of(model: type[torch.nn.Module], code: str) -> str:
    """Where a line of a model's source is."""
    lines, first = inspect.getsourcelines(model)
    (number,) = (first + index for index, line in enumerate(lines) if code in line)
    return f":{number}"


def _off_by(factor: float, when: Callable[[ir.Value], bool] = lambda value: True) -> Any:
    """Makes a pattern's result wrong by a factor, for operands that are so."""

    def wrongly(right: Pattern) -> Pattern:
        def convert(op: ir.OpView) -> ir.Value:
            result = right(op)
            assert isinstance(result, ir.Value)
            if not when(op.operands[0]):
                return result
            like = Tensor(result, tensor_type(op.results[0]))
            factors = full(factor, like.type.dtype, (like,), like.type.sizes)
            return tcp.MulOp(result, factors.value).out

        return convert

    return wrongly


def _culprit(result: Bisection) -> bisection.Culprit:
    assert result.outcome is Outcome.OP
    assert result.culprit is not None
    return result.culprit


def test_a_program_that_agrees_takes_one_line() -> None:
    result = bisect("me", _layers())
    assert result.outcome is Outcome.AGREES
    assert result.agrees
    assert len(result.findings) == result.count > 20
    text = report(result)
    assert "\n" not in text
    assert text.startswith(
        f"me: {result.count} ops and the outputs agree with PyTorch; the largest"
    )


@pytest.mark.parametrize("portion", [1, 3, 64])
def test_a_wrong_torch_op_among_others_of_its_kind(
    portion: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bisection, "_MOST_VALUES", portion)
    # Only for rows of four: right in the first tanh, wrong in the second and the third.
    wrongly = _off_by(1.01, lambda value: "[?,4]" in str(value.type))
    with torch_op_lowered("torch.aten.tanh", wrongly):
        result = bisect("me", _layers(), keep_going=True)
    culprit = _culprit(result)
    assert culprit.finding.op == "aten.tanh.default"
    assert culprit.finding.place.endswith(_line_of(_Layers, "of another shape"))
    assert culprit.wrong_alone
    # What comes after it is off as well, but not at fault, but for the other one.
    wrong = [finding.name for finding in result.findings.values() if finding.is_wrong]
    assert wrong == ["tanh_1", "tanh_2"]
    off = [finding.name for finding in result.findings.values() if not finding.total.agrees]
    assert len(off) > 5
    # Its inputs are right.
    assert all(
        result.findings[name].total.agrees
        for name in culprit.finding.inputs
        if name in result.findings
    )


def test_the_report_of_a_wrong_op() -> None:
    with torch_op_lowered("torch.aten.tanh", _off_by(1.01)):
        result = bisect("loader my.loader", _layers())
    text = report(result)
    code = "y = torch.tanh(self.first(x))"
    place = _culprit(result).finding.place
    assert place.endswith(_line_of(_Layers, code))
    number = list(result.findings).index("tanh") + 1
    assert text.startswith(
        f"loader my.loader: op {number} of {result.count} is the first that computes something "
        f"else than PyTorch's does from the same inputs\n\naten.tanh.default (%tanh)\nat {place}\n"
    )
    assert code in text
    assert "f32[3, 8]: 24 of 24 elements differ (rtol 1.3e-06, atol 1e-05)\n  worst at [" in text
    assert "  %add: aten.add.Tensor f32[3, 8]: " in text
    assert "compiled alone, on PyTorch's inputs: just as wrong: f32[3, 8]: 24 of 24" in text
    for stage, line in (
        ("torch", "torch.aten.tanh %arg0 : !torch.vtensor<[?,8],f32>"),
        ("tcp", "tcp.mul"),
        ("linalg", "math.tanh"),
    ):
        assert line in text.partition(f"\n{stage}:\n")[2].partition("\n\n")[0]
    assert "loc(" not in text
    assert "further down: kernels " in text
    # The place is the one that the stages carry.
    stage = _culprit(result).program.stage("torch")
    (op,) = (
        op
        for op in operations_of(parse_module(stage, make_context(torch=True), ""), "torch")
        if op.name == "torch.aten.tanh"
    )
    assert describe(op.location) == place


def test_a_wrong_tcp_op_in_a_library_module() -> None:
    def wrongly(right: Callable[[TcpOp], ir.Value]) -> Callable[[TcpOp], ir.Value]:
        del right
        return lambda op: linalg.negf(op.operands[0], outs=[op.operands[0]])

    with tcp_op_lowered(tcp.RsqrtOp, wrongly):
        result = bisect("me", _layers())
    culprit = _culprit(result)
    assert culprit.finding.op == "aten.rsqrt.default"
    assert culprit.finding.module_path == "norm"
    assert _line_of(_Layers, "self.norm(y * 3)") + ", in torch/nn/modules/norm" in (
        culprit.finding.place
    )
    assert "(%rsqrt) in module norm" in report(result)


def test_a_fault_that_needs_its_neighbours() -> None:
    def wrongly(right: Callable[[TcpOp], ir.Value]) -> Callable[[TcpOp], ir.Value]:
        def convert(op: TcpOp) -> ir.Value:
            # A relu that an addition comes before. Alone, it is given an argument.
            owner = op.operands[0].owner
            return op.operands[0] if isinstance(owner, ir.Operation | ir.OpView) else right(op)

        return convert

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.sin(x) + 1
            return torch.ceil(y * 2.5).cos()

    with tcp_op_lowered(tcp.CeilOp, wrongly):
        result = bisect("me", _program(Model(), (torch.randn(3, 5),)))
    culprit = _culprit(result)
    assert culprit.finding.op == "aten.ceil.default"
    assert culprit.alone is not None
    assert culprit.alone.agrees
    assert "compiled alone, on PyTorch's inputs: right (f32[3, 5]: no difference)" in report(result)


class _Sharpened(torch.nn.Module):
    """A chain of ops that each add a little, and one that makes much of it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.cos(x).exp().log() + 0.5
        for _ in range(6):
            x = torch.tanh(x) * 1.5  # the one that is off
        return torch.sigmoid(x) + x * 1000 - 1000


def test_errors_that_add_up() -> None:
    # Within the bound for numbers of this size, but twenty times what rounding makes.
    program = _program(_Sharpened(), (torch.linspace(0.5, 1.5, 12),))
    with torch_op_lowered("torch.aten.tanh", _off_by(1 + 2e-6)):
        result = bisect("me", program)
    assert result.outcome is Outcome.ACCUMULATION
    assert not result.agrees
    first = result.first_over_bound
    assert first is not None
    text = report(result)
    assert "each op agrees with PyTorch's on the same inputs: small errors add up" in text
    assert f"{first.op} (%{first.name})\nat {first.place}" in text
    assert first.place.endswith(_line_of(_Sharpened, "x * 1000 - 1000"))
    assert any(found.own.worst and "tanh" not in found.op for found in result.findings.values())
    # The ops that add most are those with the fault.
    listed = text.partition("before it add, from the same inputs:\n")[2].splitlines()[:5]
    assert all("aten.tanh.default (%tanh" in line for line in listed)
    assert all(_line_of(_Sharpened, "the one that is off") in line for line in listed)


def test_a_fault_of_the_whole_program_only() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            y = torch.sin(x) * 2 + torch.cos(x)
            y = torch.exp(y)
            y = torch.log(y + 1)  # wrong
            return torch.sqrt(y + 3) - 1, x + 5

    def wrongly(right: Callable[[TcpOp], ir.Value]) -> Callable[[TcpOp], ir.Value]:
        def convert(op: TcpOp) -> ir.Value:
            # As if an addition that nothing else uses were fused away.
            fused = len(list(op.operands[0].uses)) == 1
            return op.operands[0] if fused else right(op)

        return convert

    with tcp_op_lowered(tcp.LogOp, wrongly):
        result = bisect("me", _program(Model(), (torch.randn(3, 5),)))
    assert result.outcome is Outcome.WHOLE_PROGRAM
    assert not result.agrees
    assert [output.agrees for output in result.outputs] == [False, True]
    assert result.shortest is not None
    assert result.shortest[0].op == "aten.log.default"
    text = report(result)
    assert "outputs differ, but no op alone does" in text
    assert "Output0, f32[3, 5]: 15 of 15 elements differ" in text
    assert f"aten.log.default (%log)\nat {result.shortest[0].place}" in text
    assert result.shortest[0].place.endswith(_line_of(Model, "# wrong"))


def test_a_wrong_decomposition_is_no_fault_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    right = decomposition_table()
    wrong = {**right, torch.ops.aten.tanh.default: lambda x: x * 0.5}
    monkeypatch.setattr(export, "decomposition_table", lambda: wrong)
    result = bisect("me", _layers())
    assert result.outcome is Outcome.EXPORT
    text = report(result)
    assert "computes something else than the model, in PyTorch itself" in text
    assert "Output0, f32[3, 4]: " in text


def test_a_value_that_does_not_compile_as_an_output(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(who: str, exported: export.Export, *arguments: Any, **options: Any) -> Any:
        returned = exported.text.rpartition("    return ")[2].splitlines()[0]
        if "[?,1],f32" in returned:
            raise UserError("no rows of one")
        return compile_export(who, exported, *arguments, **options)

    monkeypatch.setattr(bisection, "compile_export", refusing)
    whole = bisect("me", _layers())
    assert whole.outcome is Outcome.AGREES
    assert len(whole.hidden) >= 3
    assert len(whole.findings) + len(whole.hidden) == whole.count
    assert "Not looked at by themselves" in report(whole)
    # A fault in one of them shows in the first value that is made of it.
    with torch_op_lowered("torch.aten.rsqrt", _off_by(1.01)):
        result = bisect("me", _layers())
    assert "rsqrt" in result.hidden
    assert _culprit(result).finding.op == "aten.mul.Tensor"
    assert _culprit(result).finding.module_path == "norm"


def test_a_program_that_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*arguments: Any, **options: Any) -> Any:
        raise UserError("me: never")

    monkeypatch.setattr(bisection, "compile_export", refusing)
    with pytest.raises(UserError, match="me: never"):
        bisect("me", _layers())


def test_another_shape_than_pytorchs() -> None:
    def wrongly(right: Pattern) -> Pattern:
        def convert(op: ir.OpView) -> ir.Value:
            result = right(op)
            assert isinstance(result, ir.Value)
            type_ = ir.RankedTensorType(result.type)
            index = ir.IndexType.get()
            zero, one = (arith.constant(index, number) for number in (0, 1))
            dynamic = ir.ShapedType.get_dynamic_size()
            size = ir.Operation.create(
                "tensor.dim", results=[index], operands=[result, zero]
            ).result
            return ir.Operation.create(
                "tensor.extract_slice",
                results=[type_],
                operands=[result, arith.subi(size, one)],
                attributes={
                    "static_offsets": ir.DenseI64ArrayAttr.get([0, 0]),
                    "static_sizes": ir.DenseI64ArrayAttr.get([dynamic, type_.shape[1]]),
                    "static_strides": ir.DenseI64ArrayAttr.get([1, 1]),
                    "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 1, 0]),
                },
            ).result

        return convert

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            # PyTorch refuses to go on with other sizes.
            return torch.sin(x).reshape(x.shape[0] * 5) * y

    inputs = (torch.randn(3, 5), torch.tensor(2.0))
    with torch_op_lowered("torch.aten.sin", wrongly):
        result = bisect("me", _program(Model(), inputs, {**_ROWS, "y": {}}))
    assert _culprit(result).finding.op == "aten.sin.default"
    assert "its result is f32[2, 5], expected f32[3, 5]" in report(result)


def test_the_loaders_bounds_hold_for_outputs() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.tanh(x)

    inputs = (torch.tensor([1e-7, 1e-6]),)
    wrongly = _off_by(1.01)
    with torch_op_lowered("torch.aten.tanh", wrongly):
        assert bisect("me", _program(Model(), inputs)).agrees
        result = bisect("me", _program(Model(), inputs, atol=0.0))
    assert _culprit(result).finding.own.differing == 2
    # Looser ones are for the sum of all errors, not for the op.
    big = (torch.tensor([0.5, 1.0]),)
    with torch_op_lowered("torch.aten.tanh", wrongly):
        result = bisect("me", _program(Model(), big, rtol=0.1))
    assert _culprit(result).finding.total.agrees


def test_sums_that_round_otherwise_are_not_wrong() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x @ y

    generator = torch.Generator().manual_seed(0)
    x, y = (1000 * torch.randn(16, 5000, generator=generator) for _ in range(2))
    program = _program(Model(), (x, y.T.contiguous()), rtol=0.1, atol=1000.0)
    result = bisect("me", program)
    (finding,) = result.findings.values()
    # Otherwise this tests nothing.
    assert finding.own.excess > 8
    assert finding.rounding
    assert result.agrees
    assert "since PyTorch itself is about as far from what double precision gives" in report(result)
    # What is wrong by more than that is wrong.
    with torch_op_lowered("torch.aten.mm", _off_by(1.01)):
        assert _culprit(bisect("me", program)).wrong_alone


def test_nothing_but_integers_and_truth_values() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            even = (x & 1) == 0
            return torch.where(even, x // 2, x * 3 + 1), even.any()

    result = bisect("me", _program(Model(), (torch.arange(7),)))
    assert report(result).endswith("agree with PyTorch, bit for bit")
    with torch_op_lowered("torch.aten.bitwise_and.Scalar", lambda right: _first_operand):
        result = bisect("me", _program(Model(), (torch.arange(7),)))
    assert _culprit(result).finding.op == "aten.bitwise_and.Scalar"


def _first_operand(op: ir.OpView) -> ir.Value:
    return tensor(op.operands[0]).value


def test_values_that_are_views_with_strides() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.sin(x).t()
            return torch.as_strided(y, (2, 3), (1, 2)).cos() + y.expand(2, 2, 3)

    assert bisect("me", _program(Model(), (torch.randn(3, 2),))).agrees


def test_a_program_without_ops() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    result = bisect("me", _program(Model(), (torch.ones(2),)))
    assert (result.count, result.agrees) == (0, True)


def test_a_program_without_inputs() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(4, 5))

        def forward(self) -> torch.Tensor:
            return torch.tanh(self.weight).sum(0)

    assert bisect("me", _program(Model(), ())).agrees


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
