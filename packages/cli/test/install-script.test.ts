/** `install.sh` with archives whose program is a script. That of the real program is tried in `packed/archive.test.ts`. */
import { execFile, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, readlink, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished, expect, test } from "vitest";
import { temporaryDirectory } from "./kit.ts";

const script = join(import.meta.dirname, "..", "..", "..", "install.sh");

interface Place {
  directory: string;
  home: string;
  bin: string;
}

async function createPlace(): Promise<Place> {
  const directory = await temporaryDirectory();
  const home = join(directory, "home");
  await mkdir(home);
  return { directory, home, bin: join(home, ".local", "bin") };
}

/** An archive with this program, and its checksum beside it. Returns its path. */
async function createArchive({ directory }: Place, version: string, program = `echo ${version}`): Promise<string> {
  const tree = join(directory, `tau-${version}-linux-x64`);
  await mkdir(join(tree, "bin"), { recursive: true });
  await mkdir(join(tree, "share", "man", "man1"), { recursive: true });
  await writeFile(join(tree, "bin", "tau"), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  await writeFile(join(tree, "share", "man", "man1", "tau.1"), `.TH TAU 1 "" "tau ${version}"\n`);
  const path = `${tree}.tar.gz`;
  execFileSync("tar", ["czf", path, "-C", directory, `tau-${version}-linux-x64`]);
  await rm(tree, { recursive: true });
  await writeFile(`${path}.sha256`, `${await getSum(path)}  ${path}\n`);
  return path;
}

const getSum = async (path: string) =>
  createHash("sha256")
    .update(await readFile(path))
    .digest("hex");

interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

const install = ({ home }: Place, args: readonly string[], env: Record<string, string> = {}): Promise<Result> =>
  new Promise((resolve) => {
    const options = { env: { PATH: "/usr/bin:/bin", HOME: home, ...env } };
    execFile("sh", [script, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

const runInstalled = ({ bin }: Place) => execFileSync(join(bin, "tau"), ["--version"], { encoding: "utf8" }).trim();
const listVersions = ({ home }: Place) => readdir(join(home, ".local", "share", "tau", "versions"));

test("an archive is installed without root, and again, and by a newer one; the version before it stays", async () => {
  const place = await createPlace();
  const archives = await Promise.all(["1.0.0", "1.1.0", "1.2.0"].map((version) => createArchive(place, version)));
  expect(await install(place, [archives[0]!])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`tau 1.0.0 is installed: ${join(place.bin, "tau")}\n`) as string,
    stderr: "",
  });
  const first = await readlink(join(place.bin, "tau"));
  expect(await install(place, [archives[0]!])).toMatchObject({ code: 0 });
  expect(await readlink(join(place.bin, "tau"))).toBe(first);
  expect(await listVersions(place)).toHaveLength(1);

  expect(await install(place, [archives[1]!])).toMatchObject({ code: 0 });
  expect(runInstalled(place)).toBe("1.1.0");
  // A session of it may still run.
  expect(existsSync(first)).toBe(true);
  expect(await install(place, [archives[2]!])).toMatchObject({ code: 0 });
  expect(runInstalled(place)).toBe("1.2.0");
  expect(existsSync(first)).toBe(false);
  expect(await listVersions(place)).toHaveLength(2);
  const manual = join(place.home, ".local", "share", "man", "man1", "tau.1");
  expect(await readFile(manual, "utf8")).toContain("1.2.0");
  expect((await readdir(join(place.home, ".local", "share", "tau"))).toSorted()).toEqual(["link", "versions"]);
});

test("what is not the archive that was meant is not installed, and what was installed stays", async () => {
  const place = await createPlace();
  await install(place, [await createArchive(place, "1.0.0")]);
  const bad = await createArchive(place, "2.0.0");
  const sum = await getSum(bad);
  const other = "0".repeat(64);
  const broken = await createArchive(place, "3.0.0", "echo cannot run >&2; exit 1");
  const foreign = join(place.directory, "other.tar.gz");
  await writeFile(join(place.directory, "file"), "");
  execFileSync("tar", ["czf", foreign, "-C", place.directory, "file"]);
  const cut = join(place.directory, "cut.tar.gz");
  await writeFile(cut, (await readFile(bad)).subarray(0, 100));
  const cases: [args: string[], message: string][] = [
    [[bad, "--sha256", other], `Its SHA-256 is ${sum}, not ${other}`],
    [[bad, "--sha256", "abc"], `"abc" is not a SHA-256`],
    [[bad, "--sha256", `${"0".repeat(63)}g`], "is not a SHA-256"],
    [[foreign], "there is no checksum"],
    [[foreign, "--sha256", await getSum(foreign)], "is not an archive of tau"],
    [[cut, "--sha256", await getSum(cut)], "cannot be unpacked"],
    [[broken], "does not run here"],
    [[join(place.directory, "missing.tar.gz")], "there is no archive"],
    [["http://example.com/tau.tar.gz"], "has to begin with https://"],
  ];
  for (const [args, message] of cases) {
    const result = await install(place, args);
    expect(result, args.join(" ")).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain(message);
    expect(runInstalled(place)).toBe("1.0.0");
    expect(await listVersions(place)).toHaveLength(1);
  }
  await writeFile(`${bad}.sha256`, `${other}  ${bad}\n`);
  expect(await install(place, [bad])).toMatchObject({ code: 1 });
  expect(await install(place, [bad, "--sha256", sum.toUpperCase()])).toMatchObject({ code: 0 });
  expect(runInstalled(place)).toBe("2.0.0");
});

test("a run that is killed leaves the version before it, and the next run installs", async () => {
  const place = await createPlace();
  await install(place, [await createArchive(place, "1.0.0")]);
  const mark = join(place.directory, "asked");
  // Waits in the last check before the new version is used.
  const archive = await createArchive(place, "2.0.0", `[ -e '${mark}' ] || { : >'${mark}'; sleep 1000; }; echo 2.0.0`);
  const child = spawn("sh", [script, archive], {
    env: { PATH: "/usr/bin:/bin", HOME: place.home },
    stdio: "ignore",
    detached: true,
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  await expect.poll(() => existsSync(mark)).toBe(true);
  process.kill(-child.pid!, "SIGKILL");
  await ended;
  expect(runInstalled(place)).toBe("1.0.0");
  expect(await install(place, [archive])).toMatchObject({ code: 0 });
  expect(runInstalled(place)).toBe("2.0.0");
});

test("an archive is downloaded with its checksum, and its address is kept for updates", async () => {
  const place = await createPlace();
  const archive = await createArchive(place, "1.0.0");
  const files = new Map([
    ["/tau.tar.gz", await readFile(archive)],
    ["/tau.tar.gz.sha256", await readFile(`${archive}.sha256`)],
  ]);
  const server = createServer(({ url = "" }, response) => {
    const file = files.get(url);
    response.writeHead(file ? 200 : 404).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tau.tar.gz`;
  expect(await install(place, [address])).toMatchObject({ code: 0 });
  expect(runInstalled(place)).toBe("1.0.0");
  const kept = join(place.home, ".local", "share", "tau", "address");
  expect(await readFile(kept, "utf8")).toBe(`${address}\n`);

  files.set("/tau.tar.gz", await readFile(await createArchive(place, "2.0.0")));
  expect(await install(place, [address])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("not the one that was meant") as string,
  });
  files.delete("/tau.tar.gz.sha256");
  expect(await install(place, [address])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("cannot be downloaded") as string,
  });
  expect(runInstalled(place)).toBe("1.0.0");
  // An archive of one's own is no longer updated from there.
  expect(await install(place, [archive])).toMatchObject({ code: 0 });
  expect(existsSync(kept)).toBe(false);
});

test("it says what to do where PATH does not have the directory, and nothing more where it has", async () => {
  const place = await createPlace();
  const archive = await createArchive(place, "1.0.0");
  const cases = [
    ["/bin/bash", `echo 'export PATH="${place.bin}:$PATH"' >>~/.bashrc`],
    ["/usr/bin/zsh", `echo 'export PATH="${place.bin}:$PATH"' >>~/.zshrc`],
    ["/usr/bin/fish", `fish_add_path "${place.bin}"`],
    ["/bin/sh", `echo 'export PATH="${place.bin}:$PATH"' >>~/.profile`],
  ];
  for (const [SHELL, line] of cases) {
    const { stdout } = await install(place, [archive], { SHELL: SHELL! });
    expect(stdout).toContain(`${place.bin} is not in your PATH`);
    expect(stdout).toContain(line);
  }
  const { stdout } = await install(place, [archive], { PATH: `${place.bin}:/usr/bin:/bin` });
  expect(stdout).not.toContain("PATH");
  expect(stdout).toContain("Try: tau demo");
});

test("a program of another origin in the place of the link is not replaced, and a directory may have blanks", async () => {
  const place = await createPlace();
  const archive = await createArchive(place, "1.0.0");
  await mkdir(place.bin, { recursive: true });
  await writeFile(join(place.bin, "tau"), "mine");
  expect(await install(place, [archive])).toMatchObject({ code: 1, stdout: "" });
  expect(await readFile(join(place.bin, "tau"), "utf8")).toBe("mine");
  const env = { TAU_BIN: join(place.directory, "a b", "bin"), TAU_HOME: join(place.directory, "c d") };
  expect(await install(place, [archive], env)).toMatchObject({ code: 0, stderr: "" });
  const link = join(env.TAU_BIN, "tau");
  expect((await lstat(link)).isSymbolicLink()).toBe(true);
  expect(await realpath(link)).toContain(env.TAU_HOME);
  expect(execFileSync(link, { encoding: "utf8" })).toBe("1.0.0\n");
});
