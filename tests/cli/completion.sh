#!/usr/bin/env bash
# The completion scripts load and offer what the program has.
source "$(dirname "$0")/lib.sh"
run 0 completion bash
cp out completion.bash
offered() {
  bash -c "PATH=$(dirname "$RIDGELINE"):\$PATH; source ./completion.bash; COMP_WORDS=($1); COMP_CWORD=$2; compopt() { :; }; _ridgeline; printf '%s\n' \"\${COMPREPLY[@]}\""
}
holds() { checks=$((checks + 1)); grep -qxF -- "$2" <<<"$1" || problem "not offered: $2"; }
holds "$(offered 'ridgeline tu' 1)" tune
holds "$(offered 'ridgeline tune --obj' 2)" --objective
holds "$(offered 'ridgeline tune --objective th' 3)" throughput
holds "$(offered 'ridgeline tune --set intra_op_num' 3)" intra_op_num_threads=
holds "$(offered 'ridgeline show la' 2)" latest
run 0 completion zsh
out "#compdef ridgeline"
if command -v zsh >/dev/null; then
  checks=$((checks + 1))
  zsh -n "$WORK/out" || problem "zsh does not parse its script"
fi
bad "fish" -- completion fish
finish
