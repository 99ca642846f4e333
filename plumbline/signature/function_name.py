"""Which names a compiled function can have."""

import ctypes
import functools
import re

from plumbline.errors import UserError

CHECKED_SUFFIX = "_checked"
"""What the name of a program's checked entry adds to the program's."""

UNCHECKED_SUFFIX = "_unchecked"
"""What the name of the entry adds that takes pointers on trust."""

ERROR_SUFFIX = "_error"
"""What the name of the function adds that has the texts of a program's status codes."""

OUTPUT_SHAPE_SUFFIX = "_output_shape"
"""What the name of the function adds that has the sizes of a program's results."""

WORKSPACE_SIZE_SUFFIX = "_workspace_size"
"""What the name of the function adds that has the size of a program's workspace."""

LOAD_WEIGHTS_SUFFIX = "_load_weights"
"""What the name of the function adds that maps a program's weights from a file."""

PACKED_SUFFIX = "_packed"
"""What the name of a program's packed entry adds, which takes its arguments as words."""

DEFAULT_FUNCTION_NAME = "func_main"
"""The name of a function where neither a Bazel target nor a loader gives it one."""

# ISO C++20 [lex.key] and [lex.digraph], ISO C23 6.4.1; those with an underscore in front are
# reserved anyway.
_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
constinit continue decltype default delete do double dynamic_cast else enum explicit export
extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
nullptr operator or or_eq private protected public register reinterpret_cast requires restrict
return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using
virtual void volatile wchar_t while xor xor_eq
"""

# What the headers have in lower case that C++ programs, and the generated tests among them, include
# and that no rule below covers: macros, types and namespaces. A test asks a compiler for all.
_TAKEN = """
StridedMemRefType abi alloca assert assert_perror atexit cnpy crypt fd_mask fd_set getumask
issubnormal jmp_buf linux main math_errhandling offsetof plumbline proto2 sa_handler
sa_sigaction sched_priority setjmp sigjmp_buf sigmask sigsetjmp st_atime st_ctime st_mtime std
strdupa strndupa testing timeradd timerclear timercmp timerisset timersub u_char u_int u_long
u_short uint ulong unix ushort va_arg va_copy va_end va_list va_start
"""

_RULES = (
    (
        re.compile(r"_.*|.*__.*"),
        "is reserved in C++, as it begins with an underscore or has two in a row",
    ),
    (
        # The second half: <math.h>, <stdio.h>, <inttypes.h>.
        re.compile(r"[A-Z0-9_]+|[LMP]_.*|(PRI|SCN)[a-z].*|GTEST_.*"),
        "may be a macro's, which are written so",
    ),
    (re.compile(r".*_t"), "may be a type's of the C library, which end in _t"),
    (
        re.compile(r"(pthread|si|sigev)_.*|(be|le)[0-9]+toh|hto(be|le)[0-9]+"),
        "may be one of POSIX's, which reserves such names",
    ),
)

_LIBRARIES = (None, "libc.so.6", "libm.so.6", "libz.so.1")
"""The running process, and what generated tests are linked to."""


def check_function_name(name: str) -> None:
    """Checks that `name` can be that of a function with C linkage that C++ calls.

    Raises:
      UserError: it cannot.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise UserError(f"function name {name!r} is not a C identifier")
    for rule, reason in _RULES:
        if rule.fullmatch(name):
            raise UserError(f"function name {name!r} {reason}; choose another")
    if name in (_KEYWORDS + _TAKEN).split():
        raise UserError(f"function name {name!r} is taken in C++; choose another")
    # A function of the same name would hide theirs from the compiled code itself, which calls free
    # and tanhf, and from whatever else the program is linked to.
    if any(hasattr(library, name) for library in _libraries()):
        raise UserError(f"function name {name!r} is taken in the C library; choose another")


def is_taken(name: str) -> bool:
    """Whether an identifier is a word of C or C++, or may be a macro of the C library's headers."""
    if name in (_KEYWORDS + _TAKEN).split():
        return True
    # One letter, as N is, is no macro of theirs but I, of <complex.h>.
    return name == "I" or (len(name) > 1 and any(rule.fullmatch(name) for rule, _ in _RULES))


@functools.cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    found = []
    for file in _LIBRARIES:
        try:
            found.append(ctypes.CDLL(file))
        except OSError:  # another system's C library has other files
            continue
    return tuple(found)
