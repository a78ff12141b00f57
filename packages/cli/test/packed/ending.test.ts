/** However the interactive program ends: the terminal is as before, and what was typed is there at the next start. */
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, textReply } from "../kit.ts";
import { isRunning, listDrafts, openPty, type Pty } from "./pty.ts";

const asBefore = { isCanonical: true, echoes: true };

/** Expects that what the program turned on is off again after everything that it drew. */
function expectRestored(pty: Pty): void {
  const output = pty.output();
  const last = (bytes: string) => output.lastIndexOf(bytes);
  const pairs = { cursor: ["\x1b[?25l", "\x1b[?25h"], paste: ["\x1b[?2004h", "\x1b[?2004l"] } as const;
  for (const [name, [on, off]] of Object.entries(pairs)) expect(last(off), name).toBeGreaterThan(last(on));
  expect(last("\x1b[?2031l")).toBeGreaterThan(last("\x1b[?2031h"));
  expect(last("\x1b[<u")).toBeGreaterThan(last("\x1b[>7u"));
}

async function converse(pty: Pty): Promise<void> {
  await pty.sees("small");
  pty.type("Hello\r");
  await pty.sees("Hi there.");
}

const notice = "This was typed when the program ended the last time";

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGINT", 130],
] as const)("%s leaves the terminal as it was, says how to go on, and keeps what was typed", async (signal, code) => {
  const workspace = await createModelWorkspace([textReply("Hi there.")]);
  const pty = await openPty(workspace);
  await converse(pty);
  pty.type("half a thought");
  await pty.sees("half a thought");
  process.kill(pty.pid(), signal);
  expect(await pty.ended()).toEqual({ code, ...asBefore });
  expectRestored(pty);
  expect(pty.output()).toMatch(/To continue this session: tau --session [\w-]+/);
  const next = await openPty(workspace);
  await next.sees(notice);
  expect(await next.screen()).toContain("half a thought");
});

test("a signal while an answer arrives ends it too, and the session can be continued", async () => {
  const workspace = await createModelWorkspace([{ kind: "raw", chunks: [], ending: "hang" }]);
  const pty = await openPty(workspace);
  await pty.sees("small");
  pty.type("Hello\r");
  await pty.sees("Working");
  pty.type("half a thought");
  await pty.sees("half a thought");
  process.kill(pty.pid(), "SIGTERM");
  expect(await pty.ended()).toEqual({ code: 143, ...asBefore });
  expectRestored(pty);
  expect(pty.output()).toContain("To continue this session: tau --session ");
  expect(listDrafts(workspace)).toHaveLength(1);
});

test("a kill that nothing can catch loses nothing that was typed", async () => {
  const workspace = await createModelWorkspace([]);
  const pty = await openPty(workspace);
  await pty.sees("small");
  pty.type("half a thought");
  await pty.sees("half a thought");
  await expect.poll(() => listDrafts(workspace)).toHaveLength(1);
  process.kill(pty.pid(), "SIGKILL");
  await pty.ended();
  const next = await openPty(workspace);
  await next.sees(notice);
  next.type(" goes on");
  await next.sees("half a thought goes on");
});

test("a window that is closed ends the program, and what was typed is kept", async () => {
  const workspace = await createModelWorkspace([]);
  const pty = await openPty(workspace);
  await pty.sees("small");
  pty.type("half a thought");
  await pty.sees("half a thought");
  const pid = pty.pid();
  pty.close();
  await expect.poll(() => isRunning(pid)).toBe(false);
  expect(listDrafts(workspace)).toHaveLength(1);
});

test("an error that nothing catches is one line below the screen, and what was typed is kept", async () => {
  const workspace = await createModelWorkspace([textReply("Hi there.")]);
  const boom = join(workspace.directory, "boom.cjs");
  await writeFile(boom, 'process.on("SIGUSR2", () => setImmediate(() => { throw new TypeError("boom"); }));');
  const pty = await openPty(workspace, { env: { NODE_OPTIONS: `--require ${boom}` } });
  await converse(pty);
  pty.type("half a thought");
  await pty.sees("half a thought");
  process.kill(pty.pid(), "SIGUSR2");
  expect(await pty.ended()).toEqual({ code: 1, ...asBefore });
  expectRestored(pty);
  const [, after = ""] = pty.output().split("\x1b[?25h").slice(-2);
  expect(after).toContain("To continue this session: tau --session ");
  expect(after).toContain("an unexpected error: boom");
  expect(listDrafts(workspace)).toHaveLength(1);
});

