# Sourced by every script before it does anything: help, steps, what a machine lacks, and where things are.
set -euo pipefail

caller=$PWD # names of files are taken from where whoever calls stands
self=$(realpath "$0")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
# The profile of what is released and measured, and its folder below $target.
profile=release
export PATH=$target/tools/bin:$PATH # cargo-deny and the like, where a script has installed them
cd "$root"

# The comment at the top of a script is its help: nobody has to keep two texts alike.
help() {
  sed -n '1d; /^#/!q; s/^# \{0,1\}//p' "$self"
}
case ${1-} in
-h | --help)
  help
  # The options of some are known to a program that takes minutes to build; they print them from its source.
  ! declare -F more_help >/dev/null || more_help
  exit 0
  ;;
esac

usage() { # for arguments that a script does not know
  help >&2
  exit 2
}

fail() { # MESSAGE
  echo "${self##*/}: $*" >&2
  exit 1
}

step() { # COMMAND...
  printf '\n== %s\n' "$*"
  "$@"
}

# What cannot be done here is said aloud, and is no pass where the result counts: in CI, unless it `may` be missing
# there too, as a folder outside of the checkout or a site that does not answer.
not_run() { # MESSAGE [may]
  printf '\n!! NOT run: %s\n' "$1" >&2
  [ "${CI:-}" != true ] || [ "${2-}" = may ] || exit 1
}

# The same where nothing is left to do.
skip() { # MESSAGE [may]
  not_run "$@"
  exit 0
}

# Installs packages of Debian for root and in CI. Nobody else's machine is changed: they read the command.
debian() { # PACKAGE...
  local install=(apt-get install -y -qq --no-install-recommends "$@") sudo=()
  command -v apt-get >/dev/null || return 1
  if [ "$(id -u)" -ne 0 ]; then
    [ "${CI:-}" = true ] || { echo "missing here; install with: sudo apt-get install $*" >&2; return 1; }
    sudo=(sudo -n)
  fi
  echo "== installing $*"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" >/dev/null
}

# A virtual environment with these packages of PyPI, in the versions of python/constraints.txt; `$bin` is where its
# programs are. It is made anew when a version changes.
venv() { # NAME PACKAGE...
  local place=$target/venv/$1 wanted
  bin=$place/bin
  wanted=$(printf '%s\n' "${@:2}"; cat python/constraints.txt)
  [ "$(cat "$place/wanted" 2>/dev/null)" != "$wanted" ] || return 0
  rm -rf "$place"
  python3 -c 'import ensurepip' 2>/dev/null || debian python3 python3-venv || return 1
  python3 -m venv "$place" || return 1
  "$bin/pip" install --quiet --disable-pip-version-check -c python/constraints.txt "${@:2}" || return 1
  echo "$wanted" >"$place/wanted"
}

# A tool of cargo, below $target: nothing of whoever calls is replaced. It takes some minutes.
cargo_tool() { # NAME [OPTION]...
  cargo "${1#cargo-}" --version >/dev/null 2>&1 && return
  cargo install --locked --quiet --root "$target/tools" --target-dir "$target/tools/build" "$@" || return 1
  rm -rf "$target/tools/build"
}

# Node.js of a version that the package of npm takes, its packages, and the target of Rust.
npm_tools() {
  command -v npm >/dev/null || debian nodejs npm || return 1
  node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' || return 1
  rustup target add wasm32-unknown-unknown || return 1
  npm ci --prefix npm --silent --no-audit --no-fund || return 1
  export CARGO_TARGET_DIR=$target
}

nightly() { # COMPONENT...
  cargo +nightly --version >/dev/null 2>&1 || fail 'there is no nightly compiler: rustup toolchain install nightly'
  [ $# -eq 0 ] || rustup component add --toolchain nightly "$@"
}
