#!/usr/bin/python3
"""Asks a server what it has, by reflection, and calls it without its protos: describe.py [ADDRESS]

Prints every service with its calls, then what GetServerInfo answers. Of tcact's own protos nothing is used: the server
describes its messages itself, so this goes on working with a server of another version.
"""

import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

import stubs

DEADLINE_S = 10


class Reflection:
    """Fills a descriptor pool with what the server tells."""

    def __init__(self, channel):
        api = stubs.load()
        self._messages = api.reflection
        self._stub = api.reflection_grpc.ServerReflectionStub(channel)
        self._files = set()
        self.pool = descriptor_pool.DescriptorPool()

    def _ask(self, **question):
        request = self._messages.ServerReflectionRequest(**question)
        answer = next(self._stub.ServerReflectionInfo(iter([request]), timeout=DEADLINE_S))
        if answer.HasField("error_response"):
            raise LookupError(f"{question}: {answer.error_response.error_message}")
        return answer

    def services(self):
        return sorted(service.name for service in self._ask(list_services="").list_services_response.service)

    def service(self, name):
        """The service's descriptor, after its file and all that this one imports."""
        self._add(self._ask(file_containing_symbol=name))
        return self.pool.FindServiceByName(name)

    def _add(self, answer):
        for data in answer.file_descriptor_response.file_descriptor_proto:
            file = descriptor_pb2.FileDescriptorProto.FromString(data)
            if file.name in self._files:
                continue
            self._files.add(file.name)
            for needed in file.dependency:
                if needed not in self._files:
                    self._add(self._ask(file_by_filename=needed))
            self.pool.Add(file)


def call(channel, pool, method, fields):
    """One unary call of a method that was found by reflection; `fields` and the result are as in JSON."""
    factory = message_factory.MessageFactory(pool)
    request = json_format.ParseDict(fields, factory.GetPrototype(method.input_type)())
    answer = channel.unary_unary(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=factory.GetPrototype(method.output_type).FromString)(request, timeout=DEADLINE_S)
    return json_format.MessageToDict(answer, preserving_proto_field_name=True)


def main():
    address = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:9341"
    with grpc.insecure_channel(address) as channel:
        reflection = Reflection(channel)
        for name in reflection.services():
            print(name)
            for method in reflection.service(name).methods:
                print(f"  {method.name}({method.input_type.name}) -> {method.output_type.name}")
        info = reflection.service("tcact.v1.Admin").methods_by_name["GetServerInfo"]
        for field, value in call(channel, reflection.pool, info, {}).items():
            print(f"{field}: {value}")


if __name__ == "__main__":
    main()
