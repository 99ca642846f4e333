"""Ops that combine the elements of windows that move over the last dimensions."""

from torch_mlir.dialects import ext
from torch_mlir.dialects.ext import Operand, Result

from plumbline.tcp.attributes import (
    Combiner,
    Signedness,
    verify_accumulation_type,
    verify_combiner,
    verify_signedness,
)
from plumbline.tcp.constraints import FloatOrIntTensor, I64Array, IntTensor, NumberType
from plumbline.tcp.dialect import TcpOp, VerificationError
from plumbline.tcp.shapes import verify_same_element_type, verify_shape
from plumbline.tcp.windows import Windows, verify_least


class WindowOp(TcpOp, traits=[ext.Pure]):
    """Base class: one element for each window over the last `len(kernel)` dimensions.

    Padding changes nothing: it never is the greatest, and adds nothing to a sum. What PyTorch calls
    `ceil_mode` is more of `padding_high`. Integers are signed unless `int_signedness` says
    otherwise.
    """

    input: Operand[FloatOrIntTensor]
    kernel: I64Array
    strides: I64Array
    dilations: I64Array
    padding_low: I64Array
    padding_high: I64Array
    int_signedness: Signedness | None
    assembly_format = "$input attr-dict `:` type($input) `->` type($out)"

    def _verify_windows(self) -> None:
        source = self.input.type
        kernel = [entry.value for entry in self.kernel]
        verify_least("kernel", kernel, 1)
        if not 1 <= len(kernel) <= source.rank:
            raise VerificationError(
                f"requires a 'kernel' of 1 to {source.rank} dimensions, but got {len(kernel)}"
            )
        windows = Windows.verified(
            kernel,
            strides=self.strides,
            dilations=self.dilations,
            padding_low=self.padding_low,
            padding_high=self.padding_high,
        )
        batch, spatial = source.shape[: -len(kernel)], source.shape[-len(kernel) :]
        verify_shape("a result", self.out.type, [*batch, *windows.count(spatial)])
        verify_signedness("int_signedness", self.int_signedness, source.element_type)


class PoolOp(WindowOp, name="pool"):
    """The elements of each window combined into one.

    Sums and products are computed in `accumulation_type` and rounded once at the end. An average
    is a sum divided by the window's size, or by the pool of a tensor of ones.
    """

    combiner: Combiner
    accumulation_type: NumberType | None
    out: Result[FloatOrIntTensor]

    def verify_operation(self) -> None:
        """The windows fit the input, and the combiner its elements."""
        verify_same_element_type(self.input.type, self.out.type)
        self._verify_windows()
        element_type = self.input.type.element_type
        verify_combiner(self.combiner, element_type)
        verify_accumulation_type(self.combiner, self.accumulation_type, element_type)


class ArgmaxPoolOp(WindowOp, name="argmax_pool"):
    """The place of the greatest element of each window.

    Places are counted from 0 through the last `len(kernel)` dimensions of the input, row by row,
    as PyTorch's `max_pool2d_with_indices` does. Of several equal ones it is the first; the last
    NaN, if there is one.
    """

    out: Result[IntTensor]

    def verify_operation(self) -> None:
        """The windows fit the input."""
        self._verify_windows()
