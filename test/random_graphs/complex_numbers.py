"""The lines that compute with complex numbers, and give real ones."""

import torch

from test.random_graphs.drawing import Drawing, Unsuitable

_MADE = (
    "torch.complex({x}, {x} - 1)",
    "torch.complex({x}, {y})",
    "torch.complex({x} * 0.5, {x}.flip(0))",
    "torch.polar({x}.abs(), {x})",
    "torch.view_as_complex(torch.stack(({x}, {x} + 1), -1))",
    "{x}.to(torch.complex64)",
    "{x}.to(torch.complex128)",
    "(1j * {x} + 2)",
    "torch.fft.fft({x}, dim={d})",
    "torch.fft.rfft({x}, dim={d})",
    "torch.fft.ifft({x}, dim={d}, norm='ortho')",
    "torch.fft.fft({x}, 5, dim={d})",
    "torch.fft.fftshift(torch.fft.fft({x}, dim={d}))",
)
_FUNCTIONS = (
    "({c}).conj()",
    "({c}) * 2j",
    "({c}) + (1 - 1j)",
    "({c}) * {x}",
    "({c}) / (2 + 1j)",
    "({c}) - ({c}).mean()",
    "({c}) * ({c}).conj()",
    "-({c})",
    "({c}).exp()",
    "(({c}) * 0.1).exp()",
    "(({c}) * 0.1).sin()",
    "(({c}) * 0.1).tanh()",
    "(({c}) + 0.5).reciprocal()",
    "({c}).square()",
    "({c}) ** 2",
    "(({c}) * ({c}).conj()).sqrt()",
    "({c}).sum({d}, keepdim=True)",
    "({c}).cumsum({d})",
    "({c}).mean({d}, keepdim=True)",
    "({c}).transpose(0, {d})",
    "({c}).flip({d})",
    "({c}).roll(1, {d})",
    "({c})[..., 1:]",
    "({c})[..., ::2]",
    "({c}).unsqueeze(0)",
    "({c}).mH",
    "({c}).T.contiguous()",
    "torch.cat((({c}), ({c}).conj()), {d})",
    "torch.stack((({c}), -({c})), 0)",
    "torch.where(({c}).real > 0, ({c}), -({c}))",
    "({c}).reshape(-1)",
    "({c}) @ ({c}).mT",
    "({c}) @ ({c}).mH",
    "torch.einsum('...i,...i->...', ({c}), ({c}))[..., None]",
    "({c}).masked_fill(({c}).real > 1, 2 - 3j)",
    "torch.zeros_like({c}) + 1",
    "({c}).tril()",
    "torch.index_select(({c}), 0, torch.tensor([0, 0]))",
    "({c}).expand(2, *({c}).shape)",
    "torch.fft.ifft(({c}), dim={d})",
    "torch.fft.fft(({c}), dim={d}, norm='forward')",
    "torch.fft.fft2(({c}))",
    "({c}).resolve_conj()",
    "({c}).detach().clone()",
    "({c}).to(torch.complex64)",
    "({c}).prod({d}, keepdim=True) * 0.01",
    "torch.view_as_complex(torch.view_as_real({c}) * 2)",
    "F.pad(({c}), (1, 0))",
    "torch.linalg.solve(({c}) @ ({c}).mH + 9 * torch.eye(({c}).shape[-2]), ({c}))",
)
_PARTS = (
    "({c}).real",
    "({c}).imag",
    "({c}).abs()",
    "torch.view_as_real({c})",
    "(({c}) * ({c}).conj()).real",
    "({c}).real + ({c}).imag",
    "({c}) == ({c}).conj()",
    "torch.view_as_real({c}).sum(-1)",
    "torch.fft.irfft(({c}), dim={d})",
    "torch.fft.hfft(({c}), dim={d})",
    "torch.linalg.vector_norm(({c}), dim={d})",
    "({c}).real.contiguous().view(-1)",
    "torch.cat((({c}).real, ({c}).imag), {d})",
    "(({c}).real * 2).add_(({c}).imag)",
)


def complex_numbers(drawing: Drawing) -> str:
    """A value made complex, a few functions of it, and a real part of what comes out."""
    draw = drawing.random
    x = drawing.tensor((torch.float32, torch.float64), lambda value: value.ndim > 0)
    if any(0 in sizes for sizes in drawing.shape(x)):
        # PyTorch's Fourier transforms of no elements fail for want of a plan.
        raise Unsuitable
    y = drawing.operand(drawing.value(x).dtype, drawing.shape(x))

    def filled(form: str, c: str = "") -> str:
        return form.format(x=x, y=y, c=c, d=draw.randrange(drawing.value(x).ndim))

    c = filled(draw.choice(_MADE))
    for _ in range(draw.choice((0, 1, 1, 2, 3))):
        c = filled(draw.choice(_FUNCTIONS), c)
    return filled(draw.choice(_PARTS), c)
