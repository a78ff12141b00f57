/** The packed program on a real terminal: nothing that comes from elsewhere may control it. */
import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { createModelWorkspace, textReply, toolReply } from "../kit.ts";
import { runPacked } from "./kit.ts";

const hasPty = spawnSync("python3", ["-c", "import pty"]).status === 0;

/** Runs a shell command with the program as its arguments in a terminal, and writes what the terminal got. */
const onTerminal = (script: string) => [
  "python3",
  "-c",
  "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))",
  "sh",
  "-c",
  script,
  "sh",
];

/** A clipboard, a title, a colour, a device string, the same in C1, a backspace. */
const evil = "\u001b]52;c;aGk=\u0007\u001b]0;title\u001b\\\u001b[31m\u001bPq\u001b\\\u009b2J\u009d0;x\u009c\b";
// oxlint-disable-next-line no-control-regex -- they are looked for
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Without the sequences of tau's progress and the line ends of a terminal. */
const withoutOwn = (out: string) => out.replaceAll("\u001b[G", "").replaceAll("\u001b[2K", "").replaceAll("\r\n", "\n");

const failure: WireReply = {
  kind: "status",
  status: 400,
  body: JSON.stringify({ error: { message: `Bad ${evil} request` } }),
};

test.skipIf(!hasPty)("no control character from elsewhere reaches a terminal", async () => {
  const workspace = await createModelWorkspace([
    textReply(`An ${evil} answer`),
    toolReply(`tool${evil}`, { path: evil }),
    textReply("Done."),
    failure,
    textReply(`Lines ${evil}`),
  ]);
  const through = onTerminal('"$@"');
  const outputs = {
    answer: ["-p", "Hi"],
    toolName: ["--verbose", "-p", "Hi"],
    failure: ["-p", "Hi"],
    json: ["--mode", "json", "-p", "Hi"],
    fileName: ["-p", `@nowhere${evil}`],
    flag: [`--x${evil}`],
    session: ["sessions", "show", evil],
  };
  for (const [name, args] of Object.entries(outputs)) {
    const { out } = await runPacked(workspace, args, { through, env: { TERM: "xterm" } });
    expect(withoutOwn(out), name).not.toMatch(controls);
    expect(out.length, name).toBeGreaterThan(5);
  }
});

test.skipIf(!hasPty)("a warning of Node does not control the terminal either", async () => {
  const workspace = await createModelWorkspace([]);
  const warn = join(workspace.directory, "warn.cjs");
  await writeFile(warn, `setImmediate(() => process.emitWarning(${JSON.stringify(`Careful ${evil}`)}));`);
  const env = { TERM: "xterm", NODE_OPTIONS: `--require ${warn}` };
  const { out } = await runPacked(workspace, ["doctor"], { through: onTerminal('"$@"'), env });
  expect(out).toContain("tau: Careful");
  expect(out).not.toContain("\u001b]52");
});

test.skipIf(!hasPty)(
  "each stream is judged alone: what is piped stays as it is, and tau's colours are shown",
  async () => {
    const workspace = await createModelWorkspace([textReply(`An ${evil} answer`), failure]);
    const run = (script: string, args: string[]) =>
      runPacked(workspace, args, { through: onTerminal(script), env: { TERM: "xterm" } });
    const { out } = await run('"$@" > answer', ["-p", "Hi"]);
    expect(withoutOwn(out)).not.toMatch(controls);
    expect(await readFile(join(workspace.directory, "answer"), "utf8")).toBe(`An ${evil} answer\n`);
    await run('"$@" 2> problem', ["-p", "Hi"]);
    expect(await readFile(join(workspace.directory, "problem"), "utf8")).toContain(evil);
    expect((await run('"$@"', ["sessions", "list"])).out).toContain("\u001b[1m");
  },
);

/** Runs the command on a terminal, and types an answer as soon as the terminal shows a text. */
const typing = (awaited: string, answer: string) => [
  "python3",
  "-c",
  `import os, pty, sys
seen, isTyped = b"", False
def read(fd):
    global seen, isTyped
    data = os.read(fd, 1024)
    seen += data
    if not isTyped and sys.argv[1].encode() in seen:
        isTyped = True
        os.write(fd, sys.argv[2].encode())
    return data
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[3:], read)))`,
  awaited,
  answer,
];

test.skipIf(!hasPty)("questions about a call and about trust are answered on a real terminal", async () => {
  const readReply = toolReply("read", { path: "/etc/passwd" });
  const workspace = await createModelWorkspace([readReply, textReply("Done."), readReply, textReply("Done.")]);
  const run = (awaited: string, answer: string, args: string[]) =>
    runPacked(workspace, args, { through: typing(awaited, answer), env: { TERM: "xterm" } });
  const yes = await run("Allow it?", "y\r", ["-p", "Hi"]);
  expect({ code: yes.code, requests: workspace.server.requests.length }).toEqual({ code: 0, requests: 2 });
  expect(JSON.stringify(workspace.server.requests[1]?.body)).toContain("root:x:0:0");
  const interrupted = await run("Allow it?", "\u0003", ["-p", "Hi"]);
  expect({ code: interrupted.code, requests: workspace.server.requests.length }).toEqual({ code: 130, requests: 3 });
  await mkdir(join(workspace.directory, ".tau"));
  await writeFile(join(workspace.directory, ".tau", "SYSTEM.md"), "You obey the project.");
  expect((await run("[y/N]", "y\r", ["-p", "Hi"])).code).toBe(0);
  expect(JSON.stringify(workspace.server.requests[3]?.body)).toContain("You obey the project.");
});
