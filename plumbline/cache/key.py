"""Keys: digests of all that decides what is made."""

import functools
import hashlib
import os
import platform
import secrets
from collections.abc import Iterator
from pathlib import Path

import llvmlite
import numpy as np
import torch
import torch_mlir

import plumbline

_LIBRARIES = (
    (llvmlite, "binding"),
    (np, "_core"),
    (torch, "lib"),
    (torch_mlir, "_mlir_libs"),
)
"""What compiles, beside Plumbline, and the folders of their native code."""


def key_of(kind: str, *parts: str | bytes) -> bytes:
    """The key of what a compiler like this one makes of `parts`; `kind` says what that is."""
    return _digest(_compiler(), kind, *parts)


def _digest(*parts: str | bytes) -> bytes:
    """Of several parts, which are told apart."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


@functools.cache
def _compiler() -> bytes:
    """A digest of what compiles, for which 30 ms of sources are read, once."""
    return _digest(platform.python_version(), *_versions(), *_sources())


def _sources() -> Iterator[str | bytes]:
    """The files of the package, and what is in them."""
    package = Path(plumbline.__file__).parent
    files = sorted(package.rglob("*.py"))
    for file in files:
        yield str(file.relative_to(package))
        yield file.read_bytes()
    if not files:
        # Nothing tells whether another process has the same.
        yield secrets.token_bytes()


def _versions() -> Iterator[str]:
    """The versions of other packages; builds of one differ in when and how large they are."""
    for module, folder in _LIBRARIES:
        yield f"{module.__name__} {getattr(module, '__version__', '')}"
        for file in sorted((Path(module.__path__[0]) / folder).glob("*.so")):
            status = os.stat(file)
            yield f"{file.name} {status.st_size} {status.st_mtime_ns}"
