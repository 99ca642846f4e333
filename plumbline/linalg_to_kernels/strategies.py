"""What kernels can be on a machine: which groups are formed for it, and what is built of each.

Forming groups and replacing them by calls is the same for every machine; what differs is asked of
its strategies.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from torch_mlir import ir

from plumbline.linalg_to_kernels.attention import attention_group, build_attention
from plumbline.linalg_to_kernels.block_products import block_products_group, reshapes_of_weights
from plumbline.linalg_to_kernels.block_products_kernel import (
    build_block_products,
    packed_weights,
)
from plumbline.linalg_to_kernels.computations import Computation, is_copy
from plumbline.linalg_to_kernels.contraction_groups import (
    build_contraction_group,
    contraction_group,
    is_contraction,
    is_contraction_of_attention,
    with_other_plan,
)
from plumbline.linalg_to_kernels.group import Group, form_group
from plumbline.linalg_to_kernels.loop_nests import build_loop_nests
from plumbline.signature.packed_layout import PackedLayout
from plumbline.target.vector_unit import VectorUnit

Values = Mapping[ir.Value, ir.Value]

Build = Callable[[Values, Values], None]
"""Builds a kernel, at the insertion point.

It takes for each argument of the group's function a buffer or a scalar, with buffers for its
scratch, and for each output of the group the buffer that takes it.
"""


@dataclass(frozen=True)
class Plan:
    """How a group becomes a kernel."""

    build: Build
    packed: Mapping[ir.Value, PackedLayout] = field(default_factory=dict)
    """The tensors that it takes packed."""
    is_loosely_typed: bool = False
    """Whether it takes buffers of whatever sizes."""
    notes_sizes: bool = False
    """Whether which sizes are the same is of use to what comes after it: to collapse its loops."""
    contiguous: int | None = None
    """The axis from which on the elements of its only result are contiguous, and all of those that
    it reads; None: they may lie anywhere."""
    scratch: Mapping[ir.Value, ir.MemRefType] = field(default_factory=dict)
    """The memory that it needs besides, and what for: tensors of which it is given the buffers."""


class Strategies(Protocol):
    """What kernels can be on a machine."""

    def form(
        self,
        members: Sequence[Computation],
        outputs: frozenset[ir.Value],
        begun: Group | None = None,
    ) -> Group | None:
        """The group of these computations, as `form_group` does."""

    def is_free(self, computation: Computation) -> bool:
        """Whether a contraction does to its operands for nothing what a computation does."""

    def reads_by_vectors(self, group: Group) -> bool:
        """Whether it matters to a group's kernel how its arguments lie in memory."""

    def takes_parts(self, group: Group) -> bool:
        """Whether a group's kernel is given as a whole what it reads interleaved parts of."""

    def is_contraction(self, computation: Computation) -> bool:
        """Whether a computation is a sum of products that has kernels of its own kind."""

    def is_contraction_of_attention(self, computation: Computation) -> bool:
        """The same as one of the two products of attention; others may be so there too."""

    def suits_contraction(self, group: Group) -> bool:
        """Whether such a kernel can do a group with one contraction."""

    def goes_along(self, group: Group) -> frozenset[ir.Value]:
        """What is a group's own though no member computes it.

        That are pads that its kernel lays around what it reads, and reshapes of weights that it
        takes packed.
        """

    def block_products(
        self, members: Sequence[Computation], outputs: frozenset[ir.Value]
    ) -> Group | None:
        """The group of computations that one kernel does block by block, if they are products so.

        They are rows of integers by weights of few bits (`block_products.py`).
        """

    def attention(
        self, members: Sequence[Computation], outputs: frozenset[ir.Value]
    ) -> Group | None:
        """The group of computations that one kernel does as attention, if they are that."""

    def plan(self, members: Sequence[Computation], outputs: frozenset[ir.Value]) -> Plan:
        """How the members of a group become a kernel."""


@dataclass(frozen=True)
class CpuStrategies:
    """Loops over rows, register tiles, and attention by blocks of queries."""

    unit: VectorUnit

    def form(
        self,
        members: Sequence[Computation],
        outputs: frozenset[ir.Value],
        begun: Group | None = None,
    ) -> Group | None:
        """As `Strategies` says."""
        return form_group(members, outputs, begun=begun)

    def is_free(self, computation: Computation) -> bool:
        """As `Strategies` says: it says where elements are from."""
        return is_copy(computation)

    def reads_by_vectors(self, group: Group) -> bool:
        """As `Strategies` says: contractions do; others are alike however their arguments lie."""
        return any(member.sum_of_products is not None for member in group.members)

    def takes_parts(self, group: Group) -> bool:
        """As `Strategies` says: LLVM makes vectors of all parts at once, if of one argument."""
        return not self.reads_by_vectors(group)

    def is_contraction(self, computation: Computation) -> bool:
        """As `Strategies` says."""
        return is_contraction(computation, self.unit)

    def is_contraction_of_attention(self, computation: Computation) -> bool:
        """As `Strategies` says."""
        return is_contraction_of_attention(computation, self.unit)

    def suits_contraction(self, group: Group) -> bool:
        """As `Strategies` says."""
        return contraction_group(group, self.unit) is not None

    def goes_along(self, group: Group) -> frozenset[ir.Value]:
        """As `Strategies` says: pads are those of depthwise convolutions."""
        if block_products_group(group.members, group.outputs) is not None:
            return reshapes_of_weights(group.members)
        found = contraction_group(group, self.unit)
        return frozenset() if found is None or found.pad is None else frozenset({found.pad})

    def block_products(
        self, members: Sequence[Computation], outputs: frozenset[ir.Value]
    ) -> Group | None:
        """As `Strategies` says."""
        found = block_products_group(members, outputs)
        return None if found is None else found.group

    def attention(
        self, members: Sequence[Computation], outputs: frozenset[ir.Value]
    ) -> Group | None:
        """As `Strategies` says."""
        found = attention_group(members, outputs, self.unit)
        return None if found is None else found.group

    @property
    def _shares_kernels(self) -> bool:
        """Whether contractions of several sizes share a kernel, which LLVM then compiles once.

        On microcontrollers kernels that know their sizes have registers for sums in which others
        count by 64 bits: small networks take 0.4 to 0.9 of the instructions, for up to 1.3 times
        the code.
        """
        return self.unit.fetches_ahead

    def plan(self, members: Sequence[Computation], outputs: frozenset[ir.Value]) -> Plan:
        """As `Strategies` says."""
        result = members[-1].results[0]
        products = block_products_group(members, outputs)
        if products is not None:
            return Plan(
                lambda given, outputs: build_block_products(
                    products, given, outputs[result], self.unit
                ),
                packed_weights(products, self.unit),
                is_loosely_typed=self._shares_kernels,
                contiguous=0,
            )
        attention = attention_group(members, outputs, self.unit)
        if attention is not None:
            return Plan(
                lambda given, outputs: build_attention(attention, given, outputs[result]),
                is_loosely_typed=self._shares_kernels,
                contiguous=0,
            )
        group = form_group(members, outputs)
        assert group is not None
        contraction = contraction_group(group, self.unit)
        if contraction is not None:
            planned = with_other_plan(contraction, self.unit)
            return Plan(
                lambda given, outputs: build_contraction_group(planned, given, outputs[result]),
                planned.packed,
                is_loosely_typed=self._shares_kernels,
                contiguous=planned.contiguous_from,
            )
        return Plan(
            lambda given, outputs: build_loop_nests(group, given, outputs), notes_sizes=True
        )
