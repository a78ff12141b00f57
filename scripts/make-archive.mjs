/**
 * Makes an archive of the program that needs nothing of the machine but glibc: `node scripts/make-archive.mjs [DIRECTORY]
 * [--arch x64|arm64]` builds it and prints its path. It contains Node, the program with its native dependencies (ripgrep is
 * one), the sandbox's helper, the documents and the manual page; `install.sh` installs it. Beside it is its SHA-256.
 */
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildSandboxHelper } from "./build-sandbox-helper.mjs";
import { packCli } from "./pack-cli.mjs";

const root = join(import.meta.dirname, "..");

const nodeVersion = "24.20.0";

/** The SHA-512 of npm's package with Node, by architecture. */
const nodePackages = {
  x64: "tkBwUleGts0UUnK+6HKJkEsOMFb9bkG/YvXw8/alFTaDSUbneVeAFVqu6ELHXuyvVYP4vo1hNAAEfN9zl0Cm3g==",
  arm64: "LDOiQuLlruQpQRp0ddfGZurc1xqYSlX3dYk/3shzhQfCb8IgCPwtWf1RMQCGAWGFhZNbhihhSwGeNRHA+V2pTg==",
};

/** All files have one time, so that equal contents are equal archives. */
const fileTime = "1985-10-26 08:15:00Z";

const run = (program, args, options) =>
  execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], ...options });

/** Returns the path of the archive. Throws if a part of it cannot be had. */
export async function makeArchive(directory, arch = process.arch) {
  if (!Object.hasOwn(nodePackages, arch)) throw new Error(`There is no archive for ${arch}: only for x64 and arm64.`);
  const draft = mkdtempSync(join(tmpdir(), "tau-archive-"));
  try {
    const { version } = JSON.parse(readFileSync(join(root, "packages", "cli", "package.json"), "utf8"));
    const name = `tau-${version}-linux-${arch}`;
    const tree = join(draft, name);
    addProgram(tree, await packCli(draft), arch);
    addNode(tree, draft, arch);
    addLauncher(tree);
    const facts = { name: "tau", version, platform: "linux", arch, node: nodeVersion };
    writeFileSync(join(tree, "archive.json"), `${JSON.stringify(facts, undefined, 2)}\n`);
    const path = compress(draft, name);
    mkdirSync(directory, { recursive: true });
    const target = join(directory, `${name}.tar.gz`);
    // The directory may be on another disk.
    cpSync(path, `${target}.new`);
    renameSync(`${target}.new`, target);
    const sum = createHash("sha256").update(readFileSync(target)).digest("hex");
    writeFileSync(`${target}.sha256`, `${sum}  ${name}.tar.gz\n`);
    return target;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The package as npm would install it on the other machine, from our lock file. */
function addProgram(tree, packed, arch) {
  const program = join(tree, "lib", "tau");
  mkdirSync(program, { recursive: true });
  run("tar", ["xzf", packed, "-C", program, "--strip-components=1"]);
  const target = ["--os=linux", `--cpu=${arch}`, "--libc=glibc"];
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  run("npm", ["ci", ...target, ...quiet], { cwd: program, stdio: ["ignore", "ignore", "inherit"] });
  const helper = buildSandboxHelper(arch);
  const place = join(program, "dist", "sandbox-helper");
  rmSync(place, { recursive: true, force: true });
  if (helper !== undefined) cpSync(helper, join(place, `linux-${arch}`, "tau-sandbox-helper"));
  for (const file of ["README.md", "LICENSE", "THIRD-PARTY.md"]) cpSync(join(program, file), join(tree, file));
  cpSync(join(root, "install.sh"), join(tree, "install.sh"));
  const manual = join(tree, "share", "man", "man1");
  mkdirSync(manual, { recursive: true });
  cpSync(join(program, "dist", "man", "tau.1"), join(manual, "tau.1"));
}

function addNode(tree, draft, arch) {
  const wanted = `node-linux-${arch}@${nodeVersion}`;
  const file = join(draft, run("npm", ["pack", wanted, "--silent", "--prefer-offline"], { cwd: draft }).trim());
  const digest = createHash("sha512").update(readFileSync(file)).digest("base64");
  if (digest !== nodePackages[arch]) throw new Error(`${wanted} is not the package that is pinned here: ${digest}`);
  const members = ["package/bin/node", "package/LICENSE"];
  run("tar", ["xzf", file, "-C", draft, ...members]);
  renameSync(join(draft, "package", "bin", "node"), join(tree, "lib", "node"));
  renameSync(join(draft, "package", "LICENSE"), join(tree, "LICENSE-node"));
}

/** A link to this file works too: `install.sh` makes one. */
function addLauncher(tree) {
  const text = `#!/bin/sh
# Runs tau with the Node that came with it.
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=\${self%/*}/$target ;;
  esac
done
case $self in
  */*) lib=\${self%/*}/../lib ;;
  *) lib=../lib ;;
esac
exec "$lib/node" "$lib/tau/dist/tau.cjs" "$@"
`;
  mkdirSync(join(tree, "bin"));
  writeFileSync(join(tree, "bin", "tau"), text, { mode: 0o755 });
}

function compress(draft, name) {
  const path = join(draft, `${name}.tar.gz`);
  const same = ["--sort=name", `--mtime=${fileTime}`, "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"];
  // What is installed belongs to one account: nobody else may write it, whatever the mask of this machine is.
  run("tar", [...same, "--mode=u+rw,go-w", "-I", "gzip -n", "-cf", path, "-C", draft, name]);
  return path;
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({ options: { arch: { type: "string" } }, allowPositionals: true });
  const directory = resolve(positionals[0] ?? "archives");
  if (process.platform !== "linux" || !existsSync(join(root, "node_modules"))) {
    throw new Error("Archives are made on Linux, in a clone with its dependencies.");
  }
  console.log(await makeArchive(directory, values.arch));
}
