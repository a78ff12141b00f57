import { SessionManager } from "@tau/harness";
import { describe, expect, test } from "vitest";
import { textReply } from "../kit.ts";
import { openApp, type OpenedApp } from "./kit.ts";

/** Two questions with their answers. */
async function openConversation(replies: readonly string[] = []): Promise<OpenedApp> {
  const app = await openApp([textReply("First answer."), textReply("Second answer."), ...replies.map(textReply)]);
  for (const [question, answer] of [
    ["first question", "First answer."],
    ["second question", "Second answer."],
  ] as const) {
    app.type(question);
    app.press("enter");
    await app.sees(answer);
  }
  return app;
}

async function openTree(app: OpenedApp): Promise<void> {
  app.type("/tree");
  app.press("escape", "enter");
  await app.sees("Session tree");
}

const sent = (app: OpenedApp, index = -1) => JSON.stringify(app.server.requests.at(index)!.body);

describe("/tree", () => {
  test("a user message comes back to the editor, and what is sent then is a branch of its own", async () => {
    const app = await openConversation(["Another answer."]);
    await openTree(app);
    app.press("up", "enter");
    await app.sees("Summarise the branch that you leave?");
    app.press("enter");
    await app.sees(/─\n ?second question/);
    expect(await app.screen()).not.toContain("Second answer.");
    app.type(" instead");
    app.press("enter");
    await app.sees("Another answer.");
    expect(sent(app)).toContain("second question instead");
    expect(sent(app)).not.toContain("Second answer.");
    await openTree(app);
    await app.sees(/├─ • user: second question instead[\s\S]*└─ {3}user: second question/);
  });

  test("another entry is continued from, with a summary that pays attention to what the user says", async () => {
    const app = await openConversation(["The summary.", "Go on."]);
    await openTree(app);
    app.press("up", "up", "enter");
    await app.sees("Summary with instructions");
    app.press("down", "down", "enter");
    await app.sees("pay attention");
    app.type("the numbers");
    app.press("enter");
    await app.sees("The summary.");
    await expect.poll(app.screen).not.toContain("Summarising the branch");
    expect(sent(app)).toContain("the numbers");
    app.type("more");
    app.press("enter");
    await app.sees("Go on.");
    expect(sent(app)).toContain("The summary.");
    expect(sent(app)).not.toContain("Second answer.");
  });

  test("Escape in the question about a summary leads back to the tree, and there changes nothing", async () => {
    const app = await openConversation();
    await openTree(app);
    app.press("up", "enter");
    await app.sees("Summarise the branch");
    app.press("escape");
    await app.sees(/→ .*second question/);
    app.press("escape");
    await app.sees("Second answer.");
    expect(app.server.requests.length).toBe(2);
  });

  test("a label is shown, found by the view of labels, and kept", async () => {
    const app = await openConversation();
    await openTree(app);
    app.type("L");
    await app.sees("Label (empty: none)");
    app.type("milestone");
    app.press("enter");
    await app.sees(/\[milestone\] assistant: Second answer/);
    app.press("ctrlL");
    await expect.poll(app.screen).not.toContain("user: first question");
    await app.sees("1/1 · labeled-only");
    app.press("escape");
    await expect.poll(app.screen).not.toContain("Session tree");
    await openTree(app);
    await app.sees("[milestone]");
  });

  test("a search also finds what is folded", async () => {
    const app = await openConversation();
    await openTree(app);
    const ctrlLeft = "\x1b[1;5D";
    app.terminal.sendInput(ctrlLeft);
    app.terminal.sendInput(ctrlLeft);
    await app.sees(/→ ⊞ • user: first question\n 1\/1/);
    app.type("question");
    await app.sees(/user: first question\n.*user: second question\n \d\/2/);
  });

  test("what is selected is selected again after a search that nothing matches", async () => {
    const app = await openConversation();
    await openTree(app);
    app.press("up", "up", "up");
    await app.sees("→ • user: first question");
    app.type("nothing like this");
    await app.sees("nothing to show");
    app.press("escape");
    await app.sees("→ • user: first question");
  });

  test("typing searches, and Escape ends the search first", async () => {
    const app = await openConversation();
    await openTree(app);
    app.type("first q");
    await app.sees("1/1");
    expect(await app.screen()).not.toContain("assistant: Second answer.");
    app.press("escape");
    await app.sees("assistant: Second answer.");
  });

  test("a session with 10,000 entries opens, and only the visible rows are drawn", async () => {
    const app = await openApp([], {
      args: ["--continue"],
      prepare: async ({ directory, agentDir }) => {
        const manager = await SessionManager.create(directory, undefined, { agentDir, durability: "none" });
        for (let index = 0; index < 10_000; index++) {
          const message = { role: "user", content: `message ${index}`, timestamp: index } as const;
          await manager.appendMessage(message);
        }
        await manager.close();
      },
    });
    await openTree(app);
    await app.sees("10000/10000");
    expect(await app.screen()).toContain("message 9999");
    const before = app.terminal.writes.join("").length;
    app.press("up");
    await app.sees("9999/10000");
    expect(app.terminal.writes.join("").length - before).toBeLessThan(10_000);
  });
});
