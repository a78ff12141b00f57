/** The items of a to-do list, and how they are written. Pure. */
import { isRecord } from "@tau/ai/internal";

const todoStatuses = ["pending", "in_progress", "completed"] as const;

type TodoStatus = (typeof todoStatuses)[number];

export interface Todo {
  readonly content: string;
  readonly status: TodoStatus;
}

/** Limits of a list. */
export const maxTodos = 100;
export const maxContentLength = 500;

/** How many items are shown at once. */
const maxShown = 8;

type ParsedTodos =
  | { readonly todos: readonly Todo[]; readonly problem?: undefined }
  | { readonly todos?: undefined; readonly problem: string };

/** Reads the arguments of a call, or the details of a result of any version. */
export function parseTodos(value: unknown): ParsedTodos {
  const list = isRecord(value) ? value["todos"] : undefined;
  if (!Array.isArray(list)) return { problem: "`todos` is not a list." };
  if (list.length > maxTodos) return { problem: `The list has ${list.length} items; at most ${maxTodos} are allowed.` };
  const todos: Todo[] = [];
  for (const [index, item] of (list as unknown[]).entries()) {
    const parsed = parseTodo(item);
    if (typeof parsed === "string") return { problem: `Item ${index + 1}: ${parsed}` };
    todos.push(parsed);
  }
  return { todos };
}

function parseTodo(item: unknown): Todo | string {
  if (!isRecord(item) || typeof item["content"] !== "string") return "`content` is not a text.";
  const status = todoStatuses.find((known) => known === item["status"]);
  if (!status) return `\`status\` is not one of ${todoStatuses.join(", ")}.`;
  // One line, without what a terminal would take for a command.
  const content = item["content"].replaceAll(/[\s\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu, " ").trim();
  if (content === "") return "`content` is empty.";
  if (content.length > maxContentLength) return `\`content\` is longer than ${maxContentLength} characters.`;
  return { content, status };
}

export const isDone = (todos: readonly Todo[]): boolean => todos.every(({ status }) => status === "completed");

const marks: Readonly<Record<TodoStatus, string>> = { pending: "[ ]", in_progress: "[>]", completed: "[x]" };

/** Each item as a line. */
export const formatTodos = (todos: readonly Todo[]): string[] =>
  todos.map(({ content, status }) => `${marks[status]} ${content}`);

/** Formats the progress as a line: how many are done, and which is next. */
export function formatProgress(todos: readonly Todo[]): string {
  const done = todos.filter(({ status }) => status === "completed").length;
  const next = todos.find(({ status }) => status === "in_progress") ?? todos.find(({ status }) => status === "pending");
  return `${done} of ${todos.length} done${next ? ` · next: ${next.content}` : ""}`;
}

/** The lines above the editor: the list during a run, one line afterwards, none when there is nothing left to show. */
export function describeTodos(todos: readonly Todo[], isRunning: boolean): string[] | undefined {
  if (todos.length === 0) return undefined;
  if (!isRunning) return isDone(todos) ? undefined : [formatProgress(todos)];
  const lines = formatTodos(todos);
  if (lines.length <= maxShown) return lines;
  // From the last completed item before the first open one: that is where the work is.
  const open = todos.findIndex(({ status }) => status !== "completed");
  const from = Math.min(Math.max(0, open - 1), lines.length - maxShown);
  const shown = lines.slice(from, from + maxShown);
  return [formatProgress(todos), ...shown];
}

/** The result of a call, for the model. */
export function formatResult(todos: readonly Todo[]): string {
  if (todos.length === 0) return "The list is empty.";
  const active = todos.filter(({ status }) => status === "in_progress").length;
  const note = active > 1 ? [`${active} items are in progress; usually it is one.`] : [];
  return [...formatTodos(todos), ...note].join("\n");
}
