#!/bin/sh
# Runs a Python program of this folder as a Bazel test: run_python.sh PROGRAM [ARGUMENT...].
# The tests are sh_test because the system's Bazel has no Python rules without downloads.
exec python3 "$@"
