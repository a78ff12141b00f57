#!/bin/sh
set -eu

usage() {
  cat <<'END'
Usage: sh install.sh [ARCHIVE] [--sha256 SUM]

Installs tau for you, without root. Run it again to update.

ARCHIVE  Without it, the package @tau/cli from the registry of npm, which needs Node and npm
         tau-*-linux-*.tar.gz of `node scripts/make-archive.mjs`, which needs neither: a path, or an address
         tau-cli-*.tgz of `node scripts/pack-cli.mjs`: a path; needs Node and npm
SUM      The SHA-256 of the archive. Default: what is in ARCHIVE.sha256

  TAU_HOME  Where the program goes (default ~/.local/share/tau)
  TAU_BIN   Where a link to it goes (default ~/.local/bin)

To remove tau, delete both. Your settings and sessions are in ~/.tau.
END
}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

misused() {
  echo "install.sh: $1 See sh install.sh --help." >&2
  exit 2
}

what=
sum=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --sha256)
      [ $# -gt 1 ] || misused "--sha256 needs a value."
      sum=$2
      shift
      ;;
    -*) misused "there is no option $1." ;;
    *)
      [ -z "$what" ] || misused "there is one archive, not $what and $1."
      what=$1
      ;;
  esac
  shift
done
home=${TAU_HOME:-$HOME/.local/share/tau}
bin=${TAU_BIN:-$HOME/.local/bin}
draft=

need_node() { # Ends the script unless Node is new enough.
  version=$(node --version 2>/dev/null || echo v0.0.0)
  minor=${version#*.}
  minor=${minor%%.*}
  major=${version%%.*}
  major=${major#v}
  [ "$major" -gt 20 ] || { [ "$major" -eq 20 ] && [ "$minor" -ge 19 ]; } ||
    fail "Node.js 20.19 or newer is needed; this is ${version#v}."
}

get_sum() { # FILE: sets `actual` to its SHA-256.
  if command -v sha256sum >/dev/null 2>&1; then
    line=$(sha256sum <"$1")
  elif command -v shasum >/dev/null 2>&1; then
    line=$(shasum -a 256 <"$1")
  elif command -v openssl >/dev/null 2>&1; then
    line=$(openssl dgst -sha256 -r <"$1")
  else
    fail "sha256sum, shasum or openssl is needed, to check the archive. Nothing was installed."
  fi
  actual=${line%% *}
}

check_sum() { # FILE FILE-WITH-SUM: ends the script unless the file is what it should be.
  if [ -z "$sum" ]; then
    [ -f "$2" ] || fail "there is no checksum: neither $2 nor --sha256. Nothing was installed."
    read -r sum _ <"$2" || [ -n "$sum" ] || fail "$2 has no checksum in it. Nothing was installed."
  fi
  case $sum in
    *[!0-9a-fA-F]*) fail "\"$sum\" is not a SHA-256. Nothing was installed." ;;
  esac
  [ ${#sum} -eq 64 ] || fail "\"$sum\" is not a SHA-256. Nothing was installed."
  sum=$(printf %s "$sum" | tr A-F a-f)
  get_sum "$1"
  [ "$actual" = "$sum" ] ||
    fail "the archive is damaged, or not the one that was meant. Its SHA-256 is $actual, not $sum. Nothing was installed."
}

download() { # ADDRESS FILE
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --proto '=http,https' --proto-redir '=https' -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1"
  else
    fail "curl or wget is needed, to download the archive."
  fi || fail "$1 cannot be downloaded. Nothing was installed."
}

install_archive() {
  archive=$what
  case $what in
    https://* | http://127.0.0.1:* | http://localhost:*)
      archive=$draft/archive.tar.gz
      [ -n "$sum" ] || download "$what.sha256" "$archive.sha256"
      download "$what" "$archive"
      ;;
    *://*) fail "$what has to begin with https://." ;;
    *) [ -f "$what" ] || fail "there is no archive $what." ;;
  esac
  check_sum "$archive" "$archive.sha256"
  # Sessions that run read files of their version when they first need them, so a version is never changed.
  target=$home/versions/$(printf %.16s "$sum")
  program=$target/bin/tau
  if [ ! -x "$program" ]; then
    mkdir "$draft/tree"
    tar -xzf "$archive" -C "$draft/tree" || fail "the archive cannot be unpacked. Nothing was installed."
    set -- "$draft"/tree/*
    [ $# -eq 1 ] && [ -x "$1/bin/tau" ] || fail "$what is not an archive of tau. Nothing was installed."
    "$1/bin/tau" --version >/dev/null ||
      fail "this program does not run here; see above. It needs Linux with glibc 2.28 or newer, on the processor that the archive is named for. Nothing was installed."
    rm -rf "$target"
    mv "$1" "$target"
  fi
  case $what in
    *://*) printf '%s\n' "$what" >"$home/address" ;;
    *) rm -f "$home/address" ;;
  esac
  # For `tau update --self`.
  printf '%s\n' "$bin" >"$home/link"
}

install_package() {
  command -v node >/dev/null 2>&1 || fail "node was not found. Install Node.js 20.19 or newer, or name an archive that brings it: tau-*-linux-*.tar.gz."
  command -v npm >/dev/null 2>&1 || fail "npm was not found. It comes with Node.js; install Node.js 20.19 or newer, and run this again."
  need_node
  case $what in
    *.tgz)
      [ -f "$what" ] || fail "there is no archive $what."
      # npm runs in another directory.
      what=$(cd "$(dirname "$what")" && pwd)/$(basename "$what")
      [ -z "$sum" ] && [ ! -f "$what.sha256" ] || check_sum "$what" "$what.sha256"
      ;;
    *) [ -z "$sum" ] || misused "npm checks what it installs: --sha256 is for archives." ;;
  esac
  # No package of tau needs to run anything to be installed, so none may.
  npm install --prefix "$home" --ignore-scripts --no-audit --no-fund --loglevel=error "${what:-@tau/cli}" >&2 ||
    fail "npm could not install ${what:-@tau/cli}; see above."
  program=$home/node_modules/.bin/tau
  [ -x "$program" ] || fail "npm installed no program at $program."
}

remove_old_versions() { # KEPT...: the one that is used now, and the one before, which may still run.
  for version in "$home"/versions/*; do
    case "$version/bin/tau" in
      "$1" | "$2") ;;
      *) rm -rf "$version" ;;
    esac
  done
}

say_how_to_find() {
  case :$PATH: in
    *:"$bin":*)
      echo "Try: tau demo"
      return
      ;;
  esac
  echo "$bin is not in your PATH. Add it, and open a new terminal:"
  case ${SHELL:-} in
    */fish) echo "  fish_add_path \"$bin\"" ;;
    */zsh) echo "  echo 'export PATH=\"$bin:\$PATH\"' >>~/.zshrc" ;;
    */bash) echo "  echo 'export PATH=\"$bin:\$PATH\"' >>~/.bashrc" ;;
    *) echo "  echo 'export PATH=\"$bin:\$PATH\"' >>~/.profile" ;;
  esac
}

