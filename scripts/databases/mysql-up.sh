#!/usr/bin/env bash
# mysql-up.sh DIR PORT durable|fast [option of mysqld...]
# Runs MySQL on 127.0.0.1:PORT with all its files in DIR, and prints the path of the client.
# MYSQLD=/path/to/mysqld runs that server; without it, Debian sid's is fetched into the cache.
. "$(dirname "$0")/_process.sh"
. "$(dirname "$0")/_packages.sh"
DIR=$1 PORT=$2 PROFILE=$3
shift 3

if [ -n "${MYSQLD:-}" ]; then
  KEPT=$CACHE/mysql-installed-$("$MYSQLD" --version | cksum | cut -d' ' -f1)
  PATHS=() CLIENT=$(command -v mysql || true)
else
  unpack mysql-sid sid mysql-server-core mysql-client-core
  KEPT=$CACHE/mysql-sid USR=$CACHE/mysql-sid/prefix/usr
  MYSQLD=$USR/sbin/mysqld CLIENT=$USR/bin/mysql
  PATHS=(--basedir="$USR" --lc-messages-dir="$USR/share/mysql" --character-sets-dir="$USR/share/mysql/charsets"
    --plugin-dir="$USR/lib/mysql/plugin")
fi
PATHS=(--no-defaults "${PATHS[@]}" --secure-file-priv=NULL)
if [ "$(id -u)" = 0 ]; then PATHS+=(--user=root); fi

# An empty data directory is created once and copied for each server: 0.3 s instead of 3 s.
mkdir -p "$KEPT" "$DIR"
exec 7>"$KEPT/.template.lock"
flock 7
if [ ! -d "$KEPT/template" ]; then
  log "mysqld: creating the first data directory"
  rm -rf "$KEPT/template.tmp"
  "$MYSQLD" "${PATHS[@]}" --datadir="$KEPT/template.tmp" --log-error="$KEPT/init.log" --initialize-insecure \
    --innodb-redo-log-capacity=64M --innodb-flush-method=nosync --innodb-doublewrite=OFF || {
    tail -n 20 "$KEPT/init.log" >&2
    die "mysqld --initialize failed"
  }
  rm -f "$KEPT/template.tmp/auto.cnf" # the server's uuid, which must differ between copies
  mv "$KEPT/template.tmp" "$KEPT/template"
fi
exec 7>&-
cp -a --reflink=auto "$KEPT/template" "$DIR/data"

case $PROFILE in
durable) OPTIONS=(--innodb-flush-log-at-trx-commit=1 --sync-binlog=1 --log-bin="$DIR/data/binlog"
  --innodb-buffer-pool-size=1G --innodb-redo-log-capacity=512M) ;;
fast) OPTIONS=(--innodb-flush-log-at-trx-commit=0 --sync-binlog=0 --skip-log-bin --innodb-doublewrite=OFF
  --innodb-flush-method=nosync --innodb-buffer-pool-size=128M --innodb-redo-log-capacity=64M) ;;
*) die "the profile is durable or fast, not $PROFILE" ;;
esac
: >"$DIR/error.log"
echo "CREATE USER IF NOT EXISTS root@'127.0.0.1' IDENTIFIED BY ''; GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;" >"$DIR/init.sql"
spawn "$DIR/server.pid" "$DIR/stdout.log" "$MYSQLD" "${PATHS[@]}" --datadir="$DIR/data" --log-error="$DIR/error.log" \
  --port="$PORT" --bind-address=127.0.0.1 --socket="$DIR/s.sock" --pid-file="$DIR/mysqld.pid" --mysqlx=OFF \
  --init-file="$DIR/init.sql" --server-id="$PORT" --max-connections=500 --performance-schema=ON \
  --innodb-print-all-deadlocks=ON --innodb-monitor-enable=lock_deadlocks "${OPTIONS[@]}" "$@"
wait_ready mysqld "$DIR" "$PORT"
echo "$CLIENT"
