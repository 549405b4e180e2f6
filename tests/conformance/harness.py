"""What both runners need: a tcactd of their own, a `tc` on the PATH, a fresh namespace for each case.

The command under test must take its network namespace from TCACT_NETNS and its server from TCACT_SERVER, as
tcact does. Every case gets a namespace that nobody used before, so cases neither see each other nor need
cleaning up, and may run at the same time.
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# All kinds that cases and transcripts speak of. A kind that the store under test lacks is a reason to skip.
KNOWN_KINDS = frozenset(
    "bpf connmark csum ct ctinfo gact gate ife mirred mpls nat pedit police sample simple skbedit skbmod "
    "tunnel_key vlan".split())
# `action pass` is `action gact pass`.
VERDICTS = frozenset("pass ok drop shot pipe reclassify continue trap jump goto".split())

COMMAND_TIMEOUT_S = 60
START_TIMEOUT_S = 20


class HarnessError(Exception):
    """The run itself is broken: no server, no such file. Not a failed case."""


@dataclasses.dataclass
class Answer:
    """What a command did."""
    code: int
    out: str
    err: str


@dataclasses.dataclass
class Outcome:
    """How one case ended: status is passed, failed or skipped; detail says why unless it passed."""
    name: str
    status: str
    detail: str = ""


def kinds_named(command):
    """The kinds that a command line names, in any of tc's ways."""
    found = set()
    for word in re.findall(r"\baction\s+([a-z_]+)", command):
        if word in KNOWN_KINDS:
            found.add(word)
        elif word in VERDICTS:
            found.add("gact")
    return found


# Runs a command in a network namespace of its own that has the devices which cases speak of. Not all kernels have dummy
# devices; what they are made of does not matter here.
IN_A_NETWORK_WITH_DEVICES = [
    "unshare", "-n", "sh", "-c",
    'for name in dummy0 dummy1 dummy7; do ip link add "$name" type bridge || exit 1; done; exec "$@"', "sh"]


