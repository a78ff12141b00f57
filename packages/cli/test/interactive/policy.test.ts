import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxData } from "@tau/protocol";
import { expect, onTestFinished, test } from "vitest";
import { describePolicy } from "../../src/interactive/commands/policy.ts";
import { temporaryDirectory, textReply, toolReply } from "../kit.ts";
import { openApp } from "./kit.ts";

function setPath(path: string): void {
  const { PATH } = process.env;
  process.env["PATH"] = path;
  onTestFinished(() => void (process.env["PATH"] = PATH));
}

/** Simulates a machine without bubblewrap. */
const hidePrograms = () => setPath("/nowhere");

test("/policy shows the profile, the sandbox and what is remembered here", async () => {
  const app = await openApp([], {
    columns: 140,
    settings: { sandbox: { mode: "off" }, policy: { execMediation: { denyPatterns: ["git push *"] } } },
    prepare: async ({ agentDir, directory }) => {
      const target = (command: string) => ({ kind: "command", command });
      const rules = [
        { capability: "exec", target: target("npm \u001b[31mtest") },
        { capability: "exec", target: target("make"), project: directory },
        { capability: "exec", target: target("elsewhere"), project: "/elsewhere" },
      ];
      await writeFile(join(agentDir, "approvals.json"), JSON.stringify({ version: 1, rules }));
    },
  });
  app.type("/policy");
  app.press("enter");
  await app.sees("Profile      balanced");
  const screen = await app.screen();
  expect(screen).toContain("Commands     destructive ones are denied, dangerous ones are asked about");
  expect(screen).toContain("denied: git push *");
  expect(screen).toContain("Sandbox      off, so commands can do whatever you can (sandbox.mode)");
  expect(screen).toMatch(/Remembered {3}exec npm .*test \(everywhere\)\n +exec make \(in this project\)/);
  expect(screen).not.toContain("elsewhere");
  expect(screen).not.toContain("no sandbox");
});

test("the status line tells from the start that there is no sandbox, and /policy says why", async () => {
  hidePrograms();
  const app = await openApp([], { columns: 140 });
  await app.sees(/main\) · edit +no sandbox/);
  app.type("/policy");
  app.press("enter");
  await app.sees(/Sandbox +auto, but commands run without it\. \w+/);
});

test("the status line tells of a sandbox that does not work as soon as a command has tried it", async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, "bwrap"), "#!/bin/sh\necho 'bwrap: not permitted' >&2\nexit 1\n", { mode: 0o755 });
  setPath(`${directory}:${process.env["PATH"]}`);
  const app = await openApp([toolReply("bash", { command: "echo one" }), textReply("Done.")], { columns: 140 });
  expect(await app.screen()).not.toContain("no sandbox");
  app.type("Run it");
  app.press("enter");
  await app.sees("Commands run without a sandbox.");
  await app.sees(/main\) · edit +no sandbox/);
});

test("where the sandbox is turned off, the status line does not complain", async () => {
  hidePrograms();
  const app = await openApp([textReply("Fine.")], { settings: { sandbox: { mode: "off" } }, message: "Hello" });
  await app.sees("Fine.");
  expect(await app.screen()).not.toContain("no sandbox");
});

test("every state of the sandbox says what it means for commands", () => {
  const describe = (sandbox: SandboxData) =>
    describePolicy(
      {
        profile: "safe",
        profiles: [{ name: "safe", description: "denies" }],
        permissions: { mode: "free", choices: ["ask", "edit", "free"], note: "There is no sandbox." },
        mode: "strict",
        exec: { denyThreshold: "high", denyPatterns: [], allowPatterns: [] },
        rules: [],
        sandbox,
      },
      200,
    );
  expect(describe({ mode: "auto", state: "works" })).toContain("Sandbox      auto: commands run in it\n");
  expect(describe({ mode: "required", state: "unavailable", reason: "No bwrap.", fix: "Install it." })).toContain(
    "required, but commands are refused, because it does not work here. No bwrap. Install it.",
  );
  expect(describe({ mode: "off", state: "off" })).toContain("nothing is allowed for longer than a session");
});

test("a command that the policy denies is shown as denied and not as done", async () => {
  const app = await openApp([toolReply("bash", { command: "rm -rf /" }), textReply("Sorry.")], { columns: 140 });
  app.type("clean up");
  app.press("enter");
  await app.sees("Sorry.");
  await app.sees("rm -rf / (denied)");
  await app.sees("The policy denied this command, and it was not run. It deletes / with everything below it.");
});

test("a denied call is shown as denied after the session is opened again", async () => {
  const before = await openApp([toolReply("bash", { command: "rm -rf /" }), textReply("Sorry.")], { message: "go" });
  await before.sees("Sorry.");
  await expect.poll(before.screen).not.toContain("to stop");
  const sessions = join(before.agentDir, "sessions");
  const name = (await readdir(sessions, { recursive: true })).find((path) => path.endsWith(".jsonl"))!;
  const app = await openApp([], { columns: 140 });
  app.type(`/import ${join(sessions, name)}`);
  app.press("escape", "enter");
  await app.sees("Sorry.");
  await app.sees("rm -rf / (denied)");
});
