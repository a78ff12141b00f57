import { expect, test } from "vitest";
import { listThreads } from "./session-threads.ts";

/** Sessions written as `name` or `name<parent`, drawn with two blanks for each level. */
const draw = (...sessions: string[]): string[] =>
  listThreads(
    sessions.map((text) => {
      const [path = "", parentSession] = text.split("<");
      return { path, ...(parentSession !== undefined && { parentSession }) };
    }),
  ).map(({ session, depth }) => `${"  ".repeat(depth)}${session.path}`);

test("forks are below what they were forked from, and a thread is where its newest session was", () => {
  expect(draw("fork2<first", "other", "fork1<first", "deep<fork1", "first")).toEqual([
    "first",
    "  fork2",
    "  fork1",
    "    deep",
    "other",
  ]);
});

test("a session whose parent is not listed stands alone", () => {
  expect(draw("a<gone", "b")).toEqual(["a", "b"]);
});

test("sessions that name each other or themselves as parents are listed once", () => {
  expect(
    draw("a<b", "b<a", "c<c", "d<b")
      .toSorted((x, y) => x.trim().localeCompare(y.trim()))
      .map((row) => row.trim()),
  ).toEqual(["a", "b", "c", "d"]);
});

test("a chain of 20,000 forks is listed", () => {
  const chain = Array.from({ length: 20_000 }, (_, index) => (index === 0 ? "0" : `${index}<${index - 1}`));
  expect(draw(...chain)).toHaveLength(20_000);
});
