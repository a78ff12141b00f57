/**
 * The self-contained archive on a machine that has no Node: a root with a shell, glibc and the small programs that
 * `install.sh` calls. Takes a minute, so it runs with `TAU_LONG=1`.
 */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { expect, onTestFinished, test, type TestContext } from "vitest";
import { version } from "../../src/start/version.ts";
import { createModelWorkspace, temporaryDirectory, textReply, toolReply } from "../kit.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");

/** All that a person needs to install, and no more. */
const programs =
  "sh cat chmod curl cut dirname basename find grep gzip ln ls mkdir mktemp mv printf pwd readlink rm sha256sum tar tr uname";

/** Makes the archive. Skips the test if npm cannot get the parts of it. */
function makeArchive(context: TestContext, directory: string, arch: string): string {
  const script = join(root, "scripts", "make-archive.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, directory, "--arch", arch], {
    encoding: "utf8",
  });
  if (status === 0) return stdout.trim().split("\n").at(-1)!;
  if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/.test(stderr))
    throw new Error(stderr);
  return skip(context, "npm could not reach its registry: the archive was not made.");
}

function skip(context: TestContext, reason: string): never {
  console.log(reason);
  return context.skip(reason);
}

/** Packing 200 MB takes minutes on a busy machine. */
const timeout = 1_800_000;

function mustBeLong(context: TestContext): void {
  if (process.platform !== "linux") skip(context, "Archives are for Linux: none was made.");
  if (!process.env["TAU_LONG"])
    skip(context, "The archive takes a minute to make and to try: it is tried with TAU_LONG=1.");
}

/** Returns a function that runs a command in the bare root, with `directory` as `/data`. */
function createBareRoot(directory: string) {
  const paths = programs.split(" ").flatMap((name) => {
    const path = ["/usr/bin", "/bin"].map((place) => join(place, name)).find((each) => existsSync(each));
    return path === undefined ? [] : ["--ro-bind", path, `/usr/bin/${name}`];
  });
  const libraries = ["/lib", "/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
  const shown = libraries.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]);
  const isolation = "--unshare-user --unshare-pid --unshare-ipc --die-with-parent --clearenv --tmpfs / --proc /proc";
  const places = "--dev /dev --tmpfs /tmp --dir /bin --symlink /usr/bin/sh /bin/sh --chdir /data";
  const variables =
    "--setenv PATH /data/home/.local/bin:/usr/bin:/bin --setenv HOME /data/home --setenv TAU_DIR /data/.agent";
  const [base, mounts, environment] = [isolation, places, variables].map((text) => text.split(" ")) as [
    string[],
    string[],
    string[],
  ];
  // The directory is mounted before it is the working directory.
  const args = [...base, ...shown, ...paths, "--bind", directory, "/data", ...mounts, ...environment];
  return (...command: string[]) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      const child = execFile("bwrap", [...args, ...command], (error, stdout, stderr) =>
        resolve({ code: error ? error.code : 0, stdout, stderr }),
      );
      child.stdin!.end();
    });
}

test(
  "on a machine without Node the archive is installed, answers, searches, and updates itself",
  { timeout },
  async (context) => {
    mustBeLong(context);
    const { directory } = await createModelWorkspace([
      toolReply("grep", { pattern: "needle" }),
      textReply("Found it."),
    ]);
    const run = createBareRoot(directory);
    const { code, stderr } = await run("ls", "/");
    if (code !== 0) skip(context, `bubblewrap makes no root here (${stderr.trim()}): the archive was not tried.`);
    expect(await run("sh", "-c", "command -v node || command -v npm")).toMatchObject({ code: 127 });

    await mkdir(join(directory, "home"));
    await writeFile(join(directory, "a.txt"), "a needle\n");
    const archive = makeArchive(context, join(directory, "new"), process.arch);
    const name = basename(archive);
    const address = await serveDirectory(join(directory, "new"));
    await writeFile(join(directory, "install.sh"), await readFile(join(root, "install.sh")));
    expect(await run("sh", "install.sh", `new/${name}`)).toEqual({
      code: 0,
      stderr: "",
      stdout: `tau ${version} is installed: /data/home/.local/bin/tau\nTry: tau demo\n`,
    });
    expect(await run("tau", "--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    expect(await run("tau", "-p", "Look for it.")).toMatchObject({ code: 0, stdout: "Found it.\n" });
    const { stdout } = await run("tau", "doctor", "--json");
    const rows = JSON.parse(stdout) as { check: string; status: string }[];
    expect(rows.find(({ check }) => check === "search")).toMatchObject({ status: "ok" });
    expect((await run("tau", "help", "install")).stdout).toContain("# Installing");
    expect((await run("tau", "update", "--self")).stdout).toContain("Get a newer one, and run: sh /data/home/");

    expect(await run("sh", "install.sh", `${address}/${name}`)).toMatchObject({ code: 0, stderr: "" });
    expect(await run("tau", "update", "--self")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`tau ${version} is installed`) as string,
    });
    await writeFile(archive, "another one");
    const failed = await run("tau", "update", "--self");
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toContain(`tau was not updated: sh ended with 1. It is ${version}, as before.`);
    expect(await run("tau", "--version")).toMatchObject({ code: 0 });
  },
);

async function serveDirectory(directory: string): Promise<string> {
  const server = createServer((request, response) => {
    const path = join(directory, basename(request.url ?? ""));
    if (!existsSync(path)) response.writeHead(404).end();
    else createReadStream(path).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("the archive for the other processor has no file of this one", { timeout }, async (context) => {
  mustBeLong(context);
  const directory = await temporaryDirectory();
  const other = process.arch === "x64" ? "arm64" : "x64";
  const archive = makeArchive(context, directory, other);
  execFileSync("tar", ["xzf", archive, "-C", directory]);
  const tree = join(directory, basename(archive, ".tar.gz"));
  const machines: Record<string, number> = { x64: 62, arm64: 183 };
  const binaries: string[] = [];
  for (const file of await readdir(tree, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name);
    const handle = await open(path);
    const { buffer } = await handle.read(Buffer.alloc(20), 0, 20, 0);
    await handle.close();
    if (buffer.toString("latin1", 0, 4) !== "\x7fELF") continue;
    binaries.push(file.name);
    expect(buffer.readUInt16LE(18), path).toBe(machines[other]);
  }
  expect(binaries).toEqual(expect.arrayContaining(["node", "rg"]));
});
