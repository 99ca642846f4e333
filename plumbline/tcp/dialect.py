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

import itertools
from collections.abc import Mapping, Sequence
from types import GenericAlias
from typing import Any, get_args, get_origin

from torch_mlir import ir
from torch_mlir.dialects import ext, irdl

from plumbline.tcp.assembly.format import (
    OPERAND_SEGMENTS,
    RESULT_SEGMENTS,
    AttributeField,
    OperationFormat,
    Signature,
    ValueField,
    field_sizes,
    parse_format,
    segment_sizes,
)
from plumbline.tcp.constraints import AttributeConstraint

NAMESPACE = "tcp"


class TCP(ext.Dialect, name=NAMESPACE):  # type: ignore[call-arg]
    """Tensor Compute Primitives: the stage between a framework's ops and linalg."""


class VerificationError(Exception):
    """A rule that an op breaks; the message completes "'tcp.add' op ..."."""


class Trait:
    """A rule that several ops share. The op's own verifier checks it."""

    message: str
    """What is said of an op that breaks it."""

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
        sizes = field_sizes(fields, len(self.results))
        return _field_values(fields, sizes, self.results, index)

    return property(get)


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
    """Base class of all ops of the dialect.

    A subclass has what its annotations say as `type_constraints` (of operands and results),
    `attribute_constraints` and `optional_attributes`, by the names of the fields, and its `traits`.
    """

    assembly_format = ""
    """The op's text, in the language that `assembly/format.py` describes."""

    def __init_subclass__(
        cls, *, name: str | None = None, traits: list[type] | None = None, **kwargs: Any
    ) -> None:
        """Takes the annotations apart and, for a class with a name, defines the op.

        Raises:
          ValueError: the assembly format does not fit the op.
        """
        cls.type_constraints = dict(getattr(cls, "type_constraints", {}))
        cls.attribute_constraints = dict(getattr(cls, "attribute_constraints", {}))
        cls.optional_attributes = set(getattr(cls, "optional_attributes", ()))
        for field, hint in list(cls.__annotations__.items()):
            cls._take_annotation(field, hint)
        super().__init_subclass__(name=name, traits=traits, **kwargs)
        if name is None:
            return
        cls.traits = tuple(cls._traits)
        cls.assembly = parse_format(cls._signature(name), cls.assembly_format)
        for index, operand in enumerate(cls.assembly.signature.operands):
            accessor = _operand_accessor(index, cls)
            setattr(cls, operand.name, accessor)
            setattr(cls.Adaptor, operand.name, accessor)
        for index, result in enumerate(cls.assembly.signature.results):
            setattr(cls, result.name, _result_accessor(index, cls))
        for attribute in cls.attribute_constraints:
            accessor = _attribute_accessor(attribute, attribute in cls.optional_attributes)
            setattr(cls, attribute, accessor)
            setattr(cls.Adaptor, attribute, accessor)

    @classmethod
    def _take_annotation(cls, field: str, hint: Any) -> None:
        """Keeps the constraint of a field, and leaves the bindings what they understand."""
        inner = ext.match_optional(hint)
        if isinstance(inner or hint, type) and issubclass(inner or hint, AttributeConstraint):
            cls.attribute_constraints[field] = inner or hint
            if inner:
                cls.optional_attributes.add(field)
            del cls.__annotations__[field]
            return
        variadic = get_origin(hint) is Sequence
        value = get_args(hint)[0] if variadic else hint
        if get_origin(value) in (ir.Value, ir.OpResult):
            cls.type_constraints[field] = get_args(value)[0]
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
                    variadic=field.variadicity is not irdl.Variadicity.single,
                    fixed_type=cls.type_constraints[field.name].fixed_type,
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
                    optional=attribute in cls.optional_attributes,
                    fixed_type=constraint.fixed_type,
                    inline=constraint.inline,
                )
                for attribute, constraint in cls.attribute_constraints.items()
            ],
            regions=[region.name for region in regions],
        )

    @classmethod
    def _emit_operation(cls) -> None:
        """Defines the op for the bindings; called while they load the dialect."""
        signature = cls.assembly.signature
        op = irdl.operation_(signature.name)
        with ir.InsertionPoint(op.body):
            for define, fields in (
                (irdl.operands_, signature.operands),
                (irdl.results_, signature.results),
            ):
                slots = [field for field in fields for _ in range(field.slots)]
                if slots:
                    define(
                        [irdl.any() for _ in slots],
                        [f"{slot.name}_{index}" for index, slot in enumerate(slots)],
                        [
                            irdl.Variadicity.variadic if slot.variadic else irdl.Variadicity.single
                            for slot in slots
                        ],
                    )
            if signature.regions:
                irdl.regions_([irdl.region([]) for _ in signature.regions], signature.regions)

    # -- building ------------------------------------------------------------------------------

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The types of the results, where operands and attributes determine them.

        Raises:
          TypeError: they do not, and the types must be given.
        """
        if cls.assembly.signature.results:
            raise TypeError(f"{cls.OPERATION_NAME}: the types of the results must be given")
        return []

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
        built |= self._build_segments(groups, results)
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
    def _build_segments(
        cls, groups: Sequence[Sequence[ir.Value]], results: Sequence[ir.Type]
    ) -> dict[str, ir.Attribute]:
        signature = cls.assembly.signature
        segments = {}
        if OPERAND_SEGMENTS in signature.segment_attributes:
            types = [[value.type for value in group] for group in groups]
            segments[OPERAND_SEGMENTS] = segment_sizes(signature.operands, types)
        if RESULT_SEGMENTS in signature.segment_attributes:
            types = [
                [results[index] for index in range(begin, end)]
                for begin, end in itertools.pairwise(
                    itertools.accumulate(field_sizes(signature.results, len(results)), initial=0)
                )
            ]
            segments[RESULT_SEGMENTS] = segment_sizes(signature.results, types)
        return {name: ir.DenseI32ArrayAttr.get(sizes) for name, sizes in segments.items()}

    @classmethod
    def _build_attributes(cls, values: Mapping[str, Any]) -> dict[str, ir.Attribute]:
        built = {}
        for name, value in values.items():
            if name not in cls.attribute_constraints:
                raise TypeError(f"{cls.__name__} has no attribute '{name}'")
            if value is not None:
                constraint = cls.attribute_constraints[name]
                built[name] = value if isinstance(value, ir.Attribute) else constraint.build(value)
        return built

    # -- verifying -----------------------------------------------------------------------------

    @classmethod
    def operand_sizes(cls, count: int, attributes: Mapping[str, ir.Attribute]) -> list[int]:
        """How many of `count` operands belong to each field."""
        signature = cls.assembly.signature
        if sum(operand.variadic for operand in signature.operands) > 1:
            return list(attributes[OPERAND_SEGMENTS])
        return field_sizes(signature.operands, count)

    def verify_invariants(self) -> bool:
        """Called by MLIR: holds the op against constraints, traits and its own rules.

        A broken rule is reported at the op's location.
        """
        try:
            self._verify_constraints()
            for trait in self.traits:
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
        for name, constraint in self.attribute_constraints.items():
            if name not in self.attributes:
                if name not in self.optional_attributes:
                    raise VerificationError(f"requires attribute '{name}'")
            elif not self._admits(constraint, name):
                raise VerificationError(
                    f"attribute '{name}' failed to satisfy constraint: {constraint.description}"
                )

    def _admits(self, constraint: type[AttributeConstraint], name: str) -> bool:
        try:
            return constraint.admits(self.attributes[name])
        except TypeError:
            # The bindings fail at locations that are attributes, or within such.
            return False

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
        if kind == "operand" and sum(field.variadic for field in fields) > 1:
            self._verify_segments(fields, len(values))
        sizes = (
            self.operand_sizes(len(values), self.attributes)
            if kind == "operand"
            else field_sizes(fields, len(values))
        )
        index = 0
        for field, size in zip(fields, sizes, strict=True):
            constraint = self.type_constraints[field.name]
            for _ in range(size):
                type_ = values[index].type
                if not constraint.admits(type_):
                    raise VerificationError(
                        f"{kind} #{index} must be {constraint.description}, but got '{type_}'"
                    )
                index += 1

    def _verify_segments(self, fields: Sequence[ValueField], count: int) -> None:
        if OPERAND_SEGMENTS not in self.attributes:
            raise VerificationError(f"requires attribute '{OPERAND_SEGMENTS}'")
        sizes = self.attributes[OPERAND_SEGMENTS]
        if (
            not isinstance(sizes, ir.DenseI32ArrayAttr)
            or len(sizes) != len(fields)
            or sum(sizes) != count
            or any(
                size < 0 or (size != 1 and not field.variadic)
                for field, size in zip(fields, sizes, strict=True)
            )
        ):
            raise VerificationError(f"attribute '{OPERAND_SEGMENTS}' does not fit the operands")


def _as_value(value: ir.Value | ir.OpView | ir.Operation) -> ir.Value:
    return value if isinstance(value, ir.Value) else value.result


def formats() -> dict[str, OperationFormat]:
    """The assembly formats of all ops, by name without the dialect's prefix."""
    return {op.assembly.signature.name: op.assembly for op in TCP.operations}