mkdir -p "$home" "$bin"
home=$(cd "$home" && pwd)
bin=$(cd "$bin" && pwd)
if [ -e "$bin/tau" ] && [ ! -L "$bin/tau" ]; then
  fail "$bin/tau is there and is not a link of ours. Move it away, or choose another place with TAU_BIN."
fi
case $what in
  *.tar.gz)
    mkdir -p "$home/versions"
    # What a run left that was killed.
    find "$home" -maxdepth 1 -name '.new-*' -mtime +0 -exec rm -rf {} +
    # On the same disk as its target, so that a version is there whole or not at all.
    draft=$(mktemp -d "$home/.new-XXXXXX")
    trap 'rm -rf "$draft"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    install_archive
    ;;
  *) install_package ;;
esac

previous=$(readlink "$bin/tau" || true)
# Renamed, so that there is no moment without it.
ln -sf "$program" "$bin/.tau-$$"
mv -f "$bin/.tau-$$" "$bin/tau"
case $bin in
  */bin)
    manual=${program%/bin/tau}/share/man/man1/tau.1
    if [ -f "$manual" ]; then
      mkdir -p "${bin%/bin}/share/man/man1"
      ln -sf "$manual" "${bin%/bin}/share/man/man1/tau.1"
    fi
    ;;
esac
[ -z "$draft" ] || remove_old_versions "$program" "$previous"

echo "tau $("$bin/tau" --version) is installed: $bin/tau"
say_how_to_find
