# Sourced, never run: starts processes, and stops only those that it started.
set -euo pipefail

T0=$(date +%s%3N)
log() { printf '[%6d ms] %s\n' "$(($(date +%s%3N) - T0))" "$*" >&2; }
die() {
  log "$*"
  exit 1
}

# The start time of a pid, which identifies the process if the pid is reused.
proc_start() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  stat=${stat##*) }
  set -- $stat
  [ "$1" != Z ] || return 1
  echo "${20}"
}

remember() { echo "$2 $(proc_start "$2")" >"$1"; } # remember FILE PID

alive() { # alive FILE  -> prints the pid if our process still runs
  local pid start
  [ -s "$1" ] || return 1
  read -r pid start <"$1"
  [ "$(proc_start "$pid" || true)" = "$start" ] || return 1
  echo "$pid"
}

stop_pid() { # stop_pid FILE [SIGNAL]
  local pid i
  if pid=$(alive "$1"); then
    kill -"${2:-TERM}" "$pid" 2>/dev/null || true
    for ((i = 0; i < 300; i++)); do
      alive "$1" >/dev/null || break
      sleep 0.1
    done
    if alive "$1" >/dev/null; then kill -KILL "$pid" 2>/dev/null || true; fi
  fi
  rm -f "$1"
}

# The server outlives this script, so it must not inherit the script's locks and pipes.
spawn() { # spawn PIDFILE LOGFILE COMMAND...
  local pidfile=$1 logfile=$2
  shift 2
  setsid "$@" </dev/null >>"$logfile" 2>&1 7>&- 8>&- &
  remember "$pidfile" $!
}

answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; } # answers PORT

# wait_ready NAME DIR PORT [TEXT]  waits until the server of DIR has logged the text and opened its port.
wait_ready() {
  local i
  for ((i = 0; i < 1200; i++)); do
    if ! alive "$2/server.pid" >/dev/null; then
      tail -qn 30 "$2/error.log" "$2/stdout.log" >&2 2>/dev/null || true
      die "$1 ended before it was ready"
    fi
    if grep -q "${4:-ready for connections}" "$2/error.log" && answers "$3"; then
      log "$1 is up on port $3"
      return
    fi
    sleep 0.05
  done
  die "$1 did not open port $3 within 60 s"
}
