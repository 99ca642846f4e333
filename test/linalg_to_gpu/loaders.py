"""Finds the loader functions of programs."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from types import ModuleType
from typing import TypeAlias

import pytest
from _pytest.mark import ParameterSet

from plumbline.loader_to_torch.loader import TorchLoaderOutput

Loader: TypeAlias = Callable[[], TorchLoaderOutput]


def loaders_in(package: ModuleType) -> list[ParameterSet]:
    """Those of the modules of a package that are called so, each under the name of its program.

    In Bazel these are the modules that a test depends on.
    """
    return [
        pytest.param(loader, id=name.removesuffix("_loader"))
        for module in pkgutil.iter_modules(package.__path__)
        if module.name.endswith("_loader_lib")
        for name, loader in inspect.getmembers(
            importlib.import_module(f"{package.__name__}.{module.name}"), inspect.isfunction
        )
        if name.endswith("_loader") and not inspect.signature(loader).parameters
    ]
