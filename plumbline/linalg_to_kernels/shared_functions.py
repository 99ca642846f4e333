"""Private functions of a module that are alike and so are one."""

from torch_mlir import ir


def text_of(function: ir.Operation) -> str:
    """What is equal for functions that do the same: all but where they come from.

    It is in generic form, of which it does not matter whether it verifies: that is found out anew
    before any other is printed, which took longer than to print it.
    """
    return str(
        function.get_asm(use_local_scope=True, enable_debug_info=False, print_generic_op_form=True)
    )


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
            function.attributes["sym_name"] = ir.StringAttr.get(name)
            # Which adds a number where there is such a name already.
            self._by_text[text] = ir.StringAttr(self._symbols.insert(function)).value
        return self._by_text[text]
