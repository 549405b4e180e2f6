#!/bin/sh
# Runs a Python program as a Bazel test, with Debian's own Python, which has the packages of deploy/packages.txt:
# run_python.sh PROGRAM [ARGUMENT...].
exec /usr/bin/python3 "$@"
