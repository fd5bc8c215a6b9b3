# Shared by run, test and check: where things are, and one way to say how far we are. Sourced, not run.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# DVP_BUILD: a build directory that is configured already, instead of the preset's.
preset=${DVP_PRESET:-release}
build=${DVP_BUILD:-$root/build/$preset}

# step N M NAME: opens a progress line; what the step prints completes it.
step() { printf '[%s/%s] %-12s ' "$1" "$2" "$3"; }

since() { # seconds as 3m41s
  local seconds=$((SECONDS - $1))
  printf '%dm%02ds' $((seconds / 60)) $((seconds % 60))
}

configure_and_build() { # targets...
  local start=$SECONDS log=${DVP_BUILD:+$build/scripts.log}
  log=${log:-$root/build/$preset.log}
  mkdir -p "$(dirname "$log")"
  : >"$log"
  if [ -z "${DVP_BUILD:-}" ] && ! cmake --preset "$preset" -S "$root" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "configure failed; whole log: $log" >&2
    return 1
  fi
  if [ -t 1 ]; then
    cmake --build "$build" --target "$@" 2>&1 | tee -a "$log" | progress_bar
  else
    cmake --build "$build" --target "$@" >>"$log" 2>&1
  fi || {
    grep -nE '(fatal )?error:|^FAILED|undefined (reference|symbol)' "$log" | head -n 20 >&2 || true
    echo "build failed; whole log: $log" >&2
    return 1
  }
  echo "ok ($(since "$start"))"
}

progress_bar() { # ninja's [n/m] lines as one moving line
  local LC_ALL=C.UTF-8 line full='████████████████████' empty='░░░░░░░░░░░░░░░░░░░░'
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    local filled=$((BASH_REMATCH[1] * 20 / BASH_REMATCH[2]))
    printf '\r[2/%s] %-12s %s%s %d/%d ' "$steps" build "${full:0:filled}" "${empty:filled}" \
      "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
  done
}
