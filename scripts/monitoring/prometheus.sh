#!/usr/bin/env bash
# prometheus.sh  unpacks Debian's package of Prometheus into the cache and prints the folder with `prometheus` and
# `promtool`.
. "$(dirname "$0")/../databases/_process.sh"
. "$(dirname "$0")/../databases/_packages.sh"

unpack prometheus-bookworm bookworm prometheus
echo "$CACHE/prometheus-bookworm/prefix/usr/bin"
