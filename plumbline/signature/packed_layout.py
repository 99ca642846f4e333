"""How weights lie in a library that are read in another order than PyTorch keeps them in.

The layout is that of MLIR's `linalg.pack` with one tiled axis, and goes by its words: the axis
`inner_dims_pos` is cut into tiles of `inner_tiles` elements, the last one filled up with zeros;
tiles take the place of the axis, the elements of a tile become the last axis, and the axes before
that stand in the order `outer_dims_perm`. A matrix [K, N] with tiles of 64 along N and N before K
becomes the panels [ceil(N / 64), K, 64] that a contraction's micro-kernel reads. One that takes two
rows at once reads element 0 of rows 0 and 1 of a panel, element 1 of both, and so on, then rows 2
and 3: these are interleaved.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TEXT = re.compile(r"perm((?:_\d+)+)_pos_(\d+)_tile_(\d+)(?:_interleaved_(\d+))?")


@dataclass(frozen=True)
class PackedLayout:
    """A layout for arrays of rank N, which makes arrays of rank N + 1 of them."""

    outer_dims_perm: tuple[int, ...]
    inner_dims_pos: int
    inner_tiles: int
    interleaved: int = 1
    """Of how many tiles each the elements stand in turns; in all they are a multiple of it."""

    def __str__(self) -> str:
        """The layout in letters that any symbol may have: `perm_1_0_pos_1_tile_64`."""
        order = "".join(f"_{axis}" for axis in self.outer_dims_perm)
        turns = f"_interleaved_{self.interleaved}" if self.interleaved > 1 else ""
        return f"perm{order}_pos_{self.inner_dims_pos}_tile_{self.inner_tiles}{turns}"

    @staticmethod
    def parse(text: str) -> "PackedLayout | None":
        """The layout that `str` gives this text for, or None if it gives that for none."""
        match = _TEXT.fullmatch(text)
        if match is None:
            return None
        order = tuple(int(axis) for axis in match[1].split("_")[1:])
        layout = PackedLayout(order, int(match[2]), int(match[3]), int(match[4] or 1))
        is_layout = sorted(order) == [*range(len(order))] and layout.inner_dims_pos < len(order)
        return layout if is_layout and layout.inner_tiles > 0 and str(layout) == text else None

    def takes(self, shape: Sequence[int]) -> bool:
        """Whether it is for arrays of a shape."""
        return len(shape) == len(self.outer_dims_perm)

    def gives(self, shape: Sequence[int]) -> bool:
        """Whether packed arrays can be of a shape."""
        return len(shape) == len(self.outer_dims_perm) + 1 and shape[-1] == self.inner_tiles

    def shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The packed shape of arrays of a shape."""
        tiles = [*shape]
        tiles[self.inner_dims_pos] = -(-tiles[self.inner_dims_pos] // self.inner_tiles)
        return (*(tiles[axis] for axis in self.outer_dims_perm), self.inner_tiles)

    def pack(self, array: NDArray[Any]) -> NDArray[Any]:
        """A packed copy, row-major."""
        axis, tile = self.inner_dims_pos, self.inner_tiles
        if missing := -array.shape[axis] % tile:
            array = np.pad(array, [(0, missing if at == axis else 0) for at in range(array.ndim)])
        shape = array.shape
        tiled = array.reshape(*shape[:axis], shape[axis] // tile, tile, *shape[axis + 1 :])
        outer = np.moveaxis(tiled, axis + 1, -1)
        packed = np.ascontiguousarray(outer.transpose(*self.outer_dims_perm, array.ndim))
        if self.interleaved == 1:
            return packed
        turns = packed.reshape(-1, self.interleaved, tile).swapaxes(1, 2)
        return np.ascontiguousarray(turns).reshape(packed.shape)
