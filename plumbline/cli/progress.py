"""Tells people at a terminal what happens, and nobody else."""

import os
import sys
import time


class Progress:
    """One line of a terminal, which each step takes from the one before."""

    def __init__(self) -> None:
        """Writes to what is standard error now, if that is a terminal."""
        # A copy: a process that is watched has another one.
        self._terminal = os.dup(2) if sys.stderr.isatty() else None
        self._begin = time.monotonic()

    def begin(self, step: str) -> None:
        """Shows what is about to happen."""
        self._show(f"{time.monotonic() - self._begin:6.1f} s  {step} ...")

    def end(self, *lines: str) -> None:
        """Shows what has come of it, in the place of the last step."""
        self._show("\n".join(lines) + "\n" if lines else "")

    def _show(self, text: str) -> None:
        if self._terminal is not None:
            # ECMA-48: EL, erase to the end of the line.
            os.write(self._terminal, f"\r\x1b[K{text}".encode())
