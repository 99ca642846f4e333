"""The TCP dialect and the base class of its ops.

An op is a class: annotations give operands, results, attributes and regions with their
constraints, `assembly_format` its text (see `assembly/format.py`), `verify_operation` the rules
beyond the constraints, and the docstring what it computes:

    class BroadcastOp(TcpOp, name="broadcast", traits=[ext.Pure]):
        in_: Operand[AnyTensor]
        sizes: Sequence[Operand[Index]]
        axes: I64Array
        out: Result[AnyTensor]

The MLIR bindings know of an op's operands, results and regions only. Attributes stay with us: the
bindings have no optional ones, and would report a wrong one in words of their own.
"""

from collections.abc import Mapping, Sequence
from types import GenericAlias
from typing import Any, get_args, get_origin

from torch_mlir import ir
from torch_mlir.dialects import ext
from torch_mlir.dialects.irdl import Variadicity

from plumbline.tcp.assembly.format import (
    AttributeField,
    OperationFormat,
    Signature,
    ValueField,
    parse_format,
)
from plumbline.tcp.constraints import AttributeConstraint

NAMESPACE = "tcp"


class TCP(ext.Dialect, name=NAMESPACE):  # type: ignore[call-arg]
    """Tensor Compute Primitives: the stage between a framework's ops and linalg."""


class VerificationError(Exception):
    """A rule that an op breaks; the message completes "'tcp.add' op ..."."""


class Trait:
    """A rule that several ops share. The op's own verifier checks it."""

    @staticmethod
    def attach(name: str) -> None:
        """Nothing to attach: one call from MLIR into Python for each op is enough."""

    @staticmethod
    def verify(op: "TcpOp") -> None:
        """Holds an op against the rule.

        Raises:
          VerificationError: the op breaks it.
        """
        raise NotImplementedError


def _operand_accessor(index: int, cls: "type[TcpOp]") -> property:
    """The operand, or list of operands, that belongs to the field `index`."""

    def get(self: Any) -> Any:
        sizes = cls.operand_sizes(len(self.operands), self.attributes)
        return _field_values(cls.assembly.signature.operands, sizes, self.operands, index)

    return property(get)


def _result_accessor(index: int, cls: "type[TcpOp]") -> property:
    """The result, or list of results, that belongs to the field `index`."""

    def get(self: Any) -> Any:
        fields = cls.assembly.signature.results
        sizes = _sizes(fields, len(self.results))
        return _field_values(fields, sizes, self.results, index)

    return property(get)


def _sizes(fields: Sequence[ValueField], count: int) -> list[int]:
    """How many of `count` values belong to each field, where at most one is variadic."""
    single = sum(not field.variadic for field in fields)
    return [count - single if field.variadic else 1 for field in fields]


def _field_values(
    fields: Sequence[ValueField], sizes: Sequence[int], values: Sequence[ir.Value], index: int
) -> Any:
    begin = sum(sizes[:index])
    if fields[index].variadic:
        return list(values[begin : begin + sizes[index]])
    return values[begin]


def _attribute_accessor(name: str, optional: bool) -> property:
    def get(self: Any) -> ir.Attribute | None:
        if optional and name not in self.attributes:
            return None
        return self.attributes[name]

    return property(get)


