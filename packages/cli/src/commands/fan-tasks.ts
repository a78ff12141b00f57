/** Reads the tasks of `tau fan`: a JSON object on each line. Pure. */
import { didYouMean, isRecord, tryParseJson } from "@tau/ai/internal";
import type { FanoutTask } from "@tau/features/agents";

const fields = ["id", "description", "prompt", "agent", "model", "tools", "worktree", "timeout", "schema"];

type FanTasks = { kind: "tasks"; tasks: FanoutTask[] } | { kind: "invalid"; message: string };

/** The first error, with its line. */
export function parseFanTasks(text: string): FanTasks {
  const tasks: FanoutTask[] = [];
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const parsed = parseTask(line, String(tasks.length + 1));
    if (typeof parsed === "string") return { kind: "invalid", message: `Line ${index + 1}: ${parsed}` };
    if (tasks.some(({ id }) => id === parsed.id)) {
      const message = `Line ${index + 1}: There is another task with the id ${JSON.stringify(parsed.id)}.`;
      return { kind: "invalid", message };
    }
    tasks.push(parsed);
  }
  return tasks.length > 0 ? { kind: "tasks", tasks } : { kind: "invalid", message: "There are no tasks." };
}

/** A message for a line that is no task. */
function parseTask(line: string, number: string): FanoutTask | string {
  const value = tryParseJson(line);
  if (!isRecord(value)) return "This is not a JSON object. Write each task on a line of its own.";
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown !== undefined) return `There is no field ${JSON.stringify(unknown)}.${didYouMean(unknown, fields)}`;
  const { id = number, prompt, tools, timeout, schema } = value;
  const description = value["description"] ?? (typeof prompt === "string" ? prompt.trim().slice(0, 60) : undefined);
  const texts = { id, description, prompt, agent: value["agent"], model: value["model"], worktree: value["worktree"] };
  for (const [name, text] of Object.entries(texts)) {
    const isMissing = text === undefined && ["agent", "model", "worktree"].includes(name);
    if (isMissing || (typeof text === "string" && text.trim() !== "")) continue;
    return `\`${name}\` has to be a string that is not empty.`;
  }
  if (tools !== undefined && !(Array.isArray(tools) && tools.every((tool) => typeof tool === "string")))
    return "`tools` has to be a list of names.";
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0))
    return "`timeout` has to be a number of milliseconds above 0.";
  if (schema !== undefined && !isRecord(schema)) return "`schema` has to be a JSON Schema.";
  return { ...value, id, description, prompt } as unknown as FanoutTask;
}
