"""Programs of TensorFlow: functions, models of Keras, and what is refused of them.

TensorFlow is not installed here. What stands for its objects has what they have, and the StableHLO
is what TensorFlow 2.21 makes of such a function.
"""

import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from math import erf
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import plumbline
from plumbline.errors import UserError

Array = np.ndarray[Any, np.dtype[Any]]

# erf((pair["x"] @ kernel + bias) * scale) * captured, and the sum with pair["n"]. Without locations
# of the ops but one.
SCALED = """
#loc1 = loc("XLA_Args")
module @a_inference_of_tensors_41__.1 attributes {mhlo.input_output_alias = []} {
  func.func @main(%arg0: tensor<i32> loc("XLA_Args"), %arg1: tensor<4x3xf32> loc("XLA_Args"), %arg2: tensor<f32> loc("XLA_Args"), %arg3: tensor<3x2xf32> loc("XLA_Args"), %arg4: tensor<2xf32> loc("XLA_Args"), %arg5: tensor<2xf32> loc("XLA_Args")) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
    %1 = stablehlo.dot %arg1, %arg3, precision = [DEFAULT, DEFAULT] {mhlo.frontend_attributes = {grad_x = "false", grad_y = "false"}} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %3 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
    %4 = stablehlo.add %1, %3 : tensor<4x2xf32>
    %6 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %8 = stablehlo.add %4, %7 : tensor<4x2xf32> loc(#loc15)
    %11 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %12 = stablehlo.multiply %4, %11 : tensor<4x2xf32>
    %13 = mhlo.erf %12 : tensor<4x2xf32>
    %15 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
    %16 = stablehlo.multiply %13, %15 : tensor<4x2xf32>
    return %8, %16 : tensor<4x2xf32>, tensor<4x2xf32>
  }
}
#loc3 = loc("PartitionedCall/add_1")
#loc4 = loc("/site-packages/tensorflow/python/framework/ops.py":1221:0)
#loc15 = loc(fused[#loc3, #loc4])
"""  # noqa: E501

KERNEL, BIAS = np.arange(6, dtype=np.float32).reshape(3, 2) / 4, np.ones(2, np.float32)
CAPTURED = np.array([1, 2], np.float32)
X, N, SCALE = np.ones((4, 3), np.float32), np.int32(3), np.float32(0.1)


class _Shape(tuple[int | None, ...]):
    """As tf.TensorShape."""

    def is_fully_defined(self) -> bool:
        return None not in self


class _Spec:
    """As tf.TensorSpec."""

    def __init__(self, shape: Sequence[int | None], dtype: Any, name: str | None = None) -> None:
        self.shape, self.name = _Shape(shape), name
        self.dtype = SimpleNamespace(name=str(getattr(dtype, "name", dtype)))

    def is_compatible_with(self, other: Any) -> bool:
        raise AssertionError("it is not asked")


class _Tensor(_Spec):
    """As an eager tensor, or a tf.Variable; a resource has no numbers."""

    def __init__(self, value: Array | None, name: str) -> None:
        super().__init__(() if value is None else value.shape, "resource", name)
        if value is not None:
            self.dtype = SimpleNamespace(name=value.dtype.name)
        self._value = value
        self.handle = object.__new__(_Tensor)
        self.handle.dtype = SimpleNamespace(name="resource")

    def numpy(self) -> Array | None:
        return self._value


def _parts(structure: Any) -> list[Any] | None:
    if isinstance(structure, dict):
        return [structure[key] for key in sorted(structure)]
    return list(structure) if isinstance(structure, list | tuple) else None


def _flatten(structure: Any) -> list[Any]:
    parts = _parts(structure)
    return [structure] if parts is None else [leaf for part in parts for leaf in _flatten(part)]


