"""Exports a program to the Torch dialect, in the form that backends start from."""

import contextlib
import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from unittest import mock

import torch
import torch.fx.config
from torch._subclasses import fake_impls
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.export.graph_signature import ConstantArgument
from torch_mlir import ir
from torch_mlir.extras.fx_importer import FxImporter

from plumbline.bindings.pipeline import LoweringError, Pipeline
from plumbline.bindings.walk import operations_of
from plumbline.context import lent_context
from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import from_operation, report
from plumbline.loader_to_torch.assertions import (
    drop_assertions_of_types,
    import_assertions,
    keep_assertions,
)
from plumbline.loader_to_torch.associative_scans import associative_scans_of_any_length
from plumbline.loader_to_torch.axis_orders import take_as_they_lie
from plumbline.loader_to_torch.bodies_of_rules import bodies_of_rules_trusted
from plumbline.loader_to_torch.body_constants import hand_constants_to_bodies
from plumbline.loader_to_torch.bool_literals import spell_bools_as_numbers
from plumbline.loader_to_torch.carried_ops import carried
from plumbline.loader_to_torch.computed_weights import compute_weights
from plumbline.loader_to_torch.decompositions import (
    KEPT_OPS,
    decomposition_table,
    effects_table,
)
from plumbline.loader_to_torch.decompositions.constant_tables import make_tables_constants
from plumbline.loader_to_torch.detection_functions import detection_functions
from plumbline.loader_to_torch.distinct_ops import Table, run_decompositions
from plumbline.loader_to_torch.early_quantizations import quantize_early
from plumbline.loader_to_torch.extension_ops import (
    with_extension_ops,
    writes_by_extension_ops,
)
from plumbline.loader_to_torch.folded_constants import fold_constants
from plumbline.loader_to_torch.followed_program import FollowedProgram
from plumbline.loader_to_torch.generator import GENERATOR
from plumbline.loader_to_torch.gradients import (
    LEFT,
    GradientsNoticed,
    gradients_taken,
    notice_gradients,
)
from plumbline.loader_to_torch.kept_ops import keep_ops
from plumbline.loader_to_torch.kept_tables import tables_left
from plumbline.loader_to_torch.known_numbers import know_constants, known_numbers
from plumbline.loader_to_torch.known_results import put_known_results
from plumbline.loader_to_torch.loader import TorchLoaderOutput, describe_error, name_of_function
from plumbline.loader_to_torch.module_conversions import conversions_that_change_something
from plumbline.loader_to_torch.mutations import refuse_mutations
from plumbline.loader_to_torch.nested_draws import hand_generator_to_bodies
from plumbline.loader_to_torch.node_locations import (
    all_nodes,
    marked,
    name_files_by_import_path,
    set_locations,
)
from plumbline.loader_to_torch.number_bounds import bound_numbers
from plumbline.loader_to_torch.program_of_graph import name_inputs_as
from plumbline.loader_to_torch.python_functions import (
    Integers,
    lengths_as_sizes,
    with_integers_as_sizes,
)
from plumbline.loader_to_torch.pytorch_state import exporting
from plumbline.loader_to_torch.quantized_products import multiply_integers
from plumbline.loader_to_torch.reached_state import ReachedState
from plumbline.loader_to_torch.real_parts import as_real, split_complex
from plumbline.loader_to_torch.refusals import (
    from_node,
    refuse_packed_modules,
    refuse_sparse_state,
    refuse_what_has_no_meaning,
)
from plumbline.loader_to_torch.resampling_overloads import call_overloads_of_export
from plumbline.loader_to_torch.returned_mutations import inout_of, scalars_of, state_of
from plumbline.loader_to_torch.scalars import (
    SCALAR,
    note_scalars,
    return_numbers_as_tensors,
)
from plumbline.loader_to_torch.size_arithmetic import spell_size_arithmetic
from plumbline.loader_to_torch.size_guards import assert_guards, guards_settled
from plumbline.loader_to_torch.size_lines import size_lines_noted
from plumbline.loader_to_torch.smallest_sizes import (
    SizesDoNotHold,
    exclude_sizes_that_do_not_hold,
)
from plumbline.loader_to_torch.sparse_matrices import sparse_tensors_as_matrices
from plumbline.loader_to_torch.stored_types import store_as_integers
from plumbline.loader_to_torch.strides_as_sizes import spell_strides_by_sizes
from plumbline.loader_to_torch.structure import names_of_results
from plumbline.loader_to_torch.symbolic_sizes import (
    Size,
    argument_shapes,
    automatic_sizes,
    bind_arguments,
    fix_settled_sizes,
    fixed,
    names_of_automatic_sizes,
    names_of_dims,
    refuse_lost_sizes,
    rename,
)
from plumbline.loader_to_torch.traced_functions import TracedFunctions
from plumbline.loader_to_torch.weights import (
    LARGEST_LITERAL,
    ReadableLiterals,
    copy_literals,
    lift_weights,
    name_arguments,
    state_of_module,
)
from plumbline.loader_to_torch.window_lists import spell_windows
from plumbline.signature import element_type
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.axis_orders import AxisOrders
from plumbline.signature.inout_arguments import note_inout_results
from plumbline.signature.name_attributes import note_names
from plumbline.signature.tensor_names import NamedTensor, TensorNames, shapes_of_elements
from plumbline.tcp.assembly.module import print_module

