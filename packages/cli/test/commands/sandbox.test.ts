import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { main } from "../../src/start/main.ts";
import { createIo, createWorkspace, run } from "../kit.ts";

const hasBwrap = spawnSync("bwrap", ["--version"]).status === 0;
const hasCurl = spawnSync("curl", ["--version"]).status === 0;
// oxlint-disable-next-line no-console -- a test that is left out must be seen
if (!hasBwrap) console.log("bubblewrap is not installed: tau sandbox run is not tested.");

test("what commands can do is explained, and whether the sandbox works", async () => {
  const workspace = await createWorkspace();
  const { out } = await run(workspace, ["sandbox", "explain", "--json"]);
  const explained = JSON.parse(out) as { mode: string; network: string; state: { kind: string } };
  expect(explained).toMatchObject({ mode: "auto", network: "none" });
  expect(explained.state.kind).toBe(hasBwrap ? "works" : "unavailable");
  await mkdir(workspace.agentDir, { recursive: true });
  await writeFile(join(workspace.agentDir, "settings.json"), '{ "sandbox": "off" }');
  expect((await run(workspace, ["sandbox", "explain"])).out).toMatch(/^The sandbox is off/);
});

test.skipIf(!hasBwrap)(
  "a program runs inside, with its output and its exit code, and leaves no other trace",
  async () => {
    const workspace = await createWorkspace();
    execFileSync("git", ["init", "-q", workspace.directory]);
    const script = "echo out; echo err >&2; touch made; touch /etc/made 2>/dev/null && echo escaped; exit 7";
    const result = await run(workspace, ["sandbox", "run", "--", "sh", "-c", script]);
    expect(result).toMatchObject({ code: 7, out: "out\n", err: "err\n" });
    expect((await readdir(workspace.directory)).toSorted()).toEqual([".git", "made"]);
    const missing = await run(workspace, ["sandbox", "run", "no-such-program-here"]);
    expect(missing.code).toBeGreaterThan(1);
    expect((await run(workspace, ["sandbox", "run"])).code).toBe(2);
  },
);

test.skipIf(!hasBwrap)("what a program writes arrives byte for byte, and no faster than it is read", async () => {
  const workspace = await createWorkspace();
  execFileSync("git", ["init", "-q", workspace.directory]);
  const script = "process.stdout.write(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)))";
  const { io, written } = createIo(workspace);
  let read = () => {};
  const isRead = new Promise<void>((resolve) => (read = resolve));
  let waits = 0;
  const drained = () => (waits++, isRead);
  const ended = main(["sandbox", "run", "--", process.execPath, "-e", script], { ...io, drained });
  await expect.poll(() => waits).toBe(1);
  read();
  expect(await ended).toBe(0);
  expect(Buffer.from(written.out, "latin1")).toEqual(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)));
});

test.skipIf(!hasBwrap)("what stopped a program, and what the sandbox undid, is told on standard error", async () => {
  const workspace = await createWorkspace();
  execFileSync("git", ["init", "-q", workspace.directory]);
  const stopped = await run(workspace, ["sandbox", "run", "--", "touch", "/etc/made"]);
  expect(stopped.code).toBe(1);
  expect(stopped.out).toBe("");
  // Nothing is offered that the user could not do outside of the sandbox either.
  const advice = process.getuid?.() === 0 ? /sandbox\.allowedPaths/ : /Only the user can do this/;
  expect(stopped.err).toMatch(/\ntau: The sandbox keeps \/etc\/made read-only\. .*\n$/);
  expect(stopped.err).toMatch(advice);
  if (hasCurl) {
    const host = await run(workspace, ["sandbox", "run", "--", "curl", "-sSf", "http://host.example/"]);
    expect(host.err).toMatch(/\ntau: The sandbox refused network access to host\.example.*sandbox\.network.*\n$/);
  }
  const undone = await run(workspace, ["sandbox", "run", "--", "sh", "-c", "echo evil > .envrc"]);
  expect(undone.err).toMatch(/^tau: The sandbox protects \.envrc.*\n$/);
  expect(await readdir(workspace.directory)).toEqual([".git"]);
});
