/** Reads the arguments of the tool `task`. Pure. */
import type { JsonSchema } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";

/** A task as the model asks for it. */
export interface TaskRequest {
  /** Has no line breaks. Empty for a task that is resumed under its old description. */
  readonly description: string;
  readonly prompt: string;
  readonly agent?: string;
  readonly model?: string;
  readonly isolated?: boolean;
  readonly schema?: JsonSchema;
  /** The id of a task to continue. */
  readonly resume?: string;
}

type ParsedTasks =
  | { readonly tasks: readonly TaskRequest[]; readonly isBackground: boolean; readonly problem?: undefined }
  | { readonly problem: string };

/** How many tasks a call may have. */
const maxTasks = 100;
const maxDescriptionLength = 200;

export function parseTasks(args: unknown): ParsedTasks {
  if (!isRecord(args)) return { problem: "The arguments are not an object." };
  const { tasks, background, ...single } = args;
  if (tasks !== undefined && !Array.isArray(tasks)) return { problem: "`tasks` is not a list." };
  const list: unknown[] = tasks === undefined || tasks.length === 0 ? [single] : (tasks as unknown[]);
  if (tasks !== undefined && tasks.length > 0 && (single["prompt"] ?? single["description"]) !== undefined)
    return { problem: "Give either one task, or several in `tasks`." };
  if (list.length > maxTasks) return { problem: `There are ${list.length} tasks; a call may have ${maxTasks}.` };
  const requests: TaskRequest[] = [];
  for (const [index, item] of list.entries()) {
    const request = parseTask(item);
    if (typeof request === "string")
      return { problem: tasks === undefined ? request : `Task ${index + 1}: ${request}` };
    requests.push(request);
  }
  const resumed = requests.flatMap(({ resume }) => resume ?? []);
  const twice = resumed.find((id, index) => resumed.indexOf(id) !== index);
  if (twice !== undefined) return { problem: `The task ${twice} is resumed twice.` };
  return { tasks: requests, isBackground: background === true };
}

function parseTask(item: unknown): TaskRequest | string {
  if (!isRecord(item)) return "It is not an object with `description` and `prompt`.";
  const { prompt, isolated, schema } = item;
  if (typeof prompt !== "string" || prompt.trim() === "") return "`prompt` is missing.";
  if (schema !== undefined && !isRecord(schema)) return "`schema` is not a JSON Schema.";
  const description = typeof item["description"] === "string" ? toLine(item["description"]) : "";
  const resume = getName(item["resume"]);
  if (description === "" && resume === undefined) return "`description` is missing.";
  const [agent, model] = [getName(item["agent"]), getName(item["model"])];
  return {
    description: description.slice(0, maxDescriptionLength).toWellFormed(),
    prompt,
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    ...(isolated === true && { isolated }),
    ...(schema !== undefined && { schema: schema as JsonSchema }),
    ...(resume !== undefined && { resume }),
  };
}

/** Models send empty texts for what they leave out. */
const getName = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/** Joins the lines of a text, without what a terminal would take for a command. */
export const toLine = (text: string): string => text.replaceAll(/[\s\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu, " ").trim();

export function summariseTasks(args: unknown): string {
  const { tasks = [], problem } = { tasks: undefined, ...parseTasks(args) };
  if (problem !== undefined) return "Task";
  const names = tasks.map(({ description, resume }) => description || `continue ${resume}`);
  return names.length === 1 ? `Task: ${names[0]}` : `${names.length} tasks: ${names.join(", ")}`;
}
