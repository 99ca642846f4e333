import gc
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from plumbline.garbage import collecting_seldom


@pytest.fixture(autouse=True)
def _thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def _collections() -> int:
    return sum(generation["collections"] for generation in gc.get_stats())


def test_many_objects_that_stay_are_not_looked_at() -> None:
    gc.set_threshold(700, 10, 10)
    gc.collect()
    before = _collections()
    with collecting_seldom():
        stays = [[number] for number in range(50_000)]
        assert _collections() == before
    stays += [[number] for number in range(50_000)]
    assert _collections() > before


def test_garbage_does_not_grow_without_end() -> None:
    before = _collections()
    with collecting_seldom():
        for _ in range(300_000):
            cycle: list[object] = []
            cycle.append(cycle)
    assert _collections() > before


@pytest.mark.parametrize("thresholds", [(700, 10, 10), (0, 10, 10), (1_000_000, 5, 5)])
def test_thresholds_are_as_before_afterwards(thresholds: tuple[int, int, int]) -> None:
    gc.set_threshold(*thresholds)
    with collecting_seldom(), collecting_seldom():
        assert gc.get_threshold()[0] in (100_000, 0, 1_000_000)
    assert gc.get_threshold() == thresholds
    with pytest.raises(ZeroDivisionError), collecting_seldom():
        _ = 1 / 0
    assert gc.get_threshold() == thresholds


def test_the_last_of_several_threads_puts_them_back() -> None:
    gc.set_threshold(700, 10, 10)
    began, may_end = threading.Event(), threading.Event()

    def run() -> None:
        with collecting_seldom():
            began.set()
            may_end.wait()

    other = threading.Thread(target=run)
    with collecting_seldom():
        other.start()
        began.wait()
    assert gc.get_threshold()[0] == 100_000
    may_end.set()
    other.join()
    assert gc.get_threshold() == (700, 10, 10)


_COMPILE = """
import gc
import plumbline
collections = []
gc.callbacks.append(lambda phase, info: collections.append(phase == "start" and info["generation"]))
compile = plumbline.compile
import torch
compile(torch.nn.ReLU(), (torch.ones(3),))
print(sum(map(bool, collections)), len(collections))
print(gc.get_threshold())
"""


def test_compiling_does_not_look_at_all_of_pytorch() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _COMPILE], check=True, capture_output=True, text=True
    )
    counts, thresholds = run.stdout.splitlines()
    old, all_ = map(int, counts.split())
    # It took two thousand, of which some looked at everything.
    assert old <= 3
    assert all_ <= 30
    assert thresholds == str(gc.get_threshold())


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
