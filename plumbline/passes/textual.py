"""Pipelines from text: `builtin.module(cse,func.func(tcp-canonicalize,canonicalize{top-down=1}))`.

This is the syntax of MLIR's own passes and ours alike; those of MLIR's stay text, for its pass
manager to read.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from plumbline.bindings.pipeline import Nested, Pass, Pipeline, Step
from plumbline.errors import UserError

_OPENING = "({"
_CLOSING = ")}"


class PipelineSyntaxError(UserError):
    """A pipeline's text is wrong; the message shows where, in the words of MLIR's parser."""

    def __init__(self, text: str, offset: int, problem: str) -> None:
        super().__init__(
            f"MLIR Textual PassPipeline Parser:1:{offset + 1}: error: {problem}\n"
            f"{text}\n{' ' * offset}^\n"
        )


@dataclass(frozen=True)
class PipelineReader:
    """Reads pipelines that name `passes` and `pipelines` beside those of MLIR."""

    passes: Mapping[str, Pass]
    pipelines: Mapping[str, Pipeline]
    is_upstream: Callable[[str], bool]
    """Whether MLIR has a pass of that name."""
    followed: Mapping[str, Pass] = field(default_factory=dict)
    """By passes of MLIR's, those that do for TCP what these do for its dialects: a flag runs both,
    and a pipeline's text names what it means."""

    def knows(self, name: str) -> bool:
        """Whether there is a pass or pipeline of that name."""
        return name in self.passes or name in self.pipelines or self.is_upstream(name)

    def read(self, text: str) -> Pipeline:
        """The pipeline that `text` is, with the op that it runs on around the passes.

        Raises:
          UserError: it is none.
        """
        anchor, opening, rest = text.strip().partition("(")
        if not opening or not rest.endswith(")"):
            raise UserError(
                "expected pass pipeline to be wrapped with the anchor operation type, e.g. "
                "'builtin.module(...)'"
            )
        return Pipeline("command line", tuple(self._steps(rest[:-1])), anchor=anchor.strip())

    def step(self, name: str, options: str = "") -> Step:
        """One pass or pipeline by name, with the text of its options.

        Raises:
          UserError: it does not take such options.
        """
        if name in self.passes:
            return self.passes[name].with_options(options)
        if name in self.pipelines:
            if options:
                raise UserError(
                    f"<Pass-Options-Parser>: no such option {options.split('=')[0]}\n"
                    f"failed to add `{name}` with options `{options}`"
                )
            return self.pipelines[name]
        return f"{name}{{{options}}}" if options else name

    def flag(self, name: str, options: str = "") -> Step:
        """What the flag of a pass or pipeline runs: that, and what else it means for TCP.

        Raises:
          UserError: it does not take such options.
        """
        step = self.step(name, options)
        return Pipeline(name, (step, self.followed[name])) if name in self.followed else step

    def _steps(self, text: str) -> Iterator[Step]:
        for begin, end in _elements(text):
            element = text[begin:end].strip()
            offset = begin + len(text[begin:end]) - len(text[begin:end].lstrip())
            anchor, parenthesis, inner = element.partition("(")
            if parenthesis and "{" not in anchor:
                if not inner.endswith(")"):
                    raise PipelineSyntaxError(
                        text, offset + len(element), "expected ',' after parsing pipeline"
                    )
                yield Nested(anchor.strip(), tuple(self._steps(inner[:-1])))
                continue
            name, brace, options = element.partition("{")
            name = name.strip()
            if not self.knows(name):
                raise PipelineSyntaxError(
                    text, offset, f"'{name}' does not refer to a registered pass or pass pipeline"
                )
            yield self.step(name, options[:-1].strip() if brace else "")


def _elements(text: str) -> Iterator[tuple[int, int]]:
    """The ranges between the commas that stand in no bracket."""
    begin = 0
    open_brackets: list[int] = []
    for offset, character in enumerate(text):
        if character in _OPENING:
            open_brackets.append(offset)
        elif character in _CLOSING:
            if not open_brackets:
                raise PipelineSyntaxError(
                    text,
                    offset,
                    f"encountered extra closing '{character}' creating unbalanced parentheses "
                    "while parsing pipeline",
                )
            open_brackets.pop()
        elif character == "," and not open_brackets:
            yield begin, offset
            begin = offset + 1
    if open_brackets:
        raise PipelineSyntaxError(
            text,
            open_brackets[0],
            "encountered unbalanced parentheses while parsing pipeline",
        )
    if text:
        yield begin, len(text)


def pretty(text: str) -> str:
    """A pipeline's text with each pass on a line of its own, indented by what it is nested in."""
    return "\n".join(_pretty_lines(text, ""))


def _pretty_lines(text: str, indent: str) -> Iterator[str]:
    elements = [text[begin:end] for begin, end in _elements(text)]
    for index, element in enumerate(elements):
        comma = "," if index + 1 < len(elements) else ""
        anchor, parenthesis, inner = element.partition("(")
        if parenthesis and "{" not in anchor:
            yield f"{indent}{anchor}("
            yield from _pretty_lines(inner[:-1], f"{indent}  ")
            yield f"{indent}){comma}"
        else:
            yield f"{indent}{element}{comma}"
