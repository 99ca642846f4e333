"""Compiles one kernel for a contraction, with an epilogue, and calls it on numpy arrays."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_mlir import ir
from torch_mlir.dialects import func

from plumbline.bindings.pipeline import Pipeline
from plumbline.context import lent_context
from plumbline.kernels_to_llvm.conversion import BUILD_C_ABI, KERNELS_TO_LLVM
from plumbline.kernels_to_llvm.failures import RETURN_FAILURES
from plumbline.library.linked_code import LinkedCode
from plumbline.linalg_to_kernels.building import loosely_typed
from plumbline.linalg_to_kernels.contraction_kernel import build_contraction
from plumbline.linalg_to_kernels.contraction_loops import Epilogue, Place
from plumbline.linalg_to_kernels.contraction_plan import (
    ContractionPlan,
    RightOperand,
    plan_contraction,
)
from plumbline.linalg_to_kernels.products import static_sizes, sum_of_products
from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.target.cpu import cpu_target
from plumbline.target.probe import vector_unit_of
from plumbline.target.vector_unit import VectorUnit

Array = NDArray[Any]
Finish = Callable[[ir.Value, Place, Sequence[ir.Value]], ir.Value]
"""What an epilogue does to a vector, that also takes the kernel's further arguments."""

_TO_LLVM = Pipeline(
    "to-llvm",
    (
        # A kernel leaves it to the pipeline to give its buffers back.
        "buffer-deallocation-pipeline",
        # It is called as MLIR calls it, with memrefs of any strides.
        *(
            step
            for step in KERNELS_TO_LLVM.steps
            if getattr(step, "pass_", step) not in (BUILD_C_ABI, RETURN_FAILURES)
        ),
    ),
)


@dataclass(frozen=True)
class Contraction:
    """A contraction as `linalg.generic` says it."""

    maps: tuple[str, str, str]
    """Of both operands and the result, such as "d0, d2"."""
    summed: tuple[int, ...]
    shapes: tuple[tuple[int | None, ...], ...]
    """None: a size that is not known before the kernel runs."""
    types: tuple[str, str, str] = ("f32", "f32", "f32")
    """MLIR's names; what is summed in is the last."""
    pads: tuple[tuple[int, int], ...] = ()
    """How much of the right operand's shape are zeros that the kernel lays around it."""

    def __str__(self) -> str:
        dims = ", ".join(f"d{dim}" for dim in range(self._dims))
        maps = ", ".join(f"affine_map<({dims}) -> ({map_})>" for map_ in self.maps)
        kinds = ", ".join(
            '"reduction"' if dim in self.summed else '"parallel"' for dim in range(self._dims)
        )
        buffers = [
            _buffer(shape, type_) for shape, type_ in zip(self.shapes, self.types, strict=True)
        ]
        to = self.types[2]
        letter = "i" if to.startswith("i") else "f"
        casts, factors = [], []
        for number, type_ in enumerate(self.types[:2]):
            factors.append(f"%x{number}")
            if type_ != to:
                cast = "extsi" if letter == "i" else "extf"
                casts.append(f"%y{number} = arith.{cast} %x{number} : {type_} to {to}")
                factors[-1] = f"%y{number}"
        return f"""func.func @f(%a: {buffers[0]}, %b: {buffers[1]}, %c: {buffers[2]}) {{
          linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
              ins(%a, %b : {buffers[0]}, {buffers[1]}) outs(%c : {buffers[2]}) {{
          ^bb0(%x0: {self.types[0]}, %x1: {self.types[1]}, %z: {to}):
            {" ".join(casts)}
            %m = arith.mul{letter} {factors[0]}, {factors[1]} : {to}
            %s = arith.add{letter} %z, %m : {to}
            linalg.yield %s : {to}
          }}
          return
        }}"""

    @property
    def _dims(self) -> int:
        return 1 + max(int(part) for map_ in self.maps for part in _numbers_after_d(map_))


def _buffer(shape: Sequence[int | None], type_: str) -> str:
    sizes = "".join("?x" if size is None else f"{size}x" for size in shape)
    return f"memref<{sizes}{type_}>"


def _numbers_after_d(map_: str) -> list[str]:
    terms = map_.replace("+", " ").replace(",", " ").replace("*", " ").split()
    return [term[1:] for term in terms if term.startswith("d")]