class TcpOp(ext.Operation, dialect=TCP):  # type: ignore[call-arg]
    """Base class of all ops of the dialect."""

    assembly_format = ""
    """The op's text, in the language that `assembly/format.py` describes."""

    def __init_subclass__(
        cls, *, name: str | None = None, traits: list[type] | None = None, **kwargs: Any
    ) -> None:
        """Takes the annotations apart and, for a class with a name, defines the op.

        Raises:
          ValueError: the assembly format does not fit the op.
        """
        cls._type_constraints = dict(getattr(cls, "_type_constraints", {}))
        cls._attribute_constraints = dict(getattr(cls, "_attribute_constraints", {}))
        cls._optional_attributes = set(getattr(cls, "_optional_attributes", ()))
        for field, hint in list(cls.__annotations__.items()):
            cls._take_annotation(field, hint)
        super().__init_subclass__(name=name, traits=traits, **kwargs)
        if name is None:
            return
        cls.assembly = parse_format(cls._signature(name), cls.assembly_format)
        for index, operand in enumerate(cls.assembly.signature.operands):
            accessor = _operand_accessor(index, cls)
            setattr(cls, operand.name, accessor)
            setattr(cls.Adaptor, operand.name, accessor)
        for index, result in enumerate(cls.assembly.signature.results):
            setattr(cls, result.name, _result_accessor(index, cls))
        for attribute in cls._attribute_constraints:
            accessor = _attribute_accessor(attribute, attribute in cls._optional_attributes)
            setattr(cls, attribute, accessor)
            setattr(cls.Adaptor, attribute, accessor)

    @classmethod
    def _take_annotation(cls, field: str, hint: Any) -> None:
        """Keeps the constraint of a field, and leaves the bindings what they understand."""
        inner = ext.match_optional(hint)
        if isinstance(inner or hint, type) and issubclass(inner or hint, AttributeConstraint):
            cls._attribute_constraints[field] = inner or hint
            if inner:
                cls._optional_attributes.add(field)
            del cls.__annotations__[field]
            return
        variadic = get_origin(hint) is Sequence
        value = get_args(hint)[0] if variadic else hint
        if get_origin(value) in (ir.Value, ir.OpResult):
            cls._type_constraints[field] = get_args(value)[0]
            hints: dict[str, Any] = cls.__annotations__
            hints[field] = get_origin(value)[Any]
            if variadic:
                hints[field] = GenericAlias(Sequence, hints[field])

    @classmethod
    def _signature(cls, name: str) -> Signature:
        def values(fields: Sequence[Any]) -> list[ValueField]:
            return [
                ValueField(
                    field.name,
                    variadic=field.variadicity is not Variadicity.single,
                    fixed_type=cls._type_constraints[field.name].fixed_type,
                )
                for field in fields
            ]

        operands, _, results, regions = ext.partition_fields(cls._fields)
        return Signature(
            name=name,
            operands=values(operands),
            results=values(results),
            attributes=[
                AttributeField(
                    attribute,
                    optional=attribute in cls._optional_attributes,
                    fixed_type=constraint.fixed_type,
                    inline=constraint.inline,
                )
                for attribute, constraint in cls._attribute_constraints.items()
            ],
            regions=[region.name for region in regions],
        )

    # -- building ------------------------------------------------------------------------------

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The types of the results, where operands and attributes determine them.

        Raises:
          TypeError: they do not, and the types must be given.
        """
        raise TypeError(f"{cls.OPERATION_NAME}: the types of the results must be given")

    @classmethod
    def _generate_init_method(cls, fields: Sequence[Any]) -> None:
        """Keeps the bindings from making a builder of their own, blind to optional attributes."""

    def __init__(
        self,
        *operands: Any,
        results: Sequence[ir.Type] | ir.Type | None = None,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
        **attributes: Any,
    ) -> None:
        """Builds the op at the insertion point.

        Args:
          operands: a value, or an op with one result, for each operand; for a variadic one, a
            sequence of them.
          results: the types of the results, or of the one; some ops can tell them by themselves.
          loc: the op's location, by default the current one.
          ip: where the op goes, by default the current insertion point.
          attributes: MLIR attributes, or Python values that the constraints make into such; None
            leaves an optional one unset.

        Raises:
          TypeError: operands or attributes are not those of the op, or no types were given.
        """
        groups = self._group_operands(operands)
        flat = [value for group in groups for value in group]
        built = self._build_attributes(attributes)
        if results is None:
            results = self.infer_types(flat, built)
        elif isinstance(results, ir.Type):
            results = [results]
        if self.assembly.signature.needs_segments:
            built["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(list(map(len, groups)))
        ir.OpView.__init__(
            self,
            self.OPERATION_NAME,
            self._ODS_REGIONS,
            None,
            None,
            attributes=built,
            results=list(results),
            operands=flat,
            regions=len(self.assembly.signature.regions) or None,
            loc=loc,
            ip=ip,
        )

    @classmethod
    def _group_operands(cls, operands: Sequence[Any]) -> list[list[ir.Value]]:
        fields = cls.assembly.signature.operands
        if len(operands) != len(fields):
            names = ", ".join(field.name for field in fields)
            raise TypeError(f"{cls.__name__} takes operands ({names}), got {len(operands)}")
        return [
            [_as_value(item) for item in (operand if field.variadic else [operand])]
            for field, operand in zip(fields, operands, strict=True)
        ]

    @classmethod
    def _build_attributes(cls, values: Mapping[str, Any]) -> dict[str, ir.Attribute]:
        built = {}
        for name, value in values.items():
            if name not in cls._attribute_constraints:
                raise TypeError(f"{cls.__name__} has no attribute '{name}'")
            if value is not None:
                constraint = cls._attribute_constraints[name]
                built[name] = value if isinstance(value, ir.Attribute) else constraint.build(value)
        return built

    # -- verifying -----------------------------------------------------------------------------

    @classmethod
    def operand_sizes(cls, count: int, attributes: Mapping[str, ir.Attribute]) -> list[int]:
        """How many of `count` operands belong to each field."""
        signature = cls.assembly.signature
        if signature.needs_segments:
            return list(attributes["operandSegmentSizes"])
        return _sizes(signature.operands, count)

    def verify_invariants(self) -> bool:
        """Called by MLIR: holds the op against constraints, traits and its own rules.

        A broken rule is reported at the op's location.
        """
        try:
            self._verify_constraints()
            for trait in self._traits:
                if issubclass(trait, Trait):
                    trait.verify(self)
            self.verify_operation()
        except VerificationError as violation:
            self.location.emit_error(f"'{self.OPERATION_NAME}' op {violation}")
            return False
        return True

    def verify_operation(self) -> None:
        """Holds the op against the rules of its own; all constraints are met by then.

        Raises:
          VerificationError: the op breaks one. The text of the op must not be asked for: MLIR would
            verify the op before printing it, without end.
        """

    def _verify_constraints(self) -> None:
        signature = self.assembly.signature
        self._verify_values("operand", signature.operands, self.operands)
        self._verify_values("result", signature.results, self.results)
        for name, constraint in self._attribute_constraints.items():
            if name not in self.attributes:
                if name not in self._optional_attributes:
                    raise VerificationError(f"requires attribute '{name}'")
            elif not constraint.admits(self.attributes[name]):
                raise VerificationError(
                    f"attribute '{name}' failed to satisfy constraint: {constraint.description}"
                )

    def _verify_values(
        self, kind: str, fields: Sequence[ValueField], values: Sequence[ir.Value]
    ) -> None:
        single = sum(not field.variadic for field in fields)
        if len(values) < single or (len(values) > single and single == len(fields)):
            bound = "" if single == len(fields) else " or more"
            plural = "" if single == 1 and not bound else "s"
            raise VerificationError(
                f"expected {single}{bound} {kind}{plural}, but found {len(values)}"
            )
        if kind == "operand" and self.assembly.signature.needs_segments:
            self._verify_segments(fields, len(values))
        sizes = (
            self.operand_sizes(len(values), self.attributes)
            if kind == "operand"
            else _sizes(fields, len(values))
        )
        index = 0
        for field, size in zip(fields, sizes, strict=True):
            constraint = self._type_constraints[field.name]
            for _ in range(size):
                type_ = values[index].type
                if not constraint.admits(type_):
                    raise VerificationError(
                        f"{kind} #{index} must be {constraint.description}, but got '{type_}'"
                    )
                index += 1

    def _verify_segments(self, fields: Sequence[ValueField], count: int) -> None:
        if "operandSegmentSizes" not in self.attributes:
            raise VerificationError("requires attribute 'operandSegmentSizes'")
        sizes = self.attributes["operandSegmentSizes"]
        if (
            not isinstance(sizes, ir.DenseI32ArrayAttr)
            or len(sizes) != len(fields)
            or sum(sizes) != count
            or any(
                size < 0 or (size != 1 and not field.variadic)
                for field, size in zip(fields, sizes, strict=True)
            )
        ):
            raise VerificationError("'operandSegmentSizes' does not fit the operands")


def _as_value(value: ir.Value | ir.OpView | ir.Operation) -> ir.Value:
    return value if isinstance(value, ir.Value) else value.result


def formats() -> dict[str, OperationFormat]:
    """The assembly formats of all ops, by name without the dialect's prefix."""
    return {op.assembly.signature.name: op.assembly for op in TCP.operations}
