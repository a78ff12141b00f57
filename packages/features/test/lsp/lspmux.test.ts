import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import { wrapWithMux } from "../../src/lsp/lspmux.ts";
import type { LspSpawn } from "../../src/lsp/program.ts";

const start: LspSpawn = async (command, args, { cwd }) => {
  const child = spawn(command, [...args], { cwd, stdio: "pipe" });
  const exit = once(child, "exit").then(([code]) => ({ code: code as number }));
  return await Promise.resolve({
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exit,
    end: async () => void child.kill("SIGKILL"),
  });
};

async function createMachine({ isRunning = true } = {}) {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "tau-lspmux-")));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const [project, bin] = [join(directory, "project"), join(directory, "bin")];
  await mkdir(join(project, "bin"), { recursive: true });
  await mkdir(bin);
  const write = async (path: string, text: string) => {
    await writeFile(path, `#!/bin/sh\n${text}\n`);
    await chmod(path, 0o755);
    return path;
  };
  await write(join(bin, "lspmux"), `[ "$1" = status ] && exit ${isRunning ? 0 : 1}`);
  const server = await write(join(bin, "rust-analyzer"), "exit 0");
  const ofProject = await write(join(project, "bin", "rust-analyzer"), "exit 0");
  const link = join(bin, "linked");
  await symlink(ofProject, link);
  const env: Record<string, string> = { PATH: `${bin}:/usr/bin:/bin` };
  const wrap = async (program: string, more: Record<string, string> = {}) =>
    await wrapWithMux({
      program,
      args: ["--x"],
      root: project,
      cwd: project,
      env: { ...env, ...more },
      spawn: start,
      clock: systemClock,
    });
  return { bin, server, ofProject, link, project, wrap };
}

test("a server of the user is reached through lspmux while that runs", async () => {
  const { bin, server, wrap } = await createMachine();
  const args = ["client", "--server-path", server, "--", "--x"];
  expect(await wrap(server)).toEqual({ command: join(bin, "lspmux"), args });
  expect(await wrap(server, { PI_DISABLE_LSPMUX: "1" })).toBeUndefined();
  expect(await wrap(server, { PATH: "/usr/bin:/bin" })).toBeUndefined();
  expect(await (await createMachine({ isRunning: false })).wrap(server)).toBeUndefined();
});

test("a server of the project is never started outside of the sandbox", async () => {
  const { ofProject, link, wrap } = await createMachine();
  expect(await wrap(ofProject)).toBeUndefined();
  expect(await wrap(link)).toBeUndefined();
});

test("an lspmux of the project is not used", async () => {
  const { bin, server, project, wrap } = await createMachine();
  await symlink(join(bin, "lspmux"), join(project, "bin", "lspmux"));
  expect(await wrap(server, { PATH: join(project, "bin") })).toBeUndefined();
});
