"""Programs for a GPU, compiled, assembled by ptxas, and run on the CPU by the stand-in driver."""

import copy
from collections.abc import Callable

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

import plumbline
from plumbline.llvm_to_asm.ptxas import assemble
from plumbline.loader_to_torch.generator import GENERATOR
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from test.runtime.cuda.stand_in import Kernels, driver


class Function(nn.Module):
    """A function of tensors, as a module."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *operands: torch.Tensor) -> object:
        """As modules do."""
        return self._function(*operands)


class EmulatedProgram:
    """A program whose kernels ptxas takes as they are meant, and which can be run here.

    Args:
      function: a module, or a function of tensors.
      operands: what to export it with.
      dims: of a function, which sizes of its operands may differ.
      shapes: of a module the same, as `plumbline.compile` takes it.
      options: more for `plumbline.compile`.
    """

    def __init__(
        self,
        function: Callable[..., object],
        *operands: object,
        dims: object = None,
        shapes: object = None,
        **options: object,
    ) -> None:
        # Before the program opens the driver.
        driver()
        self._module = function if isinstance(function, nn.Module) else Function(function)
        if dims is not None:
            shapes = {"operands": dims}
        self._program = plumbline.compile(
            self._module,
            operands,
            shapes,  # type: ignore[arg-type]
            target="nvptx",
            **options,  # type: ignore[arg-type]
        )
        self._kernels = Kernels(self._program)
        self.ptx = self._program.stage("ptx")
        self.gpu = self._program.stage("gpu")
        self.resources = []
        # Drivers make code of the same PTX for later chips, unless it is for one alone.
        chips = ("sm_90a",) if ".target sm_90a" in self.ptx else ("sm_90", "sm_80")
        for chip in chips if ".entry" in self.ptx else ():
            self.resources = assemble(self.ptx, chip)
            assert all(kernel.spill_bytes == 0 for kernel in self.resources), self.resources
            assert not any(kernel.is_serialized for kernel in self.resources), self.resources

    @classmethod
    def of(cls, loaded: TorchLoaderOutput) -> "EmulatedProgram":
        """That of a loader."""
        return cls(
            loaded.model, *loaded.inputs, shapes=loaded.dynamic_shapes, mutable=loaded.mutable
        )

    def run(self, *operands: object) -> list[torch.Tensor]:
        """Its results."""
        return _tensors(self._program(*operands))

    def launches(self, *operands: object) -> int:
        """How many there are in a call, which is right."""
        before = driver().plumbline_stand_in_launches()
        self.check(*operands)
        calls, launches = 2, driver().plumbline_stand_in_launches() - before
        assert launches % calls == 0
        return int(launches // calls)

    def check(
        self, *operands: object, rtol: float | None = None, atol: float | None = None
    ) -> None:
        """Runs it with threads forwards and backwards, also by two blocks that do all.

        What it writes in place is compared too: operands, and what the module has.
        """
        stand_in = driver()
        allocated = set()
        for reverse, most_blocks in ((0, 0), (1, 2)):
            stand_in.plumbline_stand_in_reverse(reverse)
            stand_in.plumbline_stand_in_most_blocks(most_blocks)
            module = copy.deepcopy(self._module)
            left, expected = copy.deepcopy(operands), copy.deepcopy(operands)
            torch.manual_seed(0)
            with torch.no_grad():
                results = _tensors(module(*expected))
            values = {**module.state_dict(), GENERATOR: torch.get_rng_state()}
            torch.manual_seed(0)
            before = {**self._program.state, GENERATOR: torch.get_rng_state()}
            state = {name: before[name].clone() for name in self._program.state}
            actual = self.run(*left, *state.values())
            wanted = [*results, *_tensors(expected), *(values[name] for name in state)]
            for one, other in zip([*actual, *_tensors(left), *state.values()], wanted, strict=True):
                if not _are_the_same(one, other):
                    torch.testing.assert_close(one, other, rtol=rtol, atol=atol, equal_nan=True)
            allocated.add(stand_in.plumbline_stand_in_allocated())
        # Weights stay where the first call has put them; of a call nothing else does.
        assert len(allocated) == 1


def _tensors(results: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(results) if isinstance(leaf, torch.Tensor)]


def _are_the_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether there is nothing to find; to look for what is not close takes 20 times as long."""
    return one.dtype == other.dtype and torch.equal(one, other)


def integers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Small numbers, whose products add up to the same in any order."""
    return torch.randint(-4, 5, shape).to(dtype)
