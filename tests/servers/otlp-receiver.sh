#!/bin/bash
# Installs the OTLP receiver that spans are sent to in tests, which is not ours, into a directory that is kept.
#
#   tests/servers/otlp-receiver.sh DIRECTORY
set -euo pipefail
dir=$1
mkdir -p "$dir"
cd "$dir"
if ! py/bin/python -c 'import oteltap' 2>/dev/null; then
  python3 -m venv py
  py/bin/python -m pip install --quiet --disable-pip-version-check oteltap==1.0.0 opentelemetry-proto==1.45.2
fi
