"""`plumbline show`: what a library says of itself."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plumbline.signature.library_description import LibraryDescription

_EPILOG = """\
Nothing of the library is loaded or run. Sizes that are known only when it runs have names.

examples:
  plumbline show out/blur.so
  plumbline show out/blur.so --json
"""


_CALLED_BY = {"pointers": "pointers", "memref": "memrefs"}


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to a command line."""
    arguments = commands.add_parser(
        "show",
        help="what a library takes, returns and needs",
        description="Shows a library's signature, sizes, target, workspace, and where it is from.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument(
        "library", type=Path, metavar="LIBRARY.so", help="the shared object, .wasm file or object"
    )
    arguments.add_argument(
        "--json", action="store_true", help="as JSON, the same as in the file beside the library"
    )
    arguments.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    # Imports numpy.
    from plumbline.cli.library_file import existing
    from plumbline.library.load import describe

    file = existing(given.library)
    for description in describe(file):
        if given.json:
            print(description.to_json(), end="")
        else:
            print("\n".join(_lines(file, description)))
    return 0


def _lines(file: Path, description: "LibraryDescription") -> Iterator[str]:
    from plumbline.library.sections import section_sizes
    from plumbline.library_files.c_header import input_rows, output_rows, symbol_rows

    signature = description.signature
    sections = section_sizes(file)
    rows = {
        "inputs": input_rows(signature),
        "outputs": output_rows(signature),
        "sizes": symbol_rows(signature),
    }
    width = max((len(name) for each in rows.values() for name, _ in each), default=0)
    yield f"{signature.name}, of {file}"
    yield f"  made from  {description.origin}"
    yield f"  made for   {description.made_for}"
    yield f"  called by  {_CALLED_BY[description.abi]}"
    for title, listed in rows.items():
        yield from _listed(title, [f"{name:{width}}  {what}" for name, what in listed])
    yield f"  workspace  {_workspace(description)}"
    yield (
        f"  file       {file.stat().st_size} bytes, of which code {_code_bytes(sections)}, "
        f"weights and constants {sections.get('.rodata', 0)}"
    )


def _code_bytes(sections: Mapping[str, int]) -> int:
    """Of one section, or of one of each function."""
    return sum(bytes_ for name, bytes_ in sections.items() if f"{name}.".startswith(".text."))


def _listed(title: str, rows: Sequence[str]) -> Iterator[str]:
    for index, row in enumerate(rows):
        yield f"  {title if index == 0 else '':9}  {row}"


def _workspace(description: "LibraryDescription") -> str:
    from plumbline.signature.size_expressions import text

    signature = description.signature
    workspace = signature.workspace
    if workspace is None:
        return "none: temporaries come from the heap"
    own, total, least = (
        text(size, signature.names.symbols)
        for size in (workspace.bytes, workspace.sum, workspace.lower_bound)
    )
    return f"{own} bytes, for temporaries of {total}, of which {least} live at once"
