/** Hooks that never end, flood, fork, print escapes, answer nonsense or are killed. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { group, listResults, openSession } from "./kit.ts";

const escapes = String.raw`printf '\033]0;owned\007\033[2J\302\233red' >&2; exit 2`;

const cases: readonly [name: string, command: string, failure: RegExp][] = [
  ["never ends", "trap '' TERM INT; while :; do sleep 1; done", /took more than 0\.7 seconds, and was ended/],
  ["floods its output", "yes flood", /wrote more than 1 MB/],
  ["is killed", "kill -9 $$", /ended with exit code|could not be run/],
  ["does not exist", "./missing.sh", /exit code 127/],
  ["answers with broken JSON", `echo '{"decision": "block"'`, /JSON that is not valid/],
  ["ends with an unexpected code", "exit 1", /exit code 1/],
  ["closes its input and fails", "exec 0<&-; exit 3", /exit code 3/],
];

test.each(cases)(
  "a hook before a call that %s denies it, and the person is told why",
  async (_name, command, failure) => {
    const opened = await openSession([[call("write", { path: "a.txt", content: "x" })], [text("Well.")]], {
      hooks: { PreToolUse: [group(command, command.includes("trap") ? { timeout: 0.7 } : {})] },
    });
    await opened.prompt("go");
    expect(listResults(opened)[0]!.isError).toBe(true);
    expect(listResults(opened)[0]!.text).toMatch(failure);
    expect(opened.surface.told.join("\n")).toMatch(failure);
  },
);

test("with onFailure continue, or in another event, a failure is only reported, and once", async () => {
  const turns = [
    [call("write", { path: "a.txt", content: "x" })],
    [call("bash", { command: "echo hi" })],
    [text("Done.")],
  ];
  const opened = await openSession(turns, {
    hooks: { PreToolUse: [group("exit 1", { onFailure: "continue" })], PostToolUse: [group("exit 7")] },
  });
  await opened.prompt("go");
  expect(listResults(opened).map(({ isError }) => isError)).toEqual([false, false]);
  expect(opened.surface.told.filter((line) => line.includes("exit code 1"))).toHaveLength(1);
  expect(opened.surface.told.filter((line) => line.includes("exit code 7"))).toHaveLength(1);
});

test("what a hook leaves running is ended, and is not waited for", async () => {
  const forks = "for i in $(seq 30); do (trap '' TERM HUP; sleep 300) & done; echo $! > pid.txt";
  const opened = await openSession([[call("bash", { command: "echo hi" })], [text("Done.")]], {
    hooks: { PreToolUse: [group(forks)] },
  });
  await opened.prompt("go");
  expect(listResults(opened)[0]).toMatchObject({ isError: false });
  expect((await readFile(join(opened.cwd, "pid.txt"), "utf8")).trim()).toMatch(/^\d+$/);
});

test("nothing that a hook prints acts on a terminal", async () => {
  const opened = await openSession([[call("bash", { command: "echo hi" })], [text("Done.")]], {
    hooks: { PreToolUse: [group(escapes)] },
  });
  await opened.prompt("go");
  const shown = [...opened.surface.told, JSON.stringify(opened.events), listResults(opened)[0]!.text].join("\n");
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  expect(shown).not.toMatch(/[\u001b\u009b\u0007]/);
  expect(listResults(opened)[0]!.text).toContain("owned");
});

test("a run that is aborted does not wait for its hooks", async () => {
  const opened = await openSession([[call("bash", { command: "echo hi" })], [text("Done.")]], {
    hooks: { PreToolUse: [group("touch started; sleep 300")] },
  });
  const running = opened.prompt("go");
  await expect
    .poll(() => readFile(join(opened.cwd, "started")).catch(() => undefined), { timeout: 20_000 })
    .toBeDefined();
  await opened.session.abort();
  expect(await running).toMatchObject({ kind: "ran", end: { kind: "aborted" } });
});
