"""The text of a stage, and for each of its lines the lines of the source that it comes from."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from plumbline.errors.location import lines_in

Line = tuple[str, int]
"""A file of the source, as the stages name it, and the number of a line."""

Origins = tuple[Line, ...]

# What MLIR calls locations at the top of a text, or at its end.
_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_USE = re.compile(r" loc\((#loc\d*)\)$")
_REFERENCE = re.compile(r"#loc\d*")

# A call of a function, or the launch of a kernel.
_CALL = re.compile(r"\bcall @(\w+)\(|\bgpu\.launch_func\b[^@]*@\w+::@(\w+)")
# The beginnings of functions, and their ends: in the LLVM dialect, LLVM IR, PTX and assembly.
_DEFINITION = re.compile(
    r"^ *llvm\.func .*?@(\w+)\(.*\{$|^define .*?@(\w+)\(|"
    r"^\.visible \.entry (\w+)\(|^([A-Za-z_]\w*):"
)
_END = re.compile(r"^( {0,4})\}$|^\s*\.size\s")


@dataclass(frozen=True)
class LocatedText:
    """Lines without locations, and the origins of each."""

    lines: Sequence[str]
    origins: Sequence[Origins]

    @cached_property
    def of_functions(self) -> Mapping[str, Origins]:
        """What the functions are for that are called: where their calls come from."""
        found: dict[str, dict[Line, None]] = {}
        for line, origins in zip(self.lines, self.origins, strict=True):
            if origins and (call := _CALL.search(line)) is not None:
                found.setdefault(call[1] or call[2], {}).update(dict.fromkeys(origins))
        return {name: tuple(lines) for name, lines in found.items()}


def located_mlir(text: str) -> LocatedText:
    """The text of a module with the locations of its ops."""
    places = _Places(text)
    lines: list[str] = []
    origins: list[Origins] = []
    # Where the ops begin that have regions which have not ended.
    begun: list[int] = []
    for line in text.splitlines():
        if _ALIAS.match(line):
            continue
        use = _USE.search(line)
        found = places.origins(use[1]) if use else ()
        bare = line[: use.start()] if use else line
        if bare.lstrip().startswith("}") and begun:
            origins[begun.pop()] = found
        if bare.endswith("{"):
            begun.append(len(lines))
        lines.append(bare)
        origins.append(found)
    return LocatedText(lines, origins)


def located_by_function(text: str, of_functions: Mapping[str, Origins]) -> LocatedText:
    """A later stage, whose lines are from where the functions are for that they are in."""
    lines = text.splitlines()
    return LocatedText(lines, list(_by_function(lines, of_functions)))


def _by_function(lines: Sequence[str], of_functions: Mapping[str, Origins]) -> Iterator[Origins]:
    inside: Origins = ()
    for line in lines:
        if (begin := _DEFINITION.match(line)) is not None:
            name = next(filter(None, begin.groups()))
            inside = of_functions.get(name, ())
        yield inside
        if _END.match(line):
            inside = ()


class _Places:
    """The locations that a text has names for."""

    def __init__(self, text: str) -> None:
        found = map(_ALIAS.match, text.splitlines())
        self._texts = {alias[1]: alias[2] for alias in found if alias}
        self._origins: dict[str, Origins] = {}

    def origins(self, name: str) -> Origins:
        if name not in self._origins:
            self._origins[name] = tuple(lines_in(self._expanded(name)))
        return self._origins[name]

    def _expanded(self, name: str) -> str:
        text = self._texts.get(name, "unknown")
        return _REFERENCE.sub(lambda inner: self._expanded(inner[0]), text)
