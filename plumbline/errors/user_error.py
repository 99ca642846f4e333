"""The one exception that stands for a mistake of the user's."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class UserError(Exception):
    """A mistake that the user can mend: the message says what, where, and what to do.

    Programs print it as ``error: <message>`` and exit with 1; no traceback is shown
    for it. Anything else that is raised is a bug of ours and keeps its traceback.
    """


def showing_the_message_alone(
    function: Callable[_Arguments, _Result],
) -> Callable[_Arguments, _Result]:
    """Has Python print a UserError of a function without what led to it within.

    That is our frames and the error behind it: two hundred lines of torch.export's. That one stays
    its `__context__`.
    """

    @functools.wraps(function)
    def wrapped(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        try:
            return function(*arguments, **named)
        except UserError as error:
            raise error.with_traceback(None) from None

    return wrapped
