#!/usr/bin/env bash
# redis-up.sh DIR PORT no|everysec|always|off [option of redis-server...]
# Runs Redis on 127.0.0.1:PORT with all its files in DIR, and prints the path of the client. The third argument is the
# value of appendfsync; off: no append-only file. REDIS=/path/to/redis-server runs that server; without it, the one of
# Debian REDIS_SUITE (trixie: 8.0) is fetched into the cache.
. "$(dirname "$0")/_process.sh"
. "$(dirname "$0")/_packages.sh"
DIR=$1 PORT=$2 APPENDFSYNC=$3
shift 3

if [ -n "${REDIS:-}" ]; then
  CLIENT=$(command -v redis-cli || true)
else
  SUITE=${REDIS_SUITE:-trixie}
  unpack "redis-$SUITE" "$SUITE" redis-server redis-tools
  REDIS=$CACHE/redis-$SUITE/prefix/usr/bin/redis-server CLIENT=$CACHE/redis-$SUITE/prefix/usr/bin/redis-cli
fi

case $APPENDFSYNC in
off) OPTIONS=(--appendonly no) ;;
no | everysec | always) OPTIONS=(--appendonly yes --appendfsync "$APPENDFSYNC") ;;
*) die "appendfsync is no, everysec, always or off, not $APPENDFSYNC" ;;
esac
mkdir -p "$DIR/data"
: >"$DIR/error.log"
# No snapshots: the append-only file keeps the data, and a fork during a measurement is noise.
spawn "$DIR/server.pid" "$DIR/error.log" "$REDIS" --port "$PORT" --bind 127.0.0.1 --dir "$DIR/data" --save '' \
  --maxmemory-policy noeviction "${OPTIONS[@]}" "$@"

wait_ready redis-server "$DIR" "$PORT" 'Ready to accept connections'
echo "$CLIENT"
