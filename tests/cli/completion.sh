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
# An option of one name has other words in another command.
holds "$(offered 'ridgeline tune --search q' 3)" quick
holds "$(offered 'ridgeline tune --search = q' 4)" quick
lacks() { checks=$((checks + 1)); ! grep -qxF -- "$2" <<<"$1" || problem "offered: $2"; }
lacks "$(offered 'ridgeline bench --search q' 3)" quick
holds "$(offered 'ridgeline params in' 2)" intra_op_num_threads
# Commands of a command.
holds "$(offered 'ridgeline stream be' 2)" bench
holds "$(offered 'ridgeline stream bench --arr' 3)" --arrivals
lacks "$(offered 'ridgeline stream run --arr' 3)" --arrivals
holds "$(offered 'ridgeline stream bench --arrivals p' 4)" poisson
holds "$(offered 'ridgeline profile import --cs' 3)" --csv
# "=" is a word of its own for bash.
holds "$(offered 'ridgeline tune --set execution_mode =' 4)" parallel
holds "$(offered 'ridgeline tune --set execution_mode = pa' 5)" parallel
lacks "$(offered 'ridgeline tune --set execution_mode = pa' 5)" sequential
holds "$(offered 'ridgeline tune --set execution_mode=pa' 3)" execution_mode=parallel
"$RIDGELINE" tune synthetic:base=1ms --quick "${FAST[@]}" --db other.db >/dev/null 2>&1
id=$("$RIDGELINE" history --ids --db other.db)
holds "$(offered 'ridgeline show --db other.db 2' 4)" "$id"
holds "$(offered 'ridgeline show --db = other.db 2' 5)" "$id"
lacks "$(offered 'ridgeline show 2' 2)" "$id"
run 0 completion zsh
out "#compdef ridgeline"
cp out _ridgeline
checks=$((checks + 2))
grep -q -- "'\*--quick\[[^]]*\]'" _ridgeline || problem "zsh: --quick takes a value"
grep -q -- "'\*--json\[[^]]*\]'" _ridgeline || problem "zsh: --json takes a value"
if command -v zsh >/dev/null; then
  checks=$((checks + 1))
  zsh -n _ridgeline || problem "zsh does not parse its script"
  # typed LINE: what zsh finds for it, in a terminal of its own; ends by itself once it has looked.
  mkdir -p zsh
  cat >zsh/.zshrc <<'Z'
fpath=($PWD $fpath)
autoload -U compinit
compinit -u -D
compadd() {
  local -a found
  if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
    builtin compadd -A found "$@"
    print -rl -- $found >>found
  fi
  builtin compadd "$@"
}
comppostfuncs=(exit)
bindkey '^I' complete-word
PS1=READY
Z
  typed() {
    rm -f found
    PATH="$(dirname "$RIDGELINE"):$PATH" ZDOTDIR=$PWD/zsh TERM=dumb timeout 30 zsh -f -c '
      zmodload zsh/zpty; zpty shell zsh -d -i; zpty -r shell ignored "*READY*"
      zpty -n -w shell "$1"$'"'\t'"'; while zpty -r shell ignored; do :; done' zsh "$1" >/dev/null 2>&1
    cat found
  }
  holds "$(typed 'ridgeline tune --quick --se')" --search
  holds "$(typed 'ridgeline tune --search ')" quick
  touch a-file.onnx
  lacks "$(typed 'ridgeline history --json ')" a-file.onnx
  holds "$(typed 'ridgeline tune --json ')" a-file.onnx
  holds "$(typed 'ridgeline tune --config ')" a-file.onnx
  lacks "$(typed 'ridgeline tune --seed ')" a-file.onnx
  holds "$(typed 'ridgeline params in')" intra_op_num_threads
  holds "$(typed 'ridgeline tune --set execution_mode=')" parallel
  holds "$(typed 'ridgeline show --db other.db ')" "$id"
  holds "$(typed 'ridgeline stream be')" bench
  holds "$(typed 'ridgeline stream bench --arrivals ')" poisson
fi
bad "fish" -- completion fish
finish
