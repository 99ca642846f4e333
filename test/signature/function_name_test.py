import re
import subprocess
import sys
from pathlib import Path

import pytest

from plumbline.errors import UserError
from plumbline.signature.function_name import check_function_name

# Debian's. Where it is not, the test is of the other headers.
_GOOGLETEST = Path("/usr/src/googletest/googletest/include")

# What a C++ program may include before it declares a compiled function.
_HEADERS = f"""
#include <bits/stdc++.h>
#include <complex.h>
#include <stdatomic.h>
#if {int(_GOOGLETEST.is_dir())}
#include "gtest/gtest.h"
#endif
#include "tools/aot/abi.h"
"""


@pytest.mark.parametrize(
    "name",
    ["func_main", "f", "mainly", "xor_", "f_9", "Main", "MLP_step", "st_gcn", "foo_checked"],
)
def test_identifiers_pass(name: str) -> None:
    check_function_name(name)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["", "2f", "a-b", "a b", "a.b", "f\n", "größe", "f();"], "is not a C identifier"),
        (["_f", "_9", "_init", "_Bool", "a__b", "f__"], "is reserved in C++"),
        (["NULL", "EOF", "TEST", "EXPECT_EQ", "F", "F2", "M_PIf", "PRId64"], "may be a macro's"),
        (["int32_t", "size_t", "my_t"], "may be a type's of the C library"),
        (["pthread_create", "si_pid", "htobe64"], "may be one of POSIX's"),
        (["int", "xor", "while", "restrict", "co_await", "typeof"], "is taken in C++"),
        (["main", "std", "plumbline", "testing", "linux", "unix", "assert"], "is taken in C++"),
        (["StridedMemRefType", "uint", "va_list", "offsetof", "alloca"], "is taken in C++"),
        (["tanhf", "free", "printf", "read", "index", "gamma", "y0"], "is taken in the C library"),
        (["compress", "crc32", "inflate"], "is taken in the C library"),  # zlib, beside the tests
    ],
)
def test_names_that_are_taken_are_refused(names: list[str], expected: str) -> None:
    for name in names:
        with pytest.raises(UserError) as refusal:
            check_function_name(name)
        assert str(refusal.value).startswith(f"function name {name!r} {expected}")


def _compiler(source: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["g++", "-x", "c++", "-std=gnu++17", "-I.", f"-I{_GOOGLETEST}", *options, "-"],
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )


def _is_accepted(name: str) -> bool:
    try:
        check_function_name(name)
    except UserError:
        return False
    return True


def test_no_name_that_a_header_takes_passes() -> None:
    """Each identifier in the headers that passes is declared as a compiled function is."""
    preprocessed = _compiler(_HEADERS, "-E", "-P")
    assert preprocessed.returncode == 0, preprocessed.stderr
    macros = re.findall(r"#define (\w+)", _compiler(_HEADERS, "-E", "-dM").stdout)
    assert {"NULL", "linux", "PASS_RANK_1_MEMREF"} <= set(macros)
    identifiers = {*re.findall(r"\b[A-Za-z_]\w*\b", preprocessed.stdout), *macros}
    names = sorted(filter(_is_accepted, identifiers))
    assert len(names) > 1000
    declarations = [f'extern "C" Probe {name}(Probe); struct {name}_results;' for name in names]
    source = "\n".join([_HEADERS, "class Probe;", '#line 1 "names"', *declarations, ""])
    errors = _compiler(source, "-fsyntax-only", "-fmax-errors=0").stderr
    lines = {int(line) for line in re.findall(r"^names:(\d+):\d+: error", errors, re.MULTILINE)}
    assert [names[line - 1] for line in sorted(lines)] == [], errors[:2000]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
