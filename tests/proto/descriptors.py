"""The protos of a tree as protoc describes them, comments and line numbers included."""

import pathlib
import subprocess
import tempfile

from google.protobuf import descriptor_pb2

LABELS = descriptor_pb2.FieldDescriptorProto.Label
TYPES = descriptor_pb2.FieldDescriptorProto.Type


def proto_files(root, folder):
    """Paths relative to root."""
    return sorted(str(path.relative_to(root)) for path in pathlib.Path(root, folder).rglob("*.proto"))


def describe(root, files):
    """The FileDescriptorProto of each file; exits with protoc's words if it refuses one."""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["protoc", f"--proto_path={root}", f"--descriptor_set_out={out.name}", "--include_source_info",
                        *files], check=True)
        return list(descriptor_pb2.FileDescriptorSet.FromString(out.read()).file)


def type_name(field):
    """"uint32", or the full name of the message or enum."""
    return field.type_name.lstrip(".") or TYPES.Name(field.type).removeprefix("TYPE_").lower()


def is_map_entry(message):
    return message.options.map_entry
