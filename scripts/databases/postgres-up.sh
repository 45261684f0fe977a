#!/usr/bin/env bash
# postgres-up.sh DIR PORT durable|fast [option of postgres...]
# Runs PostgreSQL on 127.0.0.1:PORT (user postgres, no password) with all its files in DIR, and prints the path of
# the client. POSTGRES=/path/to/postgres runs that server; without it, the one of Debian POSTGRES_SUITE (trixie: 17)
# is fetched into the cache.
#
# PostgreSQL refuses to run as root. Under root it runs as RUN_AS (default: the user "nobody"), so that
# user must be able to reach its programs and files.
if [ "$(id -u)" = 0 ]; then SQL_QUEUE_CACHE=${SQL_QUEUE_CACHE:-/var/cache/nestjs-sql-queue}; fi
. "$(dirname "$0")/_process.sh"
. "$(dirname "$0")/_packages.sh"
DIR=$1 PORT=$2 PROFILE=$3
shift 3

# wrap_server DIR  wraps the programs outside of /usr/bin as well, which wrap_programs omits. They find each other and
# their share folder beside their own path, so prefix has the same layout.
wrap_server() {
  local root=$1/root version bin sample file
  wrap_programs "$1"
  version=$(ls "$root/usr/lib/postgresql")
  bin=$1/prefix/usr/lib/postgresql/$version/bin
  sample=$1/prefix/usr/bin/localedef
  [ -e "$sample" ] || sample=$(grep -l -- --library-path "$1"/prefix/usr/bin/* | head -n 1)
  rm -rf "$1/prefix/usr/lib/postgresql"
  mkdir -p "$bin"
  ln -s "$root/usr/lib/postgresql/$version/lib" "$1/prefix/usr/lib/postgresql/$version/lib"
  for file in "$root/usr/lib/postgresql/$version/bin"/*; do
    # The loader and its library path are those of the existing wrappers.
    sed "s#--argv0 [^ ]*#--argv0 $bin/${file##*/}#; s#[^ ]* \"\$@\"#$file \"\$@\"#" "$sample" >"$bin/${file##*/}"
    chmod 755 "$bin/${file##*/}"
  done
}

if [ -n "${POSTGRES:-}" ]; then
  BIN=$(dirname "$(readlink -f "$POSTGRES")")
  KEPT=$CACHE/postgres-installed-$("$POSTGRES" --version | cksum | cut -d' ' -f1)
else
  SUITE=${POSTGRES_SUITE:-trixie}
  # unpack calls it under its lock, because two servers can start at a time.
  FINISH=wrap_server
  unpack "postgres-$SUITE" "$SUITE" postgresql libc-bin tzdata
  KEPT=$CACHE/postgres-$SUITE
  VERSION=$(ls "$KEPT/root/usr/lib/postgresql")
  BIN=$KEPT/prefix/usr/lib/postgresql/$VERSION/bin
fi

mkdir -p "$KEPT" "$DIR/cluster"
AS=()
if [ "$(id -u)" = 0 ]; then
  RUN_AS=${RUN_AS:-nobody}
  AS=(setpriv --reuid="$(id -u "$RUN_AS")" --regid="$(id -g "$RUN_AS")" --clear-groups env HOME=/)
  chown "$(id -u "$RUN_AS"):$(id -g "$RUN_AS")" "$DIR/cluster"
  chmod o+x "$DIR" "$(dirname "$DIR")"
fi
cd /

# --no-sync affects only initdb's files; the profile decides about later commits.
"${AS[@]}" "$BIN/initdb" -D "$DIR/cluster/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
  --no-instructions >"$DIR/init.log" 2>&1 || {
  tail -n 20 "$DIR/init.log" >&2
  die "initdb failed"
}

case $PROFILE in
durable) OPTIONS=(-c fsync=on -c synchronous_commit=on -c full_page_writes=on -c shared_buffers=1GB
  -c max_wal_size=2GB) ;;
fast) OPTIONS=(-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=128MB) ;;
*) die "the profile is durable or fast, not $PROFILE" ;;
esac
: >"$DIR/error.log"
spawn "$DIR/server.pid" "$DIR/error.log" "${AS[@]}" "$BIN/postgres" -D "$DIR/cluster/data" -p "$PORT" \
  -c listen_addresses=127.0.0.1 -c unix_socket_directories="$DIR/cluster" -c max_connections=300 "${OPTIONS[@]}" "$@"

wait_ready postgres "$DIR" "$PORT" 'ready to accept connections'
echo "$BIN/psql"
