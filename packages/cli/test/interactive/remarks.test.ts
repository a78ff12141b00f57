import { expect, test } from "vitest";
import { textReply, toolReply } from "../kit.ts";
import { openApp, type OpenedApp } from "./kit.ts";

const count = (text: string, part: string) => text.split(part).length - 1;

/** A blank closes the completion of a command. */
function send(app: OpenedApp, text: string): void {
  app.type(`${text} `);
  app.press("enter");
}

test("what a command says stays where it was said, and every line of it is printed once", async () => {
  const app = await openApp([textReply("First answer."), textReply("Second answer.")], { rows: 20 });
  send(app, "first question");
  await app.sees("First answer.");
  // Longer than the screen.
  send(app, "/help");
  await app.sees("!command runs a command");
  send(app, "/session");
  await app.sees("Cost:");
  send(app, "second question");
  await app.sees("Second answer.");
  const everything = await app.everything();
  const parts = [
    "first question",
    "First answer.",
    "/model [NAME]",
    "/quit",
    "Cost:",
    "second question",
    "Second answer.",
  ];
  for (const part of parts) expect([part, count(everything, part)]).toEqual([part, 1]);
  const places = parts.map((part) => everything.indexOf(part));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("what was said in a run stays in its place when the run goes on", async () => {
  const app = await openApp([toolReply("bash", { command: "sleep 0.5; echo done" }), textReply("All done.")]);
  send(app, "begin");
  await app.sees("Running");
  send(app, "/name");
  await app.sees("This session has no name.");
  await app.sees("All done.");
  const everything = await app.everything();
  expect(count(everything, "This session has no name.")).toBe(1);
  expect(everything.indexOf("This session has no name.")).toBeLessThan(everything.indexOf("All done."));
});

test("what was said before the first message does not make the model that a session begins with a change", async () => {
  const app = await openApp([textReply("An answer.")]);
  send(app, "/name");
  await app.sees("This session has no name.");
  send(app, "a question");
  await app.sees("An answer.");
  // The header names it.
  expect((await app.everything()).split("Model: acme/small")).toHaveLength(2);
});

test("a compaction that fails says so once", async () => {
  const noSummary = toolReply("bash", { command: "true" });
  const long = `${"word ".repeat(600)} First answer.`;
  const replies = [textReply(long), textReply("Second answer."), noSummary, textReply("Third answer.")];
  const app = await openApp(replies);
  send(app, "first question");
  await app.sees("First answer.");
  send(app, "second question");
  await app.sees("Second answer.");
  await expect.poll(app.screen).not.toContain("to stop");
  send(app, "/compact");
  await app.sees("could not be compacted");
  send(app, "third question");
  await app.sees("Third answer.");
  expect(count(await app.everything(), "could not be compacted")).toBe(1);
});

test("/copy takes the last answer that is shown, also if it was compacted", async () => {
  const long = `${"word ".repeat(600)} First answer.`;
  const app = await openApp([textReply(long), textReply("A summary.")], {
    settings: { compaction: { keepRecentTokens: 1 } },
  });
  send(app, "/copy");
  await app.sees("There is no answer yet.");
  send(app, "first question");
  await app.sees("First answer.");
  await expect.poll(app.screen).not.toContain("to stop");
  send(app, "!seq 1 3000; echo later");
  await expect.poll(app.screen).toMatch(/^ *later$/m);
  send(app, "/compact");
  await app.sees("Compacted");
  send(app, "/copy");
  await app.sees("Copied.");
  expect(app.copied).toEqual([long]);
});

test("/copy with a number copies that block of code, and completion lists the blocks", async () => {
  const app = await openApp([textReply("Run:\n\n```sh\nnpm test\n```\n\n- or\n  ```\n  npm start\n  ```\n")]);
  send(app, "which?");
  await app.sees("npm start");
  await expect.poll(app.screen).not.toContain("to stop");
  send(app, "/copy 2");
  await app.sees("Copied block 2 of 2.");
  send(app, "/copy 3");
  await app.sees("The last answer has 2 blocks of code: /copy 1 to /copy 2.");
  expect(app.copied).toEqual(["npm start"]);
  app.type("/copy ");
  app.press("tab");
  await app.sees("sh: npm test");
});
