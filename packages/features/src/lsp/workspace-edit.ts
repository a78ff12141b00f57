/** Reads the edits of servers. Pure. */
import { isRecord } from "@tau/ai/internal";
import { toVisibleLine } from "../kit/visible-text.ts";
import { toPath } from "./client.ts";
import { LspError } from "./failure.ts";
import { parseRange, type PositionEncoding, type Range, type TextLines } from "./positions.ts";

interface TextEdit {
  range: Range;
  text: string;
}

/** A step of an edit, in the order of the server. */
export type EditStep =
  | { kind: "text"; path: string; version: number | null; edits: TextEdit[] }
  | { kind: "create"; path: string; ifExists: "fail" | "skip" | "replace" }
  | { kind: "rename"; path: string; to: string; ifExists: "fail" | "skip" | "replace" }
  | { kind: "remove"; path: string; ifMissing: "fail" | "skip" };

export interface OffsetEdit {
  start: number;
  end: number;
  text: string;
}

type TextStep = Extract<EditStep, { kind: "text" }>;

const maxFiles = 5_000;
const maxEditsPerFile = 100_000;

/** Refuses an edit as a whole. */
export const refuse = (message: string): never => {
  throw new LspError("bad_answer", `The server's edit makes no sense, so nothing was changed: ${message}`);
};

/** Reads a `WorkspaceEdit`: its steps, each for what the steps before it leave. Throws for one that cannot be carried out whole. */
export function parseWorkspaceEdit(value: unknown): EditStep[] {
  if (value === null || value === undefined) return [];
  if (!isRecord(value)) return refuse("it is no object.");
  const { documentChanges, changes } = value;
  const steps = Array.isArray(documentChanges)
    ? (documentChanges as unknown[]).map(parseStep)
    : mergeTexts(Object.entries(isRecord(changes) ? changes : {}).map(([uri, edits]) => toTextStep(uri, null, edits)));
  return steps.length > maxFiles ? refuse(`it has ${steps.length} files.`) : steps;
}

/** `changes` has no order, and may write the name of a file in several ways. */
function mergeTexts(steps: readonly TextStep[]): TextStep[] {
  const merged = new Map<string, TextStep>();
  for (const step of steps) {
    const known = merged.get(step.path);
    merged.set(step.path, known ? { ...known, edits: [...known.edits, ...step.edits] } : step);
  }
  return [...merged.values()];
}

function parseStep(value: unknown): EditStep {
  if (!isRecord(value)) return refuse("a part of it is no object.");
  const { overwrite, ignoreIfExists, ignoreIfNotExists } = isRecord(value["options"]) ? value["options"] : {};
  // The protocol lets the former win.
  const ifExists = overwrite === true ? "replace" : ignoreIfExists === true ? "skip" : "fail";
  switch (value["kind"]) {
    case undefined: {
      const { uri, version } = isRecord(value["textDocument"]) ? value["textDocument"] : {};
      return toTextStep(uri, typeof version === "number" ? version : null, value["edits"]);
    }
    case "create":
      return { kind: "create", path: getPath(value["uri"]), ifExists };
    case "rename":
      return { kind: "rename", path: getPath(value["oldUri"]), to: getPath(value["newUri"]), ifExists };
    case "delete":
      return { kind: "remove", path: getPath(value["uri"]), ifMissing: ignoreIfNotExists === true ? "skip" : "fail" };
    default:
      return refuse(`it has a part of the kind ${toVisibleLine(String(value["kind"]), 50)}.`);
  }
}

function toTextStep(uri: unknown, version: number | null, edits: unknown): TextStep {
  if (!Array.isArray(edits) || edits.length > maxEditsPerFile) return refuse("a file has no list of edits.");
  return { kind: "text", path: getPath(uri), version, edits: edits.map(parseTextEdit) };
}

const getPath = (uri: unknown): string =>
  toPath(uri) ?? refuse(`${toVisibleLine(String(uri), 200)} is no file on this machine.`);

export function parseTextEdit(value: unknown): TextEdit {
  const range = isRecord(value) ? parseRange(value["range"]) : undefined;
  if (!range || !isRecord(value)) return refuse("an edit has no valid range.");
  const { newText, snippet, insertTextFormat } = value;
  if (isRecord(snippet) && typeof snippet["value"] === "string") return { range, text: stripSnippet(snippet["value"]) };
  if (typeof newText !== "string") return refuse("an edit has no text.");
  return { range, text: insertTextFormat === 2 ? stripSnippet(newText) : newText };
}

/** The text of a snippet without its places for the cursor. */
const stripSnippet = (text: string): string =>
  text
    .replaceAll(/(?<!\\)\$(?:\d+|\{\d+(?::([^}]*))?\})/g, (_match, inner: string | undefined) => inner ?? "")
    .replaceAll(/\\([$}\\])/g, "$1");

/** Edits by offsets, in order. Throws for edits that overlap, are outside of the text, or begin or end inside of a character. */
export function toOffsetEdits(lines: TextLines, edits: readonly TextEdit[], encoding: PositionEncoding): OffsetEdit[] {
  const found = edits.map(({ range, text }): OffsetEdit => {
    const [start, end] = [lines.toOffset(range.start, encoding), lines.toOffset(range.end, encoding)];
    if (start === undefined || end === undefined) return refuse(`line ${range.end.line + 1} is outside of the file.`);
    if (!lines.isBoundary(range.start, encoding) || !lines.isBoundary(range.end, encoding))
      return refuse(`a change in line ${range.start.line + 1} begins or ends inside of a character.`);
    return { start, end, text };
  });
  const sorted = found.toSorted((left, right) => left.start - right.start || left.end - right.end);
  for (const [index, edit] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next && edit.end > next.start) return refuse("two of its changes overlap.");
  }
  return sorted;
}

/** The text after edits that are in order. */
export const applyEdits = (text: string, edits: readonly OffsetEdit[]): string => {
  let [result, from] = ["", 0];
  for (const edit of edits) {
    result += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return result + text.slice(from);
};
