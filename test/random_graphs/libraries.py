"""Compiles a graph to a library, and calls that with pages around all memory of its callers'."""

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest import mock

import torch

import plumbline
from plumbline.archives.reference_archive import Tensor
from plumbline.archives.torch_tensors import to_numpy, to_torch
from plumbline.errors.temporary_folder import temporary_folder
from plumbline.library import call_plan, packed_entry
from plumbline.library.new_arrays import byte_count
from test.random_graphs.graph import Graph
from test.random_graphs.guarded_memory import guarded_bytes, guarded_copy


@dataclass(frozen=True)
class Form:
    """What a library is, beside the options of its graph."""

    abi: str = "pointers"
    memory: str = "malloc"
    weights: str = "embedded"
    behind: bool = True
    """Whether the page that nobody may touch is behind each tensor, or before it."""


def draw_form(number: int) -> Form:
    """The form of that number."""
    chooser = random.Random(number)
    abi = chooser.choice(("pointers", "pointers", "pointers", "memref"))
    by_pointers = abi == "pointers"
    return Form(
        abi,
        chooser.choice(("malloc", "pool", "pool")[: 3 if by_pointers else 1]),
        chooser.choice(("embedded", "arguments", "file")[: 3 if by_pointers else 2]),
        behind=chooser.random() < 0.7,
    )


def compiled_to_library(graph: Graph, form: Form) -> "Library":
    """A graph compiled ahead of time.

    Raises:
      UserError: it cannot be.
    """
    with temporary_folder() as folder:
        file = plumbline.aot(
            graph.module(),
            *graph.cases[0].values(),
            name="graph",
            out=folder,
            dynamic_shapes=graph.dynamic_shapes(),
            mutable=graph.written,
            **graph.options.arguments,
            abi=form.abi,
            memory=form.memory,
            weights=form.weights,
        )
        library = plumbline.load(file)
        if library.signature.loads_weights:
            library.load_weights(file.with_name("graph.safetensors"))
    return Library(graph, library, behind=form.behind)


class Library:
    """A library that is called as what is compiled just in time."""

    def __init__(self, graph: Graph, library: plumbline.Library, *, behind: bool) -> None:
        """Takes a library of a graph."""
        self._library, self._behind = library, behind
        self._inputs = graph.inputs
        self._names = library.signature.names.inputs
        written = [self._names[number] for number in library.signature.inout]
        self.state = {
            name: graph.weights[name].detach() for name in written if name in graph.weights
        }
        self._weights = {
            name: weight for name, weight in graph.weights.items() if name not in self.state
        }

    def __call__(self, *arguments: torch.Tensor) -> list[torch.Tensor]:
        """Runs it on copies, and copies back what it has written.

        Raises:
          UserError: it refuses the arguments, or cannot go on.
        """
        given = self._weights | dict(zip((*self._inputs, *self.state), arguments, strict=True))
        tensors = [given[name] for name in self._names]
        written = self._library.signature.inout
        copies = [
            guarded_copy(to_numpy(tensor), behind=self._behind, writable=number in written)
            for number, tensor in enumerate(tensors)
        ]
        with _guarded_results(behind=self._behind):
            results = self._library(*copies)
        for number in written:
            tensors[number].copy_(to_torch(copies[number]))
        return [to_torch(result) for result in results]


@contextlib.contextmanager
def _guarded_results(*, behind: bool) -> Iterator[None]:
    """Has new results and workspaces lie beside pages that nobody may touch."""

    def maker_of(shape: Sequence[int], dtype: Any, order: object) -> Callable[[], Tensor]:
        assert order is None
        count = byte_count(shape, dtype)
        return lambda: guarded_bytes(count, behind=behind).view(dtype).reshape(shape)

    aligned_bytes = partial(guarded_bytes, behind=behind)
    with (
        mock.patch.object(call_plan, "maker_of", maker_of),
        mock.patch.object(packed_entry, "aligned_bytes", aligned_bytes),
    ):
        yield
