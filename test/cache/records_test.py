import pytest
import torch

from plumbline.cache import kept_text
from plumbline.cache.machine_code import MachineCode
from plumbline.loader_to_torch.export import DialectText
from plumbline.signature import element_type
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.c_names import CNames
from plumbline.signature.signature import Signature, TensorSpec, Workspace
from plumbline.signature.size_expressions import Operation, Symbol, SymbolUse
from plumbline.signature.unbacked_size import UnbackedSize

_F32, _I64 = (element_type.from_name(name) for name in ("f32", "i64"))
_ROWS = SymbolUse(0)
_SIGNATURE = Signature(
    "main",
    # What the second symbol is called is a word of C.
    CNames(("x", "steps"), ("out0", "out1"), ("rows", "int_"), ("out1_size0",)),
    (TensorSpec(_F32, (None, None)), TensorSpec(_I64, (), is_scalar=True)),
    (TensorSpec(_F32, (None, 3)), TensorSpec(_I64, (None,))),
    ArgumentShapes(
        (Symbol("rows", 2, None), Symbol("int", 0, 64)),
        ((_ROWS, Operation("*", 2, SymbolUse(1))), ()),
    ),
    ((Operation("floordiv", _ROWS, Operation("*.", 0.1, _ROWS)), 3), (None,)),
    Workspace(64, Operation("*", _ROWS, 64), 64),
    inout=(0,),
    on_device=True,
    has_stream=True,
    unbacked=(UnbackedSize(1, 0),),
)


@pytest.mark.parametrize("kernels", [None, "", ".version 8.0\n"])
def test_machine_code(kernels: str | None) -> None:
    objects = (b"\0ELF", b"", b"another")
    code = MachineCode(_SIGNATURE, objects, ("plumbline_weight_w", "b"), kernels)
    assert MachineCode.from_bytes(code.to_bytes()) == code


def test_texts_have_their_weights() -> None:
    weights = {
        "ints": torch.arange(6).reshape(2, 3).T,
        "none": torch.empty(0, 3, dtype=torch.bool),
        "one": torch.tensor(2.5, dtype=torch.bfloat16),
        "small": torch.tensor([1.5, -0.0]).to(torch.float8_e4m3fn),
    }
    text = "module {} // é\n" * 1000
    content = kept_text.to_bytes(DialectText(text, weights))
    assert len(content) < len(text)
    kept = kept_text.from_bytes(content)
    assert kept.text == text
    assert list(kept.weights) == list(weights)
    for name, weight in weights.items():
        assert kept.weights[name].dtype == weight.dtype
        assert kept.weights[name].shape == weight.shape
        assert kept.weights[name].tolist() == weight.tolist()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
