"""Trains a network of Keras, and writes it for TensorFlow Lite, with what that answers to some.

It takes `pip install tensorflow-cpu==2.21.0 scikit-learn==1.9.1`.
"""

from collections.abc import Iterator

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

_DRAWN = 8
"""Of how many pictures references are kept."""


def _network() -> keras.Model:
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((8, 8, 1), batch_size=1, name="picture"),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.DepthwiseConv2D(3, strides=2, padding="same", activation="relu6"),
            layers.Conv2D(32, 1, activation="relu"),
            layers.DepthwiseConv2D(3, padding="same", activation="relu6"),
            layers.Conv2D(32, 1, activation="relu"),
            layers.Flatten(),
            layers.Dense(10, activation="softmax"),
        ]
    )


def main() -> None:
    """Writes digits.tflite and digits_references.npz to where one stands."""
    keras.utils.set_random_seed(0)
    pictures, digits = load_digits(return_X_y=True)
    pictures = (pictures / 16).astype(np.float32).reshape(-1, 8, 8, 1)
    network = _network()
    network.compile("adam", "sparse_categorical_crossentropy")
    network.fit(pictures[::2], digits[::2], batch_size=16, epochs=40, verbose=0)

    def representative() -> Iterator[list[np.ndarray]]:
        for picture in pictures[:200:2]:
            yield [picture[None]]

    converter = tf.lite.TFLiteConverter.from_keras_model(network)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = representative
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    model = converter.convert()
    with open("digits.tflite", "wb") as file:
        file.write(model)

    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    (given,), (answer,) = interpreter.get_input_details(), interpreter.get_output_details()
    scale, zero_point = given["quantization"]
    stored = np.clip(np.round(pictures[1::2] / scale) + zero_point, -128, 127).astype(np.int8)
    answers = []
    for picture in stored:
        interpreter.set_tensor(given["index"], picture[None])
        interpreter.invoke()
        answers.append(interpreter.get_tensor(answer["index"]))
    right = np.mean(np.argmax(answers, -1).ravel() == digits[1::2])
    print(f"{right:.1%} of the digits that it was not trained on are told right")

    references = {}
    for case in range(_DRAWN):
        prefix = f"Case{case}." if case else ""
        references[f"{prefix}Input0"] = stored[case : case + 1]
        references[f"{prefix}Output0"] = answers[case]
    # Of what is stored in 8 bits: kernels of TensorFlow Lite scale by integers, and may be one off.
    np.savez("digits_references.npz", **references, rtol=[0.0], atol=[1.0])


if __name__ == "__main__":
    main()
