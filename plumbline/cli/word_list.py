"""An argument of a command line that is a list of words, with commas between them."""

import argparse
from dataclasses import dataclass


@dataclass(frozen=True)
class WordList:
    """The type of such an argument, as argparse takes it."""

    known: tuple[str, ...]
    """The words that there are, for shells to complete."""

    def __call__(self, text: str) -> list[str]:
        """The words of an argument."""
        words = text.split(",")
        for word in words:
            if word not in self.known:
                known = ", ".join(self.known)
                raise argparse.ArgumentTypeError(f"{word!r} is none of {known}")
        return words
