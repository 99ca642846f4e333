"""Programs of TensorFlow: functions, models of Keras, and signatures of what has been saved.

XLA makes StableHLO of them, with an argument for each tensor and after these one for each variable
or tensor that the function captures, which becomes a weight.

TensorFlow is not imported: whoever has a program of it has done so.
"""

import itertools
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plumbline.archives.reference_archive import Tensor
from plumbline.errors import UserError
from plumbline.loader_to_stablehlo.nested_tensors import NestedTensors
from plumbline.loader_to_stablehlo.weights import GivenArguments
from plumbline.signature import element_type

_SIZES = (
    "XLA makes programs of fixed sizes; hand over samples of its arguments, or a tf.TensorSpec "
    "for each, with a number for every size. For sizes that differ from call to call, export it "
    "as ONNX (plumbline.load_onnx), or a model of Keras with the backend of JAX or PyTorch"
)

_NOISE = re.compile(r"\[\[\{\{[^{}]*\}\}\]\]|\{\{[^{}]*\}\}|^Failed getting HLO text: '|\t")
"""What TensorFlow puts into messages for those who read graphs."""

_TRACE = re.compile(r"(The op is created at|Stack trace for op definition): *\n")
"""What it says before the lines of the program that made an op, of which the last one is it."""


_OWN_LINES = re.compile(r'^(#loc\d* = )loc\("[^"]*/tensorflow/python/[^"]*":\d+:\d+\)$', re.M)
"""What it says of all ops: where it makes them itself. The names of ops say more."""

_OWN_CALLS = re.compile(r'\bloc\("(?:(?:Stateful)?PartitionedCall/)+')
"""How these names begin where a function is called by another."""


@dataclass(frozen=True)
class TensorflowProgram:
    """The StableHLO of a function, and what is known of it."""

    text: str
    who: str
    """What messages call it."""
    name: str
    nested: NestedTensors
    given: GivenArguments


def tensorflow_program(program: Any, inputs: Sequence[Any] | None) -> TensorflowProgram | None:
    """That of a function of TensorFlow's or a model of Keras, or None of anything else.

    Args:
      program: what `tf.function` gives; one of its concrete functions, such as
        `tf.saved_model.load(folder).signatures["serving_default"]`; or a `keras.Model`.
      inputs: a sample, or a `tf.TensorSpec`, for each argument; those by keyword last, in the order
        of their names. None: the function or the model says what they are.

    Raises:
      UserError: it says so not, or of sizes that differ, or XLA cannot compile it.
    """
    tf = sys.modules.get("tensorflow")
    if tf is None or isinstance(program, type):
        return None
    kind, name, concrete = _concrete(tf, program, inputs)
    if concrete is None:
        return None
    who = f"{kind} {name}"
    signature = concrete.structured_input_signature
    specs = [each for each in tf.nest.flatten(signature) if _is_spec(each)]
    for number, spec in enumerate(specs):
        _check(tf, f"{who}: argument {spec.name or number}", spec)

    def of_tensors(*tensors: Any) -> list[Any]:
        remaining = iter(tensors)
        positional, named = tf.nest.map_structure(
            lambda each: next(remaining) if _is_spec(each) else each, signature
        )
        results = tf.nest.flatten(concrete(*positional, **named))
        return [result for result in results if result is not None]

    flat = tf.function(of_tensors, jit_compile=True, autograph=False)
    unnamed = [tf.TensorSpec(spec.shape, spec.dtype) for spec in specs]
    try:
        captured = flat.get_concrete_function(*unnamed)
        text = flat.experimental_get_compiler_ir(*unnamed)(stage="stablehlo")
    except Exception as error:
        raise UserError(f"{who}: XLA cannot compile it: {_reason(error)}") from error
    given = GivenArguments(
        inputs=[spec.name or f"arg{number}" for number, spec in enumerate(specs)],
        weights=_weights(who, captured),
        outputs=list(_names_of_results(concrete.structured_outputs)),
    )
    text = _OWN_CALLS.sub('loc("', _OWN_LINES.sub(r"\1loc(unknown)", text))
    return TensorflowProgram(text, who, name, NestedTensors(tf.nest, signature, _is_spec), given)


