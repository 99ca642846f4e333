"""Sharpens a picture: reads a PNG, runs the compiled program, writes a PNG."""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

import plumbline


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True, help="libunsharp_mask.so")
    parser.add_argument("picture", type=Path)
    parser.add_argument("sharpened", type=Path)
    arguments = parser.parse_args()

    with Image.open(arguments.picture) as picture:
        pixels = np.asarray(picture.convert("RGB"), np.float32)
    unsharp_mask = plumbline.load(arguments.library)
    (sharpened,) = unsharp_mask(np.ascontiguousarray(pixels.transpose(2, 0, 1)) / 255)
    levels = (sharpened.transpose(1, 2, 0) * 255 + 0.5).astype(np.uint8)
    Image.fromarray(levels).save(arguments.sharpened)


if __name__ == "__main__":
    main()