_TO_BACKEND_CONTRACT = Pipeline(
    "torch-export-to-torch-backend",
    (
        "func.func(torch-match-quantized-custom-ops)",
        # An empty extra-library is what torch-mlir's own driver passes: none is loaded.
        "torchdynamo-export-to-torch-backend-pipeline{extra-library= backend-legal-ops="
        + ",".join(KEPT_OPS)
        + "}",
    ),
)

_DECOMPOSE = (
    "write a decomposition of it into ops that are supported, in "
    "plumbline/loader_to_torch/decompositions, or compute it by other ops in the program"
)

# What the user calls the symbols in a program, among what its graph carries along.
_DIM_NAMES = "plumbline.dim_names"

# What the results are called that are not None.
_RESULT_NAMES = "plumbline.result_names"

# Which of its inputs a compiled program writes, and the outputs that are their new values.
_INOUT = "plumbline.inout"

# Which node an interpreter of PyTorch's was at when it failed; what follows describes it.
_EXECUTING = re.compile(r"^While executing %(\w+) : ", re.MULTILINE)

# Lines of torch.export's messages that speak of PyTorch's own debugging, and its closing advice.
_NOISE = re.compile(
    r"^(For (more|extended|C\+\+) .*|If you suspect .*|\s*Caused by: .*"
    r"|The error above occurred .*|\s*Developer debug context: .*"
    r"|Exception raised from .*|frame #\d+: .*|User stack:"
    r"|The following call raised this error:\n  File .*\n    .*)\n?",
    re.MULTILINE,
)
_LINK = re.compile(r"For more information[^.]*?(https?://|TORCH_LOGS=)\S+|https?://\S+")

# What PyTorch says where a number that depends on values is to be one of Python's, not a branch.
_ASKS_FOR_NUMBER = re.compile(r"data-dependent expression \w+ \(unhinted")

_NUMBERS_ASKED_FOR = (
    "int(), float(), len() and range() need numbers that are known as the program is exported, "
    "which those that depend on the values of tensors are not: compute with what .item() and "
    ".shape give, and repeat by while_loop."
)

_FOLLOWS_VALUES = (
    "Its control flow depends on the values of tensors, which an export cannot follow: use "
    "torch.where or torch.cond."
)

_BOUND = (
    "Of a number that is a size, say how large it can be, with torch._check(n <= 64), or that it "
    "is not 0, with torch._check(n > 0): calls in which it is 0 then fail."
)

# What PyTorch says of functions of torch.cond and its like, and what to do.
_ALIASING = "might be aliasing"
_NO_VIEWS = (
    "have its functions take and return no views of one tensor: return clones; and in place of an "
    "attribute that is a view, such as x.T, which PyTorch has a function take as one more tensor, "
    "call a method, x.transpose(0, 1)"
)

_OF_GRADIENTS = (
    GradientsNoticed.MESSAGE,
    "does not require grad",
    "fake tensor in the exported program constant's list",
    "TensorWrapper",
    "that doesn't have storage",
    "not supported for tensor subclasses",
    "'Tensor' object has no attribute 'constant'",
    "functorch",
)
"""What PyTorch says where `forward` asks for gradients, and it loses the way."""

