/** Checks what handlers and isolated tools answer with, before anything else works with it. Pure. */
import type { AgentToolResult } from "@tau/agent";
import { isRecord } from "@tau/ai/internal";
import type { ExtensionEventName } from "../api/events.ts";
import { ExtensionError } from "../errors.ts";

type Check = (value: unknown) => boolean;
type Fields = Readonly<Record<string, Check>>;

const text: Check = (value) => typeof value === "string";
const flag: Check = (value) => typeof value === "boolean";
const number: Check = (value) => typeof value === "number";
const anything: Check = () => true;
const callable: Check = (value) => typeof value === "function";
const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const oneOf =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));
const nothing: Check = (value) => value === null;
/** Checks the fields that a value has; only `needed` ones may not be missing. */
const shape =
  (fields: Fields, needed: readonly string[] = []): Check =>
  (value) =>
    isRecord(value) &&
    needed.every((name) => value[name] !== undefined) &&
    Object.entries(fields).every(([name, check]) => value[name] === undefined || check(value[name]));
const literal =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);

const blocks: Readonly<Record<string, Check>> = {
  text: shape({ text }, ["text"]),
  image: shape({ data: text, mimeType: text }, ["data", "mimeType"]),
  thinking: shape({ thinking: text }, ["thinking"]),
  toolCall: shape({ id: text, name: text, arguments: isRecord }, ["id", "name", "arguments"]),
};
const isBlock: Check = (value) => {
  const type = isRecord(value) ? value["type"] : undefined;
  return typeof type === "string" && Object.hasOwn(blocks, type) && blocks[type]!(value);
};
const isContentBlock: Check = (value) =>
  isRecord(value) && (value["type"] === "text" || value["type"] === "image") && isBlock(value);
const content = list(isContentBlock);
const textOrContent = oneOf(text, content);
export const isMessageContent = textOrContent;

const messages: Readonly<Record<string, Check>> = {
  user: shape({ content: textOrContent }, ["content"]),
  system: shape({ content: textOrContent }, ["content"]),
  assistant: shape({ content: list(isBlock) }, ["content"]),
  toolResult: shape({ content, toolCallId: text, toolName: text }, ["content", "toolCallId"]),
};
/** Other roles are those of a session, such as summaries; they have text. */
const isMessage: Check = (value) => {
  if (!isRecord(value) || typeof value["role"] !== "string") return false;
  const known = Object.hasOwn(messages, value["role"]) ? messages[value["role"]] : undefined;
  return (known ?? shape({ content: oneOf(text, list(isRecord)), summary: text }))(value);
};

/** Whether extensions may use the type. Types of tau itself are not for them. */
export const isCustomType: Check = (value) => typeof value === "string" && !value.startsWith("tau.");
export const isMessageDraft = shape({ customType: isCustomType, content: textOrContent, display: flag }, [
  "customType",
  "content",
]);
const entry: Check = (value) => {
  if (!isRecord(value)) return false;
  switch (value["type"]) {
    case "custom":
      return isCustomType(value["customType"]);
    case "custom_message":
      return isMessageDraft(value);
    case "context_edit":
      return (
        text(value["targetId"]) && oneOf(nothing, shape({ content: textOrContent }, ["content"]))(value["replacement"])
      );
    case "compaction":
      return text(value["summary"]) && oneOf(nothing, text)(value["firstKeptEntryId"]);
    default:
      return false;
  }
};
const usage = shape({ input: number, output: number, cacheRead: number, cacheWrite: number, totalTokens: number });
const boundary = shape({ entries: list(entry), continue: flag });
const summary = shape({ summary: text, usage }, ["summary"]);
const compaction = shape({ summary: text, firstKeptEntryId: oneOf(nothing, text), tokensBefore: number, usage }, [
  "summary",
  "firstKeptEntryId",
  "tokensBefore",
]);

