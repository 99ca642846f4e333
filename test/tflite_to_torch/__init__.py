"""Tests of plumbline.tflite_to_torch."""
