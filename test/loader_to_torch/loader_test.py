import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from plumbline.errors import UserError
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import load
from plumbline.loader_to_torch.references import (
    check_repeatable,
    record_further_cases,
    record_references,
)

_PACKAGE = "test.loader_to_torch.broken_loaders"

_OUTPUT = (
    "it returns a plumbline.TorchLoaderOutput, which tools.aot.torch_loader_utils has too, or what "
    "torch.export.export gives"
)
_INPUTS = "it is a tuple or list of tensors, for one input too: (x,)"
_FAILS = "the model fails on its own inputs in PyTorch:"
_TOLERANCE = "it is a number, or a list of one for each output"
_TENSORS_ONLY = (
    "a compiled function takes and returns tensors and numbers only: keep other values in the "
    "module"
)
_WRITES = (
    "what would help: a compiled function keeps nothing between calls, and writes into arguments "
    "that are declared to be in-out alone: say mutable=["
)
_DTYPES = (
    "float64, float32, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, "
    "uint64, bool, complex64, complex128, float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, "
    "float8_e5m2fnuz"
)
_DYNAMIC_SHAPES = (
    'it is a dict by the names of the inputs, {"x": {0: torch.export.Dim("batch")}}, or a tuple or '
    "list of one entry for each"
)
_REPEATABLE = (
    "for the same inputs and the same torch.manual_seed; a compiled function's cannot: what it "
    "draws at random or keeps between calls has to be one of its inputs"
)

