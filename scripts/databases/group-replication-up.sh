#!/usr/bin/env bash
# group-replication-up.sh DIR PORT durable|fast
# Runs a MySQL Group Replication group of three nodes with one primary, node i on 127.0.0.1:PORT+i with all its files in
# DIR-i. A second run starts killed nodes again, which rejoin.
. "$(dirname "$0")/_process.sh"
. "$(dirname "$0")/_packages.sh"
DIR=$1 PORT=$2 PROFILE=$3
NODES=3

unpack mysql-sid sid mysql-server-core mysql-client-core
KEPT=$CACHE/mysql-sid USR=$CACHE/mysql-sid/prefix/usr
PATHS=(--no-defaults --basedir="$USR" --lc-messages-dir="$USR/share/mysql" --character-sets-dir="$USR/share/mysql/charsets"
  --plugin-dir="$USR/lib/mysql/plugin" --secure-file-priv=NULL)
if [ "$(id -u)" = 0 ]; then PATHS+=(--user=root); fi
if [ ! -d "$KEPT/template" ]; then
  MYSQLD='' bash "$(dirname "$0")/mysql-up.sh" "$DIR-first" "$PORT" fast >&2
  stop_pid "$DIR-first/server.pid"
fi

case $PROFILE in
durable) DURABLE=(--innodb-flush-log-at-trx-commit=1 --sync-binlog=1) ;;
fast) DURABLE=(--innodb-flush-log-at-trx-commit=0 --sync-binlog=0 --innodb-doublewrite=OFF --innodb-flush-method=nosync) ;;
*) die "the profile is durable or fast, not $PROFILE" ;;
esac

mkdir -p "$DIR-group"
[ -s "$DIR-group/uuid" ] || cat /proc/sys/kernel/random/uuid >"$DIR-group/uuid"
SEEDS=127.0.0.1:$((PORT + 20)),127.0.0.1:$((PORT + 21)),127.0.0.1:$((PORT + 22))

run_sql() { "$USR/bin/mysql" --no-defaults -uroot -S "$DIR-$1/s.sock" -BNe "$2"; } # run_sql NODE SQL
state_of() {
  run_sql "$1" "SELECT COALESCE((SELECT member_state FROM performance_schema.replication_group_members
                             WHERE member_id = @@server_uuid), 'OFFLINE')" 2>/dev/null || true
}

# The states that the group's members report for the node on port $1.
members_on_port() {
  local i
  for ((i = 0; i < NODES; i++)); do
    if [ "$(state_of "$i")" != ONLINE ]; then continue; fi
    run_sql "$i" "SELECT member_state FROM performance_schema.replication_group_members WHERE member_port = $1"
  done
}

# The node is read-only until it joins, because the group would never receive writes from before.
start_node() {
  local dir=$DIR-$1 i
  mkdir -p "$dir"
  [ -d "$dir/data" ] || cp -a --reflink=auto "$KEPT/template" "$dir/data"
  rm -f "$dir/s.sock" "$dir/s.sock.lock" # left by a killed server
  : >"$dir/error.log"
  spawn "$dir/server.pid" "$dir/stdout.log" "$USR/sbin/mysqld" "${PATHS[@]}" --datadir="$dir/data" \
    --log-error="$dir/error.log" --port=$((PORT + $1)) --bind-address=127.0.0.1 --socket="$dir/s.sock" \
    --pid-file="$dir/mysqld.pid" --mysqlx=OFF --server-id=$((PORT + $1)) --report-host=127.0.0.1 \
    --report-port=$((PORT + $1)) --max-connections=300 --gtid-mode=ON --enforce-gtid-consistency=ON \
    --super-read-only=ON --log-bin="$dir/data/binlog" --relay-log="$dir/data/relay" --innodb-buffer-pool-size=128M \
    --innodb-redo-log-capacity=64M "${DURABLE[@]}" \
    --plugin-load-add=group_replication.so --plugin-load-add=mysql_clone.so \
    --loose-group-replication-group-name="$(cat "$DIR-group/uuid")" --loose-group-replication-start-on-boot=OFF \
    --loose-group-replication-local-address=127.0.0.1:$((PORT + 20 + $1)) \
    --loose-group-replication-group-seeds="$SEEDS" --loose-group-replication-ip-allowlist=127.0.0.1/8 \
    --loose-group-replication-bootstrap-group=OFF --loose-group-replication-message-cache-size=134217728 \
    --loose-group-replication-recovery-get-public-key=ON --loose-group-replication-paxos-single-leader=OFF \
    --loose-group-replication-single-primary-mode=ON --loose-group-replication-enforce-update-everywhere-checks=OFF
  for ((i = 0; i < 600; i++)); do
    if ! alive "$dir/server.pid" >/dev/null; then
      tail -n 30 "$dir/error.log" >&2
      die "node $1 ended"
    fi
    if run_sql "$1" 'SELECT 1' >/dev/null 2>&1; then break; fi
    sleep 0.1
  done
  if [ -e "$dir/users" ]; then return; fi
  run_sql "$1" "SET sql_log_bin = 0; SET GLOBAL super_read_only = 0;
    CREATE USER IF NOT EXISTS root@'127.0.0.1' IDENTIFIED BY ''; GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
    CREATE USER IF NOT EXISTS replicator@'%' IDENTIFIED BY 'replicator';
    GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO replicator@'%';
    CHANGE REPLICATION SOURCE TO source_user = 'replicator', source_password = 'replicator'
      FOR CHANNEL 'group_replication_recovery';
    SET GLOBAL super_read_only = 1"
  touch "$dir/users"
}

join() { # join NODE [bootstrap]
  local i
  if [ "${2:-}" = bootstrap ]; then run_sql "$1" 'SET GLOBAL group_replication_bootstrap_group = ON'; fi
  # The group rejects a node that it still lists, and each try makes the killed node look reachable for longer.
  for ((i = 0; i < 300; i++)); do
    if [ -z "$(members_on_port $((PORT + $1)))" ]; then break; fi
    sleep 0.2
  done
  if ! run_sql "$1" 'START GROUP_REPLICATION'; then
    tail -n 30 "$DIR-$1/error.log" >&2
    die "node $1 was not let into the group"
  fi
  run_sql "$1" 'SET GLOBAL group_replication_bootstrap_group = OFF'
  for ((i = 0; i < 900; i++)); do
    if [ "$(state_of "$1")" = ONLINE ]; then
      log "node $1 is in the group, on port $((PORT + $1))"
      return
    fi
    sleep 0.1
  done
  tail -n 30 "$DIR-$1/error.log" >&2
  die "node $1 did not join within 90 s"
}

for ((i = 0; i < NODES; i++)); do
  if ! alive "$DIR-$i/server.pid" >/dev/null; then start_node "$i"; fi
done
ONLINE=''
for ((i = 0; i < NODES; i++)); do if [ "$(state_of "$i")" = ONLINE ]; then ONLINE=1; fi; done
for ((i = 0; i < NODES; i++)); do
  if [ -z "$ONLINE" ]; then
    join "$i" bootstrap
    ONLINE=1
  fi
  case $(state_of "$i") in
  ONLINE | RECOVERING) ;;
  *)
    run_sql "$i" 'STOP GROUP_REPLICATION' >/dev/null 2>&1 || true
    join "$i"
    ;;
  esac
done
