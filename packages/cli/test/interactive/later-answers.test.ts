/** Questions that another process has left open, in the terminal. */
import { expect, test } from "vitest";
import { run, textReply, toolReply } from "../kit.ts";
import { openApp } from "./kit.ts";

const asks = [toolReply("read", { path: "/etc/os-release" })];
const options = {
  settings: { approvals: { later: true } },
  args: ["--continue"],
  prepare: async (workspace: Parameters<typeof run>[0]) => void (await run(workspace, ["-p", "Read it."])),
};

test("a question of a run that has ended is shown when the session is continued, and yes resumes the run", async () => {
  const app = await openApp([...asks, textReply("It is read.")], options);
  await app.sees("Allow this?");
  app.advance(500);
  app.type("y");
  await app.sees("It is read.");
  expect(await app.screen()).not.toContain("Allow this?");
});

test("a new prompt comes after the outcome that nobody answered", async () => {
  const app = await openApp([...asks, textReply("As you like.")], options);
  await app.sees("Allow this?");
  app.advance(500);
  app.type("l");
  await expect.poll(app.screen).not.toContain("Allow this?");
  app.type("never mind");
  app.press("enter");
  await app.sees("As you like.");
  const sent = app.server.requests.map(({ body }) => JSON.stringify(body)).join("\n");
  expect(sent.slice(sent.lastIndexOf('"role":"tool"'))).toContain("needs permission, and nobody answered");
});
