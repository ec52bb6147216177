#!/bin/bash
# Starts Prometheus, VictoriaMetrics, node-exporter and Alertmanager on loopback for tests/real_servers.rs.
#
#   tests/servers/start.sh DIR      # then:  . DIR/env
#
# DIR gets the data, the logs, a NAME.pid each and `env`, which exports the addresses. Servers that already run from DIR
# are kept. A server whose Debian package is missing is named on stderr and left out; its variable stays unset.
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: $0 DIR" >&2
  exit 2
fi
mkdir -p "$1"
dir=$(cd "$1" && pwd)
cd "$dir"

running() { # NAME: whether the process that NAME.pid names is ours and alive
  [ -s "$1.pid" ] && [ "$(readlink "/proc/$(cat "$1.pid")/cwd" 2>/dev/null)" = "$dir" ]
}

free_port() { # below the range from which the kernel hands out ports
  local port
  for _ in $(seq 100); do
    port=$((15000 + RANDOM % 15000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      echo "$port"
      return
    fi
  done
  echo "no free port between 15000 and 30000" >&2
  exit 1
}

answers() { # PORT PATH: whether GET answers 200
  local line
  exec 3<>"/dev/tcp/127.0.0.1/$1" || return 1
  printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$2" >&3
  read -r -t 2 line <&3 || line=
  exec 3>&-
  [[ $line == *" 200 "* ]]
}

launch() { # NAME PROGRAM READY_PATH ARGUMENT...   `PORT` in an argument stands for the port
  local name=$1 program=$2 ready=$3 port
  shift 3
  if ! command -v "$program" >/dev/null; then
    echo "missing: $program; apt-get install --no-install-recommends $name" >&2
    return 0
  fi
  if running "$name"; then
    return 0
  fi
  for _ in 1 2 3; do
    port=$(free_port)
    "$program" "${@//PORT/$port}" >"$name.log" 2>&1 </dev/null 3>&- &
    echo $! >"$name.pid"
    for _ in $(seq 600); do
      if (answers "$port" "$ready") 2>/dev/null; then
        echo "$port" >"$name.port"
        return 0
      fi
      running "$name" || break
      sleep 0.05
    done
    kill "$(cat "$name.pid")" 2>/dev/null || true
    rm -f "$name.pid"
  done
  echo "$name did not become ready; the end of $dir/$name.log:" >&2
  tail -n 5 "$name.log" >&2
  exit 1
}

port_of() { cat "$1.port" 2>/dev/null || echo 1; }

launch prometheus-node-exporter prometheus-node-exporter /metrics --web.listen-address=127.0.0.1:PORT

cat >alertmanager.yml <<'Y'
route: {receiver: nobody}
receivers: [{name: nobody}]
Y
launch prometheus-alertmanager prometheus-alertmanager /-/ready --config.file=alertmanager.yml \
  --storage.path="$dir/alertmanager" --web.listen-address=127.0.0.1:PORT --cluster.listen-address=

cat >rules.yml <<'Y'
groups:
- name: tests
  interval: 1s
  rules:
  - alert: TargetDown
    expr: up == 0
    labels: {severity: critical}
    annotations: {summary: '{{ $labels.instance }} of {{ $labels.job }} is down'}
  - alert: SlowToFire
    expr: vector(1)
    for: 1h
    labels: {severity: warning}
Y
# Port 1 is never listened on: the target that is down.
cat >scrape.yml <<Y
global: {scrape_interval: 1s}
scrape_configs:
- {job_name: node, static_configs: [{targets: ['127.0.0.1:$(port_of prometheus-node-exporter)'], labels: {service: host}}]}
- {job_name: dead, static_configs: [{targets: ['127.0.0.1:1'], labels: {service: checkout}}]}
Y
{
  sed 's/^global:.*/global: {scrape_interval: 1s, evaluation_interval: 1s, external_labels: {cluster: tests}}/' scrape.yml
  echo "rule_files: [rules.yml]"
  echo "alerting: {alertmanagers: [{static_configs: [{targets: ['127.0.0.1:$(port_of prometheus-alertmanager)']}]}]}"
} >prometheus.yml
launch prometheus prometheus /-/ready --config.file=prometheus.yml --storage.tsdb.path="$dir/prometheus" \
  --web.listen-address=127.0.0.1:PORT
launch victoria-metrics victoria-metrics /health -httpListenAddr=127.0.0.1:PORT \
  -storageDataPath="$dir/victoria-metrics" -retentionPeriod=1d -search.latencyOffset=1s \
  -promscrape.config=scrape.yml

: >env
export_as() { # VARIABLE NAME
  if running "$2"; then
    echo "export $1=http://127.0.0.1:$(cat "$2.port")" >>env
  fi
}
export_as WARRANT_TEST_PROMETHEUS prometheus
export_as WARRANT_TEST_VICTORIAMETRICS victoria-metrics
export_as WARRANT_TEST_ALERTMANAGER prometheus-alertmanager
export_as WARRANT_TEST_NODE_EXPORTER prometheus-node-exporter
cat env
