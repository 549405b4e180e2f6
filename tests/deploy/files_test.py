"""Holds the files of deploy/ against each other and against the programs: files_test.py TCACTD TCACT

Names, ports, users, variables and times that stand in several places must agree, every TCACT_… variable must be a flag
that tcactd has, and tcactd must start with the settings as they stand in each file.
"""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import yaml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks

DEPLOY = pathlib.Path("deploy")
KUBERNETES = DEPLOY / "kubernetes"
# tcactd ignores a variable that it has no flag for; a build without the metrics page has not this one.
MAY_BE_ABSENT = {"TCACT_METRICS_LISTEN"}
# Not flags of tcactd: tcact's own, and compose's.
OTHER_VARIABLES = {"TCACT_SERVER", "TCACT_NETNS", "TCACT_IMAGE"}


def load(path):
    return yaml.safe_load(path.read_text())


def check_variables(faults, flags):
    known = {flag.variable for flag in flags.values()} | OTHER_VARIABLES | MAY_BE_ABSENT
    files = [path for path in DEPLOY.rglob("*") if path.is_file() and path.suffix != ".bash"]
    seen = set()
    for path in files:
        for name in set(re.findall(r"\bTCACT_[A-Z][A-Z0-9_]*[A-Z0-9]\b", path.read_text())):
            seen.add(name)
            faults.require(name in known, f"{path}: tcactd has no flag for {name}")
    faults.require({"TCACT_LISTEN", "TCACT_STORE"} <= seen, "the variables of deploy/ cannot be read")


def image_words_of_containerfile():
    words = {"env": {}}
    for line in (DEPLOY / "Containerfile").read_text().split("FROM scratch", 1)[1].splitlines():
        instruction, _, rest = line.partition(" ")
        if instruction == "ENV":
            name, _, value = rest.partition("=")
            words["env"][name] = value
        elif instruction == "HEALTHCHECK":
            options, _, command = rest.partition(" CMD ")
            words["health"] = dict(option[2:].split("=") for option in options.split())
            words["health"]["cmd"] = " ".join(yaml.safe_load(command))
        elif instruction in ("USER", "EXPOSE", "VOLUME", "STOPSIGNAL", "ENTRYPOINT", "WORKDIR"):
            words[instruction.lower()] = rest
    return words


def image_words_of_script():
    text = (DEPLOY / "image.sh").read_text().replace("\\\n", " ")
    line = next(line for line in text.splitlines() if line.startswith("buildah config"))
    words, health = {"env": {}}, {}
    options = shlex.split(line)[2:]
    names = {"--user": "user", "--port": "expose", "--volume": "volume", "--stop-signal": "stopsignal",
             "--entrypoint": "entrypoint", "--workingdir": "workdir"}
    for name, value in zip(options[0::2], options[1::2]):
        if name == "--env":
            variable, _, setting = value.partition("=")
            words["env"][variable] = setting
        elif name == "--healthcheck":
            health["cmd"] = value.removeprefix("CMD ")
        elif name.startswith("--healthcheck-"):
            health[name.removeprefix("--healthcheck-")] = value
        elif name in names:
            words[names[name]] = value
    words["health"] = health
    return words


def check_image(faults):
    container, script = image_words_of_containerfile(), image_words_of_script()
    for key in sorted(container.keys() | script.keys()):
        faults.require(container.get(key) == script.get(key),
                       f"Containerfile and image.sh differ in {key}: {container.get(key)} and {script.get(key)}")
    return container


def seconds(text):
    return int(re.fullmatch(r"(\d+)s?", str(text)).group(1))


def check_compose(faults, version, image):
    service = load(DEPLOY / "compose.yaml")["services"]["tcactd"]
    faults.require(service["image"].endswith(f":{version}}}"), f"compose.yaml: the image is not of version {version}")
    faults.require(service["user"] == image["user"], "compose.yaml: another user than the image's")
    faults.require(service["volumes"] == ["store:" + image["volume"]], "compose.yaml: the volume is not the image's")
    drain = int(service["environment"]["TCACT_DRAIN_SECONDS"])
    faults.require(seconds(service["stop_grace_period"]) >= drain + 10, "compose.yaml: stop_grace_period is too short")
    for port in service["ports"]:
        faults.require(port.startswith("127.0.0.1:"), f"compose.yaml publishes {port} beyond loopback")
    if shutil.which("docker-compose"):
        said = subprocess.run(["docker-compose", "-f", DEPLOY / "compose.yaml", "config", "--quiet"],
                              capture_output=True, text=True)
        faults.require(said.returncode == 0, f"compose.yaml: {said.stderr}")
    else:
        print("compose.yaml not held against its schema: no docker-compose here")


