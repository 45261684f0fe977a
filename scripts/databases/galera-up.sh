#!/usr/bin/env bash
# galera-up.sh DIR PORT durable|fast
# Runs a Galera cluster of three MariaDB nodes, node i on 127.0.0.1:PORT+i with all its files in DIR-i. A second run
# starts killed nodes again, which rejoin. The server is the one of Debian MARIADB_SUITE (bookworm: 10.11).
. "$(dirname "$0")/_process.sh"
. "$(dirname "$0")/_packages.sh"
DIR=$1 PORT=$2 PROFILE=$3
NODES=3

SUITE=${MARIADB_SUITE:-bookworm}
unpack "mariadb-$SUITE" "$SUITE" mariadb-server
KEPT=$CACHE/mariadb-$SUITE USR=$CACHE/mariadb-$SUITE/prefix/usr
SHARE=$USR/share/mysql
if [ -d "$USR/share/mariadb" ]; then SHARE=$USR/share/mariadb; fi
AS=()
if [ "$(id -u)" = 0 ]; then AS=(--user=root); fi
PATHS=(--no-defaults "${AS[@]}" --basedir="$USR" --lc-messages-dir="$SHARE" --character-sets-dir="$SHARE/charsets"
  --plugin-dir="$USR/lib/mysql/plugin")
if [ ! -d "$KEPT/template" ]; then
  MARIADBD='' bash "$(dirname "$0")/mariadb-up.sh" "$DIR-first" "$PORT" fast >&2
  stop_pid "$DIR-first/server.pid"
fi

case $PROFILE in
durable) DURABLE=(--innodb-flush-log-at-trx-commit=1 --sync-binlog=1 --log-slave-updates) ;;
fast) DURABLE=(--innodb-flush-log-at-trx-commit=0 --skip-log-bin --innodb-doublewrite=0 --innodb-flush-method=nosync) ;;
*) die "the profile is durable or fast, not $PROFILE" ;;
esac

# A node receives its data by rsync. The server's scripts take rsync from the server's folder and search for a process
# of that name, which an unpacked program has only through a link. As root its daemon would run as user "nobody", which
# may not write to the node's folder.
if ! grep -q dparam "$USR/bin/rsync"; then
  mkdir -p "$KEPT/loader"
  ln -sfn "$(sed -n 's/^exec \([^ ]*\) --argv0.*/\1/p' "$USR/bin/rsync")" "$KEPT/loader/rsync"
  {
    echo '#!/bin/sh'
    # shellcheck disable=SC2016
    echo '[ "$1" = --daemon ] && [ "$(id -u)" = 0 ] && { shift; set -- --daemon --dparam=uid=0 --dparam=gid=0 "$@"; }'
    sed -n "s#^exec [^ ]* --argv0#exec $KEPT/loader/rsync --argv0#p" "$USR/bin/rsync"
  } >"$USR/bin/rsync.new"
  chmod 755 "$USR/bin/rsync.new"
  mv "$USR/bin/rsync.new" "$USR/bin/rsync"
fi
export PATH=$USR/bin:$USR/sbin:$PATH

PEERS=$(for ((i = 0; i < NODES; i++)); do printf '%s127.0.0.1:%d' "${PEERS:+,}" $((PORT + 20 + i)); PEERS=1; done)

run_sql() { "$USR/bin/mariadb" --no-defaults -uroot -h127.0.0.1 -P$((PORT + $1)) -BNe "$2" 2>/dev/null; } # run_sql NODE SQL
synced() {
  [ "$(run_sql "$1" "SELECT variable_value FROM information_schema.global_status
                 WHERE variable_name = 'wsrep_local_state_comment'")" = Synced ]
}

