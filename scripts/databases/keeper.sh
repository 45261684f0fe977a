#!/usr/bin/env bash
# keeper.sh BASE  stops what a run has started, when the run is over, and removes BASE.
# On its input it hears which process groups the run has ("+ PID", "- PID"). The end of the input is the end
# of the run: it comes when the run closes it and also when the run is killed, so that nothing outlives it.
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
# The data goes as well: there is nothing to shut down in order.
for file in "$BASE"/*/server.pid; do
  if pid=$(alive "$file"); then
    stop_pid "$file" KILL
    # What it had started for itself, as a cluster's node does to get its data.
    kill -KILL -- "-$pid" 2>/dev/null || true
  fi
done
rm -rf "$BASE"
