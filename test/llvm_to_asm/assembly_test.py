import sys

import llvmlite.binding as llvm
import pytest

from plumbline.errors import UserError
from plumbline.llvm_to_asm.assembly import emit_assembly, emit_object
from plumbline.target.cpu import cpu_target

_SUM = """
define float @sum(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %total = phi float [ 0.0, %entry ], [ %added, %loop ]
  %at = getelementptr float, ptr %x, i64 %i
  %element = load float, ptr %at
  %added = fadd fast float %total, %element
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret float %added
}
"""

on_x86_64 = pytest.mark.skipif(
    not llvm.get_process_triple().startswith("x86_64"), reason="names CPUs of x86-64"
)


@on_x86_64
def test_the_baseline_is_fixed_and_has_avx2() -> None:
    target = cpu_target("baseline")
    assert (target.cpu, target.features) == ("x86-64-v3", "")
    assembly = emit_assembly(_SUM, target)
    assert "%ymm" in assembly
    assert "%zmm" not in assembly


@on_x86_64
def test_the_cpu_decides_what_instructions_there_are() -> None:
    assert "%ymm" not in emit_assembly(_SUM, cpu_target("x86-64"))


def test_native_is_this_machine() -> None:
    target = cpu_target("native")
    assert target.cpu == llvm.get_host_cpu_name()
    assert "sum:" in emit_assembly(_SUM, target)


def test_the_level_decides_how_much_is_optimised() -> None:
    target = cpu_target("baseline")
    plain, optimised = (emit_assembly(_SUM, target, level) for level in (0, 3))
    assert len(optimised) > len(plain)  # vectorised and unrolled


def test_an_object_file_holds_the_same_function() -> None:
    machine_code = emit_object(_SUM, cpu_target("baseline"))
    sections = llvm.ObjectFileRef.from_data(machine_code).sections()
    assert any(section.is_text() and section.size() > 0 for section in sections)


_CALLED = """
declare void @outside()
define i32 @entry() {
  call void @called()
  ret i32 1
}
define void @called() noinline {
  call void @outside()
  ret void
}
define i32 @for_others() {
  ret i32 2
}
"""


@pytest.mark.parametrize("level", [0, 2])
def test_an_object_file_of_an_entry_holds_what_that_calls(level: int) -> None:
    target = cpu_target("baseline")
    assert b"for_others" in emit_object(_CALLED, target, level)
    alone = emit_object(_CALLED, target, level, entry="entry")
    assert b"for_others" not in alone
    assert b"entry" in alone
    assert b"outside" in alone


@pytest.mark.parametrize("cpu", ["pentium9", "", "a b", "+avx", "x86-64\n", "é", "\0", "\udc80"])
def test_an_unknown_cpu_is_refused_by_name(cpu: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match=r"target_cpu '.*no .*CPU.*baseline.*native"):
        cpu_target(cpu)
    assert capfd.readouterr() == ("", "")


# LLVM ends the process at these. "help" has it print a list.
@on_x86_64
@pytest.mark.parametrize("cpu", ["i386", "pentium4", "prescott", "lakemont", "help", "oryon-1"])
def test_a_cpu_without_64_bit_code_is_refused(cpu: str) -> None:
    with pytest.raises(UserError, match=rf"target_cpu '{cpu}': .*64-bit code.*baseline"):
        cpu_target(cpu)


@on_x86_64
@pytest.mark.parametrize("cpu", ["generic-rv64", "sifive-s51"])
def test_a_cpu_without_floats_is_refused(cpu: str) -> None:
    with pytest.raises(UserError, match=f"target_cpu '{cpu}': it has no instructions for floats"):
        cpu_target(cpu)


@on_x86_64
def test_names_of_cpus_with_64_bit_code_are_taken() -> None:
    for cpu in ("skylake", "znver5", "x86-64", "core2"):
        assert cpu_target(cpu).cpu == cpu