const results: Partial<Record<ExtensionEventName, Check>> = {
  project_trust: shape({ trusted: literal("yes", "no", "undecided"), remember: flag }, ["trusted"]),
  resources_discover: shape({ skillPaths: list(text), promptPaths: list(text), themePaths: list(text) }),
  session_before_switch: shape({ cancel: flag }),
  session_before_fork: shape({ cancel: flag, skipConversationRestore: flag }),
  session_before_compact: shape({ cancel: flag, compaction }),
  session_before_tree: shape({
    cancel: flag,
    summary,
    customInstructions: text,
    replaceInstructions: flag,
    label: text,
  }),
  context: shape({ messages: list(isMessage) }),
  context_with_system: shape({ messages: list(isMessage) }),
  before_provider_request: anything,
  before_agent_start: shape({ message: isMessageDraft, systemPrompt: text }),
  agent_before_settle: boundary,
  turn_end: boundary,
  message_end: shape({ message: isMessage }),
  tool_call: shape({ block: flag, reason: text, terminate: flag }),
  undo_request: oneOf(shape({ data: isRecord }, ["data"]), shape({ problem: text }, ["problem"])),
  files_changed: shape({ content }),
  tool_result: shape({ content, isError: flag, usage }),
  user_bash: oneOf(
    shape({ result: shape({ output: text, exitCode: oneOf(number, nothing) }, ["output"]) }, ["result"]),
    // Functions do not come from another process.
    shape({ operations: shape({ exec: callable }, ["exec"]) }, ["operations"]),
  ),
  mention_read: oneOf(shape({ content }, ["content"]), shape({ problem: text }, ["problem"])),
  mention_complete: shape({ items: list(shape({ value: text, description: text }, ["value"])) }, ["items"]),
  input: oneOf(
    shape({ action: literal("continue", "handled") }, ["action"]),
    shape({ action: literal("transform"), text, images: list(isContentBlock) }, ["action", "text"]),
  ),
};

/** Undefined for no answer. Throws a sentence for one that is none to this event. */
export function parseResult(name: ExtensionEventName, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  const check = results[name];
  if (!check) return undefined;
  // Handlers may answer with what means nothing, such as the value of their last expression.
  if (!isRecord(value) && name !== "before_provider_request") return undefined;
  if (!check(value))
    throw new ExtensionError("invalid_result", `It answered with something that is no result of ${name}.`);
  return value;
}

const texts = (value: unknown): boolean => isRecord(value) && Object.values(value).every(text);

/** Whether a value can be the options of the system prompt. */
export const isPromptOptions = shape(
  {
    cwd: text,
    customPrompt: text,
    appendSystemPrompt: text,
    forceSystemPrompt: text,
    selectedTools: list(text),
    toolSnippets: texts,
    promptGuidelines: list(text),
    sections: texts,
    contextFiles: list(shape({ path: text, content: text }, ["path", "content"])),
    skills: list(shape({ name: text, description: text, filePath: text }, ["name", "description", "filePath"])),
  },
  ["cwd", "selectedTools", "toolSnippets", "promptGuidelines", "sections", "contextFiles", "skills"],
);

/** Whether a field that handlers change in place still has a valid value. */
export function isValidChange(name: ExtensionEventName, field: string, before: unknown, after: unknown): boolean {
  if (field === "messages") return list(isMessage)(after);
  if (name === "before_provider_request") return true;
  if (field === "systemPromptOptions") return isPromptOptions(after);
  return isRecord(before) && isRecord(after);
}

const toolResult = shape({ content, isError: flag, terminate: flag, usage }, ["content"]);

/** Throws a sentence for what is no result of a tool. */
export function parseToolResult(value: unknown): AgentToolResult & { isError?: boolean } {
  if (!toolResult(value))
    throw new ExtensionError("invalid_result", "It answered with something that is no result of a tool.");
  return { details: undefined, ...(value as object) } as AgentToolResult & { isError?: boolean };
}

export const isToolUpdate = shape({ content }, ["content"]);

const completion = shape({ value: text, label: text, description: text }, ["value", "label"]);

/** Null if they are none. */
export const parseCompletions = (value: unknown) =>
  list(completion)(value) ? (value as { value: string; label: string; description?: string }[]) : null;
