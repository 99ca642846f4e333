"""Which names a compiled function can have."""

import ctypes
import re

from plumbline.errors import UserError

CHECKED_SUFFIX = "_checked"
"""What the name of a program's checked entry adds to the program's."""

_C_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# ISO C++17, [lex.key] and [lex.digraph], and what a program may not define besides.
_RESERVED = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
class compl const const_cast constexpr continue decltype default delete do double dynamic_cast
else enum explicit export extern false float for friend goto if inline int long mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast return short signed sizeof static static_assert static_cast struct switch
template this thread_local throw true try typedef typeid typename union unsigned using virtual
void volatile wchar_t while xor xor_eq
main plumbline std testing
"""


def check_function_name(name: str) -> None:
    """Checks that `name` can be that of a function with C linkage that C++ calls.

    Raises:
      UserError: it cannot.
    """
    if not _C_IDENTIFIER.fullmatch(name):
        raise UserError(f"function name {name!r} is not a C identifier")
    if name in _RESERVED.split():
        raise UserError(f"function name {name!r} is taken in C++; choose another")
    # The running process has the C library and libm. A function of the same name would hide
    # theirs from the compiled code itself, which calls free and tanhf.
    if hasattr(ctypes.CDLL(None), name):
        raise UserError(f"function name {name!r} is taken in the C library; choose another")
