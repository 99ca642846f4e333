"""Tokens of MLIR's textual form, with their brackets matched.

The token grammar is that of MLIR's language reference ("Top level productions" and
"Identifiers and keywords"). Whatever it has no token for becomes a token of one
character, so that MLIR's own parser gets to see it and says what is wrong with it.
"""

import re
import sys
from bisect import bisect_left
from enum import IntEnum


class Kind(IntEnum):
    """What a token is."""

    PUNCTUATION = 0
    VALUE = 1  # %x, %x#1
    WORD = 2  # a bare identifier or keyword: tensor, tcp.add, f32
    NUMBER = 3
    STRING = 4
    SIGIL = 5  # #alias, !type, @symbol, ^block
    ENUMERATION = 6  # #tcp<signedness Signed> and #tcp.signedness<"Signed">


# A string that nothing terminates is a token up to the end of its line. Were it none, each
# escaped quote in it would start a search of its own, at a cost that is quadratic.
_TOKEN = re.compile(
    r"""
      (?: [\s]+ | //[^\n]* )+
    | (?P<VALUE> % (?: [0-9]+ | [A-Za-z_$.-][\w$.-]* ) (?: \#[0-9]+ )? )
    | (?P<WORD> [A-Za-z_][\w$.]* )
    | (?P<STRING> " [^"\\\n]* (?: \\. [^"\\\n]* )* "? )
    | (?P<NUMBER> [0-9]+ (?: \.[0-9]* (?: [eE][+-]?[0-9]+ )? )? )
    | (?P<ENUMERATION>
        \#tcp< \s* [A-Za-z_]\w* \s+ \w+ \s* > | \#tcp\.[A-Za-z_]\w*<"\w+"> )
    | (?P<METADATA> \{-\# | \#-\} )
    | (?P<SIGIL>
        [#!^] (?: [0-9]+ | [A-Za-z_$.-][\w$.-]* )
        | @ (?: [A-Za-z_][\w$.]* | " [^"\\\n]* (?: \\. [^"\\\n]* )* "? ) )
    | (?P<PUNCTUATION> -> | [<>=]= | . )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

# How many tokens a reader may look at from the end of the text on.
_LOOK_AHEAD = 2

# What has characters of brackets in it and is none.
_NOT_BRACKETS = re.compile(
    r"""  //[^\n]* | " [^"\\\n]* (?: \\. [^"\\\n]* )* "? | -> | [<>]=  """, re.VERBOSE | re.DOTALL
)
_BRACKET = re.compile(r"\{-#|#-\}|[][(){}<>]")

_CLOSES = {")": "(", "]": "[", "}": "{", ">": "<", "#-}": "{-#"}
_OPENS = frozenset(_CLOSES.values())


class AssemblyError(Exception):
    """Text that is not well formed: what is wrong with it, and the offset where."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


def nests_at_most(text: str, levels: int) -> bool:
    """Whether the brackets of `text` surely nest no deeper, in a tenth of the time of `Tokens`.

    A bracket that closes one kind closes those of other kinds within it too, where they were left
    open; here they stay. So this may take deep for what is not.
    """
    open_brackets = dict.fromkeys(_OPENS, 0)
    level = 0
    for bracket in _BRACKET.findall(_NOT_BRACKETS.sub("", text)):
        if bracket in _OPENS:
            open_brackets[bracket] += 1
            level += 1
            if level > levels:
                return False
        elif open_brackets[_CLOSES[bracket]]:
            open_brackets[_CLOSES[bracket]] -= 1
            level -= 1
    return True


class Tokens:
    """The tokens of a text, in order, as parallel lists (objects would cost three times more).

    `match[i]` is the index of the bracket that closes the one at `i`, or -1 for every other
    token, brackets that nothing closes included. After the last token come empty ones at the end
    of the text, so that looking ahead needs no check.
    """

    def __init__(self, text: str, max_nesting: int = sys.maxsize) -> None:
        """Splits `text`.

        Raises:
          AssemblyError: brackets nest deeper than `max_nesting`.
        """
        self.text = text
        self.kinds: list[Kind] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.match: list[int] = []
        self._line_ends = [found.start() for found in re.finditer("\n", text)]
        self._scan(max_nesting)

    def _scan(self, max_nesting: int) -> None:
        names = {**Kind.__members__, "METADATA": Kind.PUNCTUATION}
        text = self.text
        open_brackets: list[tuple[str, int]] = []
        for found in _TOKEN.finditer(text):
            name = found.lastgroup
            if name is None:
                continue
            index = len(self.kinds)
            kind = names[name]
            self.kinds.append(kind)
            self.starts.append(found.start())
            self.ends.append(found.end())
            self.match.append(-1)
            if kind is not Kind.PUNCTUATION:
                continue
            spelling = found.group()
            if spelling in _OPENS:
                open_brackets.append((spelling, index))
                if len(open_brackets) > max_nesting:
                    raise AssemblyError(
                        found.start(), f"brackets nest deeper than {max_nesting} levels"
                    )
            elif spelling in _CLOSES:
                self._close(_CLOSES[spelling], index, open_brackets)
        self.kinds += [Kind.PUNCTUATION] * _LOOK_AHEAD
        self.starts += [len(text)] * _LOOK_AHEAD
        self.ends += [len(text)] * _LOOK_AHEAD
        self.match += [-1] * _LOOK_AHEAD

    def _close(self, opening: str, index: int, open_brackets: list[tuple[str, int]]) -> None:
        """Closes the nearest bracket of its kind, and gives up on those left open within it."""
        for depth in range(len(open_brackets) - 1, -1, -1):
            if open_brackets[depth][0] == opening:
                self.match[open_brackets[depth][1]] = index
                del open_brackets[depth:]
                return

    def __len__(self) -> int:
        """The number of tokens, without the empty ones at the end."""
        return len(self.kinds) - _LOOK_AHEAD

    def spelling(self, index: int) -> str:
        """The text of a token; empty past the end."""
        return self.text[self.starts[index] : self.ends[index]]

    def span(self, begin: int, end: int) -> str:
        """The text from token `begin` up to and without token `end`."""
        return self.text[self.starts[begin] : self.ends[end - 1]] if begin < end else ""

    def line(self, offset: int) -> int:
        """The line of an offset, counted from 0."""
        return bisect_left(self._line_ends, offset)
