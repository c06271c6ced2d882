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
# Runs by name, models, scripts, settings of a stream.
touch a.onnx b.py c.txt 'with blank.onnx'
holds "$(offered 'ridgeline show --db other.db la' 4)" latest:tune
holds "$(offered 'ridgeline show latest : --db other.db' 3)" tune
holds "$(offered 'ridgeline show latest : t --db other.db' 4)" tune
for command in show compare report apply rerun "watch --run" "bench --show" "stream run --settings"; do
  count=$(wc -w <<<"$command")
  holds "$(offered "ridgeline $command '' --db other.db" $((count + 1)))" "$id"
done
holds "$(offered "ridgeline compare ''" 2)" c.txt
for words in tune profile "tune --model" "stream run --model" "watch --model"; do
  count=$(wc -w <<<"$words")
  found=$(offered "ridgeline $words ''" $((count + 1)))
  holds "$found" a.onnx
  holds "$found" 'with blank.onnx'
  lacks "$found" b.py
  lacks "$found" c.txt
done
holds "$(offered "ridgeline profile ''" 2)" import
found=$(offered "ridgeline tune --python ''" 3)
holds "$found" b.py
lacks "$found" a.onnx
holds "$(offered "ridgeline tune --config ''" 3)" c.txt
holds "$(offered "ridgeline rollback --config ''" 3)" c.txt
holds "$(offered 'ridgeline stream run --stream batch' 4)" batch_size=
holds "$(offered 'ridgeline stream run --stream drop =' 5)" oldest
holds "$(offered 'ridgeline stream bench --stream drop=new' 4)" drop=newest
holds "$(offered 'ridgeline watch --baseline l' 3)" learn
holds "$(offered "ridgeline history ''" 2)" --limit
# Former names and hidden commands are not offered.
lacks "$(offered 'ridgeline tune --re' 2)" --report-html
holds "$(offered 'ridgeline tune --re' 2)" --report
lacks "$(offered 'ridgeline comp' 1)" complete-runs
# The names of runs never cost an error or a file.
run 0 complete-runs --db none.db
is "$(cut -f 1 out)$(cat err)" latest "complete-runs without a results file"
[ ! -e none.db ] || problem "complete-runs made none.db"
echo damaged >damaged.db
run 0 complete-runs --db damaged.db
is "$(cut -f 1 out)$(cat err)" latest "complete-runs with a damaged results file"
cp "$SOURCE/tests/data/results/schema3.db" old.db
run 0 complete-runs --db old.db
is "$(cut -f 1 out)$(cat err)" latest "complete-runs with an older results file"
same old.db "$SOURCE/tests/data/results/schema3.db"
run 0 complete-runs --db other.db
out "$id"$'\t'"tune of synthetic:base=1ms"
out "latest:tune"
checks=$((checks + 1))
bash -n completion.bash || problem "bash does not parse its script"
run 0 completion fish
cp out ridgeline.fish
out "complete -c ridgeline"
if command -v fish >/dev/null; then
  checks=$((checks + 1))
  fish -n ridgeline.fish || problem "fish does not parse its script"
  # of LINE: what fish finds for it, without what it is.
  of() {
    PATH="$(dirname "$RIDGELINE"):$PATH" XDG_CONFIG_HOME=$PWD/fish fish --no-config -c \
      'source ridgeline.fish; complete -C $argv[1]' -- "$1" | cut -f 1
  }
  holds "$(of 'ridgeline tu')" tune
  holds "$(of 'ridgeline tune --obj')" --objective
  holds "$(of 'ridgeline tune --objective th')" throughput
  holds "$(of 'ridgeline tune --search q')" quick
  lacks "$(of 'ridgeline bench --search q')" quick
  holds "$(of 'ridgeline tune --set intra_op_num')" intra_op_num_threads=
  holds "$(of 'ridgeline tune --set execution_mode=')" execution_mode=parallel
  holds "$(of 'ridgeline tune --set=execution_mode=p')" --set=execution_mode=parallel
  holds "$(of 'ridgeline params in')" intra_op_num_threads
  holds "$(of 'ridgeline stream be')" bench
  holds "$(of 'ridgeline stream bench --arr')" --arrivals
  lacks "$(of 'ridgeline stream run --arr')" --arrivals
  holds "$(of 'ridgeline stream run --stream drop=')" drop=oldest
  holds "$(of 'ridgeline profile import --cs')" --csv
  holds "$(of 'ridgeline show --db other.db ')" "$id"
  holds "$(of 'ridgeline show --db other.db latest:')" latest:tune
  holds "$(of 'ridgeline compare ')" c.txt
  holds "$(of 'ridgeline tune ')" a.onnx
  holds "$(of 'ridgeline tune --python ')" b.py
  holds "$(of 'ridgeline tune --config ')" c.txt
  lacks "$(of 'ridgeline history ')" c.txt
  holds "$(of 'ridgeline completion ')" fish
  lacks "$(of 'ridgeline tune --re')" --report-html
fi
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
  holds "$(typed 'ridgeline show --db other.db latest')" latest:tune
  holds "$(typed 'ridgeline stream run --stream ')" batch_size=
  holds "$(typed 'ridgeline stream run --stream drop=')" oldest
  holds "$(typed 'ridgeline tune --python ')" b.py
  lacks "$(typed 'ridgeline tune --python ')" a-file.onnx
  lacks "$(typed 'ridgeline tune --json ')" c.txt
  holds "$(typed 'ridgeline profile ')" import
  holds "$(typed 'ridgeline stream be')" bench
  holds "$(typed 'ridgeline stream bench --arrivals ')" poisson
fi
bad "\"tcsh\"" "bash|zsh|fish" -- completion tcsh
finish
