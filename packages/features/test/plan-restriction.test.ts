/** Law: nothing can be written in plan mode, whatever the model calls. Real files, tools, commands and extensions. */
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from "node:fs";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import type { ExtensionFactory, ToolDefinition } from "@tau/extensions";
import { SessionManager } from "@tau/harness";
import type { Answer } from "@tau/policy";
import { isSandboxMissing } from "@tau/sandbox/internal";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { discovery } from "../src/index.ts";
import { createTestSession, type TestSessionParams } from "./kit.ts";

const hasSandbox = !isSandboxMissing(process.cwd());

/** A workspace with links into a directory beside it. */
async function createPlace() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-plan-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [cwd, outside] = [join(root, "work"), join(root, "outside")];
  mkdirSync(join(cwd, "sub"), { recursive: true });
  mkdirSync(outside);
  await writeFile(join(cwd, "a.txt"), "one\ntwo\n");
  await writeFile(join(cwd, "sub", "b.txt"), "b\n");
  await writeFile(join(outside, "o.txt"), "outside\n");
  symlinkSync(join(outside, "o.txt"), join(cwd, "link.txt"));
  symlinkSync(outside, join(cwd, "dirlink"));
  symlinkSync("nowhere.txt", join(cwd, "dangling.txt"));
  linkSync(join(outside, "o.txt"), join(cwd, "hard.txt"));
  chmodSync(join(cwd, "sub", "b.txt"), 0o640);
  return { root, cwd, outside };
}

/** Everything below a directory: kinds, modes, contents and targets. */
function snapshot(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { mode } = lstatSync(path);
      const content = entry.isSymbolicLink() ? readlinkSync(path) : entry.isFile() ? readFileSync(path, "utf8") : "";
      return `${path} ${mode.toString(8)} ${content}`;
    })
    .toSorted();
}

const paths = [
  "a.txt",
  "new.txt",
  "sub/../a.txt",
  "sub/b.txt",
  "link.txt",
  "dirlink/x.txt",
  "dangling.txt",
  "hard.txt",
];
const more = ["../outside/o.txt", ".git/hooks/pre-commit", "deep/er/new.txt", "OUTSIDE/o.txt", ".tau/settings.json"];
const path = fc.constantFrom(...paths, ...more);

const command = fc
  .tuple(
    fc.constantFrom(
      "echo x > P",
      "rm -rf P",
      "mv a.txt P",
      "cp a.txt P",
      "touch P",
      "mkdir -p P",
      "tee P < a.txt",
      "chmod 777 P",
      "ln -sf /etc/hostname P",
      "sed -i s/one/two/ P",
      "git init -q",
      "(echo x > P) & wait",
      "dd if=a.txt of=P",
      "truncate -s 0 P",
      "cat a.txt",
      "cd sub && echo x >> ../P",
      "mount -o remount,rw . ; echo x > P",
      'node -e \'require("fs").writeFileSync("P", "x")\'',
    ),
    path,
  )
  .map(([line, name]) => line.replaceAll("P", name));

const direct = fc.oneof(
  fc.record({ name: fc.constant("write"), arguments: fc.record({ path, content: fc.constant("changed") }) }),
  path.map((name) => ({ name: "edit", arguments: { path: name, edits: [{ oldText: "one", newText: "1" }] } })),
  path.map((name) => ({
    name: "hashline_edit",
    arguments: { path: name, edits: [{ op: "append", lines: ["changed"] }] },
  })),
  path.map((name) => ({ name: "hashline_patch", arguments: { patch: `¶${name}#0000\nEOF↓\n+changed\n` } })),
  fc.record({
    name: fc.constant("bash"),
    arguments: fc.record({ command, background: fc.boolean() }, { requiredKeys: ["command"] }),
  }),
  path.map((name) => ({ name: "read", arguments: { path: name, hashline: true } })),
  fc.constant({ name: "jobs", arguments: { action: "list" } }),
);
const foreign = fc
  .tuple(fc.constantFrom("unmarked", "says_reading", "custom", "deferred"), path)
  .map(([name, target]) => ({ name, arguments: { path: target } }));
const nested = fc.oneof(direct, foreign).map((inner) => ({ name: "nested", arguments: { call: inner } }));
const found = fc.oneof(direct, foreign).map((inner) => ({ name: "call_tool", arguments: inner }));
const anyCall = fc.oneof(direct, foreign, nested, found);

type AnyCall = { name: string; arguments: object };

const answer = (words: string) => ({ content: [{ type: "text" as const, text: words }], details: {} });
const parameters = { type: "object", properties: { path: { type: "string" } } };

