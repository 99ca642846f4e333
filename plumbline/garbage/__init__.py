"""How often Python looks for garbage in cycles while much is made that stays.

It does so whenever 700 objects more have been made than freed, and from time to time looks at all
there are. To import PyTorch and export a program makes a million that stay, so that a fifth of the
imports, and a tenth of a first compilation, went to looks that found next to nothing. As seldom as
here it takes 20 MB more at most (BERT-base).
"""

import contextlib
import gc
import threading
from collections.abc import Iterator

_OBJECTS = 100_000
"""How many more are to have been made than freed before it looks."""

_lock = threading.Lock()
_contexts = 0
_thresholds = gc.get_threshold()


@contextlib.contextmanager
def collecting_seldom() -> Iterator[None]:
    """Has Python look for garbage seldom, in all threads, or not at all if it did not before.

    It looks as often as before when the last of such contexts ends, which may be nested, or in many
    threads.
    """
    global _contexts, _thresholds
    with _lock:
        if _contexts == 0:
            _thresholds = gc.get_threshold()
            first, *others = _thresholds
            # Zero means never.
            gc.set_threshold(first and max(first, _OBJECTS), *others)
        _contexts += 1
    try:
        yield
    finally:
        with _lock:
            _contexts -= 1
            if _contexts == 0:
                gc.set_threshold(*_thresholds)
