#!/usr/bin/env bash
# The demo's own turnaround against a trace of its system calls, in the same run: from the end of the read that completed
# a state to the end of writing the text that it caused. Ends with 1 where they differ by more than 20 %.
#
#   port-linux/cli/examples/turnaround-trace.sh [PROGRAM [SECONDS]]
#
# Needs strace, and the right to trace a child. Tracing slows every system call of the traced thread, so that both figures
# are larger than those of a run that nobody watches; what is compared is that they are the same.
set -euo pipefail
program=${1:-target/release/outrigger}
seconds=${2:-60}
command -v strace >/dev/null || { echo "this needs strace (Debian: apt-get install strace)" >&2; exit 2; }
[ -x "$program" ] || { echo "no program $program: cargo build --release -p outrigger-cli" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" demo --duration "$seconds" >"$work/said" 2>&1 &
demo=$!
# Without -f: the one thread that reads states and writes text, not those of the simulated controller and the sensor.
strace -p "$demo" -qq -yy -ttt -T -s 8 -e trace=recvfrom,sendto -e signal=none -o "$work/trace" 2>"$work/strace" || true
# Slowed down, a check of the demo may fail; what was measured is measured.
wait "$demo" || true
[ -s "$work/trace" ] || { cat "$work/strace" >&2; echo "nothing was traced" >&2; exit 2; }

own=$(awk '/from reading a state to having written its command/ { print $1; exit }' "$work/said")
[ -n "$own" ] || { tail -n 5 "$work/said" >&2; echo "the demo said no turnaround" >&2; exit 2; }

# One line per text: µs from the end of the newest read of a state, by RTDE, which is the port after that of text.
awk '
    function port(line) { return match(line, /->[^\]]*:[0-9]+\]/) ? substr(line, RSTART, RLENGTH - 1) : "" }
    function number(name) { sub(/.*:/, "", name); return name + 0 }
    / = [1-9][0-9]* / {
        match($0, /<[0-9.]+>$/)
        if (!RSTART) next
        end = ($1 - epoch) + substr($0, RSTART + 1, RLENGTH - 2)
        peer = number(port($0))
        if ($2 ~ /^recvfrom/) read_at[peer] = end
        else if (/"(speedj|stopj)/ && (peer + 1) in read_at) {
            printf "%.0f\n", (end - read_at[peer + 1]) * 1e6
            delete read_at[peer + 1]
        }
    }
' epoch="$(head -n 1 "$work/trace" | cut -d. -f1)" "$work/trace" | sort -n >"$work/spans"

count=$(wc -l <"$work/spans")
[ "$count" -gt 1000 ] || { echo "only $count answers in the trace" >&2; exit 2; }
traced=$(sed -n "$(((count + 1) / 2))p" "$work/spans")
echo "the demo says $own µs, a trace of its system calls says $traced µs (medians, $count texts in the trace)"
awk -v own="$own" -v traced="$traced" 'BEGIN {
    ratio = own / traced
    printf "ratio %.2f, allowed 0.80 to 1.20\n", ratio
    exit !(ratio >= 0.8 && ratio <= 1.2)
}'
