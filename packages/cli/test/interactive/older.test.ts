import { SessionManager } from "@tau/harness";
import { describe, expect, test } from "vitest";
import { type ModelWorkspace, textReply } from "../kit.ts";
import { openApp, type OpenedApp, type OpenOptions } from "./kit.ts";

const usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

type Append = (session: SessionManager) => Promise<unknown>;

async function addMessages(session: SessionManager, start: number, end: number): Promise<void> {
  for (let index = start; index < end; index++) {
    await session.appendMessage({ role: "user", content: `message ${index}.`, timestamp: index });
  }
}

/** Opens a session that `append` wrote. */
async function openSession(append: Append, options: OpenOptions = {}, replies: readonly string[] = []) {
  return await openApp(replies.map(textReply), {
    ...options,
    args: ["--continue"],
    prepare: async ({ directory, agentDir }: ModelWorkspace) => {
      const session = await SessionManager.create(directory, undefined, { agentDir, durability: "none" });
      await append(session);
      await session.close();
    },
  });
}

const fullScreen: OpenOptions = { settings: { tuiMode: "fullscreen" }, rows: 30 };

const getNumbers = async (app: OpenedApp) =>
  Array.from((await app.screen()).matchAll(/message (\d+)\./g), ([, number]) => Number(number));

/** A few turns of the mouse wheel: so few that what two such moves pass over still overlaps. */
function turnWheelUp(app: OpenedApp): void {
  for (let turns = 0; turns < 6; turns++) app.terminal.sendInput("\x1b[<64;5;5M");
}

/** Scrolls up until a text is there. Each screen shows messages one after the other, and those of the last one go on. */
async function scrollUpTo(app: OpenedApp, text: string): Promise<void> {
  for (let moves = 0; !(await app.screen()).includes(text); moves++) {
    expect(moves).toBeLessThan(500);
    const before = await app.screen();
    const [first = 0] = await getNumbers(app);
    turnWheelUp(app);
    // The next change may be that of older messages coming instead; the move is then seen together with the next one.
    // At the beginning of what is loaded nothing moves until older messages are there, so the wheel is turned again.
    for (let looks = 0; looks < 50 && (await app.screen()) === before; looks++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const numbers = await getNumbers(app);
    expect(numbers).toEqual(numbers.map((_number, index) => numbers[0]! + index));
    expect(numbers.at(-1)).toBeGreaterThanOrEqual(first - 1);
  }
}

describe("in the full screen", () => {
  test("scrolling up shows the whole branch, each message once, and what is on the screen stays there", async () => {
    const app = await openSession((session) => addMessages(session, 0, 300), fullScreen);
    await app.sees("message 299.");
    await scrollUpTo(app, "message 0.");
    expect(await app.screen()).not.toContain("Earlier messages");
  });

  test("a call whose result is in a newer page gets it, and a compaction is shown where it was", async () => {
    const app = await openSession(async (session) => {
      await addMessages(session, 0, 20);
      const call = { type: "toolCall", id: "call-1", name: "bash", arguments: { command: "make it" } } as const;
      await session.appendMessage({
        role: "assistant",
        content: [call],
        api: "openai-completions",
        provider: "acme",
        model: "small",
        usage,
        stopReason: "toolUse",
        timestamp: 1,
      });
      const content = [{ type: "text" as const, text: "made it" }];
      const result = { role: "toolResult", toolCallId: "call-1", toolName: "bash", content, isError: false } as const;
      await session.appendMessage({ ...result, timestamp: 2 });
      const kept = await session.appendMessage({ role: "user", content: "kept", timestamp: 3 });
      await session.appendCompaction("so far", kept, 50_000);
      await addMessages(session, 20, 77);
    }, fullScreen);
    await app.sees("message 76.");
    await scrollUpTo(app, "message 19.");
    await app.sees(/message 19\.[\s\S]*bash make it\n\s+made it[\s\S]*kept[\s\S]*Compacted/);
  });

  test("what is written meanwhile comes once, at the end", async () => {
    const app = await openSession((session) => addMessages(session, 0, 200), fullScreen, ["An answer."]);
    await app.sees("message 199.");
    await scrollUpTo(app, "message 100.");
    app.type("a new message");
    app.press("enter");
    await scrollUpTo(app, "message 0.");
    for (let pages = 0; pages < 60; pages++) app.terminal.sendInput("\x1b[6~");
    await app.sees("An answer.");
    expect((await app.screen()).match(/a new message/g)).toHaveLength(1);
  });
});

test("in the terminal's own scrollback a line says that there is more, and where", async () => {
  const app = await openSession((session) => addMessages(session, 0, 100));
  await app.sees("message 99.");
  // What is above the screen is printed after the first frame.
  await expect.poll(app.everything).toContain("message 40.");
  const text = await app.everything();
  expect(text).toMatch(/Earlier messages are not shown here\. \/tree shows all \d+ entries\./);
  expect(text).not.toContain("message 30.");
});

describe("when a session is opened in the terminal's own scrollback", () => {
  const getOrder = (text: string) => Array.from(text.matchAll(/message (\d+)\./g), ([, number]) => Number(number));
  const all = (start: number, end: number) => Array.from({ length: end - start }, (_unused, index) => start + index);

  test.each([
    { rows: 12, columns: 80 },
    { rows: 40, columns: 30 },
  ])("the messages above the screen of $rows rows are printed too, once and in order", async (size) => {
    const app = await openSession((session) => addMessages(session, 0, 50), size);
    await expect.poll(app.everything).toContain("message 0.");
    expect(getOrder(await app.everything())).toEqual(all(0, 50));
    expect(await app.everything()).not.toContain("Earlier messages");
  });

  test("what is said at once comes after them, and a resize changes nothing of the order", async () => {
    const app = await openSession((session) => addMessages(session, 0, 50), { rows: 12 }, ["An answer."]);
    await app.sees("message 49.");
    app.type("message 50.");
    app.press("enter");
    app.terminal.resize(app.terminal.columns, 14);
    await app.sees("An answer.");
    await expect.poll(app.everything).toContain("message 0.");
    expect(getOrder(await app.everything())).toEqual(all(0, 51));
  });

  test("a call above the screen is printed with its result", async () => {
    const app = await openSession(
      async (session) => {
        await addMessages(session, 0, 2);
        const call = { type: "toolCall", id: "call-1", name: "bash", arguments: { command: "make it" } } as const;
        const content = [{ type: "text" as const, text: "made it" }];
        const answer = { api: "openai-completions", provider: "acme", model: "small", usage } as const;
        await session.appendMessage({
          role: "assistant",
          content: [call],
          ...answer,
          stopReason: "toolUse",
          timestamp: 1,
        });
        await session.appendMessage({
          role: "toolResult",
          toolCallId: "call-1",
          toolName: "bash",
          content,
          isError: false,
          timestamp: 2,
        });
        await session.appendMessage({ role: "user", content: `message 2.${" and so on".repeat(200)}`, timestamp: 3 });
      },
      { rows: 12 },
    );
    await expect
      .poll(app.everything)
      .toMatch(/message 0\.[\s\S]*message 1\.[\s\S]*bash make it\n\s+made it[\s\S]*message 2\./);
  });
});
