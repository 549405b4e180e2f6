"""The wire contract of the protos as text, one line for each thing that a released client relies on, and its rules.

    message  tcact.v1.ActionKey
    field    tcact.v1.ActionKey 2 index optional uint32
    reserved tcact.v1.ActionKey 3
    enum     tcact.v1.HwStats
    value    tcact.v1.HwStats 1 HW_STATS_IMMEDIATE
    rpc      tcact.v1.ActionStore GetAction (tcact.v1.GetActionRequest) returns (tcact.v1.Action)

What is there must stay as it is. A field or an enum value may go, if its number and its name are reserved. Anything may
be added. The oneof of a field and whether it is `optional` are part of its line: moving it changes what clients see.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import descriptors


def _field_line(owner, message, field):
    label = descriptors.LABELS.Name(field.label).removeprefix("LABEL_").lower()
    words = ["field", owner, str(field.number), field.name, label, descriptors.type_name(field)]
    if field.proto3_optional:
        words.append("presence")
    elif field.HasField("oneof_index"):
        words.append("oneof:" + message.oneof_decl[field.oneof_index].name)
    if field.options.HasField("packed"):
        words.append(f"packed:{str(field.options.packed).lower()}")
    return " ".join(words)


def _reserved_lines(owner, ranges, names, last):
    """`last(range)` is the last number of it: messages count ranges otherwise than enums."""
    for one in ranges:
        if last(one) - one.start > 1000:
            yield f"reserved {owner} {one.start}-{last(one)}"
            continue
        yield from (f"reserved {owner} {number}" for number in range(one.start, last(one) + 1))
    yield from (f"reserved {owner} {name}" for name in names)


def _enum_lines(scope, enum):
    owner = f"{scope}.{enum.name}"
    yield f"enum {owner}"
    yield from (f"value {owner} {value.number} {value.name}" for value in enum.value)
    yield from _reserved_lines(owner, enum.reserved_range, enum.reserved_name, lambda one: one.end)


def _message_lines(scope, message):
    owner = f"{scope}.{message.name}"
    yield f"message {owner}"
    yield from (_field_line(owner, message, field) for field in message.field)
    yield from _reserved_lines(owner, message.reserved_range, message.reserved_name, lambda one: one.end - 1)
    for nested in message.nested_type:
        yield from _message_lines(owner, nested)
    for enum in message.enum_type:
        yield from _enum_lines(owner, enum)


def _service_lines(scope, service):
    owner = f"{scope}.{service.name}"
    yield f"service {owner}"
    for rpc in service.method:
        request = ("stream " if rpc.client_streaming else "") + rpc.input_type.lstrip(".")
        response = ("stream " if rpc.server_streaming else "") + rpc.output_type.lstrip(".")
        yield f"rpc {owner} {rpc.name} ({request}) returns ({response})"


def lines_of(files):
    """The contract of FileDescriptorProtos, in their order."""
    for file in files:
        for message in file.message_type:
            yield from _message_lines(file.package, message)
        for enum in file.enum_type:
            yield from _enum_lines(file.package, enum)
        for service in file.service:
            yield from _service_lines(file.package, service)


def faults(released, current):
    """What a client of `released` would miss in `current`; both are lists of lines."""
    now = set(current)
    found = []
    for line in released:
        if line in now:
            continue
        what, owner, *rest = line.split(" ")
        reserved = {f"reserved {owner} {word}" for word in rest[:2]}
        if what in ("field", "value") and reserved <= now:
            continue
        same = [other for other in current if other.split(" ")[:3] == line.split(" ")[:3] and rest]
        found.append(f"released: {line}\n     now: {same[0] if same else 'gone'}"
                     + ("" if same or what not in ("field", "value") else ", and not reserved by number and name"))
    return found
