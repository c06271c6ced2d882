# Shared by the scripts of this folder; to be sourced. Sets ROOT and CACHE, offers say, die, fetch_npm_package.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ridgeline

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# need_npm: npm on PATH, else the line that installs it.
need_npm() {
  command -v npm >/dev/null 2>&1 && return
  install_packages npm
}

# install_packages NAME...: apt as root or through sudo; otherwise says what to run.
install_packages() {
  local missing=()
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local line="apt-get install -y --no-install-recommends ${missing[*]}"
  command -v apt-get >/dev/null 2>&1 || die "these packages are missing and apt-get is not there: ${missing[*]}"
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
      sudo=(sudo)
    elif command -v sudo >/dev/null 2>&1 && [ -t 0 ]; then
      sudo=(sudo)
    else
      die "missing packages, and neither root nor sudo here; ask an administrator to run: $line"
    fi
  fi
  say "installing ${#missing[@]} packages: ${missing[*]}"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 || true
  # A system that updates itself holds the lock for a while.
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive ${line/install/-o DPkg::Lock::Timeout=300 install} >&2 ||
    die "could not install packages; run by hand: $line"
}

# fetch_npm_package NAME VERSION SHA256 MEGABYTES: prints the path of the checked tarball in the cache.
fetch_npm_package() {
  local name=$1 version=$2 sha256=$3 megabytes=$4
  local file="${name#@}"
  file="${file//\//-}-$version.tgz"
  local target="$CACHE/npm/$file"
  mkdir -p "$CACHE/npm"
  if [ -f "$target" ] && echo "$sha256  $target" | sha256sum --check --status; then
    echo "$target"
    return
  fi
  need_npm
  local work
  work=$(mktemp -d "$CACHE/npm/.fetch-XXXXXX")
  say "fetching $name@$version by npm (about $megabytes MB)"
  (cd "$work" && npm pack --loglevel error --cache "$work/cache" "$name@$version" >"$work/out" 2>"$work/err") &
  local job=$! seconds=0
  while kill -0 "$job" 2>/dev/null; do
    sleep 1
    seconds=$((seconds + 1))
    # npm shows no progress in a pipe: its cache grows with what has arrived.
    if [ -t 2 ]; then
      printf '\r    %4d MB of %d MB, %d s ' "$(du -sm "$work" 2>/dev/null | cut -f1)" "$megabytes" "$seconds" >&2
    elif [ $((seconds % 10)) -eq 0 ]; then
      printf '    %d MB of %d MB, %d s\n' "$(du -sm "$work" 2>/dev/null | cut -f1)" "$megabytes" "$seconds" >&2
    fi
  done
  [ -t 2 ] && printf '\r\033[K' >&2
  if ! wait "$job" || [ ! -f "$work/$file" ]; then
    local reason
    # Below the codes, the first line says it in words.
    reason=$(sed -nE 's/^npm (ERR!|error) +//p' "$work/err" | grep -vE '^(code|errno|syscall) ' | head -n 1)
    rm -rf "$work"
    die "npm could not fetch $name@$version: ${reason:-no reason given}; check the network, npm's registry setting and," \
      "behind a proxy with a certificate of its own, NODE_EXTRA_CA_CERTS"
  fi
  local got
  got=$(sha256sum "$work/$file" | cut -d' ' -f1)
  if [ "$got" != "$sha256" ]; then
    rm -rf "$work"
    die "$name@$version has SHA-256 $got, expected $sha256: not used; the registry serves something else"
  fi
  mv "$work/$file" "$target"
  rm -rf "$work"
  echo "$target"
}
