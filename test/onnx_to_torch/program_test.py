"""Models as programs: their names, sizes and places, and what is refused."""

import logging
import sys
from pathlib import Path

import onnx
import pytest
import torch
from onnx import TensorProto, helper

import plumbline
from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.errors import UserError
from plumbline.onnx_to_torch.program import load_onnx
from test.onnx_to_torch import models


def _file(folder: Path, text: str, opset: int = 22, **constants: torch.Tensor) -> Path:
    models.program(folder, text, constants, opset=opset)
    return folder / "model.onnx"


def test_a_library_has_the_names_of_the_model(tmp_path: Path) -> None:
    text = (
        "(float[batch, 4] image) => (float[batch, 3] scores) { scores = MatMul(image, a.weight) }"
    )
    file = _file(tmp_path, text.replace("a.weight", "weight"), weight=torch.randn(4, 3))
    plumbline.aot(load_onnx(file), name="f", out=tmp_path)
    header = (tmp_path / "f.h").read_text()
    assert "int f(const float *image, float *scores, int64_t batch);" in header


def test_stages_name_nodes_and_weights(tmp_path: Path) -> None:
    text = "(float[2, 4] image) => (float[2, 3] y) { [head_MatMul] y = MatMul(image, weight) }"
    program = load_onnx(_file(tmp_path, text, weight=torch.randn(4, 3)))
    stage = plumbline.compile(program).stage("torch")
    assert 'plumbline.weight = "weight"' in stage
    assert 'loc("head_MatMul"(' in stage
    assert 'loc("model.onnx":1:0)' in stage


_SHAPES = """
    (float[batch, 3, n] x, float[batch, past] past_of, float[batch, "past + n"] all)
    => (float[M, N] y) {
      sizes = Shape <start = 0, end = 1> (x)
      rows = Concat <axis = 0> (sizes, minus_one)
      flat = Reshape (x, rows)
      joined = Concat <axis = 1> (past_of, flat, all)
      y = Relu (joined)
    }
"""


def test_sizes_differ_at_run_time(tmp_path: Path) -> None:
    given = load_onnx(_file(tmp_path, _SHAPES, minus_one=torch.tensor([-1])))
    compiled = plumbline.compile(given)
    assert [[*x.shape] for x in given.inputs] == [[3, 3, 5], [3, 7], [3, 12]]
    x, past, both = torch.randn(2, 3, 4), torch.randn(2, 1), torch.randn(2, 5)
    (y,) = compiled(x, past, both)
    torch.testing.assert_close(y, torch.cat([past, x.reshape(2, -1), both], 1).relu())
    with pytest.raises(UserError, match="argument 1 has size 1 in dimension 0, not batch = 2"):
        compiled(x, past[:1], both)
    with pytest.raises(RuntimeError, match=r"dimension 1 of argument 2 is to be past \+ n"):
        given.model(x, past, both[:, :4])


def test_sizes_are_as_large_as_windows(tmp_path: Path) -> None:
    text = "(float[batch, 1, n] x) => (float[batch, 1, M] y) { y = Conv <strides = [9]> (x, w) }"
    given = load_onnx(_file(tmp_path, text, w=torch.ones(1, 1, 50)))
    assert [[*x.shape] for x in given.inputs] == [[3, 1, 80]]
    assert load_onnx(tmp_path / "model.onnx", sizes={"n": 9}).inputs[0].shape == (3, 1, 9)


def test_sizes_that_do_not_fit_are_tried_in_silence(tmp_path: Path) -> None:
    text = "(float[2, 4, n] x, float[2, m, 4] y) => (float[2, 4, 4] z) { z = MatMul (x, y) }"
    logged: list[logging.LogRecord] = []
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    logger.addFilter(logged.append)  # type: ignore[arg-type]
    load_onnx(_file(tmp_path, text))
    logger.removeFilter(logged.append)  # type: ignore[arg-type]
    assert not logged


def test_sizes_may_be_fixed(tmp_path: Path) -> None:
    file = _file(tmp_path, _SHAPES, minus_one=torch.tensor([-1]))
    given = load_onnx(file, sizes={"batch": 1, "n": 2, "past": 6})
    assert [[*x.shape] for x in given.inputs] == [[1, 3, 2], [1, 6], [1, 8]]
    assert given.dynamic_shapes is None
    with pytest.raises(UserError, match=r"no dimension is called batsch; did you mean batch\?"):
        load_onnx(file, sizes={"batsch": 1})
    with pytest.raises(UserError, match="batch is to be -1; a size is at least 0"):
        load_onnx(file, sizes={"batch": -1})


