import { expect, test } from "vitest";
import {
  describeTodos,
  formatProgress,
  formatResult,
  maxContentLength,
  maxTodos,
  parseTodos,
  type Todo,
} from "./todo-list.ts";

const item = (content: string, status: Todo["status"] = "pending"): Todo => ({ content, status });

test.each<[name: string, args: unknown, problem: RegExp]>([
  ["no list", { todos: "all of it" }, /^`todos` is not a list/],
  ["no arguments", undefined, /^`todos` is not a list/],
  ["too many", { todos: Array.from({ length: maxTodos + 1 }, () => item("a")) }, /101 items; at most 100/],
  ["an item that is a text", { todos: ["a"] }, /^Item 1: `content` is not a text/],
  [
    "an unknown status",
    { todos: [item("a"), { content: "b", status: "done" }] },
    /^Item 2: `status` is not one of pending/,
  ],
  ["an empty item", { todos: [item(" \n\t ")] }, /^Item 1: `content` is empty/],
  ["a long item", { todos: [item("a".repeat(maxContentLength + 1))] }, /^Item 1: `content` is longer than 500/],
])("%s is refused", (_name, args, problem) => {
  expect(parseTodos(args).problem).toMatch(problem);
});

test("an item is one line without control characters, and unknown fields are dropped", () => {
  const todos = [{ content: " one\n two\u001B[31m\u202E ", status: "pending", extra: true }];
  expect(parseTodos({ todos })).toEqual({ todos: [item("one two [31m")] });
});

test.each<[todos: Todo[], isRunning: boolean, lines: string[] | undefined]>([
  [[], true, undefined],
  [[], false, undefined],
  [[item("a", "completed"), item("b", "in_progress"), item("c")], true, ["[x] a", "[>] b", "[ ] c"]],
  [[item("a", "completed"), item("b", "in_progress"), item("c")], false, ["1 of 3 done · next: b"]],
  [[item("a", "completed"), item("b")], false, ["1 of 2 done · next: b"]],
  [[item("a", "completed")], true, ["[x] a"]],
  [[item("a", "completed")], false, undefined],
])("%j, running %s, is shown as %j", (todos, isRunning, lines) => {
  expect(describeTodos(todos, isRunning)).toEqual(lines);
});

test("of a long list the part is shown where the work is", () => {
  const todos = Array.from({ length: 20 }, (_, index) => item(`${index}`, index < 10 ? "completed" : "pending"));
  expect(describeTodos(todos, true)).toEqual([
    formatProgress(todos),
    "[x] 9",
    ...[10, 11, 12, 13, 14, 15, 16].map((index) => `[ ] ${index}`),
  ]);
  expect(
    describeTodos(
      todos.map(({ content }) => item(content, "completed")),
      true,
    ),
  ).toHaveLength(9);
});

test("a result repeats the list, and notes that several are in progress", () => {
  expect(formatResult([])).toBe("The list is empty.");
  expect(formatResult([item("a", "in_progress"), item("b", "in_progress")])).toMatch(/^\[>\] a\n\[>\] b\n2 items/);
});
