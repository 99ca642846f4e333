"""The messages between Bazel and a persistent worker, and how they follow one another on a pipe.

Format: worker_protocol.proto of Bazel, of which all versions speak the protobuf form by default
(JSON needs a flag in Bazel 4). Each message follows its length, a varint.
"""

from typing import IO, Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, proto

_Field = descriptor_pb2.FieldDescriptorProto


def _message(name: str, **fields: tuple[int, int]) -> descriptor_pb2.DescriptorProto:
    """A message type: each field's number, and its type. Fields that are not named are skipped."""
    described = descriptor_pb2.DescriptorProto(name=name)
    for field, (number, kind) in fields.items():
        is_list = field == "arguments"
        described.field.add(
            name=field,
            number=number,
            type=kind,
            label=_Field.LABEL_REPEATED if is_list else _Field.LABEL_OPTIONAL,
        )
    return described


_FILE = descriptor_pb2.FileDescriptorProto(
    name="worker_protocol.proto",
    package="plumbline.worker",
    syntax="proto3",
    message_type=[
        _message(
            "WorkRequest",
            arguments=(1, _Field.TYPE_STRING),
            request_id=(3, _Field.TYPE_INT32),
            cancel=(4, _Field.TYPE_BOOL),
            sandbox_dir=(6, _Field.TYPE_STRING),
        ),
        _message(
            "WorkResponse",
            exit_code=(1, _Field.TYPE_INT32),
            output=(2, _Field.TYPE_STRING),
            request_id=(3, _Field.TYPE_INT32),
            was_cancelled=(4, _Field.TYPE_BOOL),
        ),
    ],
)
_CLASSES = message_factory.GetMessages([_FILE], descriptor_pool.DescriptorPool())

WorkRequest: Any = _CLASSES["plumbline.worker.WorkRequest"]
"""`arguments`, for a folder `sandbox_dir` to stand in ("" for where one stands), under the number
`request_id`; or, with `cancel`, that the request of that number is to be given up."""

WorkResponse: Any = _CLASSES["plumbline.worker.WorkResponse"]
"""The `exit_code` of the request `request_id` and the `output` to show, or that it
`was_cancelled`."""


def read_request(pipe: IO[bytes]) -> Any:
    """The next WorkRequest of `pipe`; None at its end."""
    return proto.parse_length_prefixed(WorkRequest, pipe)


def write_response(pipe: IO[bytes], response: Any) -> None:
    """Writes a WorkResponse to `pipe`."""
    proto.serialize_length_prefixed(response, pipe)
    pipe.flush()