_WITHOUT_NUMPY = (
    "What NumPy computes, or another library, an export cannot follow: compute it by functions of "
    "PyTorch's, or before, and keep the result."
)

_OF_FEW = re.compile(r"to be a constant \([01]\)")

_MORE_IN_EXAMPLE = (
    "Sizes of 0 and 1 in the example inputs torch.export takes for constants: hand over inputs "
    "where what is dynamic has 2 or more."
)
"""What one who compiles for batches of any size tries first, with a batch of one."""

_ENABLE_GRAD = (
    "A program runs under torch.no_grad(): take gradients within `with torch.enable_grad():`, of "
    "parameters or of what x.requires_grad_() has been called of, or by torch.func.grad."
)

_MAKE_FX = (
    "Gradients of what torch.export cannot follow may go through "
    "torch.fx.experimental.proxy_tensor.make_fx: hand over the graph that it makes of the program "
    "(docs/programs.md, Training)."
)


@dataclass(frozen=True)
class DialectText:
    """A program as a module of the Torch dialect, and what its text leaves out."""

    text: str
    """Its locations are source files relative to where they are imported from."""
    weights: dict[str, torch.Tensor]
    """The values of the leading arguments, by name and in order; complex ones as pairs of real
    ones, as `torch.view_as_real` has them."""


@dataclass(frozen=True)
class Export(DialectText):
    """The same, just exported."""

    shapes: ArgumentShapes
    """Of the other arguments."""
    parameters: tuple[str, ...] = ()
    """The weights that are no part of the library: its callers give these, the last ones."""
    orders: AxisOrders | None = None
    """In which they, and results, lie in memory; None: all are row-major."""


def export(
    who: str, program: TorchLoaderOutput, *, embedded: bool = True, as_they_lie: bool = False
) -> Export:
    """Exports `program`, which messages call `who`, such as "loader test.foo_loader".

    Threads may call it at the same time; PyTorch has them wait for one another.

    With `embedded`, the weights become read-only data of the library; else its parameters and
    buffers stay arguments, and only constants become such.
    With `as_they_lie`, the function takes arguments with their axes in the order in which those of
    the example lie in memory, unless it writes them.

    Raises:
      UserError: torch.export refuses the program, or it writes in place into what it is given.
      LoweringError: a pass of torch-mlir refuses it.
    """
    functional = to_functional(who, program, embedded=embedded)
    orders = None
    if as_they_lie:
        orders = take_as_they_lie(functional, functional.graph_module.meta[_INOUT])
    exported = to_torch_dialect(who, functional, name_of_function(program), embedded=embedded)
    return dataclasses.replace(exported, orders=orders)


def export_traced(
    who: str,
    traced: torch.export.ExportedProgram,
    func_name: str,
    *,
    rules: Table,
    inout: Mapping[int, int],
    scalars: Iterable[int],
    is_drawn_from: bool,
) -> Export:
    """Takes a program that PyTorch has traced for sizes that whoever calls it has checked.

    Args:
      who: what messages call it.
      traced: it writes into nothing. What it is to have as weights are its parameters.
      func_name: what the compiled function is to be called.
      rules: of ops that no other program has.
      inout: for each argument that the function is to write, the result that is its new value.
      scalars: the arguments that are numbers of Python's.
      is_drawn_from: whether the state of the generator of random numbers is an argument.

    Raises:
      UserError: an op of it is none that can be compiled.
      LoweringError: a pass of torch-mlir refuses it.
    """
    _ready_to_decompose(traced)
    functional = _decomposed(who, traced, {**decomposition_table(), **rules}, embedded=True)
    name_inputs_as(functional, traced)
    fix_settled_sizes(functional, traced.range_constraints)
    note_scalars(functional, scalars)
    return_numbers_as_tensors(functional)
    functional.graph_module.meta[_INOUT] = dict(inout)
    _ready_to_import(who, functional, is_drawn_from=is_drawn_from)
    return to_torch_dialect(who, functional, func_name)


