"""The modules that protoc makes of tcact's protos, made when they are first asked for.

    from stubs import load
    api = load()
    api.action_store.GetActionRequest(netns="red")   # messages of proto/tcact/v1/action_store.proto
    api.action_store_grpc.ActionStoreStub(channel)   # its service

Needs protoc and grpc_python_plugin (Debian: protobuf-compiler, protobuf-compiler-grpc), python3-protobuf and
python3-grpcio. A program that ships would run the same protoc command once when it is built.
"""

import importlib
import pathlib
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).absolute().parents[2]
PROTOS = {
    "action": "proto/tcact/v1/action.proto",
    "kinds": "proto/tcact/v1/kinds.proto",
    "action_store": "proto/tcact/v1/action_store.proto",
    "admin": "proto/tcact/v1/admin.proto",
    "error_details": "proto/tcact/v1/error_details.proto",
    "reflection": "proto/grpc/reflection/v1alpha/reflection.proto",
}
# Lives as long as the program: the modules are read from it.
_made = tempfile.TemporaryDirectory(prefix="tcact-stubs-")


def load():
    """A namespace with a module NAME and, where the file has a service, NAME_grpc, for each of PROTOS."""
    subprocess.run(
        ["protoc", f"--proto_path={ROOT}", f"--python_out={_made.name}", f"--grpc_python_out={_made.name}",
         "--plugin=protoc-gen-grpc_python=/usr/bin/grpc_python_plugin", *PROTOS.values()], check=True)
    if _made.name not in sys.path:
        sys.path.insert(0, _made.name)
        importlib.invalidate_caches()
    api = types.SimpleNamespace()
    for name, proto in PROTOS.items():
        module = proto.removesuffix(".proto").replace("/", ".")
        setattr(api, name, importlib.import_module(module + "_pb2"))
        if pathlib.Path(_made.name, proto.removesuffix(".proto") + "_pb2_grpc.py").exists():
            setattr(api, name + "_grpc", importlib.import_module(module + "_pb2_grpc"))
    return api