def test_text_that_is_not_llvm_ir_is_refused_with_its_place() -> None:
    with pytest.raises(UserError, match=r"cannot read this LLVM IR(.|\n)*1:1"):
        emit_assembly("what is this", cpu_target("baseline"))


def test_broken_llvm_ir_is_refused_also_where_it_claims_debug_information() -> None:
    broken = _SUM.replace("[ 0, %entry ]", "[ 0, %done ]") + (
        '!llvm.module.flags = !{!0}\n!0 = !{i32 2, !"Debug Info Version", i32 3}\n'
    )
    with pytest.raises(UserError, match=r"cannot read this LLVM IR: PHI"):
        emit_assembly(broken, cpu_target("baseline"))


# LLVM ends the process at these, too.
@on_x86_64
@pytest.mark.parametrize(
    ("call", "cpus"),
    [
        ("@llvm.x86.avx512.permvar.sf.512(<16 x float> %x, <16 x i32> %y)", ["skylake", "znver3"]),
        ('asm "vdpbf16ps $2, $1, $0", "=v,v,v"(<16 x float> %x, <16 x i32> %y)', ["cascadelake"]),
    ],
)
def test_instructions_that_a_cpu_lacks_are_refused_by_name(call: str, cpus: list[str]) -> None:
    text = f"""
    declare <16 x float> @llvm.x86.avx512.permvar.sf.512(<16 x float>, <16 x i32>)
    define <16 x float> @f(<16 x float> %x, <16 x i32> %y) {{
      %z = call <16 x float> {call}
      ret <16 x float> %z
    }}"""
    assert "zmm" in emit_assembly(text, cpu_target("znver4"))
    for cpu in cpus:
        with pytest.raises(UserError, match=r"CPU \w+ lacks.*(avx512|vdpbf16ps)"):
            emit_assembly(text, cpu_target(cpu))


@on_x86_64
def test_so_are_those_of_amx() -> None:
    text = """
    define void @f() {
      call void asm sideeffect "tdpbf16ps %tmm2, %tmm1, %tmm0", "~{memory}"()
      ret void
    }"""
    assert "tdpbf16ps" in emit_assembly(text, cpu_target("sapphirerapids"))
    # Windows has programs use these registers in another way.
    for cpu in ("cooperlake", "znver5", "sapphirerapids-windows"):
        with pytest.raises(UserError, match=r"lacks.*\(tdpbf16ps\)"):
            emit_assembly(text, cpu_target(cpu))


def test_so_are_those_of_aarch64() -> None:
    text = """
    declare <4 x i32> @llvm.aarch64.neon.sdot.v4i32.v16i8(<4 x i32>, <16 x i8>, <16 x i8>)
    define <4 x i32> @f(<4 x i32> %sums, <16 x i8> %x) {
      %z = call <4 x i32> @llvm.aarch64.neon.sdot.v4i32.v16i8(
          <4 x i32> %sums, <16 x i8> %x, <16 x i8> %x)
      ret <4 x i32> %z
    }"""
    assert "\tsdot\tv0.4s" in emit_assembly(text, cpu_target("cortex-a76"))
    for cpu in ("cortex-a72", "x86-64-v3"):
        with pytest.raises(UserError, match=r"CPU \S+ lacks.*neon.sdot"):
            emit_assembly(text, cpu_target(cpu))


def test_so_are_those_of_microcontrollers() -> None:
    text = """
    declare i32 @llvm.arm.smlad(i32, i32, i32)
    define i32 @f(i32 %x, i32 %y, i32 %sum) {
      %z = call i32 @llvm.arm.smlad(i32 %x, i32 %y, i32 %sum)
      ret i32 %z
    }"""
    assert "\tsmlad\t" in emit_assembly(text, cpu_target("cortex-m4"))
    with pytest.raises(UserError, match=r"CPU \S+ lacks.*arm.smlad"):
        emit_assembly(text, cpu_target("cortex-m3"))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
