"""The frameworks that are timed: how each prepares a program, and what a call of it is.

Each is called from Python in its own fastest way, with outputs in memory that it allocates itself.
What a framework can prepare beforehand it may: weights packed, inputs wrapped as its own tensors.
"""

import importlib.util
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import plumbline
from test.benchmark.cases import Program

OURS = "Plumbline"


@dataclass(frozen=True)
class Settings:
    """What all frameworks are set to alike."""

    target_cpu: str
    threads: int


@dataclass(frozen=True)
class Call:
    """A program that is ready to run: `run` is what is timed."""

    run: Callable[[], Any]
    tensors: Callable[[Any], tuple[torch.Tensor, ...]]
    """What `run` returns, as tensors."""


@dataclass(frozen=True)
class Framework:
    """A framework by the name of its column."""

    name: str
    prepare: Callable[[Program, Settings], Call]
    packages: tuple[str, ...] = ()
    """What it needs beyond the packages of requirements_lock.txt, as modules."""
    limited_to_avx2: bool = True
    """Whether it can be kept to the instructions of the baseline CPU (`BASELINE_ENVIRONMENT`)."""

    def missing(self) -> list[str]:
        """The packages that are not installed."""
        return [name for name in self.packages if importlib.util.find_spec(name) is None]


# PyTorch's own kernels, those of MKL, and those of oneDNN, which PyTorch and OpenVINO hold, choose
# their instructions as the program starts. ONNX Runtime has no such setting.
BASELINE_ENVIRONMENT = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "DNNL_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
}


def _returned(result: Any) -> tuple[torch.Tensor, ...]:
    return (result,) if isinstance(result, torch.Tensor) else tuple(result)


def _plumbline(program: Program, settings: Settings) -> Call:
    compiled = plumbline.compile(
        program.module,
        program.inputs,
        target_cpu=settings.target_cpu,
        threads=settings.threads,
        cache=False,
    )
    return Call(lambda: compiled(*program.inputs), _returned)


def _eager(program: Program, settings: Settings) -> Call:
    return Call(lambda: program.module(*program.inputs), _returned)


def _inductor_options(settings: Settings) -> dict[str, Any]:
    options: dict[str, Any] = {"freezing": True, "cpp.threads": settings.threads}
    if settings.target_cpu == "baseline":
        options["cpp.simdlen"] = 256
    return options


def _inductor(program: Program, settings: Settings) -> Call:
    compiled = torch.compile(program.module, dynamic=False, options=_inductor_options(settings))
    return Call(lambda: compiled(*program.inputs), _returned)


def _aot_inductor(program: Program, settings: Settings) -> Call:
    options = _inductor_options(settings)
    exported = torch.export.export(program.module, program.inputs)
    with tempfile.TemporaryDirectory() as folder:
        package = torch._inductor.aoti_compile_and_package(
            exported, package_path=str(Path(folder, "program.pt2")), inductor_configs=options
        )
        compiled = torch._inductor.aoti_load_package(package)
    return Call(lambda: compiled(*program.inputs), _returned)


def onnx_file(program: Program, folder: str, *, external_data: bool = True) -> str:
    """Exports a program to program.onnx in a folder, its weights in a file beside it, or within."""
    exported = torch.onnx.export(program.module, program.inputs, dynamo=True, verbose=False)
    assert exported is not None
    path = str(Path(folder, "program.onnx"))
    exported.save(path, external_data=external_data)
    return path


def _onnxruntime(program: Program, settings: Settings) -> Call:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = settings.threads
    # Threads that wait for the next call by spinning would take the core from who runs then.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    with tempfile.TemporaryDirectory() as folder:
        path = onnx_file(program, folder)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs = {
        given.name: onnxruntime.OrtValue.ortvalue_from_numpy(tensor.numpy())
        for given, tensor in zip(session.get_inputs(), program.inputs, strict=True)
    }
    outputs = [output.name for output in session.get_outputs()]
    return Call(
        lambda: session.run_with_ort_values(outputs, inputs),
        lambda values: tuple(torch.from_numpy(value.numpy()) for value in values),
    )


def _openvino(program: Program, settings: Settings) -> Call:
    import openvino

    try:
        model = openvino.convert_model(torch.export.export(program.module, program.inputs))
    except Exception:  # Its own converter knows fewer ops than PyTorch's to ONNX.
        with tempfile.TemporaryDirectory() as folder:
            model = openvino.Core().read_model(onnx_file(program, folder))
    compiled = openvino.compile_model(
        model,
        "CPU",
        {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": settings.threads,
            # Where the CPU has instructions for bfloat16, it would be that.
            "INFERENCE_PRECISION_HINT": "f32",
        },
    )
    request = compiled.create_infer_request()
    arrays = [tensor.numpy() for tensor in program.inputs]
    return Call(
        lambda: request.infer(arrays, share_inputs=True, share_outputs=True),
        lambda result: tuple(torch.from_numpy(result[output]) for output in compiled.outputs),
    )


FRAMEWORKS = {
    framework.name: framework
    for framework in (
        Framework(OURS, _plumbline),
        Framework("eager", _eager),
        Framework("compile", _inductor),
        Framework("aot_inductor", _aot_inductor),
        Framework(
            "onnxruntime",
            _onnxruntime,
            ("onnxruntime", "onnx", "onnxscript"),
            limited_to_avx2=False,
        ),
        Framework("openvino", _openvino, ("openvino",)),
    )
}
"""All by name, ours first; `eager`, `compile` and `aot_inductor` are PyTorch's."""
