#!/bin/sh
# `outrigger run` beside a simulated KRC over loopback UDP, in real time: a minute at 1 ms, then shorter at the other periods.
# Both sides' tables and histograms for each, in the columns of tests/tables/fri-loss.md; only counts are compared. Some four
# minutes. A fallback is acknowledged and followed by a request every second, so that the run goes on.
#
#   cargo build --release && port-linux/cli/examples/krc-periods.sh target/release/outrigger
#   port-linux/cli/examples/krc-periods.sh target/release/outrigger "1:60"      # one period [ms] and its length [s]
#
# What a busy machine does to 1 ms shows as LocalStall or StateStale, and in the last line of the KRC's part. Where
# it is allowed (`ulimit -r`), both sides run with a real-time priority.
set -u
outrigger=${1:-target/release/outrigger}
runs=${2:-1:60 2:15 5:15 12:20 50:45 100:75}
work=$(mktemp -d)
config=$work/krc-swing.toml
trap 'rm -rf "$work"' EXIT
"$outrigger" example krc-swing.toml > "$config" || exit
port=49940
first='' second=''
if chrt -f 1 true 2> /dev/null; then first='chrt -f 20' second='chrt -f 10'; fi
# The number before the words $1 in file $2, and the first one where there are several.
count() { sed -n "s/.*[^0-9]\([0-9][0-9]*\) $1.*/\1/p; s/^\([0-9][0-9]*\) $1.*/\1/p" "$2" | head -n 1; }
failed=0

# Beside a KRC with a period of $1 ms, for $2 seconds.
beside() {
    port=$((port + 1))
    seconds=$2
    sed "s/49938/$port/; s/^end = .*/end = \"never\"/" "$config" > "$work/run.toml"
    # As many swings as a path may have waypoints, over the whole run.
    awk -v seconds="$seconds" 'BEGIN { step = int(seconds / 12) + 1; if (step < 2) step = 2
        for (n = 1; 4 + n * step < seconds && n < 13; n++)
            printf "\n[[law.waypoint]]\nat = %d.0\ndegrees = [%d, 0, 0, 0, 0, 0, 0]\n", 4 + n * step, n % 2 ? 10 : 0
    }' >> "$work/run.toml"
    $first "$outrigger" sim krc --remote "127.0.0.1:$port" --period-ms "$1" > "$work/krc" &
    krc=$!
    { for _ in $(seq "$seconds"); do sleep 1; echo acknowledge; echo request; done; echo quit; } |
        $second "$outrigger" run "$work/run.toml" > "$work/run" 2> "$work/error"
    kill -INT "$krc"
    wait "$krc"
}

for run in $runs; do
    period=${run%:*}
    for attempt in 1 2 3; do
        beside "$period" "${run#*:}"
        if grep -q 'Arming → Command' "$work/run"; then break; fi
        echo "$period ms: never in Command, attempt $attempt of 3: $(cat "$work/error")"
    done
    echo "== $period ms, ${run#*:} s: outrigger run"
    sed -n '/measurements, .*commands,/,$p' "$work/run"
    echo "== $period ms: the simulated KRC"
    sed -n '/measurements, .*answered/,$p' "$work/krc"

    measurements=$(count measurements "$work/run") commands=$(count commands "$work/run")
    overtaken=$(count overtaken "$work/run") unused=$(count 'not used' "$work/run")
    sent=$(count measurements "$work/krc") answered=$(count 'answered in time' "$work/krc")
    late=$(count late, "$work/krc") old=$(count old, "$work/krc")
    # Each measurement is answered, or a newer one was; each command arrives, the last one perhaps after the count.
    gone=$((commands - answered - late - old))
    if ! grep -q 'Arming → Command' "$work/run"; then
        echo "$period ms: FAILED: never in Command"; failed=1
    elif [ $((commands + overtaken + unused)) -ne "$measurements" ]; then
        echo "$period ms: FAILED: $measurements measurements, but $commands + $overtaken + $unused accounted for"; failed=1
    elif [ "$measurements" -gt "$sent" ] || [ "$gone" -lt 0 ] || [ "$gone" -gt 1 ]; then
        echo "$period ms: FAILED: $sent sent, $measurements received; $commands commands, $gone of them never arrived"; failed=1
    else
        echo "$period ms: every measurement and every command is accounted for"
    fi
done
exit $failed
