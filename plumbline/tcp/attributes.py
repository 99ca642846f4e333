"""The enumerations among the attributes of TCP's ops.

MLIR prints one as `#tcp.signedness<"Signed">`; the custom assembly has `#tcp<signedness Signed>`.
"""

import functools
import operator
from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from plumbline.tcp.constraints import AttributeConstraint, is_bool, is_float
from plumbline.tcp.dialect import TCP, VerificationError


class Enumeration(AttributeConstraint):
    """One of several words, made from that word as a Python string."""

    cases: tuple[str, ...]
    attribute_class: Any

    def __init_subclass__(cls, *, name: str, cases: Sequence[str], **kwargs: Any) -> None:
        """Defines the attribute `#tcp<name case>`."""
        super().__init_subclass__(**kwargs)
        cls.description = f"{name} attribute, one of {', '.join(cases)}"
        cls.cases = tuple(cases)
        admitted = functools.reduce(operator.or_, (ir.StringAttr[case] for case in cases))
        cls.attribute_class = type(
            f"{cls.__name__}Attr",
            (TCP.Attribute,),
            {"__doc__": cls.__doc__, "__annotations__": {"value": admitted}},
            name=name,
        )
        cls.admits = staticmethod(lambda attribute: isinstance(attribute, cls.attribute_class))

    @classmethod
    def build(cls, value: str) -> ir.Attribute:
        """The attribute for one of the words.

        Raises:
          ValueError: it is none of them.
        """
        if value not in cls.cases:
            raise ValueError(f"expected one of {', '.join(cls.cases)}, not {value!r}")
        return cls.attribute_class.get(ir.StringAttr.get(value))


def case_of(attribute: ir.Attribute) -> str:
    """The word that an enumeration attribute is."""
    # The bindings give the parameters of a dynamic attribute without their own class.
    return str(ir.StringAttr(attribute.value).value)


class Signedness(Enumeration, name="signedness", cases=("Signed", "Unsigned", "Signless")):
    """What a signless integer is taken for; i1, a truth value, is Signless."""


class RoundingMode(Enumeration, name="rounding_mode", cases=("Trunc", "Floor", "Ceil")):
    """Where a quotient that is no integer goes: towards zero, down, or up."""


class Predicate(Enumeration, name="predicate", cases=("eq", "ne", "lt", "le", "gt", "ge")):
    """A relation between two numbers; with a NaN only `ne` holds."""


class Combiner(
    Enumeration,
    name="combiner",
    cases=("sum", "prod", "max", "min", "and", "or", "logaddexp"),
):
    """How two numbers become one; a NaN wins over all others.

    `logaddexp` is log(exp(a) + exp(b)), which is exact where exp would overflow.
    """


def verify_combiner(combiner: ir.Attribute, element_type: ir.Type) -> None:
    """Holds a combiner against the type of what it combines.

    Raises:
      VerificationError: it joins truth values where there are numbers, or floats where there are
        none.
    """
    case = case_of(combiner)
    if case == "logaddexp" and not is_float(element_type):
        raise VerificationError(
            f"combiner '{case}' requires floating-point elements, but got '{element_type}'"
        )
    if case in ("and", "or") and not is_bool(element_type):
        raise VerificationError(
            f"combiner '{case}' requires elements of type 'i1', but got '{element_type}'"
        )


def verify_accumulation_type(
    combiner: ir.Attribute, accumulation_type: ir.Attribute | None, element_type: ir.Type
) -> None:
    """Holds the type that sums and products are computed in against that of the elements.

    Raises:
      VerificationError: it is missing for a sum or product, set for anything else, or holds less
        than the elements.
    """
    case = case_of(combiner)
    if case not in ("sum", "prod"):
        if accumulation_type is not None:
            raise VerificationError(f"attribute 'accumulation_type' must not be set for '{case}'")
        return
    if accumulation_type is None:
        raise VerificationError(f"requires attribute 'accumulation_type' for '{case}'")
    type_ = ir.TypeAttr(accumulation_type).value
    if is_float(type_) != is_float(element_type) or type_.width < element_type.width:
        raise VerificationError(
            f"requires an 'accumulation_type' that holds '{element_type}', but got '{type_}'"
        )


def verify_signedness(
    name: str,
    attribute: ir.Attribute | None,
    element_type: ir.Type,
    *,
    may_be_signless: bool = False,
) -> None:
    """Holds a signedness attribute, if there is one, against the type that it is about.

    Raises:
      VerificationError: it is about a float, says Signless of a number unless that
        `may_be_signless`, or something else of i1.
    """
    if attribute is None:
        return
    if is_float(element_type):
        raise VerificationError(
            f"attribute '{name}' must not be set for the float type '{element_type}'"
        )
    case = case_of(attribute)
    if is_bool(element_type) and case != "Signless":
        raise VerificationError(f"attribute '{name}' must be Signless for 'i1', but got {case}")
    if not is_bool(element_type) and case == "Signless" and not may_be_signless:
        raise VerificationError(
            f"attribute '{name}' must be Signed or Unsigned for '{element_type}', but got Signless"
        )
