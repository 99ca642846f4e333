"""What is kept of something: what JSON can say of it, and bytes by name.

A record is the length of the JSON (8 bytes, little-endian), the JSON, and the bytes.
"""

import itertools
import json
from collections.abc import Mapping
from typing import Any

_LENGTH_BYTES = 8


def packed(said: Any, parts: Mapping[str, bytes]) -> bytes:
    """A record."""
    sizes = {name: len(part) for name, part in parts.items()}
    header = json.dumps({"said": said, "sizes": sizes}).encode()
    return b"".join((len(header).to_bytes(_LENGTH_BYTES, "little"), header, *parts.values()))


def unpacked(record: bytes) -> tuple[Any, dict[str, bytes]]:
    """What `packed` was given for a record."""
    start = _LENGTH_BYTES + int.from_bytes(record[:_LENGTH_BYTES], "little")
    header = json.loads(record[_LENGTH_BYTES:start])
    sizes = header["sizes"]
    ends = itertools.accumulate(sizes.values(), initial=start)
    return header["said"], {
        name: record[begin : begin + size]
        for (name, size), begin in zip(sizes.items(), ends, strict=False)
    }
