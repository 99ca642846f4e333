"""Exports a program of JAX, and what it answers: classifier.mlir and classifier_references.npz.

pip install jax==0.10.2
python export_classifier.py
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax, nn

CLASSES = 5


def _weights(*shape: int) -> jax.Array:
    values = np.random.default_rng(sum(shape)).standard_normal(shape) / np.sqrt(np.prod(shape[:-1]))
    return jnp.asarray(values, jnp.float32)


_KERNEL, _DENSE, _BIAS = _weights(3, 3, 1, 4), _weights(64, CLASSES), _weights(1, CLASSES)


def classify(images: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The two best classes for each image of 8x8 grey levels, and how likely they are."""
    x = images.astype(jnp.float32) / 255
    x = lax.conv_general_dilated(
        x, _KERNEL, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x = lax.reduce_window(nn.relu(x), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    likely, best = lax.top_k(nn.softmax(x.reshape(x.shape[0], -1) @ _DENSE + _BIAS), 2)
    return likely, best


def exported() -> export.Exported:
    """The program for batches of any size."""
    (batch,) = export.symbolic_shape("batch")
    images = jax.ShapeDtypeStruct((batch, 8, 8, 1), jnp.uint8)
    return export.export(jax.jit(classify), platforms=["cpu"])(images)


def _main() -> None:
    # Places in the source are told by the file's name, wherever it lies.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", "^.*/")
    with open("classifier.mlir", "w", encoding="utf-8") as file:
        file.write(exported().mlir_module())

    tensors: dict[str, Any] = {}
    for case, count in (("", 3), ("Case1.", 1)):
        given = np.random.default_rng(count).integers(0, 256, (count, 8, 8, 1), np.uint8)
        tensors[f"{case}Input0"] = given
        for number, answer in enumerate(classify(given)):
            tensors[f"{case}Output{number}"] = np.asarray(answer)
    np.savez("classifier_references.npz", **tensors)


if __name__ == "__main__":
    _main()
