#!/bin/sh
set -eu

usage() {
  cat <<'END'
Usage: sh install.sh [ARCHIVE]

Installs tau for you, without root: from npm, or from an archive of `node scripts/pack-cli.mjs`. Run it again to update.

  TAU_HOME  Where the program goes (default ~/.local/share/tau)
  TAU_BIN   Where a link to it goes (default ~/.local/bin)

To remove tau, delete both. Your settings and sessions are in ~/.tau.
END
}

case ${1:-} in
  -h | --help)
    usage
    exit 0
    ;;
  -*)
    echo "install.sh: there is no option $1. See sh install.sh --help." >&2
    exit 2
    ;;
esac
what=${1:-@tau/cli}
home=${TAU_HOME:-$HOME/.local/share/tau}
bin=${TAU_BIN:-$HOME/.local/bin}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

need_node() { # Ends the script unless Node is new enough.
  version=$(node --version 2>/dev/null || echo v0.0.0)
  minor=${version#*.}
  minor=${minor%%.*}
  major=${version%%.*}
  major=${major#v}
  [ "$major" -gt 20 ] || { [ "$major" -eq 20 ] && [ "$minor" -ge 19 ]; } ||
    fail "Node.js 20.19 or newer is needed; this is ${version#v}."
}

command -v node >/dev/null 2>&1 || fail "node was not found. Install Node.js 20.19 or newer, and run this again."
command -v npm >/dev/null 2>&1 || fail "npm was not found. It comes with Node.js; install Node.js 20.19 or newer, and run this again."
need_node
case $what in
  *.tgz)
    [ -f "$what" ] || fail "there is no archive $what."
    # npm runs in another directory.
    what=$(cd "$(dirname "$what")" && pwd)/$(basename "$what")
    ;;
esac

mkdir -p "$home" "$bin"
# No package of tau needs to run anything to be installed, so none may.
npm install --prefix "$home" --ignore-scripts --no-audit --no-fund --loglevel=error "$what" >&2 ||
  fail "npm could not install $what; see above."
program=$home/node_modules/.bin/tau
[ -x "$program" ] || fail "npm installed no program at $program."
if [ -e "$bin/tau" ] && [ ! -L "$bin/tau" ]; then
  fail "$bin/tau is there and is not a link of ours. Move it away, or choose another place with TAU_BIN."
fi
ln -sf "$program" "$bin/tau"

echo "tau $("$bin/tau" --version) is installed: $bin/tau"
case :$PATH: in
  *:"$bin":*) echo "Try: tau demo" ;;
  *) echo "Add it to your PATH: export PATH=\"$bin:\$PATH\"" ;;
esac
