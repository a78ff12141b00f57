/** The file tools and the commands of a session see the same temporary files. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, type ScriptedTurn, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { openDesk, type DeskOptions } from "../../harness/test/agent-session/desk.ts";
import { users } from "./kit.ts";

const hasSandbox = users.length > 0;

/** Runs the calls one after the other, and returns their answers. */
async function runCalls(calls: readonly [string, Record<string, unknown>][], options: DeskOptions = {}) {
  const turns: ScriptedTurn[] = [
    ...calls.map(([name, args]) => ({ content: [call(name, args)] })),
    { content: [text("done")] },
  ];
  const { session, directory } = await openDesk(turns, options);
  await session.prompt("go");
  const results = session.messages.flatMap((message) =>
    message.role === "toolResult"
      ? [message.content.map((part) => (part.type === "text" ? part.text : "")).join("")]
      : [],
  );
  return { results, directory };
}

test.skipIf(!hasSandbox)(
  "a script that a tool writes to /tmp can be run, and what it writes there can be read and searched",
  async () => {
    const name = `tau-test-${process.pid}-${Date.now()}`;
    const { results } = await runCalls([
      [
        "write",
        { path: `/tmp/${name}.sh`, content: `echo from the script > /tmp/${name}.out\ncat /tmp/${name}.out\n` },
      ],
      ["bash", { command: `sh /tmp/${name}.sh` }],
      ["read", { path: `/tmp/${name}.out` }],
      ["edit", { path: `/tmp/${name}.out`, edits: [{ oldText: "from", newText: "out of" }] }],
      ["bash", { command: `cat /tmp/${name}.out; mkdir /tmp/${name}; echo built > /tmp/${name}/build.log` }],
      ["grep", { pattern: "script", path: `/tmp/${name}.out` }],
      ["grep", { pattern: "built", path: `/tmp/${name}` }],
      ["find", { pattern: "*.log", path: `/tmp/${name}` }],
    ]);
    expect(results[1]).toContain("from the script");
    expect(results[2]).toContain("from the script");
    expect(results[4]).toContain("out of the script");
    expect(results.slice(5)).toEqual([
      `/tmp/${name}.out:1: out of the script`,
      `/tmp/${name}/build.log:1: built`,
      `/tmp/${name}/build.log`,
    ]);
    // Nothing of it is left outside, where other programs could be waiting for such a name.
    expect(existsSync(`/tmp/${name}.sh`)).toBe(false);
  },
);

test.skipIf(!hasSandbox)(
  "a temporary file that exists outside is read there, and a link of a command leads nowhere else",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "tau-outside-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    writeFileSync(join(directory, "notes.txt"), "a person's notes");
    const { results } = await runCalls([
      ["read", { path: join(directory, "notes.txt") }],
      ["bash", { command: "ln -s /etc/hostname /tmp/innocent && ln -s /etc/hosts /tmp/also" }],
      ["read", { path: "/tmp/innocent" }],
      ["write", { path: "/tmp/also", content: "x" }],
    ]);
    expect(results[0]).toContain("a person's notes");
    expect(results[2]).toMatch(/not allowed|permission/);
    expect(results[3]).toMatch(/not allowed|permission|read it first/i);
  },
);

test("without a sandbox both are those of the system", async () => {
  const name = join(tmpdir(), `tau-test-${process.pid}-${Date.now()}.txt`);
  onTestFinished(() => rmSync(name, { force: true }));
  const calls: [string, Record<string, unknown>][] = [
    ["write", { path: name, content: "plain" }],
    ["bash", { command: `cat ${name}` }],
  ];
  const { results } = await runCalls(calls, { sandbox: { mode: "off" } });
  expect(results[1]).toContain("plain");
  expect(existsSync(name)).toBe(true);
});
