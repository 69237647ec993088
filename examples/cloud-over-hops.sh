#!/bin/sh
# A film from ffmpeg through `hopcast cloud` over two emulated hops, and the same request in a simulation of the same scenario. Needs root.
#
# HOPCAST names the program, CLOUD the program that runs in the homes (the same), FILM a transport stream (a moving test picture
# of 2 Mb/s and 15 s unless named).
set -eu
hopcast="${HOPCAST:-hopcast}"
cloud="${CLOUD:-$hopcast}"
scenario=$(dirname "$0")/cloud-over-hops.toml
work=$(mktemp -d)
export work cloud
trap 'rm -rf "$work"' EXIT

if [ -n "${FILM:-}" ]; then
    cp "$FILM" "$work/film.ts"
else
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=640x360:rate=25 -t 15 -c:v libx264 -preset veryfast \
        -b:v 1500k -maxrate 1500k -bufsize 1500k -muxrate 2M -f mpegts "$work/film.ts"
fi
"$hopcast" key "$work/key"

device='"$cloud" cloud serve --interface wlan0 --key "$work/key" --log error'
# Links are measured for half a minute first.
display="$device & device=\$!
    sleep 30; \"\$cloud\" cloud list --json > \"\$work/list\"
    \"\$cloud\" cloud play film | cat > \"\$work/arrived.ts\"
    \"\$cloud\" cloud status --json > \"\$work/display\"
    kill \$device; wait"
other="$device & device=\$!; sleep 70; kill \$device; wait"
source="$device --offer \"\$work/film.ts\" & device=\$!; sleep 70; kill \$device; wait"
# It fails too where it did not keep up with real time, and says so.
"$hopcast" emulate "$scenario" --exec home0 "$display" --exec home1 "$other" --exec home2 "$source" > "$work/emulate" 2>&1 ||
    cat "$work/emulate" >&2
cmp "$work/film.ts" "$work/arrived.ts" && echo "the film has arrived whole"

# The same homes, simulated.
field() {
    sed -n "s/.*\"$2\":\\([^,}]*\\).*/\\1/p" "$work/$1"
}
grep -v '^real = true' "$scenario" > "$work/simulated.toml"
cat >> "$work/simulated.toml" <<END

[cloud]
clips = [{ name = "film", rate = $(field list rate_bps), length = $(field list length_s), at = ["home2"] }]
requests = [{ from = "home0", clip = "film", start = "30 s" }]
END
"$hopcast" run "$work/simulated.toml" --json | tr -d ' \n' | sed 's/.*"streams":\[\({[^}]*}\)\].*/\1/' > "$work/simulated"
tr -d '\n' < "$work/display" | sed 's/.*"plays":\[.*\({"clip"[^}]*}\)\].*/\1/' > "$work/live"

echo "| | outcome | hops | start-up | stalls | predicted stalls |"
echo "|---|---|---:|---:|---:|---:|"
row() {
    echo "| $1 | $(field "$2" outcome | tr -d '"') | $(field "$2" hops) | $(field "$2" start_up_s | cut -c 1-4) s |" \
        "$(field "$2" "$3") | $(field "$2" predicted_stall) |"
}
row live live stalls
row simulated simulated hiccups