# Loaders, and the first line of what is said of each, after its name.
_MISTAKES = [
    ("raises", " failed: KeyError: 'no such layer'"),
    ("returns_a_module", f" returned a ReLU; {_OUTPUT}"),
    ("model_is_a_function", ": model is a builtin_function_or_method; it is a torch.nn.Module"),
    ("inputs_is_a_tensor", f": inputs is a Tensor; {_INPUTS}"),
    ("input_is_a_string", f": inputs[1] is of type str, not a tensor; {_TENSORS_ONLY}"),
    (
        "input_is_half_complex",
        f": inputs[0]: torch dtype torch.complex32 is not supported; these are: {_DTYPES}",
    ),
    (
        "input_is_sparse",
        ": inputs[0] is a tensor of layout torch.sparse_coo on cpu; it must be dense and "
        "on the CPU",
    ),
    ("bad_function_name", ": function name 'my-func' is not a C identifier"),
    (
        "function_name_of_libm",
        ": function name 'tanhf' is taken in the C library; choose another",
    ),
    (
        "has_constraints",
        f": constraints is not empty, but PyTorch {torch.__version__} has no dynamic_dim; "
        f'say it with dynamic_shapes instead, for example {{"x": {{0: '
        f'torch.export.Dim("batch")}}, "y": {{}}}}',
    ),
    ("returns_nothing", ": forward returned no tensor, so there is nothing to compute"),
    ("negative_tolerance", ": rtol is -1.0; tolerances are finite and >= 0"),
    ("too_many_tolerances", ": atol has 2 values for 1 outputs"),
    (
        "shapes_disagree",
        f": {_FAILS} RuntimeError: The size of tensor a (2) must match the size of tensor "
        "b (3) at non-singleton dimension 0",
    ),
    (
        "data_dependent",
        ": torch.export refuses it: GuardOnDataDependentSymNode: Could not guard on "
        "data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: "
        "none)",
    ),
    ("specialises", ": torch.export refuses it: UserError: Constraints violated (length)!"),
    ("unknown_ops", ": the Torch dialect has no op for these:"),
    ("resizes", ": forward resizes a tensor in place:"),
    ("computes_with_other_dtypes", ": forward computes with dtypes that are not supported:"),
    ("mutates", ": forward writes in place:"),
    ("writes_into_a_parameter", ": forward writes in place:"),
    ("returns_nothing_at_all", f" returned a NoneType; {_OUTPUT}"),
    ("returns_a_tuple", f" returned a tuple; {_OUTPUT}"),
    (
        "takes_arguments",
        " failed: TypeError: <lambda>() missing 1 required positional argument: 'size'",
    ),
    ("exits", " failed: it calls sys.exit(3)"),
    ("exits_without_a_status", " failed: it calls sys.exit()"),
    ("is_a_coroutine", f" returned a coroutine; {_OUTPUT}"),
    ("model_is_a_class", ": model is the class ReLU; make one: call it"),
    ("model_is_none", ": model is a NoneType; it is a torch.nn.Module"),
    ("inputs_is_none", f": inputs is a NoneType; {_INPUTS}"),
    ("inputs_is_a_dict", f": inputs is a dict; {_INPUTS}"),
    ("inputs_is_a_generator", f": inputs is a generator; {_INPUTS}"),
    ("input_is_a_list", f": inputs[0][0] is of type str, not a tensor; {_TENSORS_ONLY}"),
    ("input_is_an_array", f": inputs[0] is of type ndarray, not a tensor; {_TENSORS_ONLY}"),
    (
        "input_is_none",
        f": {_FAILS} TypeError: relu(): argument 'input' (position 1) must be Tensor, not NoneType",
    ),
    (
        "input_has_no_memory",
        ": inputs[0] is a tensor of layout torch.strided on meta; it must be dense and on the CPU",
    ),
    (
        "input_is_of_another_float8",
        f": inputs[0]: torch dtype torch.float8_e8m0fnu is not supported; these are: {_DTYPES}",
    ),
    ("name_is_a_number", ": func_name is a int; it is a string"),
    ("name_is_empty", ": function name '' is not a C identifier"),
    ("name_is_a_keyword", ": function name 'while' is taken in C++; choose another"),
    (
        "name_is_a_macro",
        ": function name 'NULL' may be a macro's, which are written so; choose another",
    ),
    (
        "name_is_a_type",
        ": function name 'int32_t' may be a type's of the C library, which end in _t; "
        "choose another",
    ),
    ("name_is_predefined", ": function name 'linux' is taken in C++; choose another"),
    (
        "name_is_reserved",
        ": function name '_init' is reserved in C++, as it begins with an underscore or "
        "has two in a row; choose another",
    ),
    (
        "name_is_of_the_abi",
        ": function name 'StridedMemRefType' is taken in C++; choose another",
    ),
    ("rtol_is_a_string", f": rtol is '1e-3'; {_TOLERANCE}"),
    ("rtol_is_a_bool", f": rtol is True; {_TOLERANCE}"),
    ("rtol_is_empty", ": rtol has 0 values for 1 outputs"),
    ("atol_is_a_list_of_strings", f": atol is ['0.1']; {_TOLERANCE}"),
    ("atol_is_nan", ": atol is nan; tolerances are finite and >= 0"),
    ("atol_is_infinite", ": atol is inf; tolerances are finite and >= 0"),
    ("atol_is_a_tensor", f": atol is tensor([1.]); {_TOLERANCE}"),
    ("shapes_is_a_dim", f": dynamic_shapes is a Dim; {_DYNAMIC_SHAPES}"),
    ("shapes_is_a_string", f": dynamic_shapes is a str; {_DYNAMIC_SHAPES}"),
    ("shapes_is_a_set", f": dynamic_shapes is a set; {_DYNAMIC_SHAPES}"),
    (
        "shapes_of_no_input",
        ": torch.export refuses it: UserError: When `dynamic_shapes` is specified as a "
        "dict, its top-level keys must be the arg names ['x'] of `inputs`, but here they "
        "are ['y']. Alternatively, you could also ignore arg names entirely and specify "
        "`dynamic_shapes` as a list/tuple matching `inputs`.",
    ),
    (
        "shapes_beyond_the_rank",
        ": dynamic_shapes has dimension 5 of input 0, which has rank 2: dimensions are "
        "counted from 0",
    ),
    (
        "shapes_by_a_string",
        ": dynamic_shapes has dimension '0' of input 0, which has rank 2: dimensions are "
        "counted from 0",
    ),
    (
        "shapes_to_a_string",
        ": torch.export refuses it: UserError: Unexpected dimension mapped to index 0 in "
        "input tensor shape {0: 'n'} specified at `dynamic_shapes['x']` (expected None, "
        "an int, a Dim, Dim.AUTO, Dim.STATIC, or Dim.DYNAMIC,  but got 'n' instead)",
    ),
    (
        "shapes_of_too_few",
        ": torch.export refuses it: UserError: Detected mismatch between the structure "
        "of `inputs` and `dynamic_shapes`: `inputs` has 2 elements, but `dynamic_shapes` "
        "has 1 elements",
    ),
    (
        "shapes_of_each_of_many",
        ": torch.export refuses it: UserError: Detected mismatch between the structure "
        "of `inputs` and `dynamic_shapes`: `inputs` has 1 elements, but `dynamic_shapes` "
        "has 2 elements",
    ),
    (
        "shapes_out_of_range",
        ": torch.export refuses it: ConstraintViolationError: 2 not in range [4, int_oo]",
    ),
    (
        "shapes_upside_down",
        " failed: AssertionError: Cannot create Dim with inconsistent min=9, max=3",
    ),
    ("further_is_a_tensor", ": further_inputs is a Tensor; it is a list of tuples like inputs"),
    ("further_is_flat", f": further_inputs[0] is a Tensor; {_INPUTS}"),
    ("further_has_too_many", ": further_inputs[0] has 2 tensors, where inputs has 1"),
    (
        "further_is_of_another_dtype",
        ": further_inputs[0][0] is torch.int64 of rank 2, where inputs[0] is "
        "torch.float32 of rank 2",
    ),
    (
        "further_is_of_another_rank",
        ": further_inputs[0][0] is torch.float32 of rank 1, where inputs[0] is "
        "torch.float32 of rank 2",
    ),
    (
        "further_has_a_number",
        ": further_inputs[0][0] is torch.int64 of rank 0, where inputs[0] is torch.float32 of rank "
        "2",
    ),
    (
        "further_is_of_another_size",
        ": further_inputs[0]: argument 0 has size 4 in dimension 1, not 3",
    ),
    (
        "further_is_out_of_range",
        ": further_inputs[0]: argument 0 has size 9 in dimension 0, which is n; n must "
        "be at least 0 and at most 4",
    ),
    ("further_is_nested_otherwise", ": further_inputs[0] is not nested as the first inputs are"),
    (
        "further_that_the_model_refuses",
        ": further_inputs[0]: the model fails on it in PyTorch: _LinAlgError: "
        "linalg.cholesky: The factorization could not be completed because the input is "
        "not positive-definite (the leading minor of order 2 is not positive-definite).",
    ),
    (
        "takes_more_than_given",
        f": {_FAILS} TypeError: _Add.forward() missing 1 required positional argument: 'y'",
    ),
    (
        "takes_less_than_given",
        f": {_FAILS} TypeError: _Module.forward() takes 2 positional arguments but 3 were given",
    ),
    (
        "takes_another_dtype",
        f": {_FAILS} RuntimeError: mat1 and mat2 must have the same dtype, but got Double "
        "and Float",
    ),
    (
        "takes_another_size",
        f": {_FAILS} RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x2)",
    ),
    (
        "has_no_forward",
        f": {_FAILS} NotImplementedError: Module [Module] is missing the required "
        '"forward" function',
    ),
    (
        "has_no_weights_yet",
        f": {_FAILS} RuntimeError: Tensor on device meta is not on the expected device cpu!",
    ),
    ("model_raises", f": {_FAILS} KeyError: 'layer'"),
    ("model_exits", f": {_FAILS} it calls sys.exit(2)"),
    ("returns_none", ": forward returned no tensor, so there is nothing to compute"),
    ("returns_a_string", f": output 0 is of type str, not a tensor; {_TENSORS_ONLY}"),
    ("returns_an_array", f": output 0 is of type ndarray, not a tensor; {_TENSORS_ONLY}"),
    (
        "returns_a_sparse_tensor",
        ": output 0 is a tensor of layout torch.sparse_coo on cpu; it must be dense and on the CPU",
    ),
    ("draws_at_random", ": forward draws random numbers:"),
    ("drops_out", ": forward draws random numbers:"),
    ("makes_a_sparse_tensor", ": forward makes a sparse tensor:"),
    (
        "branches_on_a_value",
        ": torch.export refuses it: GuardOnDataDependentSymNode: Could not guard on "
        "data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: "
        "none)",
    ),
    (
        "branches_on_all_values",
        ": torch.export refuses it: GuardOnDataDependentSymNode: Could not guard on "
        "data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: none)",
    ),
    (
        "branches_on_nans",
        ": torch.export refuses it: GuardOnDataDependentSymNode: Could not guard on "
        "data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: none)",
    ),
    (
        "repeats_by_a_value",
        ": torch.export refuses it: GuardOnDataDependentSymNode: Could not extract specialized "
        "integer from data-dependent expression u0 (unhinted: u0).  (Size-like symbols: none)",
    ),
    (
        "goes_through_numpy",
        ": torch.export refuses it: RuntimeError: .numpy() is not supported for tensor subclasses.",
    ),
    (
        "packs_a_sequence",
        ": torch.export refuses it: NotImplementedError: a sequence is packed "
        "(pack_padded_sequence) into steps of sizes that follow from the values of lengths, which "
        "an export cannot follow: hand the layer padded sequences, and mask what it gives beyond "
        "their lengths, or sequences of one length",
    ),
    (
        "takes_a_gradient",
        f": {_FAILS} RuntimeError: element 0 of tensors does not require grad and does "
        "not have a grad_fn",
    ),
    ("branches_on_a_size", ": torch.export refuses it: UserError: Constraints violated (n)!"),
    ("counts_its_calls", ": forward writes in place:"),
    (
        "draws_from_numpy",
        ": output 0 differs from call to call, 1.6369616985321045 and then "
        f"1.0409735441207886 at [0, 0], {_REPEATABLE}",
    ),
    (
        "keeps_a_count",
        f": output 1 differs from call to call, 1.0 and then 3.0 at [0, 0], {_REPEATABLE}",
    ),
    (
        "returns_another_size",
        ": output 0 differs from call to call, torch.float32 of shape [1] and then "
        f"torch.float32 of shape [3], {_REPEATABLE}",
    ),
    (
        "returns_another_number",
        f": the number of outputs differs from call to call, 1 and then 3, {_REPEATABLE}",
    ),
    ("not_a_function", ": it is a int, not a function"),
]

