import sys

import pytest
import torch

from plumbline.errors import UserError
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import load
from plumbline.loader_to_torch.references import record_references

_PACKAGE = "test.loader_to_torch.broken_loaders"


def _run(function: str) -> None:
    path = f"{_PACKAGE}.{function}"
    program = load(path)
    record_references(f"loader {path}", program)
    export(f"loader {path}", program)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("raises", ["KeyError: 'no such layer'", "broken_loaders.py", "raise KeyError"]),
        ("returns_a_module", ["returned a ReLU", "TorchLoaderOutput"]),
        ("model_is_a_function", ["model is a builtin_function_or_method", "torch.nn.Module"]),
        ("inputs_is_a_tensor", ["inputs is a Tensor", "(x,)"]),
        ("input_is_a_number", ["input 1 is of type float, not a tensor", "torch.tensor(...)"]),
        ("input_is_complex", ["input 0", "complex64 is not supported", "float32"]),
        ("input_is_sparse", ["input 0", "sparse", "dense"]),
        ("bad_function_name", ["'my-func' is not a C identifier"]),
        ("function_name_of_libm", ["'tanhf' is taken in the C library"]),
        ("has_constraints", ["dynamic_dim", "dynamic_shapes", "torch.export.Dim"]),
        ("returns_a_dict", ["forward returned a dict", "a tuple or list of tensors"]),
        ("returns_a_number", ["output 1 is of type int, not a tensor"]),
        ("returns_nothing", ["forward returned no tensor"]),
        ("negative_tolerance", ["rtol is -1.0"]),
        ("too_many_tolerances", ["atol has 2 values for 1 outputs"]),
        ("shapes_disagree", ["fails on its own inputs", "broken_loaders.py", "return x + y"]),
        (
            "data_dependent",
            ["torch.export refuses", "if x.sum() > 0", "use torch.where for the former"],
        ),
        ("specialises", ["torch.export refuses", "length", "length = 4", "dynamic_shapes"]),
        ("specialises_silently", ["only where dimension 2 of input is 11", "dynamic_shapes"]),
        (
            "unknown_ops",
            [
                "the Torch dialect has no op for these:\n  aten.",
                "(f32[2,2]): 2 places\n    ",
                "    test/loader_to_torch/broken_loaders.py:",
                ", in module inner.0\n",
                ", in module inner.1\n",
                "what would help: write a decomposition",
            ],
        ),
        (
            "sizes_depend_on_values",
            [
                "sizes depend on the values of others:\n",
                "  aten.nonzero.default(f32[3]): 1 place\n",
                "  aten.index.Tensor(f32[3], i1[3]): 1 place\n",
                "  aten._unique2.default(f32[3]): 1 place\n",
                "  aten.repeat_interleave.Tensor(i64[3]): 1 place\n",
                "broken_loaders.py:",
                "what would help: the sizes of a compiled function's tensors follow",
            ],
        ),
        ("resizes", ["resizes a tensor in place:\n  aten.resize.default(f32[4])", "torch.cat"]),
        ("takes_complex_numbers", ["input 0", "complex64 is not supported", "view_as_real"]),
        ("returns_complex_numbers", ["output 0", "complex64 is not supported", "view_as_real"]),
        (
            "computes_with_other_dtypes",
            [
                "computes with dtypes that are not supported:\n",
                "(f32[2]): 1 place\n",
                "cast to one that is: float64, float32,",
            ],
        ),
        ("mutates", ["writes in place into x", "return the new value"]),
        ("not_a_function", ["it is a int, not a function"]),
        ("sond", ["has no function sond", "did you mean sound?"]),
    ],
)
def test_a_mistake_gives_one_message_that_names_the_loader(
    function: str, expected: list[str]
) -> None:
    with pytest.raises(UserError) as refusal:
        _run(function)
    message = str(refusal.value)
    assert message.startswith(f"loader {_PACKAGE}.{function}")
    for part in expected:
        assert part in message
    # What torch.export prints for its own developers does not belong in the message.
    for noise in ("TORCH_LOGS", "http", "draft_export", "Traceback"):
        assert noise not in message


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("foo_loader", "not of the form package.module.function"),
        ("no.such.module.loader", "module no.such.module does not import"),
        ("test.loader_to_torch.no_such_module.loader", "torch_loader_lib"),
    ],
)
def test_a_path_that_leads_nowhere(path: str, expected: str) -> None:
    with pytest.raises(UserError, match=expected) as refusal:
        load(path)
    assert path in str(refusal.value)


def test_a_loader_is_seeded() -> None:
    first, second = load(f"{_PACKAGE}.sound"), load(f"{_PACKAGE}.sound")
    assert torch.equal(first.inputs[0], second.inputs[0])
    assert torch.equal(first.model.weight, second.model.weight)  # type: ignore[arg-type]


def test_inputs_do_not_share_memory_with_the_loaders() -> None:
    program = load(f"{_PACKAGE}.sound")
    assert not program.model.training
    assert not program.inputs[0].requires_grad


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
