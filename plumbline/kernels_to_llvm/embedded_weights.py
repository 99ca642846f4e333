"""Weights that a compiled function finds in read-only memory instead of taking as arguments."""

import math
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.weight_arguments import symbol


@dataclass(frozen=True)
class EmbeddedWeight:
    """One weight of a function; the text that it leads to is of the LLVM dialect."""

    name: str
    sizes: tuple[int, ...]
    element_bytes: int

    def attribute(self) -> ir.Attribute:
        """The weight as an attribute, from which `of_attribute` makes it again."""
        i64 = ir.IntegerType.get_signless(64)
        return ir.ArrayAttr.get(
            [
                ir.StringAttr.get(self.name),
                ir.DenseI64ArrayAttr.get(list(self.sizes)),
                ir.IntegerAttr.get(i64, self.element_bytes),
            ]
        )

    @classmethod
    def of(cls, name: str, type_: ir.Type) -> "EmbeddedWeight":
        """The weight `name`, of a static memref type."""
        memref = ir.MemRefType(type_)
        # An i1 takes a byte of its own.
        return cls(name, tuple(memref.shape), max(memref.element_type.width // 8, 1))

    @classmethod
    def of_attribute(cls, attribute: ir.Attribute) -> "EmbeddedWeight":
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