def to_torch_dialect(
    who: str, exported: torch.export.ExportedProgram, func_name: str, *, embedded: bool = True
) -> Export:
    """Takes a functional program, as `to_functional` makes it, to the Torch dialect.

    Weights are lifted out of `exported` itself.

    Raises:
      UserError: the importer has no type for a value of it.
      LoweringError: a pass of torch-mlir refuses it.
    """
    with guards_settled(who, exported, _names_of_sizes(exported)):
        fold_constants(exported, LARGEST_LITERAL)
        compute_weights(exported, embedded=embedded)
        state = () if embedded else state_of_module(exported)
        weights = {name: as_real(value) for name, value in lift_weights(exported).items()}
        parameters = tuple(name for name in weights if name in state)
        _drop_none_results(exported)
        names = tensor_names(exported, weights)
        split_complex(exported)
        store_as_integers(exported)
        spell_bools_as_numbers(exported)
        # The importer is given what all of these have made.
        copy_literals(exported)
    with lent_context(torch=True) as context:
        text, shapes = _lower(who, exported, func_name, list(weights), parameters, names, context)
    return Export(text, weights, shapes, parameters)


def _drop_none_results(exported: torch.export.ExportedProgram) -> None:
    """Leaves out what is None of what a program returns."""
    output = exported.graph.output_node()
    specs = exported.graph_signature.output_specs
    kept = [
        (spec, node)
        for spec, node in zip(specs, output.args[0], strict=True)
        if not isinstance(spec.arg, ConstantArgument)
    ]
    specs[:] = [spec for spec, _ in kept]
    output.args = (tuple(node for _, node in kept),)


def _lower(
    who: str,
    exported: torch.export.ExportedProgram,
    func_name: str,
    weights: Sequence[str],
    parameters: Sequence[str],
    names: TensorNames,
    context: ir.Context,
) -> tuple[str, ArgumentShapes]:
    try:
        with marked(exported) as nodes:
            module = _import(exported, func_name, context)
        import_assertions(module)
        set_locations(module, nodes)
        rename(module, _names_of_sizes(exported))
        # MLIR's passes take it for valid, and end the process where it is not.
        module.operation.verify()
    except (RuntimeError, ValueError, TypeError, KeyError, ir.MLIRError) as error:
        # A dtype that the importer has no type for is a missing key of its table, and a constant
        # that was made while gradients are taken has no numbers.
        help_ = f"\n{_MAKE_FX}" if _is_of_gradients(str(error)) else ""
        raise UserError(f"{who}: torch-mlir cannot import it: {error}{help_}") from error
    name_arguments(module, func_name, weights, parameters)
    with context:
        function = ir.SymbolTable(module.operation)[func_name]
        note_names(function, names)
    inout = exported.graph_module.meta.get(_INOUT, {})
    note_inout_results(
        function, {len(weights) + argument: result for argument, result in inout.items()}
    )
    shapes = argument_shapes(module, func_name, exported, skipped=len(weights))
    shapes = ArgumentShapes(
        shapes.symbols, shapes_of_elements(names.inputs[len(weights) :], shapes.shapes)
    )
    try:
        with carried(module):
            _TO_BACKEND_CONTRACT.run(module)
    except LoweringError as error:
        raise LoweringError(f"{who}: {_unknown_ops(module) or error}") from error
    return print_module(module, debug_info=True), shapes


def _import(
    exported: torch.export.ExportedProgram, func_name: str, context: ir.Context
) -> ir.Module:
    def run(*, symbolic_shapes: bool) -> ir.Module:
        importer = FxImporter(context=context, hooks=ReadableLiterals())
        with exporting():
            importer.import_frozen_program(
                exported, func_name=func_name, import_symbolic_shape_expressions=symbolic_shapes
            )
        module: ir.Module = importer.module
        return module

    try:
        return run(symbolic_shapes=True)
    except NotImplementedError as error:
        # torch-mlir spells sums, products and remainders of sizes, but not quotients, say. Of the
        # sizes inside the program nothing is computed; those of arguments are checked in calls.
        if "sympy" not in str(error):
            raise
        module = run(symbolic_shapes=False)
        bind_arguments(module, func_name, exported)
        return module


