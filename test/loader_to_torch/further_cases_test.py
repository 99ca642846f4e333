import sys

import pytest
import torch
from torch.export import Dim

from plumbline.archives.reference_archive import ReferenceArchive, RefusedSize
from plumbline.errors import UserError
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.further_cases import further_sizes, refused_size, resized
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.references import record_further_cases, record_references
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.size_expressions import Operation, Size, Symbol, SymbolUse

N, M = SymbolUse(0), SymbolUse(1)


def _shapes(*shapes: tuple[Size | None, ...], n: Symbol, m: Symbol | None = None) -> ArgumentShapes:
    return ArgumentShapes((n,) if m is None else (n, m), shapes)


@pytest.mark.parametrize(
    ("least", "most", "sample", "expected"),
    [
        (0, None, 5, [1, 6]),
        (0, None, 1, [3, 2]),
        (2, 64, 5, [2, 6]),
        (2, 5, 5, [2, 4]),
        (5, 7, 5, [7, 6]),
        (5, 6, 5, [6]),
        (5, 5, 5, []),
    ],
)
def test_sizes_are_the_least_and_a_larger_one(
    least: int, most: int | None, sample: int, expected: list[int]
) -> None:
    shapes = _shapes((N, 3), n=Symbol("n", least, most))
    found = [sizes[0] for sizes in further_sizes(shapes, [torch.zeros(sample, 3)])]
    assert found == [[size, 3] for size in expected]


def test_derived_sizes_follow_and_equal_samples_part() -> None:
    shapes = _shapes(
        (N, M),
        (Operation("*", N, 2), Operation("+", M, -1)),
        n=Symbol("n", 0, None),
        m=Symbol("m", 0, None),
    )
    found = list(further_sizes(shapes, [torch.zeros(4, 4), torch.zeros(8, 3)]))
    # m is 2, as m - 1 would be 0 for the least.
    assert found == [[[1, 2], [2, 1]], [[5, 6], [10, 5]]]


def _resized(sample: torch.Tensor, *sizes: int) -> torch.Tensor:
    return resized(sample, sizes, torch.Generator().manual_seed(0))


def test_floats_are_drawn_from_the_samples_range() -> None:
    sample = torch.tensor([[0.5, 2.0, 1.0]], dtype=torch.float16)
    drawn = _resized(sample, 100, 3)
    assert drawn.dtype == torch.float16
    assert drawn.min() >= 0.5
    assert drawn.max() <= 2
    assert len(set(drawn.flatten().tolist())) > 50
    assert torch.equal(drawn, _resized(sample, 100, 3))


@pytest.mark.parametrize(
    "sample",
    [
        torch.tensor([7, 3, 9]),
        torch.tensor([True, True, False]),
        torch.tensor([0.0, float("-inf"), 1.0]),
        torch.tensor([0.0, 1.0, 1.0]),
    ],
    ids=["integers", "bools", "infinity", "mask"],
)
def test_other_values_are_the_samples_own(sample: torch.Tensor) -> None:
    assert torch.equal(_resized(sample, 2), sample[:2])
    assert torch.equal(_resized(sample, 5), sample[[0, 1, 2, 0, 1]])


def test_an_empty_sample_has_no_values_to_take() -> None:
    assert torch.equal(
        _resized(torch.zeros(0, 2, dtype=torch.int64), 3, 2), torch.zeros(3, 2).long()
    )


@pytest.mark.parametrize(
    ("shapes", "sizes", "expected"),
    [
        (_shapes((N, 3), (N,), n=Symbol("n", 0, None)), [(5, 3), (5,)], RefusedSize(1, 0, 6)),
        (_shapes((N, 3), n=Symbol("n", 2, None)), [(5, 3)], RefusedSize(0, 0, 1)),
        (_shapes((N, 3), n=Symbol("n", 0, 9)), [(5, 3)], RefusedSize(0, 0, 10)),
        (_shapes((N, 3), n=Symbol("n", 0, None)), [(5, 3)], RefusedSize(0, 1, 4)),
        (_shapes((N,), n=Symbol("n", 0, None)), [(5,)], RefusedSize(0, 0, -1)),
        (_shapes((), n=Symbol("n", 0, None)), [()], None),
        # To change m would be told as a mistake of the first argument.
        (
            _shapes(
                (Operation("+", N, M),), (N,), (M,), n=Symbol("n", 0, None), m=Symbol("m", 0, None)
            ),
            [(5,), (2,), (3,)],
            RefusedSize(0, 0, 6),
        ),
    ],
)
def test_the_size_to_refuse_is_a_telling_one(
    shapes: ArgumentShapes, sizes: list[tuple[int, ...]], expected: RefusedSize | None
) -> None:
    assert refused_size(shapes, [torch.zeros(size) for size in sizes]) == expected


class _Gather(torch.nn.Module):
    def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return x[index]


class _TopTwo(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.shape[0] != 1 or torch.compiler.is_compiling(), "one row is not enough"
        return x * 2


def _record(program: TorchLoaderOutput) -> ReferenceArchive:
    references = record_references("it", program)
    return record_further_cases("it", program, export("it", program).shapes, references)


def test_cases_hold_what_pytorch_answers() -> None:
    n = Dim("n", min=2)
    program = TorchLoaderOutput(
        torch.nn.Linear(3, 2), (torch.randn(4, 3),), dynamic_shapes={"input": {0: n}}
    )
    archive = _record(program)
    assert [case.inputs[0].shape for case in archive.further_cases] == [(2, 3), (5, 3)]
    for case in archive.further_cases:
        expected = program.model(torch.from_numpy(case.inputs[0]))
        torch.testing.assert_close(torch.from_numpy(case.outputs[0]), expected.detach())


def test_indices_into_what_has_become_smaller_stay_inside() -> None:
    program = TorchLoaderOutput(
        _Gather(),
        (torch.randn(5), torch.tensor([4, 0, 2])),
        dynamic_shapes={"x": {0: Dim("n")}, "index": {}},
    )
    smaller, larger = _record(program).further_cases
    assert smaller.inputs[1].tolist() == [0, 0, 0]
    assert larger.inputs[1].tolist() == [4, 0, 2]


def test_a_range_that_is_too_wide_is_told_with_the_size() -> None:
    program = TorchLoaderOutput(
        _TopTwo(), (torch.randn(5, 3),), dynamic_shapes={"x": {0: Dim("n"), 1: Dim("m")}}
    )
    with pytest.raises(UserError) as refused:
        _record(program)
    message = str(refused.value)
    assert message.startswith(
        "it: the model fails in PyTorch on inputs of the sizes [1, 1], which dynamic_shapes "
        "allows: AssertionError: one row is not enough"
    )
    assert "min and max" in message
    assert "further_inputs" in message


def test_a_loaders_own_further_inputs_take_the_place_of_others() -> None:
    program = TorchLoaderOutput(
        torch.nn.ReLU(),
        (torch.randn(5),),
        dynamic_shapes={"input": {0: Dim("n", max=9)}},
        further_inputs=((torch.randn(0),), (torch.randn(9),)),
    )
    assert [case.inputs[0].shape for case in _record(program).further_cases] == [(0,), (9,)]
    program.further_inputs = ()
    assert _record(program).further_cases == ()
    program.further_inputs = ((torch.randn(10),),)
    with pytest.raises(
        UserError, match=r"further_inputs\[0\]: argument 0 has size 10 .* at most 9"
    ):
        _record(program)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