/** Tools of extensions: they write as they please, and one calls others. */
const writers =
  (cwd: string): ExtensionFactory =>
  (tau) => {
    const writer = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
      name,
      label: name,
      description: `Writes a file: ${name}.`,
      parameters,
      execute: async (_id, args: { path: string }) => {
        await writeFile(join(cwd, args.path), "by an extension");
        return answer("Written.");
      },
      ...more,
    });
    tau.registerTool(writer("unmarked"));
    // Whatever it calls itself.
    tau.registerTool(Object.assign(writer("says_reading"), { isContained: true, access: () => [] }));
    tau.registerTool(writer("deferred", { exposure: "deferred" }));
    tau.registerTool({
      name: "nested",
      label: "Nested",
      description: "Calls another tool.",
      parameters: { type: "object", properties: { call: { type: "object" } } },
      readOnly: true,
      execute: async (_id, args: { call: AnyCall }, _signal, _onUpdate, context) => {
        await context.executeTool(args.call.name, args.call.arguments);
        return answer("Called.");
      },
    });
  };

async function run(calls: readonly AnyCall[], params: Partial<TestSessionParams>) {
  const place = await createPlace();
  const { cwd } = place;
  const custom = {
    name: "custom",
    description: "A tool of the embedding program.",
    inputSchema: parameters,
    execute: async (args: { path: string }) => await writeFile(join(cwd, args.path), "by a program"),
  };
  const before = snapshot(place.root);
  const turns = calls.map(({ name, arguments: args }, index) => [
    { ...call(name, JSON.parse(JSON.stringify(args).replaceAll("OUTSIDE", place.outside))), id: `call-${index}` },
  ]);
  const opened = await createTestSession([...turns, [text("Done.")]], {
    cwd,
    tools: ["read", "write", "edit", "hashline_edit", "hashline_patch", "bash", "jobs", "tool_search", "call_tool"],
    features: [discovery()],
    customTools: [custom],
    extensions: { factories: [writers(cwd)] },
    planMode: true,
    ...params,
  });
  try {
    await opened.prompt("go");
    // Jobs in the background have ended, or are ended here.
    for (const job of opened.session.jobs.list()) await opened.session.jobs.kill(job.id);
    const results = opened.session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
    return { before, after: snapshot(place.root), results };
  } finally {
    await opened.dispose();
  }
}

const allow = async (): Promise<Answer> => ({ decision: "allow" });

const modes: [name: string, calls: fc.Arbitrary<AnyCall>, params: Partial<TestSessionParams>][] = [
  ["without a person", anyCall, { sandbox: { mode: "auto" } }],
  ["without a sandbox", anyCall, { sandbox: { mode: "off" } }],
  ["free, without a person", anyCall, { permissionMode: "free", sandbox: { mode: "auto" } }],
  ["with a person who denies", anyCall, { ask: async () => ({ decision: "deny" }), sandbox: { mode: "auto" } }],
  // What a person allows an extension to do is theirs to answer for: of the rest, they can allow nothing.
  [
    "with a person who allows everything",
    fc.oneof(
      direct,
      direct.map((inner) => ({ name: "nested", arguments: { call: inner } })),
    ),
    { ask: allow, sandbox: { mode: "auto" } },
  ],
  ["with a program that allows everything", direct, { decide: () => ({ kind: "allow", rule: "all" }) }],
];

test.each(modes)("nothing is written %s", { timeout: 120_000 }, async (_name, generated, params) => {
  await fc.assert(
    fc.asyncProperty(fc.array(generated, { minLength: 6, maxLength: 6 }), async (calls) => {
      const { before, after } = await run(calls, params);
      expect(after).toEqual(before);
    }),
    { numRuns: 8, endOnFailure: true },
  );
});

test("outside of plan mode, the same calls write", async () => {
  const calls = [
    { name: "write", arguments: { path: "new.txt", content: "changed" } },
    { name: "unmarked", arguments: { path: "n2.txt" } },
    { name: "nested", arguments: { call: { name: "write", arguments: { path: "n3.txt", content: "x" } } } },
    { name: "call_tool", arguments: { name: "deferred", arguments: { path: "n4.txt" } } },
    { name: "custom", arguments: { path: "n5.txt" } },
    { name: "bash", arguments: { command: "touch n6.txt" } },
  ];
  const { before, after } = await run(calls, { planMode: false, sandbox: { mode: "auto" } });
  expect(after.filter((line) => !before.includes(line))).toHaveLength(6);
});

