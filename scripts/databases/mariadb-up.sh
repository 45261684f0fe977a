#!/usr/bin/env bash
# mariadb-up.sh DIR PORT durable|fast [option of mariadbd...]
# Runs MariaDB on 127.0.0.1:PORT with all its files in DIR, and prints the path of the client.
# MARIADBD=/path/to/mariadbd runs that server; without it, the one of Debian MARIADB_SUITE (bookworm: 10.11,
# trixie: 11.8) is fetched into the cache.
. "$(dirname "$0")/_process.sh"
. "$(dirname "$0")/_packages.sh"
DIR=$1 PORT=$2 PROFILE=$3
shift 3

if [ -n "${MARIADBD:-}" ]; then
  KEPT=$CACHE/mariadb-installed-$("$MARIADBD" --version | cksum | cut -d' ' -f1)
  PATHS=() CLIENT=$(command -v mariadb || command -v mysql || true) INSTALL_DB=mariadb-install-db
else
  SUITE=${MARIADB_SUITE:-bookworm}
  unpack "mariadb-$SUITE" "$SUITE" mariadb-server
  KEPT=$CACHE/mariadb-$SUITE USR=$CACHE/mariadb-$SUITE/prefix/usr
  MARIADBD=$USR/sbin/mariadbd CLIENT=$USR/bin/mariadb INSTALL_DB=$USR/bin/mariadb-install-db
  SHARE=$USR/share/mysql
  if [ -d "$USR/share/mariadb" ]; then SHARE=$USR/share/mariadb; fi
  PATHS=(--basedir="$USR" --lc-messages-dir="$SHARE" --character-sets-dir="$SHARE/charsets"
    --plugin-dir="$USR/lib/mysql/plugin")
fi
AS=()
if [ "$(id -u)" = 0 ]; then AS=(--user=root); fi

# An empty data directory is created once and copied for each server.
mkdir -p "$KEPT" "$DIR"
exec 7>"$KEPT/.template.lock"
flock 7
if [ ! -d "$KEPT/template" ]; then
  log "mariadbd: creating the first data directory"
  rm -rf "$KEPT/template.tmp"
  mkdir -p "$KEPT/template.tmp"
  # --force: no name resolution. normal: root has an empty password instead of socket authentication.
  "$INSTALL_DB" --no-defaults "${AS[@]}" ${USR:+--basedir="$USR"} --datadir="$KEPT/template.tmp" --force \
    --auth-root-authentication-method=normal --skip-test-db --skip-log-bin \
    --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --innodb-flush-method=nosync >"$KEPT/init.log" 2>&1 || {
    tail -n 20 "$KEPT/init.log" >&2
    die "mariadb-install-db failed"
  }
  mv "$KEPT/template.tmp" "$KEPT/template"
fi
exec 7>&-
cp -a --reflink=auto "$KEPT/template" "$DIR/data"

case $PROFILE in
durable) OPTIONS=(--innodb-flush-log-at-trx-commit=1 --sync-binlog=1 --log-bin="$DIR/data/binlog" --binlog-format=ROW
  --innodb-buffer-pool-size=1G --innodb-log-file-size=256M) ;;
fast) OPTIONS=(--innodb-flush-log-at-trx-commit=0 --sync-binlog=0 --skip-log-bin --innodb-doublewrite=0
  --innodb-flush-method=nosync --innodb-buffer-pool-size=128M) ;;
*) die "the profile is durable or fast, not $PROFILE" ;;
esac
: >"$DIR/error.log"
# A server deletes the temporary files of earlier ones from the folder when it starts, also those of a server that runs.
mkdir -p "$DIR/tmp"
spawn "$DIR/server.pid" "$DIR/stdout.log" "$MARIADBD" --no-defaults "${AS[@]}" "${PATHS[@]}" --datadir="$DIR/data" \
  --log-error="$DIR/error.log" --port="$PORT" --bind-address=127.0.0.1 --socket="$DIR/s.sock" \
  --pid-file="$DIR/mariadbd.pid" --tmpdir="$DIR/tmp" --server-id="$PORT" --max-connections=500 \
  --character-set-server=utf8mb4 --collation-server=utf8mb4_general_ci \
  --innodb-print-all-deadlocks=ON "${OPTIONS[@]}" "$@"
wait_ready mariadbd "$DIR" "$PORT"
echo "$CLIENT"
