/** Edits of servers as changes of files. Pure but for reading the files. */
import { basename } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { isWithin } from "@tau/tools/platform";
import { toVisibleLine } from "../kit/visible-text.ts";
import { type LspClient, toPath } from "./client.ts";
import { LspError } from "./failure.ts";
import { parseRange, type PositionEncoding, type Range, type TextLines } from "./positions.ts";
import { getSha256, isUtf8Text, type SourceFiles } from "./source-files.ts";

interface TextEdit {
  range: Range;
  text: string;
}

/** A step of an edit, in the order of the server. */
type EditStep =
  | { kind: "text"; path: string; version: number | null; edits: TextEdit[] }
  | { kind: "create"; path: string }
  | { kind: "rename"; path: string; to: string }
  | { kind: "remove"; path: string };

/** A change of one file, as the tool `change_files` takes it. */
export type FileChange =
  | { path: string; sha256?: string; edits: OffsetEdit[] }
  | { path: string; content: string }
  | { path: string; moveTo: string }
  | { path: string; sha256?: string; remove: true };

export interface OffsetEdit {
  start: number;
  end: number;
  text: string;
}

const maxFiles = 5_000;
const maxEditsPerFile = 100_000;

const refuse = (message: string): never => {
  throw new LspError("bad_answer", `The server's edit makes no sense, so nothing was changed: ${message}`);
};

/** Reads a `WorkspaceEdit`. Throws for one that cannot be carried out whole. */
export function parseWorkspaceEdit(value: unknown): EditStep[] {
  if (value === null || value === undefined) return [];
  if (!isRecord(value)) return refuse("it is no object.");
  const { documentChanges, changes } = value;
  const steps = Array.isArray(documentChanges)
    ? (documentChanges as unknown[]).map(parseStep)
    : Object.entries(isRecord(changes) ? changes : {}).map(([uri, edits]) => toTextStep(uri, null, edits));
  return steps.length > maxFiles ? refuse(`it has ${steps.length} files.`) : steps;
}

function parseStep(value: unknown): EditStep {
  if (!isRecord(value)) return refuse("a part of it is no object.");
  switch (value["kind"]) {
    case undefined: {
      const { uri, version } = isRecord(value["textDocument"]) ? value["textDocument"] : {};
      return toTextStep(uri, typeof version === "number" ? version : null, value["edits"]);
    }
    case "create":
      return { kind: "create", path: getPath(value["uri"]) };
    case "rename":
      return { kind: "rename", path: getPath(value["oldUri"]), to: getPath(value["newUri"]) };
    case "delete":
      return { kind: "remove", path: getPath(value["uri"]) };
    default:
      return refuse(`it has a part of the kind ${toVisibleLine(String(value["kind"]), 50)}.`);
  }
}

function toTextStep(uri: unknown, version: number | null, edits: unknown): EditStep {
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

/** Edits by offsets, in order. Throws for edits that overlap or are outside of the text. */
export function toOffsetEdits(lines: TextLines, edits: readonly TextEdit[], encoding: PositionEncoding): OffsetEdit[] {
  const found = edits.map(({ range, text }): OffsetEdit => {
    const [start, end] = [lines.toOffset(range.start, encoding), lines.toOffset(range.end, encoding)];
    if (start === undefined || end === undefined) return refuse(`line ${range.end.line + 1} is outside of the file.`);
    return { start, end, text };
  });
  const sorted = found.toSorted((left, right) => left.start - right.start || left.end - right.end);
  for (const [index, edit] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next && edit.end > next.start) return refuse("two of its changes overlap.");
  }
  return sorted;
}

export interface ToChangesOptions {
  client: Pick<LspClient, "documents" | "positionEncoding">;
  files: SourceFiles;
  cwd: string;
}

/** The changes of files that an edit asks for. Throws if it cannot be carried out whole, before anything is changed. */
export async function toFileChanges(value: unknown, options: ToChangesOptions): Promise<FileChange[]> {
  const { cwd } = options;
  const steps = mergeTexts(parseWorkspaceEdit(value));
  for (const step of steps) {
    for (const path of [step.path, ...(step.kind === "rename" ? [step.to] : [])]) {
      if (!isWithin(cwd, path))
        refuse(`it would change ${toVisibleLine(path, 300)}, which is outside of ${basename(cwd)}.`);
    }
  }
  const created = new Set(steps.flatMap((step) => (step.kind === "create" ? [step.path] : [])));
  const written = new Set(steps.flatMap((step) => (step.kind === "text" ? [step.path] : [])));
  const changes = await Promise.all(steps.map((step) => toFileChange(step, { created, written }, options)));
  return changes.flat();
}

/** Edits of one file may come in several parts. */
function mergeTexts(steps: readonly EditStep[]): EditStep[] {
  const merged = new Map<string, EditStep>();
  for (const step of steps) {
    const key = step.kind === "text" ? step.path : `${step.kind} ${step.path}`;
    const known = merged.get(key);
    if (step.kind === "text" && known?.kind === "text") known.edits.push(...step.edits);
    else merged.set(key, step);
  }
  return [...merged.values()];
}

async function toFileChange(
  step: EditStep,
  { created, written }: { created: ReadonlySet<string>; written: ReadonlySet<string> },
  { client, files }: ToChangesOptions,
): Promise<FileChange[]> {
  const { path } = step;
  switch (step.kind) {
    // Its text may follow as an edit.
    case "create":
      return written.has(path) ? [] : [{ path, content: "" }];
    case "rename":
      return [{ path, moveTo: step.to }];
    case "remove":
      return [{ path, sha256: getSha256(await files.read(path)), remove: true }];
    case "text": {
      if (created.has(path)) return [{ path, content: step.edits.map(({ text }) => text).join("") }];
      const document = client.documents.get(path);
      const source = await files.read(path);
      if (!isUtf8Text(source)) return refuse(`${files.show(path)} is not UTF-8.`);
      if (document && document.text !== source.lines.text)
        return refuse(`${files.show(path)} has changed since the server was asked. Ask again.`);
      if (step.version !== null && document && step.version !== document.version)
        return refuse(
          `it is for version ${step.version} of ${files.show(path)}, which is not the current one. Ask again.`,
        );
      const edits = toOffsetEdits(source.lines, step.edits, client.positionEncoding);
      return edits.length === 0 ? [] : [{ path, sha256: getSha256(source), edits }];
    }
  }
}
