"""The Python example against a real tcactd: python_client_test.py TCACTD"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TCACTD = ""
CLIENT = os.path.abspath("client/python")
PYTHON = "/usr/bin/python3"

TOUR = r"""created: gact index 1 ref 1 bind 0 sent 0 bytes 0 pkt cookie c0ffee
created: police index 7 ref 1 bind 0 sent 0 bytes 0 pkt
bound: gact index 1 ref 2 bind 1 sent 0 bytes 0 pkt cookie c0ffee
counted: 1; position [1] names no action
listed: gact index 1 ref 2 bind 1 sent 180 bytes 3 pkt cookie c0ffee
police 7: rate 125000 bytes a second, burst 10240 bytes
delete of a bound action: FAILED_PRECONDITION, reason ACTION_BOUND, {'index': '1', 'kind': 'gact', 'netns': 'red', 'position': '0'}
create of an index in use: ALREADY_EXISTS, reason ACTION_EXISTS, {'index': '1', 'kind': 'gact', 'netns': 'red', 'position': '0'}
a cookie of 17 bytes: INVALID_ARGUMENT, reason INVALID_FIELD, {'field': 'actions[0].cookie', 'netns': 'red', 'position': '0'}
unbound: gact index 1 ref 1 bind 0 sent 180 bytes 3 pkt cookie c0ffee
deleted, with its last statistics: gact index 1 ref 0 bind 0 sent 180 bytes 3 pkt cookie c0ffee
batch 1: indexes [2, 0] operation 1 ACTION_EXISTS
batch 2: indexes [2, 7]
pcpu_alloc_mutex acquired N times
"""


def run(program, *words):
    return subprocess.run([PYTHON, f"{CLIENT}/{program}", *words], capture_output=True, text=True, timeout=60)


def calls_of_protos():
    """{"tcact.v1.Admin": ["GetSlabInfo", ...]} as the files say."""
    found = {}
    for name in ("action_store", "admin"):
        text = open(f"proto/tcact/v1/{name}.proto").read()
        service, body = re.search(r"^service (\w+) \{(.*?)^\}", text, re.M | re.S).groups()
        found[f"tcact.v1.{service}"] = re.findall(r"^  rpc (\w+)\(", body, re.M)
    return found


class PythonClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.address = f"unix:{cls.work.name}/s"
        cls.server = subprocess.Popen([TCACTD, f"--listen={cls.address}", "--log-level=warn"])
        deadline = time.monotonic() + 20
        while not os.path.exists(f"{cls.work.name}/s"):
            assert cls.server.poll() is None and time.monotonic() < deadline, "tcactd does not start"
            time.sleep(0.05)

    @classmethod
    def tearDownClass(cls):
        cls.server.send_signal(signal.SIGTERM)
        assert cls.server.wait(30) == 0
        cls.work.cleanup()

    def test_tour_prints_what_the_server_answers(self):
        said = run("tour.py", self.address, "red")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertEqual(re.sub(r"acquired \d+ times", "acquired N times", said.stdout), TOUR)
        # It leaves nothing behind, so it can be taken again.
        again = run("tour.py", self.address, "red")
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_reflection_tells_every_service_and_call_of_the_protos(self):
        said = run("describe.py", self.address)
        self.assertEqual(said.returncode, 0, said.stderr)
        services = {}
        for line in said.stdout.splitlines():
            call = re.fullmatch(r"  (\w+)\(\w+\) -> \w+", line)
            if call:
                services[service].append(call.group(1))
            elif re.fullmatch(r"[\w.]+", line):
                service = line
                services[service] = []
        expected = calls_of_protos()
        self.assertGreater(len(expected["tcact.v1.ActionStore"]), 10)
        for name, calls in expected.items():
            self.assertEqual(services.get(name), calls)
        self.assertIn("grpc.health.v1.Health", services)

    def test_a_call_without_protos_is_answered(self):
        said = run("describe.py", self.address).stdout
        self.assertIn(f"pid: {self.server.pid}\n", said)
        self.assertRegex(said, r"kinds: \['bpf', .*'gact', .*'vlan'\]")


if __name__ == "__main__":
    TCACTD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
