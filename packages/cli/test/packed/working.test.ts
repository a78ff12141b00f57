/** A day's work with the packed program on a real terminal. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, createWorkspace, type ModelWorkspace, textReply, toolReply } from "../kit.ts";
import { openPty } from "./pty.ts";

const escape = "\x1b";
const down = "\x1b[B";
const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;
const bodies = ({ server }: ModelWorkspace) => server.requests.map(({ body }) => JSON.stringify(body));

test("the first start without a key asks what to do, and the demo needs nothing", async () => {
  const workspace = await createWorkspace();
  const pty = await openPty(workspace);
  await pty.sees(/demo/i);
  pty.type("demo\r");
  await pty.sees(/total\.sh works now[\s\S]*That was the demo/);
  pty.type("\r");
  await pty.sees("Which model do you want to use?");
  pty.type(escape);
  await pty.sees(/─\n\n─/);
  pty.type("\x04");
  expect(await pty.ended()).toMatchObject({ code: 0, isCanonical: true });
});

test("tools, steering, stopping, the tree and another session", async () => {
  const waiting = toolReply("bash", { command: "echo live-$((40 + 2)); until [ -e go ]; do sleep 0.05; done" });
  const sleeping = toolReply("bash", { command: "sleep 300" });
  const workspace = await createModelWorkspace([waiting, textReply("Turned."), sleeping, textReply("Awake.")]);
  const pty = await openPty(workspace);
  const isFree = async () => await expect.poll(pty.screen).not.toContain("to stop");
  await pty.sees("small");
  pty.type("Begin\r");
  await pty.sees(/live-42[\s\S]*Running bash/);
  pty.type("Turn left\r");
  await pty.sees("next: Turn left");
  await writeFile(join(workspace.directory, "go"), "");
  await pty.sees("Turned.");
  expect(bodies(workspace)[1]).toContain("Turn left");
  await isFree();

  pty.type("Sleep\r");
  await pty.sees("Running bash");
  pty.type(escape);
  await pty.sees("aborted");
  await isFree();
  expect(workspace.server.requests).toHaveLength(3);

  pty.type("/tree\r");
  await pty.sees("Session tree");
  await pty.sees(/Turn left[\s\S]*Sleep/);
  pty.type(escape);
  await expect.poll(pty.screen).not.toContain("Session tree");
  pty.type("Go on\r");
  await pty.sees("Awake.");
  await isFree();
  pty.type("\x04");
  await pty.ended();

  const next = await openPty(workspace, { args: ["-r"] });
  await next.sees(/Sessions of this directory[\s\S]*Begin/);
  next.type("\r");
  await next.sees("Awake.");
});

test("keys that were typed before a question was drawn do not answer it, and Enter alone never allows", async () => {
  const reading = toolReply("read", { path: "/etc/hostname" });
  const workspace = await createModelWorkspace([reading, textReply("First."), reading, textReply("Second.")]);
  const pty = await openPty(workspace);
  await pty.sees("small");
  pty.type(`Read it\r${down}${down}\r\r`);
  await pty.sees("Allow this?");
  expect(workspace.server.requests).toHaveLength(1);
  // A key within the first moment counts as typed before: Enter is pressed until it counts.
  await expect
    .poll(
      async () => {
        if ((await pty.screen()).includes("Allow this?")) pty.type("\r");
        return workspace.server.requests.length;
      },
      { interval: 100 },
    )
    .toBe(2);
  await pty.sees("First.");
  expect(bodies(workspace)[1]).toContain("did not allow");
  pty.type("Read it again\r");
  await pty.sees("Allow this?");
  // Moving to the answer is seen only when keys count.
  await expect
    .poll(
      async () => {
        const screen = await pty.screen();
        if (!/→ 1  Yes, this once/.test(screen)) pty.type(down);
        return screen;
      },
      { interval: 100 },
    )
    .toMatch(/→ 1  Yes, this once/);
  pty.type("\r");
  await pty.sees("Second.");
  const hostname = (await readFile("/etc/hostname", "utf8")).trim();
  expect(bodies(workspace)[3]).toContain(hostname);
});

test("a paste of 1 MB arrives whole, and what is typed after it too", async () => {
  const workspace = await createModelWorkspace([textReply("Much.")]);
  const models = JSON.parse(await readFile(join(workspace.agentDir, "models.json"), "utf8"));
  models.providers.acme.models[0].contextWindow = 4_000_000;
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify(models));
  const pty = await openPty(workspace);
  await pty.sees("small");
  const lines = Array.from({ length: 16_000 }, (_unused, index) => `${index} 日本 👩‍👩‍👧‍👦 ${"x".repeat(40)}`);
  const text = lines.join("\n");
  expect(Buffer.byteLength(text)).toBeGreaterThan(1_000_000);
  pty.type(`before ${paste(text)} after`);
  await pty.sees(/before \[paste .*\] after/);
  expect(pty.output().length).toBeLessThan(20_000);
  pty.type("\r");
  await pty.sees("Much.");
  const { messages } = workspace.server.requests[0]!.body as { messages: { content: unknown }[] };
  expect(JSON.stringify(messages.at(-1)?.content)).toContain(JSON.stringify(`before ${text} after`).slice(1, -1));
});

test.each([
  [40, 10],
  [300, 100],
])("emoji and CJK at %i columns and %i rows, and after a resize", async (columns, rows) => {
  const family = "👩‍👩‍👧‍👦";
  const row = `日本語 ${family} 🇩🇪 e\u0301 ❤️ العربية`;
  const workspace = await createModelWorkspace([textReply(`${`${row} `.repeat(8)}\n\nThe end.`)]);
  const pty = await openPty(workspace, { columns, rows });
  await pty.sees("small");
  pty.type(`${row}\r`);
  await pty.sees("The end.");
  pty.type(`日本${family}!`);
  await pty.sees(`日本${family}!`);
  const { x } = await pty.terminal.getCursor();
  await pty.terminal.flush();
  expect(x).toBeLessThan(columns);
  const rules = () => pty.screen().then((screen) => screen.match(/^─+$/gm)?.map((rule) => rule.length));
  expect(await rules()).toEqual([columns, columns]);
  await pty.resize(60, 15);
  await expect.poll(rules).toEqual([60, 60]);
  await pty.sees(`日本${family}!`);
  // What was printed just before the resize may be printed again, below a line of its own.
  const [, between = "─".repeat(60), ...others] = (await pty.everything()).split("The end.").slice(0, -1);
  expect([others, /^─+$/m.test(between)]).toEqual([[], true]);
});

test("a terminal that can only print lines gets lines", async () => {
  const workspace = await createModelWorkspace([textReply("Hi **there**.")]);
  const env = { TERM: "dumb" };
  const answered = await openPty(workspace, { env, args: ["Hello"] });
  expect(await answered.ended()).toMatchObject({ code: 0 });
  expect(answered.output()).toContain("Hi **there**.");
  expect(answered.output()).not.toContain("\x1b");
  const alone = await openPty(workspace, { env });
  expect(await alone.ended()).toMatchObject({ code: 2 });
  expect(alone.output()).toContain("tau: This terminal can only print lines (TERM=dumb).");
  expect(alone.output()).not.toContain("\x1b");
});

test("with NO_COLOR no color is used", async () => {
  const workspace = await createModelWorkspace([textReply("Hi **there**.\n\n```ts\nconst a = 1;\n```")]);
  await mkdir(join(workspace.directory, "sub"));
  const pty = await openPty(workspace, { env: { NO_COLOR: "1", COLORTERM: "truecolor" } });
  await pty.sees("small");
  pty.type("Hello\r");
  await pty.sees("const a");
  await expect.poll(pty.screen).not.toContain("to stop");
  const styles = pty
    .output()
    .split("\x1b[")
    .flatMap((part) => /^[\d;]*(?=m)/.exec(part)?.[0].split(";") ?? []);
  expect(styles).toContain("1");
  expect(styles.filter((style) => Number(style) >= 30)).toEqual([]);
});
