"""Writes the file that keeps a program's weights out of its texts (`weights_archive.py`)."""

from collections.abc import Mapping

import numpy as np
import safetensors

from plumbline.signature import element_type
from plumbline.signature.element_type import Tensor


def serialised(weights: Mapping[str, Tensor]) -> bytes:
    """The safetensors file of weights, as the reference archive stores them, by their names.

    Equal weights give equal bytes.
    """
    contiguous = {name: np.ascontiguousarray(value) for name, value in weights.items()}
    specs = {
        name: safetensors.TensorSpec(
            dtype=element_type.from_numpy_dtype(value.dtype).torch_name,
            shape=weights[name].shape,
            data_ptr=value.ctypes.data,
            data_len=value.nbytes,
        )
        for name, value in contiguous.items()
    }
    return bytes(safetensors.serialize(specs))