test.skipIf(!hasSandbox)(
  "commands read the workspace, have no network, and write temporary files of their own",
  async () => {
    const calls = [
      { name: "bash", arguments: { command: "cat a.txt && echo kept > /tmp/kept && cat /tmp/kept" } },
      { name: "read", arguments: { path: "/tmp/kept" } },
      { name: "bash", arguments: { command: "touch new.txt" } },
    ];
    const { results } = await run(calls, { ask: allow, sandbox: { mode: "auto", network: "all" } });
    expect(results.map(({ isError }) => isError)).toEqual([false, false, true]);
    expect(JSON.stringify(results[0]!.content)).toContain("one\\ntwo\\nkept");
    expect(JSON.stringify(results[1]!.content)).toContain("kept");
    expect(JSON.stringify(results[2]!.content)).toContain("Commands can change nothing now but temporary files");
  },
);

test("without a sandbox, commands are refused with what to do", async () => {
  const { results } = await run([{ name: "bash", arguments: { command: "ls" } }], { sandbox: { mode: "off" } });
  expect(JSON.stringify(results[0]!.content)).toContain("cannot be run in plan mode without a sandbox");
});

test("tools of extensions are asked about each time, also if they were allowed for the session", async () => {
  const place = await createPlace();
  const questions: string[] = [];
  const turns = ["unmarked", "unmarked", "says_reading"].map((name, index) => [
    { ...call(name, { path: `new${index}.txt` }), id: `call-${index}` },
  ]);
  const opened = await createTestSession([...turns, [text("Done.")]], {
    cwd: place.cwd,
    extensions: { factories: [writers(place.cwd)] },
    planMode: true,
    ask: async ({ toolName, reason, choices }) => {
      questions.push(`${toolName} ${choices.map(({ choice }) => choice).join()}`);
      expect(reason).toContain("Plan mode is on");
      return { decision: "allow" };
    },
  });
  onTestFinished(() => opened.dispose());
  await opened.prompt("go");
  expect(questions).toEqual(["unmarked once", "unmarked once", "says_reading once"]);
});

test("plan mode that is turned on while a question is open applies to the call", async () => {
  const place = await createPlace();
  const before = snapshot(place.root);
  let session: Awaited<ReturnType<typeof createTestSession>>["session"];
  const turns = [
    [call("write", { path: "new.txt", content: "x" })],
    [call("bash", { command: "touch other.txt" })],
    [text("Done.")],
  ];
  const opened = await createTestSession(turns, {
    cwd: place.cwd,
    permissionMode: "ask",
    ask: async () => {
      await session.setPermissionMode("plan");
      return { decision: "allow" };
    },
  });
  ({ session } = opened);
  onTestFinished(() => opened.dispose());
  await opened.prompt("go");
  expect(snapshot(place.root)).toEqual(before);
});

test("a child is in plan mode as long as its parent is, and a job that it starts writes nothing", async () => {
  const place = await createPlace();
  const before = snapshot(place.root);
  const write = (name: string) => [call("write", { path: name, content: "x" })];
  const opened = await createTestSession([write("child.txt"), [text("Done.")], write("later.txt"), [text("Done.")]], {
    cwd: place.cwd,
    planMode: true,
  });
  onTestFinished(() => opened.dispose());
  const child = await opened.session.openChild({ name: "child" });
  onTestFinished(() => child.dispose());
  expect(child.permissions.mode).toBe("plan");
  await expect(child.setPermissionMode("edit")).rejects.toThrow("allows plan at most");
  await child.prompt("go");
  expect(snapshot(place.root)).toEqual(before);
  await opened.session.setPermissionMode("edit");
  expect(child.permissions.mode).toBe("edit");
  await child.prompt("go");
  expect(snapshot(place.root)).not.toEqual(before);
});

test("a session that is opened again is still in plan mode, on top of the mode before it", async () => {
  const { cwd } = await createPlace();
  const sessionManager = await SessionManager.create(cwd, cwd);
  const first = await createTestSession([[text("Hi.")]], { sessionManager });
  await first.prompt("hi");
  await first.session.setPermissionMode("ask");
  await first.session.setPermissionMode("plan");
  const file = sessionManager.getSessionFile()!;
  await first.dispose();
  const again = await createTestSession([], { sessionManager: SessionManager.open(file) });
  onTestFinished(() => again.dispose());
  expect(again.session.permissions).toMatchObject({ mode: "plan", afterPlan: "ask" });
  await again.session.setPermissionMode("edit");
  expect(again.session.permissions).toEqual({ mode: "edit", choices: ["plan", "ask", "edit", "free"] });
});
