"""Ops that hold other ops together, and the one that stands for an op that TCP does not have."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Region, Result

from plumbline.tcp.constraints import AnyType, Text
from plumbline.tcp.dialect import TcpOp, VerificationError


class RegionOp(TcpOp):
    """Base class: its results are what the one block of its body yields."""

    def _verify_body(self, argument_types: Sequence[ir.Type]) -> None:
        blocks = list(self.body.blocks)
        if len(blocks) != 1:
            raise VerificationError(f"requires a body of one block, but got {len(blocks)}")
        arguments = [argument.type for argument in blocks[0].arguments]
        if arguments != list(argument_types):
            raise VerificationError(
                f"requires block arguments of types ({_spell(argument_types)}), "
                f"but got ({_spell(arguments)})"
            )
        ops = list(blocks[0].operations)
        if not ops or ops[-1].operation.name != YieldOp.OPERATION_NAME:
            raise VerificationError(f"requires a body that ends with '{YieldOp.OPERATION_NAME}'")
        yielded = [value.type for value in ops[-1].operation.operands]
        results = [result.type for result in self.results]
        if yielded != results:
            raise VerificationError(
                f"requires its body to yield the results' types ({_spell(results)}), "
                f"but got ({_spell(yielded)})"
            )


def _spell(types: Sequence[ir.Type]) -> str:
    return ", ".join(map(str, types))


class GroupOp(RegionOp, name="group"):
    """Ops that belong together, for a later stage to take as one; they see all that is around."""

    body: Region
    outs: Sequence[Result[AnyType]]
    assembly_format = "attr-dict-with-keyword $body (`:` type($outs)^)?"

    def verify_operation(self) -> None:
        """The body is one block without arguments, and yields the results."""
        self._verify_body([])


class IsolatedGroupOp(RegionOp, name="isolated_group", traits=[ir.IsIsolatedFromAboveTrait]):
    """Ops that belong together and see nothing but the operands, as arguments of their block."""

    inputs: Sequence[Operand[AnyType]]
    body: Region
    outs: Sequence[Result[AnyType]]
    assembly_format = "$inputs attr-dict-with-keyword $body `:` type($inputs) `->` type($outs)"

    def verify_operation(self) -> None:
        """The body is one block with the inputs as arguments, and yields the results."""
        self._verify_body([value.type for value in self.inputs])


class YieldOp(TcpOp, name="yield", traits=[ir.IsTerminatorTrait]):
    """Ends a group's body, and says what the group's results are."""

    inputs: Sequence[Operand[AnyType]]
    assembly_format = "$inputs attr-dict (`:` type($inputs)^)?"

    def verify_operation(self) -> None:
        """It stands in a group."""
        parents = (GroupOp.OPERATION_NAME, IsolatedGroupOp.OPERATION_NAME)
        parent = self.operation.parent
        if parent is None or parent.operation.name not in parents:
            raise VerificationError(f"expects parent op to be one of '{', '.join(parents)}'")


class CustomOp(TcpOp, name="custom_op"):
    """An op that TCP does not know: its name, and what it takes and gives."""

    op_name: Text
    inputs: Sequence[Operand[AnyType]]
    outs: Sequence[Result[AnyType]]
    assembly_format = "`(` $op_name `)` $inputs attr-dict `:` type($inputs) `->` type($outs)"

    def verify_operation(self) -> None:
        """The op has a name."""
        if not self.op_name.value:
            raise VerificationError("requires an 'op_name' that is not empty")