test("who leaves has the shell again, with one line more, and nothing is kept", async () => {
  const workspace = await createModelWorkspace([textReply("Hi there.")]);
  const pty = await openPty(workspace);
  await converse(pty);
  pty.type("\x04");
  expect(await pty.ended()).toEqual({ code: 0, ...asBefore });
  expectRestored(pty);
  const printed = pty.output().slice(pty.output().lastIndexOf("\x1b[?2031l"), pty.output().lastIndexOf("<code"));
  expect(printed.split("\n").filter((line) => line.includes("tau"))).toHaveLength(1);
  expect(listDrafts(workspace)).toEqual([]);
});

test("who opens a session that another terminal has open is told at once", async () => {
  const workspace = await createModelWorkspace([textReply("Hi there.")]);
  const first = await openPty(workspace);
  await converse(first);
  const second = await openPty(workspace, { args: ["--continue"] });
  await second.sees(/Process \d+ has this session open/);
  await second.sees("Hi there.");
});

test("Ctrl-Z gives the terminal to the shell, and fg brings everything back", async () => {
  const workspace = await createModelWorkspace([textReply("Hi there.")]);
  const pty = await openPty(workspace, { afterwards: 'stty -a > modes; echo "<stopped>"; read -r line; fg' });
  await pty.sees("small");
  pty.type("half a thought");
  await pty.sees("half a thought");
  pty.type("\x1a");
  await pty.sees("<stopped>");
  expectRestored(pty);
  expect(await readFile(join(workspace.directory, "modes"), "utf8")).toMatch(/\sicanon[\s\S]*\secho\b/);
  pty.type("\r");
  await pty.sees("half a thought");
  pty.type(" goes on");
  await pty.sees("half a thought goes on");
  pty.type("\r");
  await pty.sees("Hi there.");
  pty.type("\x04");
  expect(await pty.ended()).toEqual({ code: 0, ...asBefore });
});

test.runIf(process.platform === "linux")("Ctrl-Z says so where no shell could let the program go on", async () => {
  const workspace = await createModelWorkspace([]);
  const pty = await openPty(workspace, { through: ["setsid", "--wait"] });
  await pty.sees("small");
  pty.type("half a thought");
  await pty.sees("half a thought");
  pty.type("\x1a");
  await pty.sees("tau cannot be suspended here");
  pty.type(" goes on");
  await pty.sees("half a thought goes on");
  pty.type("\x03\x04");
  expect(await pty.ended()).toEqual({ code: 0, ...asBefore });
});

test("Ctrl-G opens the user's own editor with what is typed, and takes what it saved", async () => {
  const workspace = await createModelWorkspace([]);
  const editor = join(workspace.directory, "editor.sh");
  await writeFile(editor, '#!/bin/sh\ncp "$2" seen\nstty -a > modes\nprintf "from the editor, %s\\n" "$1" > "$2"\n');
  await chmod(editor, 0o755);
  const pty = await openPty(workspace, { env: { VISUAL: `${editor} "with an argument"` } });
  await pty.sees("small");
  pty.type("half a thought");
  await pty.sees("half a thought");
  pty.type("\x07");
  await pty.sees("from the editor, with an argument");
  expect(await readFile(join(workspace.directory, "seen"), "utf8")).toBe("half a thought");
  expect(await readFile(join(workspace.directory, "modes"), "utf8")).toMatch(/\sicanon/);
  pty.type(" and more");
  await pty.sees("with an argument and more");
});

test("an editor that fails changes nothing", async () => {
  const workspace = await createModelWorkspace([]);
  const pty = await openPty(workspace, { env: { VISUAL: "false" } });
  await pty.sees("small");
  pty.type("half a thought");
  await pty.sees("half a thought");
  pty.type("\x07");
  await pty.sees("The editor false ended with 1");
  expect(await pty.screen()).toContain("half a thought");
});
