"""How time is taken."""

import time
from collections.abc import Callable


def clock_for(threads: int) -> Callable[[], float]:
    """What tells the time, in seconds, to programs of so many threads.

    For one thread that is the time that this process has had a core, so that what else the machine
    does counts less; several threads also wait for each other.
    """
    return time.process_time if threads == 1 else time.perf_counter
