import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createWorkspace, run, temporaryDirectory } from "../kit.ts";

/** Gives this test its own directory for temporary files. Returns a function that lists the demos left in it. */
async function useTemporaryDirectory() {
  const directory = await temporaryDirectory();
  vi.stubEnv("TMPDIR", directory);
  onTestFinished(() => void vi.unstubAllEnvs());
  return async () => (await readdir(directory)).filter((name) => name.startsWith("tau-demo-"));
}

test("the demo reads, edits and runs a real file, and says at each step that the model is scripted", async () => {
  const listDemos = await useTemporaryDirectory();
  const { code, out, err } = await run(await createWorkspace(), ["demo"]);
  expect([code, err]).toEqual([exitCodes.done, ""]);
  const lines = out.split("\n").filter((line) => line !== "" && !line.startsWith("    "));
  expect(lines).toEqual([
    expect.stringMatching(/^This is a demonstration: the model is scripted/),
    expect.stringMatching(/^you /),
    expect.stringMatching(/^scripted model thinks /),
    'scripted model calls read {"path":"total.sh"}',
    "read returns #!/bin/sh",
    expect.stringMatching(/^scripted model says /),
    expect.stringMatching(/^scripted model calls edit /),
    expect.stringMatching(/^edit returns Edited total\.sh/),
    "scripted model says Now I run it.",
    'scripted model calls bash {"command":"sh total.sh 1 2 3"}',
    "bash returns 6",
    "scripted model says total.sh works now: 1 + 2 + 3 = 6.",
    expect.stringMatching(/^log 1\d entries in .*\.jsonl$/),
    "The project and its session are removed again; tau demo --keep keeps them.",
  ]);
  expect(await listDemos()).toEqual([]);
});

test("--keep prints where the project is, and its session can be shown", async () => {
  const { out } = await run(await createWorkspace(), ["demo", "--keep"]);
  const root = /^kept (.*)$/m.exec(out)?.[1] ?? "";
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  const directory = join(root, "project");
  expect(await readFile(join(directory, "total.sh"), "utf8")).toContain("total + number");
  const shown = await run({ directory, agentDir: join(root, "tau") }, ["sessions", "show"]);
  expect(shown.out).toContain("name       Demo with a scripted model");
  expect(shown.out).toContain("scripted/scripted");
  expect(shown.out).toMatch(/ bash +6$/m);
});

test("other arguments are usage errors, and an interrupted demo leaves nothing behind", async () => {
  const workspace = await createWorkspace();
  expect(await run(workspace, ["demo", "--bogus"])).toMatchObject({ code: exitCodes.usage, out: "" });
  expect(await run(workspace, ["demo", "fast"])).toMatchObject({ code: exitCodes.usage, out: "" });
  const listDemos = await useTemporaryDirectory();
  expect((await run(workspace, ["demo"], { signal: AbortSignal.abort() })).code).toBe(exitCodes.interrupted);
  const soon = new AbortController();
  const running = run(workspace, ["demo"], { signal: soon.signal, terminal: { out: true } });
  setImmediate(() => soon.abort("SIGINT"));
  expect((await running).code).toBe(exitCodes.interrupted);
  expect(await listDemos()).toEqual([]);
});
