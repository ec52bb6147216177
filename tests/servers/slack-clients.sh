#!/bin/bash
# Installs the Slack clients that the tests' Slack-shaped server is held to, into a directory that is kept.
#
#   tests/servers/slack-clients.sh DIRECTORY
set -euo pipefail
dir=$1
mkdir -p "$dir"
cd "$dir"
if [ ! -e node_modules/@slack/bolt/package.json ]; then
  # A package file of its own, or npm would install into the nearest directory above that has one.
  [ -e package.json ] || echo '{"private": true}' >package.json
  npm install --silent --no-audit --no-fund --ignore-scripts @slack/bolt@5.1.0
fi
if ! py/bin/python -c 'import slack_bolt' 2>/dev/null; then
  python3 -m venv py
  py/bin/python -m pip install --quiet --disable-pip-version-check slack-sdk==3.47.0 slack-bolt==1.30.0
fi
