"""Does scans of slices for a tile of contiguous elements at a time.

What was combined of a tile so far stays in the first cache while the scan goes along its axis. Of a
whole slice it may not, and a slice at a time would be a kernel that is called for each.
"""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from plumbline.linalg_to_kernels.building import for_each, index, least
from plumbline.linalg_to_kernels.scans import SliceScan, replace_scans

_TILE = 1024
"""Elements: in f64 a quarter of a first cache, beside what is read and written of a line each."""


def tile_scans(module: ir.Operation) -> None:
    """Replaces the loops of `module` over slices that are scans by nests over elements."""
    replace_scans(module, _built)


def _built(scan: SliceScan) -> ir.Value:
    """Builds the nest, of loops outside, over tiles, along the scan and along a tile."""
    shape = ir.RankedTensorType(scan.source.type).shape
    sizes, start = scan.sizes(), scan.start_value()
    across = max(axis for axis, size in enumerate(shape) if axis > scan.axis and size != 1)
    outside = [axis for axis in range(len(shape)) if axis not in (scan.axis, across)]

    def over(
        axes: Sequence[int], places: Mapping[int, ir.Value], tensors: Sequence[ir.Value]
    ) -> list[ir.Value]:
        if not axes:
            return tiles(places, tensors)
        axis, *rest = axes

        def body(at: ir.Value, *tensors: ir.Value) -> list[ir.Value]:
            return over(rest, {**places, axis: at}, tensors)

        return for_each(index(0), sizes[axis], 1, body, tensors)

    def tiles(places: Mapping[int, ir.Value], tensors: Sequence[ir.Value]) -> list[ir.Value]:
        def tile(first: ir.Value, *tensors: ir.Value) -> list[ir.Value]:
            width = least(arith.subi(sizes[across], first), index(_TILE))
            out, so_far = tensors

            def begin(at: ir.Value, so_far: ir.Value) -> list[ir.Value]:
                return [tensor.insert(start, so_far, [at])]

            (so_far,) = for_each(index(0), width, 1, begin, [so_far])

            def slice_(along: ir.Value, *tensors: ir.Value) -> list[ir.Value]:
                def element(at: ir.Value, out: ir.Value, so_far: ir.Value) -> list[ir.Value]:
                    found = {**places, scan.axis: along, across: arith.addi(first, at)}
                    place = [found[axis] for axis in range(len(shape))]
                    taken = tensor.extract(scan.source, place)
                    before = tensor.extract(so_far, [at])
                    stored, combined = scan.combined(taken, before)
                    return [
                        tensor.insert(stored, out, place),
                        tensor.insert(combined, so_far, [at]),
                    ]

                return for_each(index(0), width, 1, element, tensors)

            return for_each(index(0), sizes[scan.axis], 1, slice_, [out, so_far])

        return for_each(index(0), sizes[across], _TILE, tile, tensors)

    so_far = tensor.EmptyOp([_TILE], scan.combined_type).result
    return over(outside, {}, [scan.loop.initArgs[0], so_far])[0]
