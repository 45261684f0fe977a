#!/usr/bin/env bash
# keeper.sh BASE  stops the processes of a run when the run ends, and removes BASE.
# Its input lists the process groups that the run starts and ends ("+ PID", "- PID"). The input ends when the run closes
# it or is killed, so that no process outlives the run.
. "$(dirname "$0")/_process.sh"
BASE=$1
trap '' INT TERM HUP

declare -A groups=()
while read -r sign pid; do
  case $sign in
  +) groups[$pid]=$(proc_start "$pid" || true) ;;
  -) unset "groups[$pid]" ;;
  esac
done

for pid in "${!groups[@]}"; do
  if [ "$(proc_start "$pid" || true)" = "${groups[$pid]:-gone}" ]; then kill -KILL -- "-$pid" 2>/dev/null || true; fi
done
# The data is removed as well, so no server needs an orderly shutdown.
for file in "$BASE"/*/server.pid; do
  if pid=$(alive "$file"); then
    stop_pid "$file" KILL
    # A node of a cluster starts processes to receive its data.
    kill -KILL -- "-$pid" 2>/dev/null || true
  fi
done
rm -rf "$BASE"
