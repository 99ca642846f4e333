"""The IR that MLIR prints around passes, with TCP in custom form.

MLIR prints to the process's standard error itself, ops of TCP in generic form. So that goes into a
pipe, and a process at the other end spells it. A crash of a pass loses nothing that way.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator

from plumbline.bindings.pipeline import NESTED

_HEADER = re.compile(
    r"^// -----// IR Dump (?P<when>Before|After) [^\s:]+(?: Failed)?"
    r"(?:: (?P<argument>[^\s{]*))?.*//----- //$"
)
# What can follow a dump and is none of it: a diagnostic, a report.
_OTHER = re.compile(r"^(?:.*: (?:error|warning|note|remark): |===-+)")
# What MLIR calls what runs our passes on nested ops, which mlir-opt has no pass for.
_ADAPTOR = f"unknown<{NESTED}<"


def spell_dumps(form: Callable[[str], str], wanted: Callable[[str, str], bool]) -> None:
    """Puts a process behind standard error that spells dumps with `form`.

    It is this process that goes there: what returns is a child, whose exit status it hands on.

    Args:
      form: the custom form of a text of IR.
      wanted: whether to print the dump "Before" or "After" a pass, by its flag.
    """
    reading, writing = os.pipe()
    sys.stderr.flush()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(writing, sys.stderr.fileno())
        os.close(writing)
        return
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
        for text in _spelled(lines, form, wanted):
            sys.stderr.write(text)
            sys.stderr.flush()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    # As a shell reports a signal.
    os._exit(code if code >= 0 else 128 - code)


def _spelled(
    lines: Iterator[str], form: Callable[[str], str], wanted: Callable[[str, str], bool]
) -> Iterator[str]:
    dump: list[str] | None = None
    keep = True
    for line in lines:
        header = _HEADER.match(line.rstrip("\n"))
        if header is None and dump is not None and not _OTHER.match(line):
            dump.append(line)
            continue
        if dump is not None and keep:
            yield form("".join(dump))
        dump = None
        if header is not None:
            is_adaptor = (header["argument"] or "").startswith(_ADAPTOR)
            keep = not is_adaptor and wanted(header["when"], header["argument"] or "")
            dump = []
        if header is None or keep:
            yield line
    if dump is not None and keep:
        yield form("".join(dump))
