"""The one exception that stands for a mistake of the user's."""


class UserError(Exception):
    """A mistake that the user can mend: the message says what, where, and what to do.

    Programs print it as ``error: <message>`` and exit with 1; no traceback is shown
    for it. Anything else that is raised is a bug of ours and keeps its traceback.
    """