def _map(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    if isinstance(structure, dict):
        return {
            key: _map(function, structure[key], *(each[key] for each in others))
            for key in sorted(structure)
        }
    if isinstance(structure, list | tuple):
        parts = zip(structure, *others, strict=True)
        return type(structure)(_map(function, *each) for each in parts)
    return function(structure, *others)


def _assert_same(first: Any, second: Any) -> None:
    parts, others = _parts(first), _parts(second)
    if (parts is None) != (others is None) or len(parts or ()) != len(others or ()):
        raise ValueError(f"The two structures don't have the same nested structure.\n\n{first}")
    for part, other in zip(parts or (), others or (), strict=True):
        _assert_same(part, other)


VARIABLES = (_Tensor(KERNEL, "dense/kernel:0"), _Tensor(BIAS, "dense/bias:0"))


class _Concrete:
    """As a ConcreteFunction."""

    def __init__(self, x: _Spec, *, captures: Sequence[Any] = ()) -> None:
        pair = {"x": x, "n": _Spec((), "int32", "pair_n")}
        self.structured_input_signature = ((pair, 2), {"scale": _Spec((), "float32", "scale")})
        self.structured_outputs = {"y": object(), "shifted": [object(), None]}
        self.captured_inputs = [
            VARIABLES[0].handle,
            VARIABLES[1].handle,
            *(captures or [_Tensor(CAPTURED, "Const:0")]),
        ]
        self.graph = SimpleNamespace(name="scaled", variables=VARIABLES)

    def __call__(self, pair: Any, power: int, *, scale: Any) -> Any:
        assert power == 2
        return {"y": [pair["x"]], "shifted": [pair["n"], None], "scale": scale}


class _Function:
    """As what tf.function gives."""

    __name__ = "scaled"

    def __init__(self, text: str = SCALED, **others: Any) -> None:
        self._text, self._others = text, others

    def get_concrete_function(self, *specs: Any) -> _Concrete:
        assert all(isinstance(each, _Spec) for each in _flatten(specs) if each != 2)
        if not specs:
            raise ValueError("Structure of Python function inputs\n  does not match.")
        of_x = [each for each in _flatten(specs) if each != 2 and len(each.shape) == 2]
        return _Concrete(_Spec(of_x[0].shape, "float32", "pair_x"), **self._others)

    def experimental_get_compiler_ir(self, *specs: _Spec) -> Callable[..., str]:
        assert [each.name for each in specs] == [None, None, None]

        def text(*, stage: str) -> str:
            assert stage == "stablehlo"
            if not self._text.startswith("\n#loc"):
                raise ValueError(self._text)
            return self._text

        return text


class _Model:
    """As keras.Model."""

    name = "mlp"
    inputs = (_Spec((4, 3), "float32", "image"),)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What is handed over for functions that are compiled; TensorFlow and Keras are there."""
    state = SimpleNamespace(function=_Function(), backend="tensorflow")

    def function(python: Callable[..., Any], **options: Any) -> _Function:
        if options.get("jit_compile"):
            results = python(*(object() for _ in range(3)))
            assert None not in results
        compiled: _Function = state.function
        return compiled

    tensorflow, keras = ModuleType("tensorflow"), ModuleType("keras")
    # PyTorch looks for them.
    for module in (tensorflow, keras):
        module.__spec__ = ModuleSpec(module.__name__, None)
    tensorflow.__dict__.update(
        TensorSpec=_Spec,
        Module=type("Module", (), {}),
        as_dtype=lambda dtype: dtype,
        function=function,
        nest=SimpleNamespace(
            assert_same_structure=_assert_same, flatten=_flatten, map_structure=_map
        ),
    )
    keras.__dict__.update(Model=_Model, config=SimpleNamespace(backend=lambda: state.backend))
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    monkeypatch.setitem(sys.modules, "keras", keras)
    return state


def _expected() -> tuple[Array, Array]:
    sums = X @ KERNEL + BIAS
    return sums + N, np.vectorize(erf)(sums * SCALE) * CAPTURED


def _compare(results: tuple[Array, ...]) -> None:
    for result, expected in zip(results, _expected(), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.usefixtures("made")
def test_a_function_is_called_as_it_is() -> None:
    concrete = _Concrete(_Spec((4, 3), "float32", "pair_x"))
    program = plumbline.compile(concrete, cache=False)
    assert program.signature.names.inputs == ("pair_n", "pair_x", "scale")
    assert program.signature.names.outputs == ("shifted_0", "y")
    assert program.weight_bytes == KERNEL.nbytes + BIAS.nbytes + CAPTURED.nbytes
    for name in ("dense/kernel", "dense/bias", "captured"):
        assert f'plumbline.weight = "{name}"' in program.stage("tcp")
    # What is no tensor is part of the program.
    _compare(program({"x": X, "n": N}, SCALE))
    for given, message in (
        (({"x": X, "n": N},), "is 1 arguments, where the function of TensorFlow takes 2"),
        (({"x": X}, SCALE), "not nested as the function takes it: The two structures don't have"),
    ):
        with pytest.raises(UserError, match=message):
            program(*given)


@pytest.mark.usefixtures("made")
def test_samples_say_what_a_function_takes(tmp_path: Path) -> None:
    pair = {"x": X, "n": N}
    _compare(plumbline.compile(_Function(), (pair, 2, SCALE), cache=False)(pair, SCALE))
    file = plumbline.aot(_Function(), pair, _Spec((), "float32"), name="scaled", out=tmp_path)
    assert "// Runs scaled, compiled for baseline." in (tmp_path / "scaled.h").read_text()
    _compare(plumbline.load(file)(N, X, SCALE))
    loaded = plumbline.load_stablehlo(_Function(), pair)
    np.testing.assert_array_equal(loaded.weights["dense/kernel"], KERNEL)
    with pytest.raises(UserError, match=r"function scaled is of StableHLO, .*; leave out mutable"):
        plumbline.compile(_Function(), (pair,), mutable=["x"])
    with pytest.raises(UserError, match=r"cannot trace it: Structure of .* hand over samples"):
        plumbline.compile(_Function())


def test_a_model_of_keras_says_itself(made: SimpleNamespace) -> None:
    loaded = plumbline.load_stablehlo(_Model())
    assert (loaded.who, loaded.origin) == ("model mlp", "mlp")
    made.backend = "jax"
    with pytest.raises(UserError, match="model mlp: Keras has the backend jax here; hand over jax"):
        plumbline.load_stablehlo(_Model())
    made.backend = "torch"
    with pytest.raises(UserError, match="_Model holds no program"):
        plumbline.load_stablehlo(_Model())


def test_what_no_program_is_made_of_is_refused(made: SimpleNamespace) -> None:
    of_any_size = _Spec((None, 3), "float32", "x")
    table = [SimpleNamespace(dtype=SimpleNamespace(name="resource"), name="table")]
    writes = SCALED.replace("-> (tensor<4x2xf32>,", "-> (tensor<4x2xf32>, tensor<2xf32>,").replace(
        "return %8, %16 : tensor<4x2xf32>,",
        "return %8, %arg4, %16 : tensor<4x2xf32>, tensor<2xf32>,",
    )
    failed = (
        "Failed getting HLO text: 'Detected unsupported operations: PyFunc {{node PyFunc}}\n"
        'The op is created at: \nFile "own.py", line 3, in f\nFile "own.py", line 7, in g\n\t'
    )
    for function, x, message in (
        (_Function(), of_any_size, r"argument pair_x is of shape .*: XLA makes programs of fixed"),
        (_Function(captures=table), X, "what it captures, table, is no variable: a table"),
        (_Function(writes), X, "function scaled: it writes variables in place, whose new values"),
        (_Function(failed), X, r"PyFunc \(File \"own.py\", line 7, in g\)$"),
    ):
        made.function = function
        with pytest.raises(UserError, match=message):
            plumbline.load_stablehlo(function, {"x": x, "n": N}, SCALE)
    # As tf.saved_model.load gives it, which others with such an attribute are not.
    signatures = {"signatures": {"serving_default": None}}
    loaded = type("Saved", (), {"__module__": "tensorflow.python.saved_model.load", **signatures})()
    with pytest.raises(UserError, match="SimpleNamespace holds no program"):
        plumbline.load_stablehlo(SimpleNamespace(**signatures))
    with pytest.raises(UserError, match="a signature of those that it has: 'serving_default'"):
        plumbline.load_stablehlo(loaded)


def test_refusals_say_the_names_of_ops(made: SimpleNamespace) -> None:
    made.function = _Function(
        SCALED.replace(
            "%8 = stablehlo.add %4, %7 : tensor<4x2xf32>",
            "%8 = stablehlo.custom_call @Unknown(%4, %7) : (tensor<4x2xf32>, tensor<4x2xf32>) -> "
            "tensor<4x2xf32>",
        )
    )
    with pytest.raises(UserError, match=r"\n  add_1: error: 'stablehlo.custom_call' op cannot be"):
        plumbline.compile(made.function, ({"x": X, "n": N}, SCALE), cache=False)


def test_the_bindings_are_loaded_apart_from_tensorflow() -> None:
    program = """
import sys, types
flags = sys.getdlopenflags()
sys.modules["tensorflow"] = types.ModuleType("tensorflow")
import plumbline
assert "torch_mlir" not in sys.modules
plumbline.load_stablehlo
assert "torch_mlir._mlir_libs._stablehlo" in sys.modules
assert sys.getdlopenflags() == flags
from plumbline.context import make_context
make_context(torch=True, stablehlo=True)
"""
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
