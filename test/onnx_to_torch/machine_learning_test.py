"""Models of ai.onnx.ml that ONNX's own tests have not, compiled."""

import sys
from pathlib import Path

import pytest
import torch

import plumbline
from plumbline.errors import UserError
from test.onnx_to_torch.models import program

_ROWS = ({0: torch.export.Dim("rows")},)

# Two trees: the one compares in all ways but one, and what is not a number goes either way.
_TREES = """
  nodes_treeids=[0, 0, 0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 2],
  nodes_featureids=[0, 1, 0, 0, 0, 1, 0, 0],
  nodes_modes=["BRANCH_LT", "BRANCH_GTE", "LEAF", "LEAF", "LEAF", "BRANCH_NEQ", "LEAF", "LEAF"],
  nodes_values=[1.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0],
  nodes_truenodeids=[1, 2, 0, 0, 0, 1, 0, 0], nodes_falsenodeids=[4, 3, 0, 0, 0, 2, 0, 0],
  nodes_missing_value_tracks_true=[1, 1, 0, 0, 0, 0, 0, 0]
"""


def test_trees_compare_in_all_ways(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        f"""(float[N,2] x) => (float[N,1] y) {{
          y = ai.onnx.ml.TreeEnsembleRegressor<
            {_TREES}, n_targets=1, aggregate_function="SUM",
            target_treeids=[0, 0, 0, 1, 1], target_nodeids=[2, 3, 4, 1, 2],
            target_ids=[0, 0, 0, 0, 0], target_weights=[1.0, 2.0, 4.0, 8.0, 16.0]
          >(x)
        }}""",
    )
    nan = torch.nan
    x = torch.tensor([[0.0, 2.0], [0.0, 1.9], [1.0, 0.0], [nan, 3.0], [0.0, nan]])
    (y,) = plumbline.compile(model, (x,), dynamic_shapes=_ROWS)(x)
    torch.testing.assert_close(y, torch.tensor([[17.0], [10], [12], [9], [9]]))


def test_trees_and_products_of_one_class_of_two(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        f"""(float[N,2] x) => (int64[N] y, float[N,2] scores, int64[N] z, float[N,2] other) {{
          y, scores = ai.onnx.ml.TreeEnsembleClassifier<
            {_TREES}, classlabels_int64s=[3, 7], post_transform="LOGISTIC",
            class_treeids=[0, 0, 0, 1, 1], class_nodeids=[2, 3, 4, 1, 2],
            class_ids=[0, 0, 0, 0, 0], class_weights=[1.0, -2.0, -1.0, 0.5, -0.5]
          >(x)
          z, other = ai.onnx.ml.LinearClassifier<
            classlabels_ints=[3, 7], coefficients=[1.0, -1.0], intercepts=[0.5],
            post_transform="LOGISTIC"
          >(x)
        }}""",
    )
    x = torch.tensor([[0.0, 2.0], [0.0, 1.9], [1.0, 0.0]])
    y, scores, z, other = plumbline.compile(model, (x,), dynamic_shapes=_ROWS)(x)
    of_trees, of_products = torch.tensor([0.5, -1.5, -0.5]), torch.tensor([-1.5, -1.4, 1.5])
    for given, label, expected in ((y, scores, of_trees), (z, other, of_products)):
        both = torch.stack([-expected, expected], 1).sigmoid()
        torch.testing.assert_close(label, both)
        torch.testing.assert_close(given, torch.where(expected > 0, 7, 3))


def test_strings_are_refused(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(float[N,2] x) => (float[N,2] y) {
          y = ai.onnx.ml.ZipMap<classlabels_strings=["a", "b"]>(x)
        }""",
    )
    with pytest.raises(UserError, match="'zipmap': False"):
        model(torch.ones(1, 2))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
