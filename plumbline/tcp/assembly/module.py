"""Modules from text and to text, with TCP's ops in custom assembly."""

import re

from torch_mlir import ir

from plumbline.bindings.walk import all_operations
from plumbline.errors import UserError
from plumbline.tcp.assembly.diagnostic import render, render_all
from plumbline.tcp.assembly.hazards import (
    RESOURCE,
    has_none,
    refuse_bytes_in_strings,
    refuse_run_time_sizes,
    refuse_unfit_resources,
)
from plumbline.tcp.assembly.lexer import AssemblyError, Tokens, nests_at_most
from plumbline.tcp.assembly.reader import Reader
from plumbline.tcp.assembly.writer import Writer
from plumbline.tcp.dialect import NAMESPACE, formats

_SIGNATURE = re.compile(r"^ *(?:func\.func |\^\w+\().*", re.MULTILINE)
# In the signature of a function or a block; a location of an operation ends its line.
_ARGUMENT_LOCATION = re.compile(
    r' loc\((?:[^()"]|"(?:[^"\\]|\\.)*"|\((?:[^()"]|"(?:[^"\\]|\\.)*")*\))*\)(?=[,)])'
)

# The reader recurses, and so does MLIR's parser, which overruns its stack and takes the process
# with it. Programs that people or compilers write stay below a few dozen levels.
MAX_NESTING = 200


def parse_module(text: str, context: ir.Context, filename: str) -> ir.Module:
    """The module that `text` holds, TCP's ops in custom or in generic form.

    As in mlir-opt, ops that stand outside a module get one around them. The locations of ops
    name `filename`, and the line and column in it.

    Raises:
      UserError: the text does not parse or verify. The message has each error as
        `file:line:column: error: ...`, with the line and a caret.
    """
    op = _parse(text, context, filename, implicit_module=True)
    with context:
        return _as_module(op)


def parse_operation(text: str, context: ir.Context, filename: str) -> ir.Operation:
    """The one operation that `text` holds; unlike `parse_module`, puts no module around it.

    Raises:
      UserError: the text does not parse or verify, or holds no operation or several.
    """
    return _parse(text, context, filename, implicit_module=False).operation


def _parse(text: str, context: ir.Context, filename: str, *, implicit_module: bool) -> ir.OpView:
    as_it_is = _parse_as_it_is(text, context, filename)
    if as_it_is is not None and (as_it_is.name == "builtin.module" or not implicit_module):
        return as_it_is
    try:
        tokens = Tokens(text, MAX_NESTING)
        refuse_bytes_in_strings(tokens)
        refuse_run_time_sizes(tokens)
        generic = Reader(tokens, formats()).read(implicit_module=implicit_module)
    except AssemblyError as error:
        raise UserError(render(text, filename, error.offset, "error", error.message)) from None
    try:
        with context:
            operation = ir.Operation.parse(str(generic), source_name=filename)
    except ir.MLIRError as error:
        messages = list(render_all(error.error_diagnostics, generic, filename))
        raise UserError("\n".join(messages) or f"{filename}: error: {error}") from None
    if RESOURCE in text:
        refuse_unfit_resources(operation.operation)
    return operation


def _parse_as_it_is(text: str, context: ir.Context, filename: str) -> ir.OpView | None:
    """The operation of a text that has none of TCP's: before the TCP stage and past it.

    To split it into tokens took longer than MLIR's own parser. None where there is something to
    find for who looks at them, be it a mistake.
    """
    if NAMESPACE in text or not has_none(text) or not nests_at_most(text, MAX_NESTING):
        return None
    try:
        with context:
            return ir.Operation.parse(text, source_name=filename)
    except ir.MLIRError:
        return None


def print_module(
    module: ir.Module,
    *,
    generic: bool = False,
    debug_info: bool = False,
    is_verified: bool = False,
) -> str:
    """The text of a module, TCP's ops in custom assembly, all ops in generic form if `generic`.

    `debug_info` appends the location of each op; arguments of functions and blocks go without, as
    they say nothing that the op's own location does not. As in mlir-opt, a module that does not
    verify prints in generic form; whether it does is not looked at where it `is_verified`, as it is
    after a pipeline.
    """
    if debug_info:
        _place_arguments(module)
    text: str = module.operation.get_asm(
        enable_debug_info=debug_info,
        print_generic_op_form=generic,
        assume_verified=is_verified,
    )
    if debug_info:
        text = _SIGNATURE.sub(lambda line: _ARGUMENT_LOCATION.sub("", line[0]), text)
    if f'"{NAMESPACE}.' not in text and f"#{NAMESPACE}" not in text:
        # Past the TCP stage the writer has nothing to write, and to look through it takes long.
        return text
    writer = Writer(Tokens(text), formats())
    return writer.write_generic() if generic else writer.write()


def _place_arguments(module: ir.Module) -> None:
    """Gives the arguments of functions and blocks the locations of the ops that they are in.

    Otherwise the text would list locations that none of its lines refers to.
    """
    for op in all_operations(module):
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    argument.set_location(op.location)


def _as_module(op: ir.OpView) -> ir.Module:
    """The bindings' module of a parsed module op; they parse no module under a file's name."""
    module = ir.Module.create(op.location)
    for name in op.attributes:
        module.operation.attributes[name] = op.attributes[name]
    for inner in list(op.regions[0].blocks[0]):
        inner.detach_from_parent()
        module.body.append(inner)
    return module
