"""The codes that stand for a program's failures, and their texts.

Each message that a program can give has a code, from 1 on in the order in which the program has
them. The numbers that the message is about are lost: its text has dots in their place. What a
runtime library says in its own words has one code, and the library keeps the text for the thread.
"""

from collections.abc import Mapping

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.kernels_to_llvm.building import (
    address_of,
    call,
    define,
    define_string,
    integer,
    integer_type,
    pointer_type,
)

STATUS = "plumbline_status"
"""Takes a failure, and gives its code."""

LAST_TEXT = "plumbline_last_text"
"""The function of a runtime library that gives the text of the last failure of its thread."""

TEXT_FORMAT = "%s"
"""The format of what it says."""

_TEXT = "plumbline_error"


def define_status(formats: Mapping[str, str]) -> None:
    """Defines the function, and the texts, at the insertion point.

    `formats` are those of printf's that failures have, and the symbols that they are under.
    """
    texts = ["success", *map(_text, formats), "there is no such code"]
    for code, text in enumerate(texts):
        define_string(f"{_TEXT}_{code}", text)
    entry = define(STATUS, [pointer_type()], integer_type(32))
    with ir.InsertionPoint(entry):
        format_ = llvm.LoadOp(pointer_type(), entry.arguments[0]).result
        found = integer(0, 32)
        for code, symbol in enumerate(formats.values(), start=1):
            same = llvm.ICmpOp(llvm.ICmpPredicate.eq, format_, address_of(symbol)).result
            found = llvm.SelectOp(same, integer(code, 32), found).result
        llvm.ReturnOp(arg=found)


def define_errors(function: llvm.LLVMFuncOp, formats: Mapping[str, str]) -> None:
    """Gives a function from codes to texts its body."""
    with function.location as location:
        entry = function.regions[0].blocks.append(integer_type(32), arg_locs=[location])
        (code,) = entry.arguments
        with ir.InsertionPoint(entry):
            text = address_of(f"{_TEXT}_{len(formats) + 1}")
            for number, format_ in enumerate(("", *formats)):
                same = llvm.ICmpOp(llvm.ICmpPredicate.eq, code, integer(number, 32)).result
                if format_ == TEXT_FORMAT:
                    own = call(LAST_TEXT, [], pointer_type()).result
                else:
                    own = address_of(f"{_TEXT}_{number}")
                text = llvm.SelectOp(same, own, text).result
            llvm.ReturnOp(arg=text)


def _text(format_: str) -> str:
    return format_.replace("%lld", "...").replace("%%", "%")
