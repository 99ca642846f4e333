"""Stage program: writes the C header of a library, from what describe_library says of it."""

from plumbline.library_files.c_header import c_header
from plumbline.signature.library_description import LibraryDescription
from tools.aot import stage


def generate_header(text: str, filename: str) -> str:
    """The stage, from text to text."""
    return c_header(LibraryDescription.from_json(filename, text))


if __name__ == "__main__":
    stage.run_text_stage(__doc__, generate_header, warm_up=lambda: None)
