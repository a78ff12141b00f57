import type { SessionSummaryData } from "@tau/protocol";
import { SessionPages } from "@tau/protocol/surface";
import { stripTerminalSequences } from "@tau/tui";
import { expect, test } from "vitest";
import { Themes } from "../themes.ts";
import { SessionDialog } from "./sessions.ts";

const enter = "\r";
const ctrlD = "\x04";
const names = ["fence", "lawn", "roof"];

/** A list of sessions whose host answers when it is told to. */
async function openSessions(parents: Readonly<Record<string, string>> = {}) {
  const waiting: (() => void)[] = [];
  const answer = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const fetchPage = async ({ query }: { query: string }) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    const found = names.filter((name) => name.includes(query));
    const sessions = found.map((name, index) => ({
      path: `/${name}`,
      ...(parents[name] !== undefined && { parentSession: `/${parents[name]}` }),
      name,
      firstMessage: "",
      messageCount: index + 1,
      modifiedAt: "2026-01-01T00:00:00.000Z",
    }));
    return { sessions: sessions as SessionSummaryData[] };
  };
  const pages = new SessionPages({ fetchPage, onChange: () => {}, pageSize: 10 });
  const calls: string[] = [];
  const dialog = new SessionDialog({
    pages,
    theme: new Themes({ mode: "none", files: [] }).theme,
    home: undefined,
    getMaxRows: () => 10,
    now: () => 0,
    describeKey: String,
    onSelect: ({ path }) => calls.push(`open ${path}`),
    onSearch: (text) => calls.push(`search ${text}`),
    onRename: ({ path }) => calls.push(`rename ${path}`),
    onDelete: ({ path }) => calls.push(`delete ${path}`),
    onRestore: () => {},
    onCancel: () => {},
  });
  const listed = pages.load();
  answer();
  await listed;
  const type = (...keys: string[]) => {
    for (const key of keys) dialog.handleInput(key);
  };
  /** Until no list is on its way. */
  const settle = async () => {
    while (pages.isLoading) {
      answer();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { type, settle, calls, draw: () => stripTerminalSequences(dialog.render(80).join("\n")) };
}

test("Enter directly after a search opens what is found, not what was listed before", async () => {
  const { type, settle, calls } = await openSessions();
  type("r", "o", "o", enter);
  expect(calls).toEqual([]);
  await settle();
  expect(calls).toEqual(["open /roof"]);
});

test("a key after Enter takes it back, and nothing is deleted that is not listed", async () => {
  const { type, settle, calls } = await openSessions();
  type("l", enter, "a");
  await settle();
  expect(calls).toEqual([]);
  type("w", ctrlD);
  await settle();
  type(enter);
  expect(calls).toEqual(["open /lawn"]);
});

test("forks are below what they were forked from, and what is selected is what is opened", async () => {
  const { type, settle, calls, draw } = await openSessions({ fence: "roof" });
  expect(draw()).toMatch(/→ roof[^]*└ fence[^]*lawn/);
  type("\x1b[B", enter);
  expect(calls).toEqual(["open /fence"]);
  // A search lists what it finds, in its order.
  type("e");
  await settle();
  expect(draw()).not.toContain("└");
});

test("the messages of a session are counted", async () => {
  const { draw } = await openSessions();
  expect(draw()).toMatch(/fence +1 message ·/);
  expect(draw()).toMatch(/lawn +2 messages ·/);
});
