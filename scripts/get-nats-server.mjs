/**
 * Gets the server that the tests of the cluster run against: `node scripts/get-nats-server.mjs`. It is Debian trixie's
 * package, taken from the mirror of this machine's own package sources, pinned by its hash and unpacked beside the system.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const version = "2.10.27-1+b2";

/** By the name of the architecture in Node: its name in Debian, and the SHA-256 of the package. */
const packages = {
  arm64: { name: "arm64", sha256: "0c9a617510b28c1b4fb4a38aabea6ab8cd7f026247f2abdff8b955b2278ce049" },
  x64: { name: "amd64", sha256: "6d913ac987b78734c08537c2adeb1526cf735f216173a9170d94b185fcfe6f8a" },
};

const cache = join(import.meta.dirname, "..", "node_modules", ".cache", "tau", "nats");

/** `{ path }` of the program, or `{ missing }`: why it cannot be had here. Downloads it once. */
export function getNatsServer() {
  const { name, sha256 } = packages[process.arch] ?? {};
  if (process.platform !== "linux" || !name) return { missing: `there is no pinned package for ${process.arch}` };
  const directory = join(cache, sha256.slice(0, 16));
  const path = join(directory, "usr", "sbin", "nats-server");
  if (existsSync(path)) return { path };
  const mirror = findMirror();
  if (!mirror) return { missing: "this machine has no package sources of Debian" };
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, "new-"));
  try {
    const file = join(draft, "nats-server.deb");
    const url = `${mirror}/pool/main/n/nats-server/nats-server_${version}_${name}.deb`;
    const download = run("/usr/lib/apt/apt-helper", ["download-file", url, file, `SHA256:${sha256}`]);
    if (download !== undefined) return { missing: `the package of nats-server ${version} cannot be had: ${download}` };
    const unpacked = join(draft, "unpacked");
    const problem = run("dpkg-deb", ["-x", file, unpacked]);
    if (problem !== undefined) return { missing: `the package of nats-server cannot be unpacked: ${problem}` };
    // Another process may have been faster; both are the same bytes.
    if (!existsSync(directory)) renameSync(unpacked, directory);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return existsSync(path) ? { path } : { missing: "the package has no usr/sbin/nats-server" };
}

/** Where this machine gets Debian's packages from; undefined if it does not. */
function findMirror() {
  // Without the information of releases, it also answers before the first `apt-get update`.
  const args = ["indextargets", "--no-release-info", "--format", "$(SITE) $(RELEASE)"];
  const { status, stdout } = spawnSync("apt-get", args, { encoding: "utf8" });
  if (status !== 0) return undefined;
  const targets = stdout.split("\n").map((line) => line.split(" "));
  // Security updates are in a tree of their own, without this package.
  const [site] = targets.find(([address, release]) => address && !release.includes("security")) ?? [];
  return site?.replace(/\/$/, "");
}

/** Undefined if the program succeeded, else why not. */
function run(program, args) {
  const { status, error, stderr } = spawnSync(program, args, { encoding: "utf8", timeout: 120_000 });
  if (status === 0) return undefined;
  return error?.message ?? (stderr.trim().split("\n").at(-1) || `${program} ended with ${status}`);
}

if (process.argv[1] === import.meta.filename) {
  const { path, missing } = getNatsServer();
  console.log(path ?? `Not here: ${missing}.`);
  process.exitCode = path ? 0 : 1;
}
