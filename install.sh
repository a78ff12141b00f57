#!/bin/sh
# Installs tau for the person who runs this, without root: from npm, or from an archive of `node scripts/pack-cli.mjs`.
#   sh install.sh [ARCHIVE]
# The program goes to $TAU_HOME (default ~/.local/share/tau), a link to it to $TAU_BIN (default ~/.local/bin).
set -eu

what=${1:-@tau/cli}
home=${TAU_HOME:-$HOME/.local/share/tau}
bin=${TAU_BIN:-$HOME/.local/bin}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

command -v node >/dev/null 2>&1 || fail "node was not found. Install Node.js 20.19 or newer, and run this again."
command -v npm >/dev/null 2>&1 || fail "npm was not found. It comes with Node.js; install Node.js 20.19 or newer, and run this again."
node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' ||
  fail "Node.js 20.19 or newer is needed; this is $(node --version)."
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