# What the lines after it have.
_FURTHER_LINES = {
    "raises": ["broken_loaders.py", "raise KeyError"],
    "exits": ["broken_loaders.py", "sys.exit(3)"],
    "shapes_disagree": ["broken_loaders.py", "return x + y"],
    "data_dependent": ["if x.sum() > 0", "use torch.where or torch.cond"],
    "repeats_by_a_value": ["broken_loaders.py", "len() and range() need numbers that are known"],
    "branches_on_all_values": ["broken_loaders.py", "use torch.where or torch.cond"],
    "branches_on_nans": ["broken_loaders.py", "use torch.where or torch.cond"],
    "mutates": ["  into the input x: test/loader_to_torch/broken_loaders.py:", _WRITES],
    "writes_into_a_parameter": [
        "  into the parameter weight: test/loader_to_torch/broken_loaders.py:",
        _WRITES,
    ],
    "counts_its_calls": [
        "  into the buffer calls: test/loader_to_torch/broken_loaders.py:",
        _WRITES,
    ],
    "specialises": ["length = 4", "dynamic_shapes"],
    "unknown_ops": [
        "  broken_loaders.unknown(f32[2,2]): 2 places\n    ",
        "    test/loader_to_torch/broken_loaders.py:",
        ", in module inner.0\n",
        ", in module inner.1\n",
        "what would help: write a decomposition",
    ],
    "goes_through_numpy": ["np.", "functions of PyTorch's"],
    "resizes": ["  aten.resize.default(f32[4])", "torch.cat"],
    "computes_with_other_dtypes": [
        "(f32[2]): 1 place\n",
        "cast to one that is: float64, float32,",
    ],
    "draws_at_random": [
        "  aten.randn.default(): 1 place\n",
        'say mutable=["torch.default_generator"] beside the model',
    ],
}


