"""Calls whose tensors are all PyTorch's and on one GPU, of which little is found out anew.

What `device_function.py` asks of a tensor of any library takes several times as long as to queue
a small program.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from plumbline.library.call_plan import CallPlan, Shapes
from plumbline.library.packed_entry import PackedEntry
from plumbline.library.tensor_arguments import NOT_PLAIN, Parameter
from plumbline.library.torch_arguments import plain_tensors
from plumbline.signature.signature import Signature

_Plan = Callable[[Shapes], CallPlan]


class TorchDeviceCalls:
    """The calls of one program that is queued on a stream."""

    def __init__(
        self,
        parameters: Sequence[Parameter],
        results: Sequence[Parameter],
        entry: PackedEntry,
        plan: _Plan,
    ) -> None:
        self._read = plain_tensors(parameters, "is_cuda")
        self._result_dtypes = [
            getattr(torch, result.spec.element_type.torch_name) for result in results
        ]
        self._entry, self._plan = entry, plan

    @staticmethod
    def does(signature: Signature) -> bool:
        """Whether calls of a program are so: it takes and gives tensors alone."""
        places = (*signature.inputs, *signature.outputs)
        return (
            signature.has_stream
            and not signature.inout
            and not signature.unbacked
            and bool(signature.inputs)
            and not any(spec.is_scalar for spec in places)
        )

    def call(self, arguments: Sequence[Any]) -> tuple[torch.Tensor, ...] | None:
        """Queues the program on PyTorch's current stream, and gives new results.

        Gives None, and has done nothing, unless all arguments are tensors of PyTorch's on one GPU,
        row-major without gaps, of the right element types.

        Raises:
          UserError: their sizes are not those that the program takes, or it cannot be queued.
        """
        try:
            words, shapes = self._read(arguments)
        except NOT_PLAIN:
            return None
        device, *further = {tensor.get_device() for tensor in arguments}
        if further:
            return None
        plan = self._plan(tuple(shapes))
        place = torch.device("cuda", device)
        results = [
            torch.empty(shape, dtype=dtype, device=place)
            for shape, dtype in zip(plan.result_shapes, self._result_dtypes, strict=True)
        ]
        words += [result.data_ptr() for result in results]
        others = list(plan.sizes)
        if plan.workspace is not None:
            # As `DeviceCalls` has it.
            workspace = torch.empty(plan.workspace, dtype=torch.uint8, device=place)
            others.append(workspace.data_ptr())
        others.append(torch.cuda.current_stream(device).cuda_stream)
        self._entry.run(words, others, plan.result_shapes)
        return tuple(results)
