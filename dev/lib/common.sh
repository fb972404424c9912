# Shared by the scripts in dev/: where things lie, how to speak and how to look at a process. Sourced, never run.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
STATE="$ROOT/.dwell" # ignored by git: jars, virtual environments, data of running brokers

say() { echo "$*" >&2; }

die() {
  say "${0##*/}: $*"
  exit 1
}

# need COMMAND PACKAGE: ends the script with the exact way to get COMMAND.
need() {
  command -v "$1" >/dev/null ||
    die "$1 is needed and was not found. On Debian: sudo apt-get update && sudo apt-get install -y $2"
}

# A process id is reused sooner or later; together with its start time it is unique.
started_at() {
  local stat
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  stat=${stat##*) } # the command name may hold blanks and brackets
  set -- $stat
  [[ $1 != [ZX] ]] || return 1 # a zombie is gone; only its parent has not looked yet
  echo "${20}"
}

is_same_process() { [[ -n ${2:-} && $(started_at "$1") == "$2" ]]; }

# within SECONDS COMMAND…: true as soon as COMMAND is, false when the time is over.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

is_gone() { ! started_at "$1" >/dev/null; }

# signal_tree SIGNAL PID: the process and all that it started. The children are listed first: an end leaves no list.
signal_tree() {
  local child children
  children=$(cat "/proc/$2/task/"*/children 2>/dev/null) || true
  kill "-$1" "$2" 2>/dev/null || true
  for child in $children; do
    signal_tree "$1" "$child"
  done
}

# install_package NAME: with apt-get where that is ours to do (root on Debian), and else says how.
install_package() {
  local how="apt-get -qq update && apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends $1"
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    die "$1 is missing. On Debian: sudo apt-get update && sudo apt-get install -y $1"
  fi
  say "installing $1 …"
  DEBIAN_FRONTEND=noninteractive timeout 600 sh -c "$how" >&2 9>&- || die "installing $1 failed; see above"
}
