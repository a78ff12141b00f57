/** The lines that a kernel sends. A cell can forge them, so each is checked, and none has more rights than the cell. */
import { asRecord, isRecord } from "@tau/ai/internal";
import type { KernelResult } from "./ipc.ts";

/** A kernel that sends a longer message is ended. Its own program sends none. */
export const maxMessageBytes = 16 * 1024 * 1024;

type CellStatus = "ok" | "error" | "interrupted";

interface CellError {
  name: string;
  message: string;
  traceback: string;
}

export interface DoneMessage {
  id: string;
  status: CellStatus;
  /** The value of the last expression as people read it. */
  result?: string;
  /** The value as JSON; null if it has none. */
  value?: unknown;
  error?: CellError;
}

export interface Table {
  columns: string[];
  rows: string[][];
  total: number;
}

export type Display =
  | { kind: "text"; text: string }
  | { kind: "json"; value: unknown }
  | { kind: "table"; table: Table }
  /** Base64. */
  | { kind: "png"; data: string };

/** A request of a kernel to the host. Answered with a `KernelResult`. */
export type KernelRequest =
  | { kind: "tool"; tool: string; params: unknown }
  | { kind: "exec"; language: "python" | "javascript"; code: string }
  | { kind: "completion"; prompt: string; options: Readonly<Record<string, unknown>> }
  | { kind: "agent"; prompt: string; options: Readonly<Record<string, unknown>> }
  | { kind: "glob"; pattern: string; cwd: string }
  /** Reads a part of a text from a line on. */
  | { kind: "readFile"; path: string; offset: number };

export type FromKernel =
  | { type: "Ready" }
  | { type: "Done"; done: DoneMessage }
  /** `size`: the length of its line. */
  | { type: "Display"; display: Display; size: number }
  | { type: "Register"; name: string; description: string; parameters: Readonly<Record<string, unknown>> | undefined }
  | { type: "Invoked"; id: string; result: KernelResult }
  /** `request` is undefined if its arguments are of the wrong kind, which is a mistake of the code and not of the kernel. */
  | { type: "Request"; id: number; scope: string; wire: string; request: KernelRequest | undefined };

/** Undefined for anything that is not a message. Pure. */
export function parseMessage(line: string): FromKernel | undefined {
  const { type, payload } = asRecord(parseJson(line));
  const fields = asRecord(payload);
  const id = getText(fields["id"]);
  switch (type) {
    case "Ready":
      return { type };
    case "Done":
      return { type, done: toDone(id, fields) };
    case "Display": {
      const display = toDisplay(fields);
      return display && { type, display, size: line.length };
    }
    case "Register": {
      const { name, description, parameters } = fields;
      if (typeof name !== "string") return undefined;
      return {
        type,
        name,
        description: getText(description),
        parameters: isRecord(parameters) ? parameters : undefined,
      };
    }
    case "Invoked":
      return { type, id, result: toResult(fields) };
    default: {
      const wire = String(type);
      if (!Object.hasOwn(requests, wire) || !Number.isSafeInteger(fields["id"])) return undefined;
      const request = requests[wire]!(fields);
      return { type: "Request", id: fields["id"] as number, scope: getText(fields["scope"]), wire, request };
    }
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    // Reported by the caller as no message.
    return undefined;
  }
}

const getText = (value: unknown): string => (typeof value === "string" ? value : "");

function toDone(id: string, { status, result, value, error }: Readonly<Record<string, unknown>>): DoneMessage {
  const isKnown = status === "ok" || status === "error" || status === "interrupted";
  const { name, message, traceback } = asRecord(error);
  return {
    id,
    status: isKnown ? status : "error",
    ...(typeof result === "string" && { result }),
    ...(value !== undefined && { value }),
    ...(isRecord(error) && {
      error: { name: getText(name), message: getText(message), traceback: getText(traceback) },
    }),
  };
}

/** The first bytes of every PNG, in Base64. */
const pngStart = "iVBORw0KGgo";

function toDisplay({ text, json, table, png }: Readonly<Record<string, unknown>>): Display | undefined {
  if (typeof png === "string")
    return png.startsWith(pngStart) && /^[\w+/]+={0,2}$/.test(png) ? { kind: "png", data: png } : undefined;
  if (typeof text === "string") return { kind: "text", text };
  if (isRecord(table)) return toTable(table);
  return json === undefined ? undefined : { kind: "json", value: json };
}

function toTable({ columns, rows, total }: Readonly<Record<string, unknown>>): Display | undefined {
  if (!isTexts(columns) || !Array.isArray(rows) || !rows.every(isTexts)) return undefined;
  return { kind: "table", table: { columns, rows, total: typeof total === "number" ? total : rows.length } };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((part) => typeof part === "string");

function toResult({ value = null, error }: Readonly<Record<string, unknown>>): KernelResult {
  if (!isRecord(error)) return { value };
  return { error: { message: getText(error["message"]), kind: getText(error["kind"]) || "failed" } };
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads the requests of each type. */
const requests: Readonly<Record<string, (fields: Fields) => KernelRequest | undefined>> = {
  ToolCall: ({ tool, params }) => (typeof tool === "string" ? { kind: "tool", tool, params } : undefined),
  PythonExec: ({ code }) => (typeof code === "string" ? { kind: "exec", language: "python", code } : undefined),
  BunExec: ({ code }) => (typeof code === "string" ? { kind: "exec", language: "javascript", code } : undefined),
  Completion: ({ prompt, options }) =>
    typeof prompt === "string" ? { kind: "completion", prompt, options: asRecord(options) } : undefined,
  Agent: ({ prompt, options }) =>
    typeof prompt === "string" ? { kind: "agent", prompt, options: asRecord(options) } : undefined,
  Glob: ({ pattern, cwd }) =>
    typeof pattern === "string" ? { kind: "glob", pattern, cwd: getText(cwd) || "." } : undefined,
  ReadFile: ({ path, offset }) =>
    typeof path === "string" && Number.isSafeInteger(offset)
      ? { kind: "readFile", path, offset: offset as number }
      : undefined,
};

/** The type of the answer to a request. */
const answers: Readonly<Record<string, string>> = { PythonExec: "PythonResult", BunExec: "BunResult" };
export const getAnswerType = (wire: string): string => answers[wire] ?? "ToolResult";