def _concrete(tf: Any, program: Any, inputs: Sequence[Any] | None) -> tuple[str, str, Any]:
    """What a program is, what it is called, and its function of specified arguments.

    That is None of no program of TensorFlow's.
    """
    keras = sys.modules.get("keras")
    if keras is not None and isinstance(program, keras.Model):
        return ("model", *_concrete_of_model(tf, keras, program, inputs))
    if hasattr(program, "structured_input_signature"):
        name = str(program.graph.name)
        if inputs is None:
            return "function", name, program
        positional, named = program.structured_input_signature
        parts = (*positional, *(named[key] for key in sorted(named)))
        function = _by_places(tf, program)
        return "function", name, _traced(tf, f"function {name}", function, inputs, parts)
    if hasattr(program, "get_concrete_function"):
        name = str(getattr(program, "__name__", "function"))
        return "function", name, _traced(tf, f"function {name}", program, inputs)
    is_own = type(program).__module__.startswith("tensorflow.")
    if isinstance(program, tf.Module) or (is_own and hasattr(program, "signatures")):
        names = ", ".join(map(repr, getattr(program, "signatures", ())))
        raise UserError(
            f"{type(program).__name__} of TensorFlow's has several functions: hand over one, a "
            + (f"signature of those that it has: {names}" if names else "tf.function of its own")
        )
    return "", "", None


def _concrete_of_model(
    tf: Any, keras: Any, model: Any, inputs: Sequence[Any] | None
) -> tuple[str, Any]:
    """What a model of Keras is called, and its function in inference."""
    name = str(model.name)
    backend = keras.config.backend()
    if backend == "torch":
        return "", None
    if backend != "tensorflow":
        raise UserError(
            f"model {name}: Keras has the backend {backend} here; hand over "
            "jax.export.export(jax.jit(lambda x: model(x, training=False)))(...)"
        )
    if inputs is None:
        if not getattr(model, "inputs", None):
            raise UserError(f"model {name}: it does not say what its inputs are. {_SIZES}")
        of_model = [_spec_of_input(tf, each) for each in model.inputs]
        inputs = of_model if len(of_model) == 1 else [of_model]

    def of_one(inputs: Any) -> Any:
        return model(inputs, training=False)

    def of_several(*inputs: Any) -> Any:
        return model(*inputs, training=False)

    function = tf.function(of_one if len(inputs) == 1 else of_several, autograph=False)
    return name, _traced(tf, f"model {name}", function, inputs)


def _spec_of_input(tf: Any, tensor: Any) -> Any:
    """The specification of an input of a model, with the name that the user gave it."""
    is_named = not tensor.name.startswith("keras_tensor")
    return tf.TensorSpec(tensor.shape, tensor.dtype, tensor.name if is_named else None)


def _by_places(tf: Any, concrete: Any) -> Any:
    """A concrete function as one that takes its arguments by their places, of other sizes too."""
    positional, named = concrete.structured_input_signature
    names = sorted(named)

    def function(*arguments: Any) -> Any:
        own = arguments[: len(positional)]
        return concrete(*own, **dict(zip(names, arguments[len(positional) :], strict=True)))

    return tf.function(function, autograph=False)


def _traced(
    tf: Any,
    who: str,
    function: Any,
    inputs: Sequence[Any] | None,
    parts: tuple[Any, ...] | None = None,
) -> Any:
    """What a function is for these arguments, which are called as `parts` say, if there are any."""
    try:
        if inputs is None:
            return function.get_concrete_function()
        specs = tf.nest.map_structure(lambda each: _spec(tf, each), tuple(inputs))
        if parts is not None:
            specs = tf.nest.map_structure(lambda part, each: _named(tf, part, each), parts, specs)
        return function.get_concrete_function(*specs)
    except Exception as error:
        advice = "; hand over samples of its arguments, too" if inputs is None else ""
        raise UserError(f"{who}: TensorFlow cannot trace it: {_reason(error)}{advice}") from error