options_of() { # options_of NODE  -> OPTIONS
  local dir=$DIR-$1
  # A server deletes the temporary files of earlier ones from the folder when it starts, also those of another node.
  mkdir -p "$dir/tmp"
  OPTIONS=("${PATHS[@]}" --datadir="$dir/data" --port=$((PORT + $1)) --bind-address=127.0.0.1 --socket="$dir/s.sock"
    --pid-file="$dir/mariadbd.pid" --tmpdir="$dir/tmp" --server-id=1 --max-connections=300 --innodb-buffer-pool-size=128M
    --character-set-server=utf8mb4 --collation-server=utf8mb4_general_ci
    --binlog-format=ROW --default-storage-engine=InnoDB --innodb-autoinc-lock-mode=2 "${DURABLE[@]}"
    --wsrep-on=ON --wsrep-provider="$KEPT/root/usr/lib/galera/libgalera_smm.so" --wsrep-cluster-name="queue-$PORT"
    --wsrep-node-name="n$1" --wsrep-node-address=127.0.0.1 --wsrep-node-incoming-address="127.0.0.1:$((PORT + $1))"
    --wsrep-sst-method=rsync --wsrep-sst-receive-address="127.0.0.1:$((PORT + 60 + $1))"
    --wsrep-provider-options="base_host=127.0.0.1;base_port=$((PORT + 20 + $1));gmcast.listen_addr=tcp://127.0.0.1:$((PORT + 20 + $1));ist.recv_addr=127.0.0.1:$((PORT + 40 + $1));gcache.size=64M;pc.recovery=false")
  if [ "$PROFILE" = durable ]; then OPTIONS+=(--log-bin="$dir/data/binlog"); fi
}

# The position of a killed node's data, with which it receives only the transactions that it missed.
position_of() { # position_of NODE  -> POSITION
  local dir=$DIR-$1
  POSITION=''
  if [ ! -d "$dir/data" ]; then return; fi
  options_of "$1"
  rm -f "$dir/recover.log"
  "$USR/sbin/mariadbd" "${OPTIONS[@]}" --log-error="$dir/recover.log" --wsrep-cluster-address=gcomm:// --wsrep-recover \
    >"$dir/recover.out" 2>&1 || true
  POSITION=$(sed -n 's/.*WSREP: Recovered position: *\([^ ]*\).*/\1/p' "$dir/recover.log" 2>/dev/null | tail -n 1)
}

# The cluster may reject a killed node while it still lists the node as a member, so the node is started up to three
# times.
start_node() { # start_node NODE OPTION...
  local tries
  for tries in 1 2 3; do
    if try_node "$@"; then return; fi
    log "node $1 ended, try $tries"
    sleep 3
  done
  tail -n 40 "$DIR-$1/error.log" >&2
  die "node $1 ended"
}

try_node() {
  local node=$1 dir=$DIR-$1 i
  shift
  mkdir -p "$dir"
  if [ -d "$dir/data" ]; then position_of "$node"; else
    POSITION=''
    cp -a --reflink=auto "$KEPT/template" "$dir/data"
  fi
  if [ -n "$POSITION" ]; then set -- "$@" --wsrep-start-position="$POSITION"; fi
  options_of "$node"
  : >"$dir/error.log"
  spawn "$dir/server.pid" "$dir/stdout.log" "$USR/sbin/mariadbd" "${OPTIONS[@]}" --log-error="$dir/error.log" "$@"
  for ((i = 0; i < 900; i++)); do
    if ! alive "$dir/server.pid" >/dev/null; then return 1; fi
    if synced "$node"; then
      log "node $node is in the cluster, on port $((PORT + node))"
      return
    fi
    sleep 0.1
  done
  die "node $node did not join within 90 s"
}

RUNNING=0
# A node that is alive but does not answer still has the cluster. A second cluster beside it would accept separate
# writes.
for ((i = 0; i < NODES; i++)); do if alive "$DIR-$i/server.pid" >/dev/null; then RUNNING=1; fi; done
for ((i = 0; i < NODES; i++)); do
  if alive "$DIR-$i/server.pid" >/dev/null; then continue; fi
  if [ "$RUNNING" = 0 ]; then
    start_node "$i" --wsrep-new-cluster --wsrep-cluster-address=gcomm://
    RUNNING=1
  else
    start_node "$i" --wsrep-cluster-address="gcomm://$PEERS"
  fi
done
