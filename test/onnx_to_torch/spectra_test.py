"""Fourier transforms of ONNX, compiled."""

import sys
from pathlib import Path

import pytest
import torch

import plumbline
from test.onnx_to_torch.models import program

_STEPS = {1: torch.export.Dim("steps", min=11)}


def test_a_spectrogram_of_frames_under_a_window(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(float[B,N,1] x) => (float[B,M,5,2] y) {
          size = Constant<value = int64 {8}>()
          hop = Constant<value = int64 {3}>()
          window = HammingWindow<periodic=0>(size)
          y = STFT(x, hop, window)
        }""",
        opset=17,
    )
    x = torch.randn(2, 31, 1)
    compiled = plumbline.compile(model, (x,))
    window = torch.hamming_window(8, periodic=False, alpha=25 / 46, beta=21 / 46)
    expected = torch.stft(
        x.squeeze(-1), 8, 3, window=window, center=False, return_complex=True
    ).transpose(1, 2)
    torch.testing.assert_close(compiled(x)[0], torch.view_as_real(expected))


def test_parts_of_complex_numbers_are_transformed_back_and_forth(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(float[B,N,2] x) => (float[B,N,2] y, float[B,K,2] z) {
          axis = Constant<value = int64 {1}>()
          there = DFT(x, , axis)
          y = DFT<inverse=1>(there, , axis)
          z = DFT<onesided=1>(x, , axis)
        }""",
    )
    compiled = plumbline.compile(model, (torch.randn(2, 12, 2),), dynamic_shapes=(_STEPS,))
    x = torch.randn(2, 13, 2)
    y, z = compiled(x)
    torch.testing.assert_close(y, x)
    half = torch.fft.fft(torch.view_as_complex(x))[:, :7]
    torch.testing.assert_close(z, torch.view_as_real(half))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
