#!/bin/bash
# Stops the servers that start.sh started in DIR; the data and logs stay.
#
#   tests/servers/stop.sh DIR
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: $0 DIR" >&2
  exit 2
fi
[ -d "$1" ] || exit 0
dir=$(cd "$1" && pwd)
cd "$dir"

for file in *.pid; do
  [ -s "$file" ] || continue
  pid=$(cat "$file")
  # A number in a file may by now be another's process; ours have this directory as theirs.
  ours() { [ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "$dir" ]; }
  if ours; then
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 100); do
      ours || break
      sleep 0.05
    done
    if ours; then
      kill -9 "$pid" 2>/dev/null || true
    fi
  fi
  rm -f "$file" "${file%.pid}.port"
done
rm -f env
