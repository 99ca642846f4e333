"""Trains a classifier of scikit-learn, and writes it as ONNX, with what it answers to some rows.

It takes `pip install scikit-learn==1.9.1 skl2onnx==1.20.0`.
"""

import numpy as np
import onnx
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier


def main() -> None:
    """Writes wine.onnx and wine_references.npz to where one stands."""
    wines, cultivars = load_wine(return_X_y=True)
    wines = wines.astype(np.float32)
    forest = RandomForestClassifier(10, max_depth=5, random_state=0)
    forest.fit(wines[::2], cultivars[::2])

    # Probabilities as a tensor, not as a dict for each row.
    options = {id(forest): {"zipmap": False}}
    rows = FloatTensorType([None, wines.shape[1]])
    model = to_onnx(forest, initial_types=[("wines", rows)], options=options, target_opset=15)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "count"
    onnx.save_model(model, "wine.onnx")

    tasted = wines[1::12]
    np.savez(
        "wine_references.npz",
        Input0=tasted,
        Output0=forest.predict(tasted),
        Output1=forest.predict_proba(tasted).astype(np.float32),
    )


if __name__ == "__main__":
    main()
