"""The state of a generator of random numbers, for programs that draw, where there is no PyTorch.

How it lies in memory is told in `loader_to_torch/decompositions/mersenne_twister.py`.
"""

import numpy as np

from plumbline.archives.reference_archive import Tensor

_STATE = np.dtype(
    {
        "names": ["seed", "left", "seeded", "words"],
        "formats": ["<u8", "<i4", "<i4", ("<u8", 624)],
        "offsets": [0, 8, 12, 24],
        "itemsize": 5056,
    }
)


def generator_state(seed: int) -> Tensor:
    """The uint8 [5056] that `torch.get_rng_state()` returns after `torch.manual_seed(seed)`.

    Args:
      seed: from 0 to 2^64 - 1, of which the lower 32 bits make the numbers.
    """
    state = np.zeros(1, _STATE)
    state["seed"], state["left"], state["seeded"] = seed, 1, 1
    word = seed & 0xFFFFFFFF
    for place in range(624):
        state["words"][0, place] = word
        word = (1812433253 * (word ^ word >> 30) + place + 1) & 0xFFFFFFFF
    return state.view(np.uint8)
