"""Weights that a compiled function finds in read-only memory instead of taking as arguments."""

import math
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.errors import UserError
from plumbline.location import describe
from plumbline.weight_arguments import EMBEDDED, symbol


@dataclass(frozen=True)
class EmbeddedWeight:
    """One weight of a function; the text that it leads to is of the LLVM dialect."""

    name: str
    sizes: tuple[int, ...]
    element_bytes: int

    def attribute(self) -> ir.Attribute:
        """The weight as an attribute, from which `of` makes it again."""
        i64 = ir.IntegerType.get_signless(64)
        return ir.ArrayAttr.get(
            [
                ir.StringAttr.get(self.name),
                ir.DenseI64ArrayAttr.get(list(self.sizes)),
                ir.IntegerAttr.get(i64, self.element_bytes),
            ]
        )

    @classmethod
    def of(cls, attribute: ir.Attribute) -> "EmbeddedWeight":
        """The weight that `attribute` stands for."""
        name, sizes, element_bytes = ir.ArrayAttr(attribute)
        return cls(
            ir.StringAttr(name).value,
            tuple(ir.DenseI64ArrayAttr(sizes)),
            ir.IntegerAttr(element_bytes).value,
        )

    def declaration(self, function: str) -> str:
        """The memory that the weight lies in, which the assembler fills."""
        size = math.prod(self.sizes) * self.element_bytes
        return (
            f'llvm.mlir.global external constant @"{symbol(function, self.name)}"() '
            f"{{addr_space = 0 : i32, alignment = {self.element_bytes} : i64}} "
            f": !llvm.array<{size} x i8>\n"
        )

    def load(self, function: str, index: int) -> list[str]:
        """The lines that define the values of a memref; `index` keeps their names apart."""
        strides = [math.prod(self.sizes[axis + 1 :]) for axis in range(len(self.sizes))]
        constants = {"offset": 0}
        constants |= {f"size{axis}": size for axis, size in enumerate(self.sizes)}
        constants |= {f"stride{axis}": stride for axis, stride in enumerate(strides)}
        return [
            f'%weight{index} = llvm.mlir.addressof @"{symbol(function, self.name)}" : !llvm.ptr',
            *(
                f"%weight{index}_{key} = llvm.mlir.constant({value} : i64) : i64"
                for key, value in constants.items()
            ),
        ]

    def values(self, index: int) -> list[str]:
        """The values that `load` defines, in the order of the C ABI."""
        axes = range(len(self.sizes))
        fields = ["offset", *(f"size{axis}" for axis in axes), *(f"stride{axis}" for axis in axes)]
        return [f"%weight{index}"] * 2 + [f"%weight{index}_{field}" for field in fields]


def marks_of(function: ir.OpView) -> list[str | None]:
    """For each argument of a `func.func`, of what weight it is marked as embedded, if of any."""
    if "arg_attrs" not in function.attributes:
        return [None] * len(function.regions[0].blocks[0].arguments)
    attributes = [ir.DictAttr(entry) for entry in function.attributes["arg_attrs"]]
    return [
        ir.StringAttr(entry[EMBEDDED]).value if EMBEDDED in entry else None for entry in attributes
    ]


def embedded_weights(function: ir.OpView) -> list[EmbeddedWeight]:
    """The leading arguments of a `func.func` on tensors that are marked as embedded weights.

    Raises:
      UserError: one follows an argument that is none, or has a dynamic size.
    """
    marks = marks_of(function)
    arguments = function.regions[0].blocks[0].arguments
    return [
        _weight(function, name, argument.type, leads=None not in marks[:index])
        for index, (name, argument) in enumerate(zip(marks, arguments, strict=True))
        if name is not None
    ]


def _weight(function: ir.OpView, name: str, type_: ir.Type, *, leads: bool) -> EmbeddedWeight:
    where = f"{describe(function.location)}: {EMBEDDED} = {name!r}"
    if not leads:
        raise UserError(f"{where}: weights come before all other arguments")
    if not type_.has_static_shape:
        raise UserError(f"{where}: a weight has no dynamic sizes, but this one is {type_}")
    # An i1 takes a byte of its own.
    return EmbeddedWeight(name, tuple(type_.shape), max(type_.element_type.width // 8, 1))
