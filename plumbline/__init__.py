"""Plumbline: lowers a PyTorch program to machine code, stage by stage."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plumbline.compiler import CompiledProgram, compile  # noqa: A004

__all__ = ["CompiledProgram", "compile"]


def __getattr__(name: str) -> Any:
    # Only this pulls torch in, which the stage programs must not pay for.
    if name in __all__:
        from plumbline import compiler

        return getattr(compiler, name)
    raise AttributeError(f"module 'plumbline' has no attribute {name!r}")
