#!/bin/sh
# A film from ffmpeg through `hopcast stream` over three emulated hops, with losses and a link that breaks, to ffmpeg: what
# arrives, by what carries it. Needs root.
#
# HOPCAST names the program, FILM a film (a moving test picture unless named), SECONDS_OF_FILM how much of it is sent (20),
# CARRIERS what carries it, one after the other: variants, with correction behind a colon; SET a value of the scenario to change.
set -eu
export hopcast="${HOPCAST:-hopcast}"
length=${SECONDS_OF_FILM:-20}
carriers=${CARRIERS:-adtfrc adtfrc:20+4 tfrc tfrc:20+4 udp}
scenario=$(dirname "$0")/film-over-hops.toml
work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT

# A key frame each second, tables before each.
if [ -n "${FILM:-}" ]; then
    set -- -i "$FILM" -vf scale=640:360
else
    set -- -f lavfi -i testsrc2=size=640x360:rate=25
fi
ffmpeg -nostdin -v error "$@" -t "$length" -an -c:v libx264 -preset veryfast -b:v 1M -g 25 \
    -mpegts_flags +pat_pmt_at_frames -f mpegts "$work/film.ts"

# A line for each compressed frame of a file, in some order.
frames() {
    ffprobe -v quiet -select_streams v:0 -show_packets -show_data_hash md5 -show_entries packet=data_hash -of csv=p=0 "$1" |
        grep -o 'MD5:[0-9a-f]*' | sort
}
frames "$work/film.ts" > "$work/sent"

# Emulation comes before all else that the machine does, if it may.
first=
if chrt -R -f 10 true 2> "$work/chrt"; then first="chrt -R -f 10"; fi

echo "$(wc -l < "$work/sent") frames"
echo "| carried by | frames delivered whole | frames decoded | hiccups | stalled | longest | packets lost | dropped unsent |"
echo "|---|---:|---:|---:|---:|---:|---:|---:|"
for carrier in $carriers; do
    variant=${carrier%%:*}
    correction=
    if [ "$variant" != "$carrier" ]; then correction="--fec ${carrier#*:}"; fi
    export variant correction
    rm -f "$work/pipe" "$work/arrived.ts" "$work/played" "$work/receive" "$work/send"
    mkfifo "$work/pipe"
    # The player shows nothing, and counts what it can decode.
    screen='"$hopcast" stream receive --variant "$variant" --output "$work/pipe" --json > "$work/receive" &
        tee "$work/arrived.ts" < "$work/pipe" |
            ffmpeg -v quiet -i - -f null -fps_mode passthrough -progress "$work/played" - ; wait $!'
    box='sleep 1; ffmpeg -nostdin -v error -re -i "$work/film.ts" -c copy -f mpegts - |
        "$hopcast" stream send --to 10.0.0.4 --variant "$variant" $correction --json > "$work/send"'
    # It fails too where it did not keep up with real time, and says so.
    $first "$hopcast" emulate "$scenario" ${SET:+--set "$SET"} --exec screen "$screen" --exec box "$box" > "$work/emulate" 2>&1 ||
        cat "$work/emulate" >&2
    [ -s "$work/arrived.ts" ] || exit 1
    frames "$work/arrived.ts" > "$work/arrived"
    last() {
        tail -n 1 "$work/$1" | sed -n "s/.*\"$2\":\\([0-9.]*\\).*/\\1/p"
    }
    seconds() {
        last receive "$1" | awk '{ printf "%.1f s", $1 }'
    }
    share() {
        awk -v part="$1" -v whole="$(wc -l < "$work/sent")" 'BEGIN { printf "%.1f %%", 100 * part / whole }'
    }
    whole=$(comm -12 "$work/sent" "$work/arrived" | wc -l)
    decoded=$(sed -n 's/^frame=//p' "$work/played" | tail -n 1)
    echo "| $carrier | $(share "$whole") | $(share "${decoded:-0}") | $(last receive hiccups) |" \
        "$(seconds stalled_s) | $(seconds longest_hiccup_s) |" \
        "$(last receive packets_lost) | $(last send packets_dropped) |"
done