@functools.cache
def can_make_devices():
    """Whether this machine lets us make a network namespace and devices in it."""
    try:
        return subprocess.run([*IN_A_NETWORK_WITH_DEVICES, "true"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


class Server:
    """A tcactd on a unix socket in a temporary folder; ended by its process id."""

    def __init__(self, binary, folder):
        self.has_devices = can_make_devices()
        inside, devices = ([], "any")
        if self.has_devices:
            inside, devices = (IN_A_NETWORK_WITH_DEVICES, "host")
        self.address = f"unix:{folder}/tcactd.sock"
        self._log_path = os.path.join(folder, "tcactd.log")
        with open(self._log_path, "wb") as log:
            self._process = subprocess.Popen(
                [*inside, binary, f"--listen={self.address}", "--store=memory", "--drain-seconds=1",
                 f"--devices={devices}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait_until_serving(self, command):
        """Returns once `command health` succeeds; HarnessError with the server's log if it never does."""
        deadline = time.monotonic() + START_TIMEOUT_S
        environment = dict(os.environ, TCACT_SERVER=self.address)
        while time.monotonic() < deadline and self._process.poll() is None:
            if subprocess.run([*command, "health"], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return
            time.sleep(0.05)
        with open(self._log_path, encoding="utf-8", errors="replace") as log:
            raise HarnessError("tcactd does not serve; its log:\n" + log.read())

    def stop(self):
        """Ends the server. Returns its exit code, which is 0 unless something is wrong with it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return -signal.SIGKILL


class Bench:
    """Where commands run. A context manager: the temporary folder and the server live inside `with`."""

    def __init__(self, tc, server_address=None, server_binary=None, kinds=None):
        self._tc = shlex.split(tc)
        self._server_address = server_address
        self._server_binary = server_binary
        self._kinds = kinds
        self._numbers = itertools.count(1)
        self._server = None
        self.folder = None
        self.kinds = frozenset()
        # Whether the server knows which devices there are.
        self.has_devices = False

    def __enter__(self):
        program = shutil.which(self._tc[0])
        if program is None:
            raise HarnessError(f"no such program: {self._tc[0]}")
        self._tc[0] = os.path.abspath(program)
        # Short: a unix socket's path may have 107 characters.
        self.folder = tempfile.mkdtemp(prefix="tcc", dir="/tmp")
        try:
            self._write_program("tc", "exec " + shlex.join(self._tc) + ' "$@"\n')
            self._write_program("ip", IP_WRAPPER)
            if self._server_address is None and self._server_binary is not None:
                self._server = Server(os.path.abspath(self._server_binary), self.folder)
                self._server_address = self._server.address
                self.has_devices = self._server.has_devices
                self._server.wait_until_serving(self._tc)
            self.kinds = frozenset(self._kinds or self._ask_kinds())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        code = self._server.stop() if self._server is not None else 0
        shutil.rmtree(self.folder, ignore_errors=True)
        if code != 0:
            raise HarnessError(f"tcactd ended with {code}")

    @property
    def tc_path(self):
        return os.path.join(self.folder, "bin", "tc")

    def _write_program(self, name, text):
        folder = os.path.join(self.folder, "bin")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)

    def _ask_kinds(self):
        answer = self.run(f"{shlex.quote(self.tc_path)} health", "")
        match = re.search(r"\bkinds ([a-z_ ]+)", answer.out)
        if answer.code != 0 or match is None:
            raise HarnessError("the server does not tell its kinds: name them with --kinds")
        return match.group(1).split()

    def fresh_netns(self):
        """A namespace that no case of this or another run has used."""
        return f"case-{os.getpid()}-{next(self._numbers)}"

    def run(self, command, netns):
        """Runs a shell line in `netns` and returns its Answer; a line that hangs is ended and answers 124."""
        environment = dict(os.environ, LC_ALL="C", TCACT_NETNS=netns,
                           PATH=os.path.join(self.folder, "bin") + ":" + os.environ.get("PATH", "/usr/bin:/bin"))
        if self._server_address is not None:
            environment["TCACT_SERVER"] = self._server_address
        # A session of its own, so that a pipe's members end with it.
        process = subprocess.Popen(["/bin/bash", "-c", command], env=environment, cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        try:
            out, err = process.communicate(timeout=COMMAND_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Answer(124, "", f"no answer in {COMMAND_TIMEOUT_S} s\n")
        return Answer(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


# `ip netns add|del|exec`: a namespace NAME of a case is the store's namespace CASE.NAME.
IP_WRAPPER = r"""
[ "$1" = netns ] || { echo "ip: only netns is known here" >&2; exit 1; }
verb=$2 name=$3
case $verb in
  add) exit 0 ;;
  del | delete)
    # A namespace that never held an action does not exist in the store.
    tc netns del "$TCACT_NETNS.$name" >/dev/null 2>&1
    exit 0 ;;
  exec) shift 3; TCACT_NETNS="$TCACT_NETNS.$name" exec "$@" ;;
  *) echo "ip netns: unknown word: $verb" >&2; exit 1 ;;
esac
"""


def add_common_flags(parser):
    """The flags that both runners have."""
    parser.add_argument("paths", nargs="+", help="files, or folders whose files are all run")
    parser.add_argument("--tc", required=True, help="the tc command, such as 'bazel-bin/client/tcact'")
    parser.add_argument("--server", help="address of a running tcactd (default: start one)")
    parser.add_argument("--server-binary", help="the tcactd to start when --server is not given")
    parser.add_argument("--kinds", type=lambda text: [kind for kind in text.split(",") if kind],
                        help="the kinds that the store has, with commas (default: ask the server)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cases at once")
    parser.add_argument("--json", metavar="FILE", help="write all outcomes to FILE")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print skipped cases")


def find_files(paths, ending):
    """The files among `paths`, and those with `ending` in the folders among them, in order."""
    files = []
    for path in paths:
        if os.path.isdir(path):
            files += sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(ending))
        elif os.path.isfile(path):
            files.append(path)
        else:
            raise HarnessError(f"no such file or folder: {path}")
    if not files:
        raise HarnessError(f"no *{ending} in {', '.join(paths)}")
    return files


def run_all(work, jobs):
    """`work` is a list of (file, function that returns Outcomes); returns {file: [Outcome]} in that order."""
    results = {}
    with concurrent.futures.ThreadPoolExecutor(max(jobs, 1)) as pool:
        futures = [(path, pool.submit(function)) for path, function in work]
        for path, future in futures:
            results.setdefault(path, []).extend(future.result())
    return results


def report(results, json_path=None, verbose=False, out=None):
    """Prints failures, a line a file and the last line `N passed, N failed, N skipped`. Returns the exit code."""
    out = out or sys.stdout
    totals = dict.fromkeys(("passed", "failed", "skipped"), 0)
    reasons = {}
    for path, outcomes in results.items():
        counts = dict.fromkeys(totals, 0)
        for outcome in outcomes:
            counts[outcome.status] += 1
            totals[outcome.status] += 1
            if outcome.status == "skipped":
                reasons[outcome.detail] = reasons.get(outcome.detail, 0) + 1
            if outcome.status == "failed" or (verbose and outcome.status == "skipped"):
                print(f"{outcome.status.upper()} {os.path.basename(path)}: {outcome.name}\n"
                      + "".join(f"    {line}\n" for line in outcome.detail.splitlines()), file=out)
        print(f"{os.path.basename(path)}: " + ", ".join(f"{n} {word}" for word, n in counts.items()), file=out)
    remarks = [outcome.detail for outcomes in results.values() for outcome in outcomes
               if outcome.status == "passed" and outcome.detail]
    for remark in sorted(set(remarks)):
        print(f"  passed, but {remarks.count(remark)} times: {remark}", file=out)
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        print(f"  skipped {count}: {reason}", file=out)
    if json_path:
        document = {"totals": totals,
                    "files": {path: [dataclasses.asdict(o) for o in outcomes] for path, outcomes in results.items()}}
        with open(json_path, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
    print(", ".join(f"{n} {word}" for word, n in totals.items()), file=out)
    # A run that checked nothing has not passed.
    return 1 if totals["failed"] or not totals["passed"] else 0


def main(description, ending, plan, extra_flags=None):
    """Both runners' main: `plan(bench, file, options)` returns the work of one file. Returns the exit code."""
    parser = argparse.ArgumentParser(description=description)
    add_common_flags(parser)
    if extra_flags:
        extra_flags(parser)
    options = parser.parse_args()
    try:
        files = find_files(options.paths, ending)
        with Bench(options.tc, options.server, options.server_binary, options.kinds) as bench:
            work = list(itertools.chain.from_iterable(plan(bench, path, options) for path in files))
            results = run_all(work, options.jobs)
        return report(results, options.json, options.verbose)
    except HarnessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
