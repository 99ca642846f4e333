"""What a caller needs to know of a compiled function: its name, element types and shapes."""

from dataclasses import dataclass

from plumbline.errors import UserError
from plumbline.signature import element_type
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.c_names import CNames
from plumbline.signature.element_type import ElementType
from plumbline.signature.size_expressions import Operation, Size, operation
from plumbline.signature.unbacked_size import UnbackedSize

AxisOrder = tuple[int, ...]
"""The axes of a tensor as they lie in memory, the outermost first; there are no gaps."""


@dataclass(frozen=True)
class TensorSpec:
    """The type of one argument or result."""

    element_type: ElementType
    sizes: tuple[int | None, ...]
    """None where the size is not known before run time."""
    is_scalar: bool = False
    """Whether callers have a number for it, by value, where it is an input. It has rank 0 then."""
    order: AxisOrder | None = None
    """None where it is row-major."""

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.sizes)

    def __str__(self) -> str:
        sizes = ", ".join("?" if size is None else str(size) for size in self.sizes)
        return f"{self.element_type.name}[{sizes}]"

    def check(self, what: str, name: str, sizes: tuple[int, ...]) -> None:
        """Holds the element type called `name` and the shape `sizes` against this type.

        Raises:
          UserError: they do not fit; the message begins with `what`.
        """
        given = TensorSpec(element_type.from_name(name), sizes)
        fits = len(sizes) == self.rank and all(
            want in (None, have) for want, have in zip(self.sizes, sizes, strict=True)
        )
        if name != self.element_type.name or not fits:
            raise UserError(f"{what} is {given}, where the compiled function takes {self}")


DEVICE_ALIGNMENT = 16
"""Of tensors in memory of a GPU, in bytes: kernels read and write so much at once."""

WORKSPACE_ALIGNMENT = 64
"""Of a workspace, in bytes: a cache line."""


@dataclass(frozen=True)
class Workspace:
    """The memory that a caller brings along for temporaries, in bytes."""

    bytes: Size
    sum: Size
    """Of all temporaries, if none shared its bytes with another."""
    lower_bound: Size
    """So many live at once, whatever shares bytes."""

    def beside(self, other: "Workspace") -> "Workspace":
        """What takes both, at different times."""
        return Workspace(
            _greater(self.bytes, other.bytes),
            operation("+", self.sum, other.sum),
            _greater(self.lower_bound, other.lower_bound),
        )

    def times(self, copies: int) -> "Workspace":
        """What takes as much several times, at once."""
        return Workspace(
            *(operation("*", size, copies) for size in (self.bytes, self.sum, self.lower_bound))
        )

    def behind(self, bytes_: Size, live: Size) -> "Workspace":
        """The same, where others have so many bytes before it, of which these are in use."""
        return Workspace(
            operation("+", bytes_, self.bytes), self.sum, operation("+", live, self.lower_bound)
        )


def _greater(left: Size, right: Size) -> Size:
    return left if _has(left, right) else operation("max", left, right)


def _has(maximum: Size, size: Size) -> bool:
    """Whether a size is one of those that another is the greatest of."""
    return maximum == size or (
        isinstance(maximum, Operation)
        and maximum.operator == "max"
        and (_has(maximum.left, size) or _has(maximum.right, size))
    )


@dataclass(frozen=True)
class Signature:
    """The type of a compiled function."""

    name: str
    names: CNames
    """What its parameters are called."""
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    shapes: ArgumentShapes
    """What dynamic sizes of the inputs may be, and which of them depend on others; closed."""
    result_shapes: tuple[tuple[Size | None, ...], ...]
    """The sizes of the outputs, in the symbols of `shapes`; of those in `unbacked`, the most that
    they may be, or None where nothing bounds one, which goes with memory of the program's."""
    workspace: Workspace | None = None
    """None where temporaries come from the heap."""
    inout: tuple[int, ...] = ()
    """The numbers of the inputs that a call writes: these share no memory with another tensor."""
    loads_weights: bool = False
    """Whether the weights come from a file, which is to be loaded before the first call."""
    on_device: bool = False
    """Whether tensors are in the memory of a GPU, as is a workspace then."""
    has_stream: bool = False
    """Whether callers say on which stream of a GPU it is queued."""
    unbacked: tuple[UnbackedSize, ...] = ()
    """The sizes of outputs that each call tells, in order."""

    @property
    def are_results_bounded(self) -> bool:
        """Whether callers can bring memory for the results."""
        return not any(None in sizes for sizes in self.result_shapes)

    @property
    def repeats(self) -> bool:
        """Whether calls on a stream with the same pointers do the same."""
        by_value = any(spec.is_scalar for spec in self.inputs)
        return self.has_stream and not self.shapes.symbols and not by_value
