"""How a weight lies in a library if not as PyTorch keeps it: as a view of it, packed, or both."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from plumbline.signature.packed_layout import PackedLayout
from plumbline.signature.strided_layout import StridedLayout

_THEN = "_then_"


@dataclass(frozen=True)
class WeightLayout:
    """A view of an array, and how that is packed; one of them at least."""

    view: StridedLayout | None = None
    packed: PackedLayout | None = None

    def __str__(self) -> str:
        """The layout in letters that any symbol may have."""
        return _THEN.join(str(step) for step in (self.view, self.packed) if step is not None)

    @staticmethod
    def parse(text: str) -> "WeightLayout | None":
        """The layout that `str` gives this text for, or None if it gives that for none."""
        steps = text.split(_THEN)
        view = StridedLayout.parse(steps[0])
        others = steps if view is None else steps[1:]
        if not others:
            return WeightLayout(view)
        packed = PackedLayout.parse(others[0]) if len(others) == 1 else None
        if packed is None or (view is not None and not packed.takes(view.shape)):
            return None
        return WeightLayout(view, packed)

    def then(self, packed: PackedLayout) -> "WeightLayout":
        """This view, packed.

        Raises:
          ValueError: it is packed already.
        """
        if self.packed is not None:
            raise ValueError(f"what lies as {self} is packed already")
        return replace(self, packed=packed)

    def takes(self, shape: Sequence[int]) -> bool:
        """Whether it is for arrays of a shape."""
        step = self.packed if self.view is None else self.view
        return step is not None and step.takes(shape)

    def gives(self, shape: Sequence[int]) -> bool:
        """Whether arrays that lie so can be of a shape."""
        if self.view is None:
            return self.packed is not None and self.packed.gives(shape)
        return self.shape(self.view.shape) == tuple(shape)

    def shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of arrays that lie so, if their own is `shape`."""
        viewed = tuple(shape) if self.view is None else self.view.shape
        return viewed if self.packed is None else self.packed.shape(viewed)

    def pack(self, array: NDArray[Any]) -> NDArray[Any]:
        """A copy that lies so, row-major.

        Raises:
          ValueError: it is not for arrays of this shape.
        """
        viewed = array if self.view is None else self.view.pack(array)
        return viewed if self.packed is None else self.packed.pack(viewed)
