#!/bin/sh
# Half a turn of the base joint, and back, on simulated controllers of five versions, with feedback and without:
# one line each. Real time over loopback TCP: some three minutes on a machine that does little else.
#
#   cargo build --release && port-linux/cli/examples/half-turn.sh target/release/outrigger
set -u
outrigger=${1:-target/release/outrigger}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
config=$work/half-turn.toml
"$outrigger" example half-turn.toml > "$config" || exit
sed '$!N;/^\[\[law.waypoint\]\]\nat = 4/,$d;P;D' "$config" > "$work/there.toml"
cp "$config" "$work/back.toml"
# The first number (the base joint, or the only one) of a member of the summary.
member() { sed -n "/\"type\":\"summary\"/s/.*\"$1\":\[*\([^],}]*\).*/\1/p" "$work/out"; }
base=40000
printf '%-9s %-9s %-6s %6s %26s %14s %14s\n' software feedback motion exit 'reaction target/joint' 'steady [deg]' 'end [deg]'
for feedback in true false; do
    for software in 1.8 3.1 3.5 3.15 5.15; do
        for motion in there back; do
            base=$((base + 20))
            # By states from 30003 alone a stop at the pendant would be overridden.
            { echo 'session.expert.pendant_stop = "overridden"'; sed "s/^kind = \"joint-servo\"/&\nexpert.feedback = $feedback/" "$work/$motion.toml"; } > "$work/run.toml"
            "$outrigger" sim ur --polyscope "$software" --port-base "$base" --duration 30 > "$work/sim" &
            simulator=$!
            while ! [ -s "$work/sim" ]; do sleep 0.1; done
            "$outrigger" run "$work/run.toml" --robot "127.0.0.1:$base" --json < /dev/null > "$work/out" 2> "$work/err"
            code=$?
            kill "$simulator"; wait "$simulator" 2> /dev/null; : > "$work/sim"
            printf '%-9s %-9s %-6s %6s %26s %14s %14s\n' "$software" "$feedback" "$motion" "$code" \
                "$(member reaction_target_cycles) / $(member reaction_joint_cycles)" \
                "$(member steady_state_error_deg)" "$(member end_error_deg)"
            cat "$work/err" >&2
        done
    done
done