def _spec(tf: Any, sample: Any) -> Any:
    """The specification of a tensor like a sample; of anything else, itself."""
    if _is_spec(sample) or not (hasattr(sample, "shape") and hasattr(sample, "dtype")):
        return sample
    return tf.TensorSpec(sample.shape, tf.as_dtype(sample.dtype))


def _named(tf: Any, known: Any, spec: Any) -> Any:
    """A specification with the name of one that is known."""
    if _is_spec(known) and isinstance(spec, tf.TensorSpec):
        return tf.TensorSpec(spec.shape, spec.dtype, known.name)
    return spec


def _is_spec(each: Any) -> bool:
    """Whether it says what a tensor is, or what holds several."""
    return hasattr(each, "is_compatible_with") and hasattr(each, "shape")


def _check(tf: Any, what: str, spec: Any) -> None:
    """Refuses what a compiled function cannot be given; the message begins with `what`."""
    if not isinstance(spec, tf.TensorSpec):
        raise UserError(f"{what} is a {type(spec).__name__}; it must be a dense tensor")
    if not spec.shape.is_fully_defined():
        raise UserError(f"{what} is of shape {spec.shape}: {_SIZES}")
    _element_type(what, spec)


def _element_type(what: str, tensor: Any) -> element_type.ElementType:
    name = tensor.dtype.name
    for known in element_type.ELEMENT_TYPES:
        if known.torch_name == name:
            return known
    raise UserError(f"{what} has elements of type {name}, which a compiled function has none of")


def _weights(who: str, concrete: Any) -> Mapping[str, Tensor]:
    """What a function captures, by the names of variables."""
    variables = {id(each.handle): each for each in concrete.graph.variables}
    weights: dict[str, Tensor] = {}
    for capture in concrete.captured_inputs:
        value = variables.get(id(capture), capture)
        what = f"{who}: what it captures, {getattr(value, 'name', 'a tensor')}"
        if value.dtype.name == "resource":
            raise UserError(f"{what}, is no variable: a table, or what else has no numbers")
        name = value.name.partition(":")[0] if value is not capture else "captured"
        known = _element_type(what, value)
        array = np.array(value.numpy())
        if known.numpy_dtype.kind == "V":
            array = array.view(known.numpy_dtype)
        weights[_free(name, weights)] = array
    return weights


def _free(name: str, taken: Mapping[str, Tensor]) -> str:
    """A name that is not taken, made of one that may be."""
    others = (f"{name}_{number}" for number in itertools.count(1))
    return next(each for each in itertools.chain([name], others) if each not in taken)


def _names_of_results(results: Any, name: str = "") -> Iterator[str]:
    """What tensors are called in what a function returns, after the keys of dicts."""
    if results is None:
        return
    if isinstance(results, Mapping):
        parts: Sequence[tuple[Any, Any]] = [(key, results[key]) for key in sorted(results)]
    elif isinstance(results, list | tuple):
        parts = list(enumerate(results))
    else:
        yield name or "out0"
        return
    for key, part in parts:
        yield from _names_of_results(part, f"{name}_{key}" if name else _first(key))


def _first(key: Any) -> str:
    return f"out{key}" if isinstance(key, int) else str(key)


def _reason(error: Exception) -> str:
    """What TensorFlow says, and the line of the program that it says it of."""
    message, *traces = _TRACE.split(str(error), maxsplit=1)
    lines = [line.strip() for line in _NOISE.sub("", message).splitlines()]
    reason = " ".join(line for line in lines if line)
    after = traces[-1].splitlines() if traces else []
    places = [line.strip() for line in after if line.strip().startswith("File ")]
    return f"{reason} ({places[-1]})" if places else reason
