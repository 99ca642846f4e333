"""Which arguments of kernels share memory with no other argument, from memrefs to pointers.

`llvm.noalias` of a memref is lost where that is taken apart; so it is noted with the function, and
attached to the pointer to the elements again. Kernels lose as well that they are not to be inlined,
as only arguments can be so marked, or that they are, being small.
"""

from torch_mlir import ir

from plumbline.bindings.views import NOALIAS
from plumbline.signature.c_signature import functions_with_bodies

_NOTED = "plumbline.noalias"
_KERNEL, _INLINED = "no_inline", "always_inline"
_NOTED_INLINED = "plumbline.inlined"


def note_noalias(module: ir.Operation) -> None:
    """Notes with each kernel (a private function that says whether it is inlined) what it knows."""
    with module.context:
        for function in functions_with_bodies(module, "func.func", public=False):
            if _KERNEL in function.attributes or _INLINED in function.attributes:
                function.attributes[_NOTED] = ir.DenseI64ArrayAttr.get(_pointers(function))
                if _INLINED in function.attributes:
                    function.attributes[_NOTED_INLINED] = ir.UnitAttr.get()


def attach_noalias(module: ir.Operation) -> None:
    """Tells LLVM what `note_noalias` noted."""
    with module.context:
        noalias = ir.DictAttr.get({NOALIAS: ir.UnitAttr.get()})
        nothing = ir.DictAttr.get({})
        for function in functions_with_bodies(module, "llvm.func", public=False):
            if _NOTED not in function.attributes:
                continue
            pointers = set(ir.DenseI64ArrayAttr(function.attributes[_NOTED]))
            del function.attributes[_NOTED]
            count = len(function.regions[0].blocks[0].arguments)
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(
                [noalias if number in pointers else nothing for number in range(count)]
            )
            inlined = _NOTED_INLINED in function.attributes
            if inlined:
                del function.attributes[_NOTED_INLINED]
            function.attributes[_INLINED if inlined else _KERNEL] = ir.UnitAttr.get()


def _pointers(function: ir.OpView) -> list[int]:
    """The arguments, as LLVM counts them, that are pointers to elements of noalias memrefs."""
    if "arg_attrs" not in function.attributes:
        return []
    result, number = [], 0
    arguments = function.regions[0].blocks[0].arguments
    for argument, given in zip(arguments, function.attributes["arg_attrs"], strict=True):
        if not isinstance(argument.type, ir.MemRefType):
            number += 1
            continue
        if NOALIAS in ir.DictAttr(given):
            # The pointer before it is for freeing the memory.
            result.append(number + 1)
        number += 3 + 2 * argument.type.rank
    return result
