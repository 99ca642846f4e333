"""Convolutions over one to three spatial dimensions.

Tensors are laid out as in PyTorch: batch, channels, then the spatial dimensions. Elements of f16
and bf16 are multiplied and summed in f32, all others in their own type. Padding is zeros.
"""

from collections.abc import Sequence

from torch_mlir.dialects import ext
from torch_mlir.dialects.ext import Operand, Result

from plumbline.tcp.constraints import I64, FloatOrIntTensor, I64Array
from plumbline.tcp.dialect import TcpOp, VerificationError
from plumbline.tcp.shapes import (
    DYNAMIC,
    verify_count,
    verify_rank,
    verify_same_element_type,
    verify_shape,
)
from plumbline.tcp.windows import Windows, verify_least


class WindowProductOp(TcpOp, traits=[ext.Pure]):
    """Base class: windows of the input multiplied by weights, or the other way round."""

    input: Operand[FloatOrIntTensor]
    weight: Operand[FloatOrIntTensor]
    strides: I64Array
    dilations: I64Array
    padding_low: I64Array
    padding_high: I64Array
    groups: I64
    out: Result[FloatOrIntTensor]
    assembly_format = (
        "$input `,` $weight attr-dict `:` type($input) `,` type($weight) `->` type($out)"
    )

    def _verified_windows(self) -> Windows:
        """The windows, of the weight's size; ranks, element types and groups are right by then."""
        source = self.input.type
        verify_same_element_type(source, self.weight.type, self.out.type)
        if not 3 <= source.rank <= 5:
            raise VerificationError(
                f"requires an input of one to three spatial dimensions, but got rank {source.rank}"
            )
        verify_rank("a weight", self.weight.type, source.rank)
        verify_rank("a result", self.out.type, source.rank)
        verify_least("groups", [self.groups.value], 1)
        return Windows.verified(
            self.weight.type.shape[2:],
            strides=self.strides,
            dilations=self.dilations,
            padding_low=self.padding_low,
            padding_high=self.padding_high,
        )

    def _grouped(self, what: str, channels: int) -> int:
        """The channels of each group, of all `channels`."""
        groups = self.groups.value
        if channels == DYNAMIC:
            return channels
        if channels % groups:
            raise VerificationError(
                f"requires {what} in 'groups' of equal size, but got {channels} in {groups}"
            )
        return int(channels // groups)

    def _ungrouped(self, channels: int) -> int:
        """All channels, of those of each group."""
        return int(DYNAMIC if channels == DYNAMIC else channels * self.groups.value)


class ConvOp(WindowProductOp, name="conv"):
    """Convolution, which in PyTorch's sense does not mirror the weights.

    Input [n, c, ..] and weight [o, c / groups, ..] give [n, o, ..].
    """

    def verify_operation(self) -> None:
        """Channels fit the groups, and the result has a place for each window."""
        windows = self._verified_windows()
        source, weight = self.input.type, self.weight.type
        self._grouped("output channels", weight.shape[0])
        inner = self._grouped("input channels", source.shape[1])
        verify_shape("a weight", weight, [weight.shape[0], inner, *weight.shape[2:]])
        counts = windows.count(source.shape[2:])
        verify_shape("a result", self.out.type, [source.shape[0], weight.shape[0], *counts])


class ConvTransposeOp(WindowProductOp, name="conv_transpose"):
    """The transpose of a convolution's linear map: each input element adds a window of weights.

    Input [n, c, ..] and weight [c, o / groups, ..] give [n, o, ..]. `output_padding` adds
    elements after the last, to tell apart the sizes that strides would make the same.
    """

    output_padding: I64Array

    def verify_operation(self) -> None:
        """Channels fit the groups, and the result is what the windows cover."""
        windows = self._verified_windows()
        source, weight = self.input.type, self.weight.type
        output_padding: Sequence[int] = [entry.value for entry in self.output_padding]
        verify_count(
            "entries of 'output_padding', one for each spatial dimension",
            len(output_padding),
            source.rank - 2,
        )
        verify_least("output_padding", output_padding, 0)
        self._grouped("input channels", source.shape[1])
        verify_shape("a weight", weight, [source.shape[1], *weight.shape[1:]])
        covered = [
            DYNAMIC if size == DYNAMIC else size + extra
            for size, extra in zip(windows.covered(source.shape[2:]), output_padding, strict=True)
        ]
        channels = self._ungrouped(weight.shape[1])
        verify_shape("a result", self.out.type, [source.shape[0], channels, *covered])
