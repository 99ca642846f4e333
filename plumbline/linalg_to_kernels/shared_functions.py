"""Private functions of a module that are alike and so are one."""

from collections import Counter
from collections.abc import Hashable, Iterable

from torch_mlir import ir

from plumbline.bindings.walk import all_operations


def text_of(function: ir.Operation) -> str:
    """What is equal for functions that do the same: all but where they come from.

    It is in generic form, of which it does not matter whether it verifies: that is found out anew
    before any other is printed, which took longer than to print it.
    """
    return str(
        function.get_asm(use_local_scope=True, enable_debug_info=False, print_generic_op_form=True)
    )


def _outline(function: ir.Operation) -> Hashable:
    """What is equal for functions that do the same, but not for them alone."""
    names = tuple(op.name for op in all_operations(function))
    return function.attributes["function_type"], names


class SharedFunctions:
    """The functions that a pass makes, each once."""

    UNNAMED = "unnamed"
    """What functions are called before `shared` has seen them."""

    def __init__(self, module: ir.Operation) -> None:
        self._module = module
        self._symbols = ir.SymbolTable(module)
        self._by_text: dict[str, str] = {}

    @property
    def insertion_point(self) -> ir.InsertionPoint:
        """Where functions are built: at the end of the module."""
        return ir.InsertionPoint(self._module.regions[0].blocks[0])

    def shared(self, function: ir.Operation, name: str) -> str:
        """Gives a function a name like `name`, or erases it if there is one like it.

        Gives the name of that which is there then.
        """
        text = text_of(function)
        if text in self._by_text:
            function.erase()
        else:
            self._by_text[text] = self._named(function, name)
        return self._by_text[text]

    def all_shared(self, functions: Iterable[tuple[ir.Operation, str]]) -> list[str]:
        """The same for each of several functions, which may be like each other but like no others.

        To print them all took up to a fifth of the time in which kernels are built. Of most, what
        is in them tells that they are like no other.
        """
        outlined = [(function, name, _outline(function)) for function, name in functions]
        counts = Counter(outline for _, _, outline in outlined)
        return [
            self._named(function, name) if counts[outline] == 1 else self.shared(function, name)
            for function, name, outline in outlined
        ]

    def _named(self, function: ir.Operation, name: str) -> str:
        function.attributes["sym_name"] = ir.StringAttr.get(name)
        # Which adds a number where there is such a name already.
        return str(ir.StringAttr(self._symbols.insert(function)).value)