def test_a_size_that_turns_out_to_be_fixed(tmp_path: Path) -> None:
    text = "(float[batch, 8] x) => (float[3, 8] y) { y = Reshape (x, shape) }"
    given = load_onnx(_file(tmp_path, text, shape=torch.tensor([3, 8])))
    with pytest.raises(UserError, match=r"holds for batch = 3 alone: fix that size .*--size"):
        plumbline.compile(given)


def test_inputs_that_are_expected(tmp_path: Path) -> None:
    file = _file(tmp_path, "(float[n] x) => (float[n] y) { y = Relu (x) }")
    x = torch.tensor([-1.0, 2.0])
    expected = ReferenceArchive("f", (x.numpy(),), (x.relu().numpy(),), (0.0,), (0.0,))
    assert load_onnx(file, expected=expected).inputs[0].equal(x)
    wrong = ReferenceArchive("f", (x.double().numpy(),), (x.numpy(),), (0.0,), (0.0,))
    more = ReferenceArchive("f", (x.numpy(),), (x.numpy(),) * 2, (0.0,) * 2, (0.0,) * 2)
    with pytest.raises(UserError, match=r"it has 1 results, where .* have 2 outputs"):
        load_onnx(file, expected=more)
    with pytest.raises(UserError, match=r"argument 0 is torch.float32 of rank 1, where .*float64"):
        load_onnx(file, expected=wrong)


def test_the_place_of_a_mistake_is_a_node(tmp_path: Path) -> None:
    text = "(float[2, 8] x) => (float[A, B] y) { [r] y = Reshape (x, shape) }"
    given = load_onnx(_file(tmp_path, text, shape=torch.tensor([5, 5])))
    with pytest.raises(UserError, match=r"at model.onnx:1: y = Reshape\(x, shape\)  # r"):
        plumbline.compile(given)


def test_all_ops_without_a_pattern_are_listed(tmp_path: Path) -> None:
    text = """(float[2] x) => (float[2] y) {
      a = com.acme.Twist (x)
      b = com.acme.Twist (a)
      y = com.acme.Turn (b)
    }"""
    graph = onnx.parser.parse_graph(f"g {text}")
    domains = [helper.make_opsetid("", 22), helper.make_opsetid("com.acme", 1)]
    onnx.save_model(helper.make_model(graph, opset_imports=domains), tmp_path / "m.onnx")
    with pytest.raises(UserError) as raised:
        load_onnx(tmp_path / "m.onnx")
    assert str(raised.value).splitlines()[1:] == [
        "  com.acme.Turn: 1 node, such as y",
        "  com.acme.Twist: 2 nodes, such as a",
    ]


def test_a_result_without_a_rank(tmp_path: Path) -> None:
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [given], [result])
    onnx.save_model(helper.make_model(graph), tmp_path / "m.onnx")
    assert [*load_onnx(tmp_path / "m.onnx").model(torch.ones(2))] == ["y"]


@pytest.mark.parametrize("content", [b"", b"hello", b"\x08\x09\x3a\xff\xff\xff\xff\x0f"])
def test_what_is_no_model(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    with pytest.raises(UserError, match=r"m.onnx: it is no valid model of ONNX"):
        load_onnx(tmp_path / "m.onnx")


def test_tensors_in_a_file_beside_the_model(tmp_path: Path) -> None:
    file = _file(tmp_path, "(float[4] x) => (float[4] y) { y = Add (x, b) }", b=torch.arange(4.0))
    model = onnx.load_model(file)
    onnx.save_model(model, file, save_as_external_data=True, location="b.bin", size_threshold=0)
    assert (tmp_path / "b.bin").exists()
    assert load_onnx(file).model(torch.ones(4))["y"].tolist() == [1, 2, 3, 4]
    (tmp_path / "b.bin").write_bytes(b"short")
    with pytest.raises(UserError, match=r"model.onnx: "):
        load_onnx(file)
    (tmp_path / "b.bin").unlink()
    with pytest.raises(UserError, match=r"model.onnx: .*b.bin"):
        load_onnx(file)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
