# For scripts that plant a fault in a PyTorch model, after lib.sh.
# row FILTER STATUS TEXT: the one trial that the filter keeps ended so.
row() {
  json "[.trials[] | select(.configuration | $1)] | length" 1
  json "[.trials[] | select(.configuration | $1)][0].status" "$2"
  [ -z "${3:-}" ] || json "[.trials[] | select(.configuration | $1)][0] | .failure.message.text | contains(\"$3\")" true
}
# rest FILTER: what else was tried worked, and the answer is of it.
rest() {
  json "[.trials[] | select(.configuration | ($1) | not)] | length >= 1 and all(.[]; .status == \"ok\")" true
  json ".verdict.configuration | $1" false
}
