#!/usr/bin/env bash
# Holds the tree against the map in docs/design.md: who may reach whom, what may lie at the top, what may not be left
# in the code. Says each fault; exit 1 if there is one.
set -uo pipefail
cd "$(dirname "$0")/../.."
faults=0

fault() {
  echo "architecture: $*"
  faults=$((faults + 1))
}

# Targets that $1 depends on and that match $2.
reached() { bazel query --noshow_progress "deps($1) intersect $2" 2> /dev/null; }

may_not_reach() {
  local found
  found=$(reached "$1" "$2") || { fault "bazel query failed for $1"; return; }
  [[ -z $found ]] || fault "$1 reaches $(tr '\n' ' ' <<< "$found")"
}

# The query can find what it looks for.
[[ -n $(reached '//server/rpc/...' '//third_party:grpcpp') ]] || fault "the query does not even see that rpc uses gRPC"

may_not_reach '//server/core/...' '(//third_party:grpcpp union //third_party:protobuf)'
may_not_reach '//server/core/...' '(//proto/... union //server/rpc/... union //client/...)'
may_not_reach '//server/core/lock/...' '(//server/core/slab/... union //server/core/idr/... union //server/core/act/...)'
may_not_reach '//server/core/percpu/...' '(//server/core/slab/... union //server/core/idr/... union //server/core/act/...)'
may_not_reach '//server/core/slab/...' '(//server/core/idr/... union //server/core/act/...)'
may_not_reach '//server/core/idr/...' '(//server/core/slab/... union //server/core/act/...)'
may_not_reach '//proto/...' '(//server/... union //client/...)'
may_not_reach '//proto/kinds/...' '//third_party:grpcpp'
may_not_reach '//server/...' '//client/...'
may_not_reach '//client/lib/...' '//server/...'
may_not_reach '//client/cli/...' '//server/...'

odd=$(git ls-files | cut -d/ -f1 | sort -u |
  grep -vxE 'WORKSPACE|BUILD|README\.md|LICENSE|proto|server|client|tests|deploy|docs|third_party|\..*')
[[ -z $odd ]] || fault "not allowed at the top level: $odd"

unfinished=$(git grep -nwE 'TODO|FIXME|XXX' -- '*.cc' '*.h' '*.proto')
[[ -z $unfinished ]] || fault "unfinished work named in the code: $unfinished"

git ls-files -z '*.cc' '*.h' | xargs -0 wc -l | awk '$2 != "total" && $1 > 600 {print "note: " $2 " has " $1 " lines"}'

[[ $faults -eq 0 ]]
