"""Reproducers: a module with the pipeline that failed on it, in MLIR's format, in one file."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir

# What MLIR's pass manager appends to the text of a module, and --run-reproducer looks for.
_RESOURCE = re.compile(
    r"\{-#[^#]*external_resources:\s*\{[^#]*?\bmlir_reproducer:\s*\{(?P<entries>.*?)\n?\s*\}\s*\}"
    r"\s*#-\}",
    re.DOTALL,
)
_PIPELINE = re.compile(r'\bpipeline:\s*"(?P<text>(?:[^"\\]|\\.)*)"')
_VERIFY_EACH = re.compile(r"\bverify_each:\s*(?P<value>true|false)")

UNREAD_BY_MLIR = "ignoring unknown external resources for 'mlir_reproducer'"
"""MLIR's warning at a reproducer, as its bindings cannot say that someone else reads it."""


@dataclass(frozen=True)
class Reproducer:
    """How passes were run."""

    pipeline: str
    verify_each: bool = True

    @staticmethod
    def find(text: str) -> "Reproducer | None":
        """The one that a file holds."""
        resource = _RESOURCE.search(text)
        pipeline = _PIPELINE.search(resource["entries"]) if resource else None
        if resource is None or pipeline is None:
            return None
        verify_each = _VERIFY_EACH.search(resource["entries"])
        return Reproducer(
            " ".join(re.sub(r"\\(.)", r"\1", pipeline["text"]).split()),
            verify_each is None or verify_each["value"] == "true",
        )

    def file(self, module: str) -> str:
        """The file of the reproducer for a module's text."""
        pipeline = self.pipeline.replace("\\", "\\\\").replace('"', '\\"')
        return (
            f"{module.rstrip()}\n\n"
            "{-#\n"
            "  external_resources: {\n"
            "    mlir_reproducer: {\n"
            f'      pipeline: "{pipeline}",\n'
            "      disable_threading: true,\n"
            f"      verify_each: {str(self.verify_each).lower()}\n"
            "    }\n"
            "  }\n"
            "#-}\n"
        )


def go_on_watched(on_signal: Callable[[], None]) -> None:
    """Goes on in a child process; should a signal end that, `on_signal` is called here.

    A pass that crashes takes its process with it, and MLIR's own recovery is not in its bindings.
    """
    child = os.fork()
    if child == 0:
        return
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        on_signal()
        code = 1
    os._exit(code)


def failure_note(operation: ir.Operation, file: str) -> str:
    """What mlir-opt adds to the failure of a pipeline, as a note."""
    return f"Pipeline failed on '{operation.name}' operation: reproducer generated at `{file}`"