def check_kustomization(faults, version):
    kustomization = load(KUBERNETES / "kustomization.yaml")
    files = {path.name for path in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml"}
    faults.require(set(kustomization["resources"]) == files, f"kustomization.yaml lists not exactly {sorted(files)}")
    faults.require(kustomization["images"][0]["newTag"] == version, f"kustomization.yaml: not version {version}")
    return {name: load(KUBERNETES / name) for name in files}


def check_probes(faults, container):
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    proto = "\n".join(path.read_text() for path in pathlib.Path("proto/tcact/v1").glob("*.proto"))
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        probe = container[name]["grpc"]
        faults.require(probe["port"] == ports["grpc"], f"{name}: not the port of gRPC")
        service = probe["service"].removeprefix("tcact.v1.")
        faults.require(f"service {service} {{" in proto, f"{name}: no service {probe['service']}")
    return ports


def check_kubernetes(faults, version, image):
    objects = check_kustomization(faults, version)
    stateful = objects["statefulset.yaml"]["spec"]
    pod = stateful["template"]["spec"]
    container = pod["containers"][0]
    labels = stateful["template"]["metadata"]["labels"]
    ports = check_probes(faults, container)
    uid, gid = map(int, image["user"].split(":"))
    context = pod["securityContext"]
    faults.require((context["runAsUser"], context["runAsGroup"]) == (uid, gid), "statefulset: not the image's user")
    faults.require(container["volumeMounts"][0]["mountPath"] == image["volume"], "statefulset: not the image's volume")
    faults.require(stateful["serviceName"] == objects["service-headless.yaml"]["metadata"]["name"],
                   "statefulset: serviceName names no service")
    settings = objects["configmap.yaml"]["data"]
    faults.require(pod["terminationGracePeriodSeconds"] >= int(settings["TCACT_DRAIN_SECONDS"]) + 10,
                   "statefulset: terminationGracePeriodSeconds is too short for the drain")
    for setting, port in (("TCACT_LISTEN", "grpc"), ("TCACT_METRICS_LISTEN", "metrics")):
        faults.require(settings[setting].endswith(f":{ports[port]}"), f"configmap: {setting} is not port {port}")
    for name, selector in {
            "statefulset.yaml": stateful["selector"]["matchLabels"],
            "poddisruptionbudget.yaml": objects["poddisruptionbudget.yaml"]["spec"]["selector"]["matchLabels"],
            "network-policy.yaml": objects["network-policy.yaml"]["spec"]["podSelector"]["matchLabels"],
            "service.yaml": objects["service.yaml"]["spec"]["selector"],
            "service-headless.yaml": objects["service-headless.yaml"]["spec"]["selector"]}.items():
        # Labels that the controller itself sets are no part of the template.
        own = {key: value for key, value in selector.items() if not key.startswith("statefulset.kubernetes.io/")}
        faults.require(own and own.items() <= labels.items(), f"{name}: the selector finds no pod")
    monitor = objects["servicemonitor.yaml"]["spec"]
    headless = objects["service-headless.yaml"]
    faults.require(monitor["selector"]["matchLabels"].items() <= headless["metadata"]["labels"].items(),
                   "servicemonitor: the selector finds no service")
    faults.require({end["port"] for end in monitor["endpoints"]} <= {p["name"] for p in headless["spec"]["ports"]},
                   "servicemonitor: no such port")
    return settings


def check_unit(faults):
    unit = (DEPLOY / "systemd/tcactd.service").read_text()
    user = re.search(r"^User=(.*)$", unit, re.M).group(1)
    faults.require(re.search(rf"^u {user} ", (DEPLOY / "systemd/sysusers.conf").read_text(), re.M), "no such user")
    return dict(line.split("=", 1) for line in re.findall(r"^Environment=(TCACT_.*)$", unit, re.M))


def check_starts(faults, tcactd, tcact, where, settings):
    """tcactd with these settings serves and ends in order; only the places it serves at and keeps things are others."""
    with tempfile.TemporaryDirectory() as work:
        address = f"unix:{work}/s"
        environment = {"PATH": os.environ["PATH"], **settings, "TCACT_LISTEN": address,
                       "TCACT_STORE": f"rocksdb:{work}/store", "TCACT_METRICS_LISTEN": "127.0.0.1:0"}
        with open(work + "/log", "w+") as log:
            server = subprocess.Popen([tcactd], env=environment, stderr=log)
            deadline = time.monotonic() + 30
            healthy = False
            while not healthy and server.poll() is None and time.monotonic() < deadline:
                healthy = subprocess.run([tcact, "--server", address, "health"], capture_output=True).returncode == 0
                time.sleep(0.05)
            server.send_signal(signal.SIGTERM)
            code = server.wait(60)
            log.seek(0)
            faults.require(healthy and code == 0, f"{where}: tcactd with these settings: exit {code}: {log.read()}")


def main():
    tcactd, tcact = (os.path.abspath(path) for path in sys.argv[1:3])
    faults = checks.Faults()
    version = subprocess.run([tcactd, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    check_variables(faults, checks.flags_of(tcactd))
    image = check_image(faults)
    check_compose(faults, version, image)
    check_starts(faults, tcactd, tcact, "image", image["env"])
    check_starts(faults, tcactd, tcact, "kubernetes", check_kubernetes(faults, version, image))
    check_starts(faults, tcactd, tcact, "unit", check_unit(faults))
    faults.finish("files of deploy/")


if __name__ == "__main__":
    main()