def tensor_names(
    exported: torch.export.ExportedProgram, weights: Mapping[str, torch.Tensor]
) -> TensorNames:
    """What the tensors of a program are called whose leading inputs are `weights`.

    Inputs are called as the parameters of `forward`, and results as the keys of the dict, or the
    fields of the dataclass, that they are in. Others are out0, out1 and so on: they have no names
    in Python.
    """
    nodes = {node.name: node for node in exported.graph.find_nodes(op="placeholder")}
    given = [nodes[str(name)] for name in exported.graph_signature.user_inputs if name in nodes]
    inputs = [node for node in given if isinstance(node.meta.get("val"), torch.Tensor)]
    (output,) = exported.graph.find_nodes(op="output")
    own = inputs[len(weights) :]
    results = output.args[0]
    named = exported.graph_module.meta.get(_RESULT_NAMES)
    return TensorNames(
        (
            *(_named(name, value) for name, value in weights.items()),
            *(_of_node(node.name, node) for node in own),
        ),
        tuple(
            _of_node(named[place] if named else f"out{place}", node)
            for place, node in enumerate(results)
        ),
    )


def _names_of_results(exported: torch.export.ExportedProgram) -> list[str] | None:
    structure = exported.call_spec.out_spec
    specs = exported.graph_signature.output_specs
    if structure is None or structure.num_leaves != len(specs):
        return None
    names = names_of_results(structure)
    return names and [
        name
        for name, spec in zip(names, specs, strict=True)
        if not isinstance(spec.arg, ConstantArgument)
    ]


def _of_node(name: str, node: torch.fx.Node) -> NamedTensor:
    return _named(name, node.meta["val"], is_scalar=node.meta.get(SCALAR, False))


def _named(name: str, tensor: torch.Tensor, *, is_scalar: bool = False) -> NamedTensor:
    return NamedTensor(name, element_type.from_torch_name(str(tensor.dtype)), is_scalar)


def _unknown_ops(module: ir.Module) -> str:
    """All ops that torch-mlir knows nothing of; its own report stops at the first."""
    unknown = [op for op in operations_of(module, "torch") if op.name == "torch.operator"]
    if not unknown:
        return ""
    return "the Torch dialect has no op for these:\n" + report(
        from_operation(
            op, ir.StringAttr(op.attributes["name"]).value.removeprefix("torch."), _DECOMPOSE
        )
        for op in unknown
    )


def to_functional(
    who: str, program: TorchLoaderOutput, *, embedded: bool = True
) -> torch.export.ExportedProgram:
    """Exports `program` as a graph of ops without side effects, those that the Torch dialect has.

    Sizes that are `Dim.AUTO` are fixed where the program holds for those of the example alone.
    With `embedded`, the program is that of the weights that the model has.

    Raises:
      UserError: torch.export refuses the program, or it writes in place into what it is given.
    """

    def functional(integers: Integers) -> torch.export.ExportedProgram:
        return _to_functional(who, program, integers, embedded=embedded)

    return with_integers_as_sizes(program.model, functional)


def _to_functional(
    who: str, program: TorchLoaderOutput, integers: Integers, *, embedded: bool
) -> torch.export.ExportedProgram:
    settled: set[Size] = set()
    table = decomposition_table()
    while True:
        with fixed(program.model, settled):
            exported, functional = _traced(who, program, table, integers, embedded=embedded)
        try:
            return _functional(who, program, exported, functional)
        except SizesDoNotHold as error:
            more = automatic_sizes(
                program.model, program.inputs, program.dynamic_shapes, functional, error.symbols
            )
            if more <= settled:
                raise
            settled |= more


def _names_of_sizes(functional: torch.export.ExportedProgram) -> Mapping[str, str]:
    """What the user calls the symbols of a program, as far as they have names."""
    names: Mapping[str, str] = functional.graph_module.meta.get(_DIM_NAMES, {})
    return names


