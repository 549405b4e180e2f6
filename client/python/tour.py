#!/usr/bin/python3
"""The tour of README.md from Python: tour.py [ADDRESS [NETNS]]

ADDRESS is host:port or unix:/path, default 127.0.0.1:9341; NETNS must not hold gact 1, gact 2 or police 7.
"""

import sys
import uuid

import grpc

import errors
import stubs

DEADLINE_S = 10
api = stubs.load()
store_messages, kinds = api.action_store, api.kinds


def gact(index, verdict, **fields):
    return api.action.Action(index=index, gact=kinds.Gact(verdict=kinds.Verdict(type=verdict)), **fields)


def police(index, rate, burst):
    return api.action.Action(index=index, police=kinds.Police(rate=rate, burst=burst))


def line(action):
    """One line in the manner of `tc -s actions`."""
    text = f"{action.kind} index {action.index} ref {action.refcnt} bind {action.bindcnt}"
    if action.HasField("stats"):
        text += f" sent {action.stats.bytes} bytes {action.stats.packets} pkt"
    return text + (f" cookie {action.cookie.hex()}" if action.cookie else "")


def expect_error(what, call, request):
    """Makes a call that must fail and prints what a program would decide by."""
    try:
        call(request, timeout=DEADLINE_S)
    except grpc.RpcError as error:
        info = errors.error_info(api, error)
        print(f"{what}: {error.code().name}, reason {info.reason}, {dict(sorted(info.metadata.items()))}")
        return
    sys.exit(f"{what} did not fail")


def create_and_count(store, netns):
    # With a request_id a create may be sent again after a lost answer: the first answer comes back.
    create = store_messages.CreateActionsRequest(netns=netns, request_id=str(uuid.uuid4()), actions=[
        gact(1, kinds.Verdict.TYPE_DROP, cookie=bytes.fromhex("c0ffee")),
        police(7, rate=1_000_000 // 8, burst=10 * 1024)])
    created = store.CreateActions(create, timeout=DEADLINE_S)
    again = store.CreateActions(create, timeout=DEADLINE_S)
    assert [a.generation for a in again.actions] == [a.generation for a in created.actions]
    for action in created.actions:
        print("created:", line(action))

    bound = store.Bind(store_messages.BindRequest(netns=netns, actions=[gact(1, kinds.Verdict.TYPE_DROP)]),
                       timeout=DEADLINE_S)
    print("bound:", line(bound.actions[0]))
    counted = store.UpdateStats(store_messages.UpdateStatsRequest(
        netns=netns, kind="gact", indexes=[1, 99], packets=[3, 1], bytes=[180, 60]), timeout=DEADLINE_S)
    print(f"counted: {counted.applied}; position {list(counted.missing)} names no action")


def list_and_get(store, netns):
    request = store_messages.ListActionsRequest(netns=netns, kind="gact", page_size=100)
    while True:
        page = store.ListActions(request, timeout=DEADLINE_S)
        for action in page.actions:
            print("listed:", line(action))
        request.page_token = page.next_page_token
        if not request.page_token:
            break
    key = api.action.ActionKey(kind="police", index=7)
    action = store.GetAction(store_messages.GetActionRequest(netns=netns, key=key), timeout=DEADLINE_S)
    print(f"police 7: rate {action.police.rate} bytes a second, burst {action.police.burst} bytes")


def errors_and_end(store, netns):
    gact_1 = api.action.ActionKey(kind="gact", index=1)
    delete = store_messages.DeleteActionsRequest(netns=netns, keys=[gact_1])
    expect_error("delete of a bound action", store.DeleteActions, delete)
    expect_error("create of an index in use", store.CreateActions, store_messages.CreateActionsRequest(
        netns=netns, actions=[gact(1, kinds.Verdict.TYPE_PASS)]))
    expect_error("a cookie of 17 bytes", store.CreateActions, store_messages.CreateActionsRequest(
        netns=netns, actions=[gact(2, kinds.Verdict.TYPE_PASS, cookie=bytes(17))]))
    unbound = store.Unbind(store_messages.UnbindRequest(netns=netns, keys=[gact_1]), timeout=DEADLINE_S)
    print("unbound:", line(unbound.actions[0]))
    deleted = store.DeleteActions(delete, timeout=DEADLINE_S)
    print("deleted, with its last statistics:", line(deleted.actions[0]))


def batches(store, netns):
    """Apply: batches of mixed operations on one stream, answered in order."""
    def requests():
        operation = store_messages.Operation
        yield store_messages.ApplyRequest(batch_id=1, netns=netns, ops=[
            operation(create=gact(2, kinds.Verdict.TYPE_PIPE)), operation(create=gact(2, kinds.Verdict.TYPE_PIPE))])
        yield store_messages.ApplyRequest(batch_id=2, netns=netns, view=store_messages.ACTION_VIEW_FULL, ops=[
            operation(delete=api.action.ActionKey(kind="gact", index=2)),
            operation(delete=api.action.ActionKey(kind="police", index=7))])
    for answer in store.Apply(requests(), timeout=DEADLINE_S):
        failed = [f"operation {e.position} {e.reason}" for e in answer.errors]
        print(f"batch {answer.batch_id}: indexes {list(answer.indexes)}", *failed)


def main():
    address = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:9341"
    netns = sys.argv[2] if len(sys.argv) > 2 else ""
    with grpc.insecure_channel(address) as channel:
        store = api.action_store_grpc.ActionStoreStub(channel)
        create_and_count(store, netns)
        list_and_get(store, netns)
        errors_and_end(store, netns)
        batches(store, netns)
        admin = api.admin_grpc.AdminStub(channel)
        locks = admin.GetLockStats(api.admin.GetLockStatsRequest(), timeout=DEADLINE_S).locks
        acquired = {lock.name: lock.acquired for lock in locks}["pcpu_alloc_mutex"]
        print(f"pcpu_alloc_mutex acquired {acquired} times")


if __name__ == "__main__":
    main()
