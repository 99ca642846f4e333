"""Defines functions that LLVM has no code for on microcontrollers, nor the C library there.

LLVM 22 ends the process over the maximum of two float64 where a CPU has float32 alone, and calls
functions of C23 for others, which newlib 3.3 does not have.
"""

import re

import llvmlite.binding as llvm

_FUNCTION = re.compile(r"llvm\.(maximum|minimum|roundeven)\.(?:v(\d+))?(f\d+)")

_BITS = {"f16": ("half", "i16"), "f32": ("float", "i32"), "f64": ("double", "i64")}
"""What LLVM calls types of floats, and of integers of so many bits."""

# Of equal numbers the bits are the same, but for the sign of zeros.
_EXTREMUM = """
define {type} @{name}({type} %x, {type} %y) alwaysinline {{
  %is_nan = fcmp uno {type} %x, %y
  %nan = fadd {type} %x, %y
  %is_x = fcmp {relation} {type} %x, %y
  %one = select {truths} %is_x, {type} %x, {type} %y
  %are_equal = fcmp oeq {type} %x, %y
  %bits.x = bitcast {type} %x to {bits}
  %bits.y = bitcast {type} %y to {bits}
  %bits = {merge} {bits} %bits.x, %bits.y
  %both = bitcast {bits} %bits to {type}
  %number = select {truths} %are_equal, {type} %both, {type} %one
  %result = select {truths} %is_nan, {type} %nan, {type} %number
  ret {type} %result
}}
"""

# The rounding mode is never another one.
_ROUNDEVEN = """
define {type} @{name}({type} %x) alwaysinline {{
  %result = call {type} @llvm.nearbyint.{suffix}({type} %x)
  ret {type} %result
}}
declare {type} @llvm.nearbyint.{suffix}({type})
"""

# A sum with 2^23 has no bits for fractions. What is not below that has none, or is no number.
_ROUNDEVEN_BY_SUMS = """
define {type} @{name}({type} %x) alwaysinline {{
  %magnitude = call {type} @llvm.fabs.{suffix}({type} %x)
  %is_small = fcmp olt {type} %magnitude, {limit}
  %sum = fadd {type} %magnitude, {limit}
  %whole = fsub {type} %sum, {limit}
  %rounded = select {truths} %is_small, {type} %whole, {type} %magnitude
  %result = call {type} @llvm.copysign.{suffix}({type} %rounded, {type} %x)
  ret {type} %result
}}
declare {type} @llvm.fabs.{suffix}({type})
declare {type} @llvm.copysign.{suffix}({type}, {type})
"""

_WHOLE = "8388608.0"
"""2^23."""

_NEAREST = """
define float @f(float %x) {
  %rounded = call float @llvm.nearbyint.f32(float %x)
  %z = fadd float %rounded, %rounded
  ret float %z
}
declare float @llvm.nearbyint.f32(float)
"""

_HOW = {
    "maximum": {"relation": "ogt", "merge": "and"},
    "minimum": {"relation": "olt", "merge": "or"},
}


def define_missing_functions(
    module: llvm.ModuleRef, context: llvm.ContextRef, machine: llvm.TargetMachine
) -> None:
    """Has `module`, which is of a `context`, call definitions of its own, which are inlined.

    They are for the CPU of `machine`.
    """
    texts = {}
    adds_to_round = _adds_to_round(machine)
    for function in module.functions:
        match = _FUNCTION.fullmatch(function.name)
        if match is not None:
            function.name = function.name.replace("llvm", "plumbline", 1)
            texts[function.name] = _definition(
                function.name, *match.groups(), adds_to_round=adds_to_round
            )
    # Linking takes the place of what was declared.
    for name, text in texts.items():
        definition = llvm.parse_assembly(text, context)
        definition.triple, definition.data_layout = module.triple, module.data_layout
        module.link_in(definition)
        module.get_function(name).linkage = llvm.Linkage.internal


def _adds_to_round(machine: llvm.TargetMachine) -> bool:
    """Whether a CPU adds floats by an instruction, and calls what rounds them: of FPv4."""
    assembly = machine.emit_assembly(llvm.parse_assembly(_NEAREST, llvm.create_context()))
    return "\tvadd.f32\t" in assembly and "\tvrint" not in assembly


def _definition(
    name: str, operation: str, lanes: str | None, element: str, *, adds_to_round: bool
) -> str:
    type_, bits, truths = (
        f"<{lanes} x {each}>" if lanes else each for each in (*_BITS[element], "i1")
    )
    text = _EXTREMUM
    if operation == "roundeven":
        text = _ROUNDEVEN_BY_SUMS if adds_to_round and element == "f32" else _ROUNDEVEN
    limit = f"splat (float {_WHOLE})" if lanes else _WHOLE
    return text.format(
        name=name,
        type=type_,
        bits=bits,
        truths=truths,
        limit=limit,
        suffix=f"v{lanes}{element}" if lanes else element,
        **_HOW.get(operation, {}),
    )