def _functional(
    who: str,
    program: TorchLoaderOutput,
    exported: torch.export.ExportedProgram,
    functional: torch.export.ExportedProgram,
) -> torch.export.ExportedProgram:
    """`functional`, which `exported` has become, as `to_functional` gives it."""
    fix_settled_sizes(functional, exported.range_constraints)
    sizes = (program.model, program.inputs, program.dynamic_shapes, functional)
    refuse_lost_sizes(who, *sizes)
    dims = names_of_dims(*sizes)
    automatic = names_of_automatic_sizes(who, program.inputs, program.names_of_sizes, functional)
    functional.graph_module.meta[_DIM_NAMES] = {**automatic, **dims}
    note_scalars(functional, scalars_of(program))
    return_numbers_as_tensors(functional)
    functional.graph_module.meta[_INOUT] = inout_of(program)
    functional.graph_module.meta[_RESULT_NAMES] = _names_of_results(functional)
    followed = FollowedProgram(exported, functional)
    with exporting():
        exclude_sizes_that_do_not_hold(who, followed, functional.range_constraints, dims)
        assert_guards(functional, followed, _names_of_sizes(functional))
    with guards_settled(who, functional, _names_of_sizes(functional)):
        _ready_to_import(who, functional, is_drawn_from=GENERATOR in state_of(program))
    return functional


def _ready_to_import(
    who: str, functional: torch.export.ExportedProgram, *, is_drawn_from: bool
) -> None:
    """Makes of a functional program one that the importer takes.

    Raises:
      UserError: nothing can be made of it.
    """
    name_files_by_import_path(functional)
    refuse_mutations(who, functional)
    refuse_what_has_no_meaning(who, functional, is_drawn_from=is_drawn_from)
    bound_numbers(functional)
    spell_strides_by_sizes(functional)
    spell_size_arithmetic(who, functional)
    keep_assertions(functional, _names_of_sizes(functional))
    keep_ops(functional)
    spell_windows(functional)


def functional_graph(who: str, program: TorchLoaderOutput) -> torch.export.ExportedProgram:
    """Exports `program` without side effects, whatever it holds, to see what it writes in place.

    Its ops are taken apart only as far as that takes.

    Raises:
      UserError: torch.export refuses the program.
    """

    def traced(integers: Integers) -> torch.export.ExportedProgram:
        return _traced(who, program, effects_table(), integers, embedded=True)[1]

    return with_integers_as_sizes(program.model, traced)


def _traced(
    who: str, program: TorchLoaderOutput, table: Table, integers: Integers, *, embedded: bool
) -> tuple[torch.export.ExportedProgram, torch.export.ExportedProgram]:
    """What torch.export makes of `program`, and that by the ops that a table makes of its ops."""

    def trace(*, takes_gradients: bool) -> tuple[torch.export.ExportedProgram, ...]:
        with sparse_tensors_as_matrices(program.model):
            exported = _exported(
                who, program, integers, takes_gradients=takes_gradients, embedded=embedded
            )
        know_constants(exported)
        return exported, _decomposed(who, exported, table, embedded=embedded)

    try:
        exported, functional = trace(takes_gradients=False)
    except UserError as error:
        if not _is_of_gradients(str(error)):
            raise
        try:
            exported, functional = trace(takes_gradients=True)
        except UserError as other:
            advices = (_MAKE_FX, _ENABLE_GRAD, _WITHOUT_NUMPY, LEFT)
            if any(advice in str(other) for advice in advices):
                raise
            raise UserError(f"{other}\n{_MAKE_FX}") from other
    return exported, functional


def _exported(
    who: str,
    program: TorchLoaderOutput,
    integers: Integers,
    *,
    takes_gradients: bool,
    embedded: bool,
) -> torch.export.ExportedProgram:
    """What torch.export makes of `program`, also where that takes gradients, which it loses."""
    model = program.model
    refuse_packed_modules(who, model)
    reached = ReachedState(model)

    @contextlib.contextmanager
    def tracing() -> Iterator[None]:
        with (
            reached,
            lengths_as_sizes(model),
            size_lines_noted(),
            integers,
            detection_functions(),
            associative_scans_of_any_length(),
            TracedFunctions(),
        ):
            yield

    gradients = gradients_taken(model, tracing) if takes_gradients else GradientsNoticed()
    try:
        with (
            exporting(),
            known_numbers(in_buffers=embedded),
            torch.no_grad(),
            gradients,
            tables_left(model),
            conversions_that_change_something(),
            tracing(),
        ):
            exported = torch.export.export(
                model,
                tuple(program.inputs),
                dynamic_shapes=program.dynamic_shapes,
                strict=False,
            )
        notice_gradients(exported)
    except Exception as error:
        raise UserError(f"{who}: torch.export refuses it: {_explain(error)}") from error
    refuse_sparse_state(who, exported)
    fix_settled_sizes(exported, exported.range_constraints)
    # PyTorch would evaluate them again where it takes ops apart, and make new ones of what is
    # compared on the way. They are asserted of the result instead.
    exported._guards_code = []
    call_overloads_of_export(exported)
    _ready_to_decompose(exported)
    return exported


