/** Where the values of secrets stay, and where they must not. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { call, type ScriptedTurn, text } from "@tau/ai/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { createDebugLog } from "../../src/observe/debug-log.ts";
import { openDesk, temporaryDirectory } from "../agent-session/desk.ts";

const secret = "deploy-secret-0123456789";

function giveSecret() {
  vi.stubEnv("DEPLOY_TOKEN", secret);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { ask: async () => ({ decision: "allow" }) as const, sandbox: { mode: "off" } as const };
}

const printLong = (end: string) => `for n in $(seq 4000); do echo "$n $DEPLOY_TOKEN"; done; ${end}`;

test.each(["true", "exit 3"])("the whole output of a command that got a secret is not kept (%s)", async (end) => {
  const tmp = await temporaryDirectory();
  vi.stubEnv("TMPDIR", tmp);
  const contents: string[] = [];
  const look: ScriptedTurn = async ({ messages }) => {
    const names = await readdir(tmp, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    for (const file of files) contents.push(await readFile(file, "latin1"));
    contents.push(JSON.stringify(messages));
    return [text("Done.")];
  };
  const { session } = await openDesk([[call("bash", { command: printLong(end) })], look], giveSecret());
  await session.prompt("Deploy.");
  expect(contents.join("\n")).toContain("4000 [secret]");
  expect(contents.join("\n")).not.toContain(secret);
});

test("a file of the user that holds a secret is read, edited and written as it is", async () => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "a.env"), `TOKEN=${secret}\nA=1\n`);
  const turns = [
    [call("bash", { command: 'test -n "$DEPLOY_TOKEN"' })],
    [call("read", { path: "a.env" })],
    [call("edit", { path: "a.env", edits: [{ oldText: `TOKEN=${secret}\nA=1`, newText: `TOKEN=${secret}\nA=2` }] })],
    [call("bash", { command: 'printf %s "$DEPLOY_TOKEN" > copy.txt' })],
    [call("write", { path: "b.env", content: `TOKEN=${secret}\n` })],
    [text("Done.")],
  ];
  const { session } = await openDesk(turns, { cwd, ...giveSecret() });
  await session.prompt("Change it.");
  expect(await readFile(join(cwd, "a.env"), "utf8")).toBe(`TOKEN=${secret}\nA=2\n`);
  expect(await readFile(join(cwd, "b.env"), "utf8")).toBe(`TOKEN=${secret}\n`);
  expect(await readFile(join(cwd, "copy.txt"), "utf8")).toBe(secret);
  expect(await readFile(session.sessionFile!, "utf8")).not.toContain(secret);
});

test("after a restart the file is read again, and an edit of the line with the secret succeeds", async () => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "a.env"), `TOKEN=${secret}\nA=1\n`);
  const first = await openDesk(
    [[call("bash", { command: 'test -n "$DEPLOY_TOKEN"' })], [call("read", { path: "a.env" })], [text("Done.")]],
    { cwd, ...giveSecret() },
  );
  await first.session.prompt("Read it.");
  const { sessionId } = first.session;
  await first.session.dispose();
  let seen = "";
  const edit = (token: string) =>
    call("edit", { path: "a.env", edits: [{ oldText: `TOKEN=${token}`, newText: "TOKEN=x" }] });
  const second = await openDesk(
    [
      // The history has the mark only: an edit with it fails, and says so.
      [edit("[secret]")],
      [call("read", { path: "a.env" })],
      (context) => {
        seen = /TOKEN=([\w-]+)/.exec(JSON.stringify(context.messages.at(-1)))![1]!;
        return [edit(seen)];
      },
      [text("Done.")],
    ],
    { cwd, sessionId, ...giveSecret() },
  );
  await second.session.prompt("Change it.");
  expect(seen).toBe(secret);
  expect(await readFile(join(cwd, "a.env"), "utf8")).toBe("TOKEN=x\nA=1\n");
});

test("a secret that a command got is not in the debug log", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "debug.log");
  const debugLog = createDebugLog({ path, clock: systemClock, secrets: () => [] });
  const turns = [[call("bash", { command: 'echo "$DEPLOY_TOKEN"' })], [text(`It is ${secret}.`)]];
  const { session } = await openDesk(turns, { ...giveSecret(), debugLog });
  await session.prompt("Deploy.");
  await session.dispose();
  await debugLog.close();
  const log = await readFile(path, "utf8");
  expect(log).toContain("[secret]");
  expect(log).not.toContain(secret);
});
