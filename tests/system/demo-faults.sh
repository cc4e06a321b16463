#!/usr/bin/env bash
# Every fault that is committed to the demo, one after another, and the check that each fails. Ends with 1 where one of them
# passes: then a bound of the demo is too wide on this machine.
#
#   tests/system/demo-faults.sh [PROGRAM [FAULT...]]
#
# A minute or two for each on a busy machine, less on a quiet one.
set -euo pipefail
program=${1:-target/release/outrigger}
[ -x "$program" ] || { echo "no program $program: cargo build --release -p outrigger-cli" >&2; exit 2; }
faults=("${@:2}")
if [ ${#faults[@]} -eq 0 ]; then
    # The program names them where it is given none of them.
    read -r -a faults < <("$program" demo --break no-such-fault 2>&1 | sed -n 's/.*possible values: \(.*\)\]/\1/p' | tr -d ',')
fi
[ ${#faults[@]} -gt 0 ] || { echo "$program names no faults" >&2; exit 2; }

said=$(mktemp)
trap 'rm -f "$said"' EXIT
passed=0
for fault in "${faults[@]}"; do
    code=0
    "$program" demo --break "$fault" --duration 30 </dev/null >"$said" 2>&1 || code=$?
    failed=$(sed -n 's/^FAILED \([^ ]*\).*/\1/p' "$said" | paste -s -d ' ' || true)
    machine=$(sed -n 's/.* \(this machine pauses programs for up.*\)/\1/p' "$said" | head -n 1)
    if [ "$code" -eq 4 ] && [ -n "$failed" ]; then
        printf '%-18s fails %s (%s)\n' "$fault" "$failed" "$machine"
    else
        printf '%-18s PASSES with exit code %s (%s)\n' "$fault" "$code" "$machine"
        passed=1
    fi
done
exit "$passed"
