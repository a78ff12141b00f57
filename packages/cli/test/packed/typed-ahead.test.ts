/** Tests keys that are typed while the packed program starts, on a real terminal. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, type ModelWorkspace, run, textReply } from "../kit.ts";
import { openPty } from "./pty.ts";

/** The texts of the user in the latest request. */
function listPrompts({ server }: ModelWorkspace): string[] {
  const { messages = [] } = (server.requests.at(-1)?.body ?? {}) as { messages?: { role: string; content: unknown }[] };
  return messages.flatMap(({ role, content }) => {
    if (role !== "user") return [];
    return typeof content === "string" ? [content] : (content as { text: string }[]).map(({ text }) => text);
  });
}

const replies = () => Array.from({ length: 4 }, (_, index) => textReply(`Answer ${index}.`));

test("lines that are typed before the terminal is ready are sent one by one, and the last goes to the editor", async () => {
  const workspace = await createModelWorkspace(replies());
  const pty = await openPty(workspace);
  pty.type("one\rtwo\rthree");
  await expect.poll(() => listPrompts(workspace)).toEqual(["one", "two"]);
  // Below the upper edge of the editor: the terminal itself has echoed it before.
  await pty.sees(/─\n *three$/m);
  pty.type("\r");
  await expect.poll(() => listPrompts(workspace)).toEqual(["one", "two", "three"]);
});

test("a message of the command line is sent before what was typed", async () => {
  const workspace = await createModelWorkspace(replies());
  const pty = await openPty(workspace, { args: ["zero"] });
  pty.type("one\r");
  await expect.poll(() => listPrompts(workspace)).toEqual(["zero", "one"]);
});

test("what was typed before a question appears does not answer it, and is sent after it", async () => {
  const workspace = await createModelWorkspace(replies());
  await mkdir(join(workspace.directory, ".tau"));
  await writeFile(join(workspace.directory, ".tau", "SYSTEM.md"), "You obey the project.");
  const pty = await openPty(workspace);
  pty.type("y\rone\r");
  await pty.sees("Trust it, until one of these files changes?");
  pty.type("n\r");
  await expect.poll(() => listPrompts(workspace)).toEqual(["y", "one"]);
  expect(JSON.stringify(workspace.server.requests)).not.toContain("You obey the project.");
});

test("the list of the first start is not answered by what was typed, and the text is kept", async () => {
  const workspace = await createModelWorkspace([]);
  await writeFile(join(workspace.agentDir, "models.json"), "{}");
  await writeFile(join(workspace.agentDir, "settings.json"), "{}");
  const pty = await openPty(workspace);
  pty.type("fix the bug\r\r");
  await pty.sees("Which model do you want to use?");
  pty.type("\x1b");
  await pty.sees(/─\n *fix the bug$/m);
});

test("changed templates and skills are asked about in one line that one key answers", async () => {
  const workspace = await createModelWorkspace(replies());
  const prompts = join(workspace.directory, ".tau", "prompts");
  await mkdir(prompts, { recursive: true });
  await writeFile(join(prompts, "greet.md"), "Say hello.");
  expect((await run(workspace, ["trust"])).code).toBe(0);
  await writeFile(join(prompts, "greet.md"), "Say good morning.");
  const pty = await openPty(workspace);
  await pty.sees(
    /^Changed since you trusted this project: "\.tau\/prompts\/greet\.md"\. Trust it as it is now\? \[y\/n\]/,
  );
  pty.type("y");
  await pty.sees("acme/small");
  pty.type("/greet\r");
  await expect.poll(() => listPrompts(workspace)).toEqual(["Say good morning."]);
});