def _run(function: str) -> None:
    path = f"{_PACKAGE}.{function}"
    who = f"loader {path}"
    program = load(path)
    references = record_references(who, program)
    exported = export(who, program)
    check_repeatable(who, program, references)
    record_further_cases(who, program, exported.shapes, references)


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
@pytest.mark.parametrize(("function", "first_line"), _MISTAKES)
def test_a_mistake_gives_one_message_that_names_the_loader(function: str, first_line: str) -> None:
    with pytest.raises(UserError) as refusal:
        _run(function)
    message = str(refusal.value)
    first, _, rest = message.partition("\n")
    assert first == f"loader {_PACKAGE}.{function}{first_line}"
    for part in _FURTHER_LINES.get(function, ()):
        assert part in rest
    # What torch.export prints for its own developers does not belong in the message.
    for noise in ("TORCH_LOGS", "http", "draft_export", "Traceback"):
        assert noise not in message


@pytest.mark.parametrize(
    "function",
    [
        *("sound", "half_precision", "with_tolerance", "settles_a_size"),
        *("returns_a_dict", "returns_a_nested_tuple"),
    ],
)
def test_nothing_is_said_of_sound_loaders(function: str) -> None:
    _run(function)


def test_torch_export_says_nothing_beside_the_message() -> None:
    """It logs and prints of these when it refuses them."""
    script = (
        "from plumbline.errors import UserError\n"
        "from plumbline.loader_to_torch.export import export\n"
        "from plumbline.loader_to_torch.loader import load\n"
        "for name in ('sound', 'shapes_disagree', 'data_dependent', 'specialises'):\n"
        "    try:\n"
        f"        export('it', load('{_PACKAGE}.' + name))\n"
        "    except UserError:\n"
        "        pass\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("foo_loader", "not of the form package.module.function"),
        ("", "not of the form package.module.function"),
        (
            "test.loader_to_torch.exits_on_import.loader",
            r"it calls sys.exit\(4\)\n  at test/loader",
        ),
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


def test_a_target_s_name_is_the_function_s_unless_there_is_another() -> None:
    path = f"{_PACKAGE}.sound"
    assert load(path, target="foo").func_name == "foo"
    assert load(path, target="tanh", func_name="bar").func_name == "bar"
    assert load(f"{_PACKAGE}.named", target="tanh").func_name == "own_name"
    assert load(f"{_PACKAGE}.named", func_name="bar").func_name == "bar"
    with pytest.raises(UserError) as refusal:
        load(path, target="tanh")
    assert str(refusal.value) == (
        f"loader {path}: function name 'tanh' is taken in the C library; choose another, as "
        "func_name of its aot_compile or func_name of its TorchLoaderOutput: without one, it is "
        "the target's name"
    )


def test_a_loader_does_not_change_the_working_directory() -> None:
    folder = Path.cwd()
    load(f"{_PACKAGE}.changes_directory")
    assert Path.cwd() == folder


def test_inputs_do_not_share_memory_with_the_loaders() -> None:
    program = load(f"{_PACKAGE}.sound")
    assert not program.inputs[0].requires_grad


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
