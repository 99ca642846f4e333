import ctypes
import sys
from unittest import mock

import llvmlite.binding as llvm
import pytest
from llvmlite.binding import ffi

from plumbline.library.linked_code import LinkedCode
from plumbline.llvm_to_asm import units
from plumbline.llvm_to_asm.assembly import emit_object, emit_objects
from plumbline.llvm_to_asm.units import units_of
from plumbline.llvm_to_asm.unlocked import run_passes
from plumbline.target.cpu import cpu_target
from plumbline.target.machine import target_machine

_TARGET = cpu_target("native")


def _kernel(number: int, body: str = "") -> str:
    # Nobody looks at the last argument, and the one before it is the same in all calls.
    return f"""
define internal void @kernel_{number}(ptr %x, double %same, ptr %unused) #0 {{
  {body}
  %old = load double, ptr %x
  %scaled = fmul double %old, %same
  %number = load double, ptr @number_{number}
  %new = fadd double %scaled, %number
  store double %new, ptr %x
  ret void
}}
@number_{number} = private unnamed_addr constant double {number}.0
"""


_ENTRY = """
define i32 @entry(ptr %x) {
  call void @kernel_1(ptr %x, double 2.0, ptr %x)
  call void @kernel_2(ptr %x, double 2.0, ptr %x)
  call void @kernel_3(ptr %x, double 2.0, ptr %x)
  call void @kernel_4(ptr %x, double 2.0, ptr %x)
  ret i32 0
}
attributes #0 = { noinline }
"""

_COUNTED = """
@calls = internal global i64 0
define internal void @count() {
  %before = load i64, ptr @calls
  %after = add i64 %before, 1
  store i64 %after, ptr @calls
  ret void
}
"""

_TEXT = _COUNTED + "".join(map(_kernel, range(1, 4))) + _kernel(4, "call void @count()") + _ENTRY


@pytest.fixture(autouse=True)
def _units_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "_LEAST", 200)


def _defined_in(unit: str) -> set[str]:
    module = llvm.parse_assembly(unit, llvm.create_context())
    return {function.name for function in module.functions if not function.is_declaration}


def test_each_kernel_is_in_one_unit_and_what_changes_in_the_first() -> None:
    first, *others = map(_defined_in, units_of(_TEXT))
    assert len(others) > 1
    assert {"entry", "count", "kernel_4"} <= first
    assert sorted(name for unit in (first, *others) for name in unit) == sorted(
        ["entry", "count", *(f"kernel_{number}" for number in range(1, 5))]
    )


def test_units_have_the_constants_that_they_need() -> None:
    for unit in units_of(_TEXT)[1:]:
        module = llvm.parse_assembly(unit, llvm.create_context())
        numbers = {function.name.partition("_")[2] for function in module.functions}
        assert {data.name.partition("_")[2] for data in module.global_variables} <= numbers


def test_functions_of_several_units_call_one_another() -> None:
    first, *others = emit_objects(_TEXT, _TARGET, entry="entry")
    code = LinkedCode(first, "entry", others=others)
    number = ctypes.c_double(1)
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(code.address)(ctypes.byref(number))
    assert number.value == (((1 * 2 + 1) * 2 + 2) * 2 + 3) * 2 + 4
    assert code.code_bytes == sum(map(len, (first, *others)))


def test_objects_are_the_same_on_any_number_of_threads() -> None:
    with mock.patch("os.sched_getaffinity", return_value={0}):
        alone = emit_objects(_TEXT, _TARGET, entry="entry")
    with mock.patch("os.sched_getaffinity", return_value={0, 1, 2}):
        assert emit_objects(_TEXT, _TARGET, entry="entry") == alone


def test_kernels_of_other_units_know_what_is_the_same_in_all_calls() -> None:
    def code_bytes(*objects: bytes) -> int:
        sections = (
            each for one in objects for each in llvm.ObjectFileRef.from_data(one).sections()
        )
        return sum(section.size() for section in sections if section.is_text())

    whole = emit_object(_TEXT, _TARGET, entry="entry")
    # What is aligned at the ends of units aside.
    assert code_bytes(*emit_objects(_TEXT, _TARGET, entry="entry")) <= code_bytes(whole) + 3 * 16


def test_a_text_that_is_not_understood_stays_one() -> None:
    text = _TEXT.replace("@count(", '@"count it"(')
    assert units_of(text) == [text]


def test_little_is_one_object() -> None:
    with mock.patch.object(units, "_LEAST", len(_TEXT)):
        assert emit_objects(_TEXT, _TARGET, entry="entry") == (
            emit_object(_TEXT, _TARGET, entry="entry"),
        )


def test_passes_run_without_the_lock_of_llvmlite() -> None:
    machine = target_machine(_TARGET)
    module = llvm.parse_assembly(_TEXT, llvm.create_context())
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    manager = builder.getModulePassManager()
    taken, given_back = mock.Mock(), mock.Mock()
    ffi.register_lock_callback(taken, given_back)
    try:
        run_passes(manager, module, builder)
        taken.assert_not_called()
    finally:
        ffi.unregister_lock_callback(taken, given_back)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
