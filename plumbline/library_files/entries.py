"""What functions a library shows."""

from plumbline.signature.function_name import (
    ERROR_SUFFIX,
    OUTPUT_SHAPE_SUFFIX,
    PACKED_SUFFIX,
    UNCHECKED_SUFFIX,
    WORKSPACE_SIZE_SUFFIX,
)
from plumbline.signature.library_description import LibraryDescription


def entries(description: LibraryDescription) -> list[str]:
    """The names of those that the header declares of a program called by pointers.

    It has its weights.
    """
    suffixes = ["", UNCHECKED_SUFFIX, ERROR_SUFFIX, OUTPUT_SHAPE_SUFFIX, PACKED_SUFFIX]
    signature = description.signature
    if signature.workspace is not None:
        suffixes.append(WORKSPACE_SIZE_SUFFIX)
    return [signature.name + suffix for suffix in suffixes]