class Kernel:
    """A kernel in this process. Call it with two operands, the result to write, and the rest."""

    def __init__(
        self,
        contraction: Contraction,
        target_cpu: str = "native",
        *,
        constants: frozenset[int] = frozenset(),
        finish: Finish | None = None,
        more: Sequence[str] = (),
        result_type: str | None = None,
    ) -> None:
        target = cpu_target(target_cpu)
        with lent_context() as context, context, ir.Location.unknown():
            self.plan, self.text, operands = _lowered(
                contraction, vector_unit_of(target), constants, finish, more, result_type
            )
        # To optimise and to choose instructions takes LLVM more time than all else here. What it
        # optimises is much the same for each CPU.
        level = 2 if target_cpu == "native" else 0
        self._require = ctypes.CFUNCTYPE(None, ctypes.c_bool, ctypes.c_void_p)(lambda *_: None)
        address = ctypes.cast(self._require, ctypes.c_void_p).value
        assert address is not None
        self._code = LinkedCode(
            emit_object(self.text, target, level),
            "_mlir_ciface_kernel",
            symbols={"plumbline_require": address},
        )
        self._function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * operands)(self._code.address)

    @property
    def _is_packed(self) -> bool:
        return self.plan.right_operand is RightOperand.PACKED

    def __call__(self, *arrays: Array) -> None:
        """Computes the contraction of the first two arrays into the third."""
        given = list(arrays)
        if self._is_packed:
            given[self.plan.right] = self.plan.packed_layout.pack(given[self.plan.right])
        descriptors = [_descriptor(array) for array in given]
        self._function(*map(ctypes.addressof, descriptors))


def _lowered(
    contraction: Contraction,
    unit: VectorUnit,
    constants: frozenset[int],
    finish: Finish | None,
    more: Sequence[str],
    result_type: str | None,
) -> tuple[ContractionPlan, str, int]:
    """How a contraction is computed, a kernel for it as LLVM IR, and how many operands that has."""
    source = ir.Module.parse(str(contraction))
    op = source.body.operations[0].regions[0].blocks[0].operations[0]
    sum_ = sum_of_products(op)
    assert sum_ is not None
    sizes = static_sizes(op, sum_.accesses)
    assert sizes is not None
    types = [ir.MemRefType(value.type) for value in op.operands]
    summed_in = types[2].element_type
    pads = contraction.pads
    types[sum_.right] = _unpadded(types[sum_.right], pads)
    plan = plan_contraction(sum_, types, sizes, unit, summed_in, constants, pads)
    assert plan is not None
    arguments = [loosely_typed(type_) for type_ in types]
    if plan.right_operand is RightOperand.PACKED:
        dynamic = ir.ShapedType.get_dynamic_size()
        arguments[plan.right] = ir.MemRefType.get(
            [dynamic] * (types[plan.right].rank + 1), types[plan.right].element_type
        )
    if result_type is not None:
        result = ir.Type.parse(result_type)
        arguments[2] = loosely_typed(ir.MemRefType.get(types[2].shape, result))
    arguments += [ir.Type.parse(text) for text in more]
    module = _module(plan, arguments, summed_in, finish)
    _TO_LLVM.run(module)
    return plan, translate_to_llvm_ir(module), len(arguments)


def _unpadded(padded: ir.MemRefType, pads: Sequence[tuple[int, int]]) -> ir.MemRefType:
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [
        size if size == dynamic else size - before - after
        for size, (before, after) in zip(padded.shape, pads or [(0, 0)] * padded.rank, strict=True)
    ]
    return ir.MemRefType.get(shape, padded.element_type)


def _module(
    plan: ContractionPlan,
    arguments: Sequence[ir.Type],
    summed_in: ir.Type,
    finish: Finish | None,
) -> ir.Module:
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        function = func.FuncOp("kernel", (list(arguments), []))
        function.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            values = list(block.arguments)

            def finish_vector(value: ir.Value, place: Place) -> ir.Value:
                assert finish is not None
                return finish(value, place, values[3:])

            epilogue = Epilogue(finish_vector)
            build_contraction(plan, values[:3], summed_in, epilogue if finish else None)
            func.ReturnOp([])
    return module


def _descriptor(array: Array) -> ctypes.Structure:
    rank = array.ndim

    class Descriptor(ctypes.Structure):
        _fields_ = [
            ("allocated", ctypes.c_void_p),
            ("aligned", ctypes.c_void_p),
            ("offset", ctypes.c_int64),
            ("sizes", ctypes.c_int64 * rank),
            ("strides", ctypes.c_int64 * rank),
        ]

    steps = [stride // array.itemsize for stride in array.strides]
    return Descriptor(
        array.ctypes.data,
        array.ctypes.data,
        0,
        (ctypes.c_int64 * rank)(*array.shape),
        (ctypes.c_int64 * rank)(*steps),
    )


def zeros_like_result(shape: Sequence[int], dtype: Any) -> Array:
    """A result that a kernel has to write as a whole: what is left of it shows."""
    return np.full(shape, 77, dtype)
