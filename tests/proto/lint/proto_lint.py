"""Style of the protos: proto_lint.py ROOT FOLDER...   (relative to ROOT)

After the Google API guide, and our own habit of saying units, ranges, defaults and errors in comments. Prints each fault
as FILE:LINE; exit 1 if there is one.

  names     files and packages agree; CamelCase types and calls, lower_snake fields, ENUM_PREFIXED values
  calls     XRequest in; XResponse, or a resource, out
  enums     0 is X_UNSPECIFIED, or X_NONE, or one of ZERO_MEANS where it says something
  paging    page_token comes with page_size, and is answered by next_page_token
  retries   request_id is string 15; in a service, what changes things has one
  numbers   none from 128 up: two bytes of tag; no field is `float`
  comments  every call, top-level message and enum; every field whose meaning is not told by the comment on the field
            right above it (a group), by that of its oneof, by SHARED, or by the comment of a message of two fields
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import descriptors

# Fields of one meaning everywhere, which the head of action_store.proto tells.
SHARED = {"netns", "kind", "view", "index", "page_token", "next_page_token"}
# What these give back is a resource, not an answer made for the call.
RESOURCES = {"Action"}
# Values 0 that mean something, and are what the kernel has there.
ZERO_MEANS = {"HEADER_NETWORK", "COMMAND_SET"}
MESSAGE, ENUM, SERVICE = 4, 5, 6  # fields of FileDescriptorProto, as source paths name them
FIELD, NESTED, NESTED_ENUM, ONEOF, VALUE, METHOD = 2, 3, 4, 8, 2, 2
CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*$")
SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*$")
CHANGING = re.compile(r"(Create|Replace|Delete|Flush|Bind|Unbind|Set|Renew)")


def upper_snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).upper()


class Lint:
    def __init__(self, file):
        self.file = file
        self.faults = []
        self._places = {tuple(location.path): location for location in file.source_code_info.location}
        self._messages = {message.name: message for message in file.message_type}

    def fault(self, path, text):
        line = self._places[tuple(path)].span[0] + 1 if tuple(path) in self._places else 1
        self.faults.append((line, text))

    def require(self, truth, path, text):
        if not truth:
            self.fault(path, text)

    def commented(self, path):
        place = self._places.get(tuple(path))
        return place is not None and bool(place.leading_comments.strip() or place.trailing_comments.strip())

    def lines(self, path):
        """First and last line of an element, from 0."""
        span = self._places[tuple(path)].span
        return span[0], span[2] if len(span) == 4 else span[0]

    def run(self):
        folder = os.path.dirname(self.file.name).removeprefix("proto/")
        self.require(self.file.package == folder.replace("/", "."), (), f"package {self.file.package} in {folder}")
        self.require(self.file.syntax == "proto3", (), "not proto3")
        for number, message in enumerate(self.file.message_type):
            self.message(message, (MESSAGE, number), top=True)
        for number, enum in enumerate(self.file.enum_type):
            self.enum(enum, (ENUM, number), top=True)
        for number, service in enumerate(self.file.service):
            self.service(service, (SERVICE, number))
        return sorted(self.faults)

    def fields(self, message, path):
        """Each has a comment, or stands right below one that has, without an empty line between."""
        told, last = False, None
        for number, member in enumerate(message.field):
            here = (*path, FIELD, number)
            oneof = member.HasField("oneof_index") and (*path, ONEOF, member.oneof_index)
            first, end = self.lines(here)
            if self.commented(here) or (oneof and self.commented(oneof)):
                told = True
            elif last is None or first != last + 1:
                told = False
            last = end
            self.require(told or member.name in SHARED, here, f"field {member.name} has no comment")

    def message(self, message, path, top=False):
        if descriptors.is_map_entry(message):
            return
        self.require(CAMEL.match(message.name), path, f"message {message.name} is not CamelCase")
        if top and not message.name.endswith(("Request", "Response")):
            self.require(self.commented(path), path, f"message {message.name} has no comment")
        for number, field in enumerate(message.field):
            self.field(message, field, (*path, FIELD, number))
        # A message of one idea may tell all of it in its own comment.
        if not (self.commented(path) and len(message.field) <= 2):
            self.fields(message, path)
        names = {field.name for field in message.field}
        self.require("page_token" not in names or "page_size" in names, path, "page_token without page_size")
        for number, nested in enumerate(message.nested_type):
            self.message(nested, (*path, NESTED, number))
        for number, enum in enumerate(message.enum_type):
            self.enum(enum, (*path, NESTED_ENUM, number))

    def field(self, message, field, path):
        self.require(SNAKE.match(field.name), path, f"field {field.name} is not lower_snake")
        self.require(field.number < 128, path, f"field {field.name}: {field.number}; 1 to 127 are for us")
        self.require(field.type != descriptors.TYPES.Value("TYPE_FLOAT"), path, f"field {field.name} is a float")
        if field.name == "request_id":
            self.require(field.number == 15 and descriptors.type_name(field) == "string", path,
                         f"{message.name}.request_id is not string 15")

    def enum(self, enum, path, top=False):
        self.require(CAMEL.match(enum.name), path, f"enum {enum.name} is not CamelCase")
        self.require(not top or self.commented(path), path, f"enum {enum.name} has no comment")
        prefix = upper_snake(enum.name) + "_"
        for number, value in enumerate(enum.value):
            self.require(value.name.startswith(prefix) and value.name == value.name.upper(), (*path, VALUE, number),
                         f"value {value.name} does not begin with {prefix}")
        zero = enum.value[0].name
        self.require(zero in ZERO_MEANS | {prefix + "UNSPECIFIED", prefix + "NONE"}, (*path, VALUE, 0),
                     f"the value 0 of {enum.name} is not {prefix}UNSPECIFIED")

    def service(self, service, path):
        self.require(CAMEL.match(service.name), path, f"service {service.name} is not CamelCase")
        for number, rpc in enumerate(service.method):
            here = (*path, METHOD, number)
            request, response = (name.rpartition(".")[2] for name in (rpc.input_type, rpc.output_type))
            self.require(CAMEL.match(rpc.name), here, f"call {rpc.name} is not CamelCase")
            self.require(self.commented(here), here, f"call {rpc.name} has no comment")
            self.require(request == rpc.name + "Request", here, f"call {rpc.name} takes {request}")
            self.require(response == rpc.name + "Response" or response in RESOURCES, here,
                         f"call {rpc.name} returns {response}")
            self.call(rpc, here, self._messages.get(request), self._messages.get(response))

    def call(self, rpc, path, request, response):
        fields = {field.name for field in request.field} if request else set()
        if CHANGING.match(rpc.name):
            self.require("request_id" in fields, path, f"call {rpc.name} changes things and has no request_id")
        if "page_token" in fields and response:
            self.require("next_page_token" in {field.name for field in response.field}, path,
                         f"call {rpc.name}: its answer has no next_page_token")


def main():
    root, folders = sys.argv[1], sys.argv[2:]
    files = [name for folder in folders for name in descriptors.proto_files(root, folder)]
    if not files:
        sys.exit(f"no protos in {' '.join(folders)}")
    found = 0
    for file in descriptors.describe(root, files):
        for line, text in Lint(file).run():
            print(f"{file.name}:{line}: {text}")
            found += 1
    print(f"{len(files)} protos, {found} faults")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
