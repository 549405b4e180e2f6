#!/usr/bin/env bash
# A release adds to the protos: takes what is there now into released.txt. Refuses when something released changed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
exec /usr/bin/python3 tests/proto/released/check.py --update . tests/proto/released/released.txt
