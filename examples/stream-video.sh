#!/bin/sh
# A film from ffmpeg through `hopcast stream` to ffmpeg, over loopback: how many of its frames arrive.
#
# HOPCAST names the program, SECONDS_OF_FILM its length (5).
set -eu
hopcast=${HOPCAST:-hopcast}
seconds=${SECONDS_OF_FILM:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The player: it reads the pipe and counts what it can decode.
{
    "$hopcast" stream receive --listen 127.0.0.1 --output - 2> "$work/receive" |
        ffmpeg -v error -i - -f null -fps_mode passthrough -progress "$work/played" -
} &
# The encoder, in real time: a key frame each second, tables before each.
ffmpeg -v error -re -f lavfi -i testsrc2=size=640x360:rate=25 -t "$seconds" \
    -c:v libx264 -preset veryfast -b:v 1M -g 25 -progress "$work/encoded" \
    -mpegts_flags +pat_pmt_at_frames -f mpegts - |
    "$hopcast" stream send --to 127.0.0.1 2> "$work/send"
wait

frames() {
    grep '^frame=' "$1" | tail -n 1
}
echo "encoded: $(frames "$work/encoded"), played: $(frames "$work/played")"
tail -n 1 "$work/send" "$work/receive"