def _ready_to_decompose(exported: torch.export.ExportedProgram) -> None:
    """Makes of a traced program one that `_decomposed` takes."""
    drop_assertions_of_types(exported)
    hand_constants_to_bodies(exported)
    hand_generator_to_bodies(exported)
    put_known_results(exported)


def _decomposed(
    who: str, exported: torch.export.ExportedProgram, table: Table, *, embedded: bool
) -> torch.export.ExportedProgram:
    """`exported` by the ops that a table of decompositions makes of those that it has."""
    quantize_early(exported)
    multiply_integers(exported, embedded=embedded)
    try:
        # Only this makes the program functional: before, in-place ops stay what they are, and
        # the signature does not tell of them.
        with (
            exporting(),
            known_numbers(in_buffers=embedded),
            torch.no_grad(),
            _without_new_stack_traces(),
            _views_however_elements_lie(),
            writes_by_extension_ops(exported),
            bodies_of_rules_trusted(),
        ):
            functional = run_decompositions(exported, with_extension_ops(exported, table))
    except Exception as error:
        reason, *at = _EXECUTING.split(_explain(error), maxsplit=1)
        nodes = [node for node in all_nodes(exported) if node.name in at[:1]]
        name_files_by_import_path(exported)
        advice = _NO_VIEWS if _ALIASING in reason else _DECOMPOSE
        help_ = (
            _MAKE_FX
            if _is_of_gradients(reason)
            else report(from_node(node, advice) for node in nodes)
        )
        raise UserError(
            f"{who}: PyTorch cannot take the program's ops apart: {reason.strip()}\n{help_}"
        ) from error
    make_tables_constants(functional)
    return functional


def _views_however_elements_lie() -> contextlib.AbstractContextManager[object]:
    """Has tensors without data be viewed as if they were copied, where they do not lie as it takes.

    Of what is written in place ops make new tensors, which lie otherwise than the one that PyTorch
    views. What is a view of what, it knows without them.
    """
    rule = functools.partial(fake_impls._view_meta, allow_copy=True)
    return mock.patch.dict(fake_impls.op_implementations_dict, {torch.ops.aten.view.default: rule})


def _without_new_stack_traces() -> contextlib.AbstractContextManager[object]:
    """Has nodes take their place in the user's source from those that they are made of alone.

    Else PyTorch looks through the stack for it at each placeholder, and finds nothing.
    """
    return mock.patch.object(torch.fx.config, "do_not_emit_stack_traces", new=True)


def _explain(error: Exception) -> str:
    message = _LINK.sub("", _NOISE.sub("", describe_error(error)))
    lines = [line.rstrip() for line in message.splitlines() if line.strip()]
    text = "\n".join(lines)
    if "Constraints violated" in text:
        text += (
            "\nThe program does not work for every size that dynamic_shapes allows: take the "
            "fix above into the loader's dynamic_shapes, or change the line that fixes the size."
        )
        if _OF_FEW.search(text):
            text += f" {_MORE_IN_EXAMPLE}"
    elif "data-dependent" in text or isinstance(error, DataDependentOutputException):
        asks = _ASKS_FOR_NUMBER.search(text) is not None
        text += f"\n{_NUMBERS_ASKED_FOR if asks else _FOLLOWS_VALUES} {_BOUND}"
    elif ".numpy() is not supported" in text:
        text += f"\n{_WITHOUT_NUMPY}"
    elif "does not require grad" in text:
        text += f"\n{_ENABLE_GRAD}"
    elif _is_of_gradients(text):
        text += f"\n{_MAKE_FX}"
    return text


def _is_of_gradients(text: str) -> bool:
    return any(sign in text for sign in _OF_GRADIENTS)
