/** The tool `change_files`: changes that another tool has worked out, for several files at once. */
import { resolve } from "node:path";
import type { ToolArguments } from "@tau/ai";
import { ToolsError } from "../errors.ts";
import { summariseChanges } from "../files/diff.ts";
import { aloneWith, type EditorPorts } from "../files/file-queue.ts";
import { applyChanges, type Change, withBreaks } from "../files/match.ts";
import { noteWritten } from "../files/seen-files.ts";
import { refuseBinary } from "../files/sniff.ts";
import { decodeText, encodeText, hasRawBytes, maxEditableBytes } from "../files/text-file.ts";
import type { Files } from "../platform/files.ts";
import { missingStamp } from "../platform/replace.ts";
import type { DescribedTool } from "../tool.ts";
import { defaultMaxBytes, formatBytes } from "../truncate.ts";
import { applySteps, listNames, type PlannedStep } from "./apply-steps.ts";
import { changeFilesDefinition, type ChangeFilesParameters } from "./definition.ts";
import type { ChangeJournal } from "./journal.ts";
import { markContent } from "./step.ts";

export interface ChangeFilesDetails {
  /** Unified, of all files. */
  diff: string;
  files: FileChange[];
}

export interface FileChange {
  /** Absolute. */
  path: string;
  kind: "changed" | "created" | "moved" | "removed";
  /** Absolute, of a file that was moved. */
  movedTo?: string;
  /** 1-based, in the new text. */
  firstChangedLine?: number;
}

type RequestedChange = ToolArguments<ChangeFilesParameters>["changes"][number];

interface Target {
  change: RequestedChange;
  path: string;
  realPath: string;
  /** The name that a file gets. */
  to?: { path: string; realPath: string };
}

/** Together, in memory and in the journal. */
const maxTotalBytes = 256 * 1024 * 1024;

export function createChangeFilesTool({
  cwd,
  files: ownFiles,
  queue,
  seen,
  journal,
}: EditorPorts & { cwd: string; journal?: ChangeJournal | undefined }): DescribedTool<
  ChangeFilesParameters,
  ChangeFilesDetails
> {
  return {
    ...changeFilesDefinition,
    async execute(_id, { changes }, signal, _onUpdate, context) {
      const files = context?.files ?? ownFiles;
      const find = async () => {
        const targets: Target[] = [];
        for (const change of changes) targets.push(await findTarget(files, cwd, change));
        refuseTwice(targets);
        const realPaths = targets.flatMap(({ realPath, to }) => (to ? [realPath, to.realPath] : [realPath]));
        return realPaths.map((realPath) => ({ realPath, targets }));
      };
      return await aloneWith(queue, signal, find, async ([found], beginWriting) => {
        const { targets } = found!;
        const prepared = await prepareAll(files, targets);
        beginWriting();
        const steps = prepared.flatMap(({ step }) => (step ? [step] : []));
        // Names last, so that the contents are written under the names that they were read with.
        steps.sort((a, b) => order[a.kind] - order[b.kind]);
        for (const file of await asChanged(applySteps({ files, journal }, steps))) noteWritten(seen, file);
        return present(prepared);
      });
    },
  };
}

const order: Readonly<Record<PlannedStep["kind"], number>> = { write: 0, move: 1, remove: 2 };

/** For the caller it is the same whether another process was there before or after the comparison. */
async function asChanged<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ToolsError) || error.code !== "overtaken") throw error;
    throw new ToolsError("changed", error.message, { cause: error });
  }
}

async function findTarget(files: Files, cwd: string, change: RequestedChange): Promise<Target> {
  const find = async (typed: string) => {
    const path = resolve(cwd, typed);
    return { path, realPath: await files.realPath(path, "write") };
  };
  return {
    change,
    ...(await find(change.path)),
    ...("moveTo" in change && { to: await find(change.moveTo) }),
  };
}

/** Allows at most one change of the content of a file, and one of its name. */
function refuseTwice(targets: readonly Target[]): void {
  const used = new Set<string>();
  for (const { change, realPath, to } of targets) {
    const keys = to ? [`name ${realPath}`, `content ${to.realPath}`, `name ${to.realPath}`] : [`content ${realPath}`];
    if ("remove" in change) keys.push(`name ${realPath}`);
    const twice = keys.find((key) => used.has(key));
    if (twice !== undefined) {
      throw new ToolsError("invalid_input", `Two changes are of one file, ${change.path}. Put them into one change.`);
    }
    for (const key of keys) used.add(key);
  }
}

interface Prepared {
  /** Undefined where nothing has to be done. */
  step: PlannedStep | undefined;
  file: FileChange;
  /** Makes the diff, at most so many bytes. */
  diff: (maxBytes: number) => { diff: string; firstChangedLine?: number };
}

async function prepareAll(files: Files, targets: readonly Target[]): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  /** The content that a file has when it gets its new name. */
  const written = new Map<string, Buffer>();
  let bytes = 0;
  const contentsFirst = targets.toSorted((a, b) => Number(a.to !== undefined) - Number(b.to !== undefined));
  for (const target of contentsFirst) {
    const one = await prepare(files, target, written);
    if (one.step?.kind === "write") written.set(target.realPath, one.step.bytes!);
    bytes += one.step && one.step.kind !== "move" ? (one.step.before?.length ?? 0) : 0;
    if (bytes > maxTotalBytes) {
      throw new ToolsError("too_large", `The files are too large together: at most ${formatBytes(maxTotalBytes)}.`);
    }
    prepared.push(one);
  }
  return prepared;
}

async function prepare(files: Files, target: Target, written: ReadonlyMap<string, Buffer>): Promise<Prepared> {
  const { change, path, realPath, to } = target;
  const current = await readCurrent(files, target);
  const base = { typed: change.path, path: realPath, stamp: current?.stamp ?? missingStamp };
  if ("content" in change) {
    const after = Buffer.from(change.content);
    const before = current?.bytes;
    const kind = before ? "changed" : "created";
    return prepareText({ target, base, before, after, changes: undefined, kind });
  }
  if (!current) throw new ToolsError("changed", `There is no file ${change.path} any more.`);
  const { bytes: before } = current;
  if ("edits" in change) {
    const { after, changes } = applyEdits(before, change);
    return prepareText({ target, base, before, after, changes, kind: "changed" });
  }
  if (to) {
    const content = markContent(written.get(realPath) ?? before);
    return {
      step: { ...base, kind: "move", to: to.realPath, content },
      file: { path, kind: "moved", movedTo: to.path },
      diff: () => ({ diff: `rename from ${change.path}\nrename to ${(change as { moveTo: string }).moveTo}\n` }),
    };
  }
  const mode = (await files.stat(realPath))?.mode ?? 0o644;
  return {
    step: { ...base, kind: "remove", before, mode },
    file: { path, kind: "removed" },
    diff: (maxBytes) => compare(change.path, before, Buffer.alloc(0), maxBytes),
  };
}

/** Undefined where there is no file. Throws `changed` if it is not the one that the caller saw. */
async function readCurrent(files: Files, { change, realPath }: Target) {
  const current = await readIfThere(files, realPath);
  const isSeen = current ? change.sha256 !== undefined || !("content" in change) : change.sha256 === undefined;
  const isSame =
    !current || change.sha256 === undefined || markContent(current.bytes).sha256 === change.sha256.toLowerCase();
  if (isSeen && isSame) return current;
  const what = !current ? "does not exist any more" : isSeen ? "has changed since it was read" : "exists already";
  throw new ToolsError("changed", `${change.path} ${what}. Nothing was changed; look at it again.`);
}

async function readIfThere(files: Files, path: string) {
  try {
    return await files.readWhole(path, maxEditableBytes);
  } catch (error) {
    if (error instanceof ToolsError && error.code === "not_found") return undefined;
    throw error;
  }
}

interface TextChange {
  target: Target;
  base: Pick<PlannedStep, "typed" | "path" | "stamp">;
  before: Buffer | undefined;
  after: Buffer;
  /** The changes in the order of the text; undefined: all of it. */
  changes: Change[] | undefined;
  kind: "changed" | "created";
}

function prepareText({ target: { change, path }, base, before, after, changes, kind }: TextChange): Prepared {
  const isSame = before?.equals(after) === true;
  return {
    step: isSame ? undefined : { ...base, kind: "write", before, after: markContent(after), bytes: after },
    file: { path, kind },
    diff: (maxBytes) => {
      if (isSame) return { diff: "" };
      if (!changes) return compare(change.path, before ?? Buffer.alloc(0), after, maxBytes);
      return summariseChanges(decodeText(before!), changes, change.path, maxBytes);
    },
  };
}

function compare(name: string, before: Buffer, after: Buffer, maxBytes: number) {
  const source = decodeText(before);
  if (before.equals(after)) return { diff: "" };
  return summariseChanges(source, [{ from: 0, to: source.length, text: decodeText(after) }], name, maxBytes);
}

/** Offsets are those of the text without its byte order mark. New lines end as those around them do. */
function applyEdits(
  bytes: Buffer,
  { path: name, edits }: Extract<RequestedChange, { edits: unknown }>,
): { after: Buffer; changes: Change[] } {
  refuseBinary(bytes, name);
  const source = decodeText(bytes);
  if (hasRawBytes(source))
    throw new ToolsError("binary", `${name} is not valid UTF-8, so no position in it is certain.`);
  const shift = source.startsWith("\ufeff") ? 1 : 0;
  const changes = edits
    .map(({ start, end, text }): Change => {
      const [from, to] = [start + shift, end + shift];
      const isInside = start >= 0 && start <= end && to <= source.length;
      if (!isInside) throw new ToolsError("invalid_input", `${name} has no text from ${start} to ${end}.`);
      const plain = source.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
      return { from, to, text: source.includes("\r\n") ? withBreaks(plain, source, from, to) : plain };
    })
    .toSorted((a, b) => a.from - b.from);
  const overlap = changes.findIndex((change, index) => index > 0 && changes[index - 1]!.to > change.from);
  if (overlap > 0)
    throw new ToolsError("overlap", `Two edits of ${name} overlap at ${changes[overlap]!.from - shift}.`);
  return { after: encodeText(applyChanges(source, changes)), changes };
}

const verbs = { changed: "Changed", created: "Created", moved: "Moved", removed: "Removed" } as const;

function present(prepared: readonly Prepared[]): {
  content: { type: "text"; text: string }[];
  details: ChangeFilesDetails;
} {
  const maxBytes = Math.max(1_000, Math.floor(defaultMaxBytes / prepared.length));
  let left = defaultMaxBytes;
  const diffs: string[] = [];
  const files = prepared.map(({ file, diff }): FileChange => {
    const { diff: text, firstChangedLine } = diff(maxBytes);
    if (text.length <= left) diffs.push(text);
    left -= text.length;
    return { ...file, ...(firstChangedLine !== undefined && { firstChangedLine }) };
  });
  const rows = (Object.keys(verbs) as (keyof typeof verbs)[]).flatMap((kind) => {
    const names = files.filter((file) => file.kind === kind).map(({ path }) => path);
    return names.length > 0 ? [`${verbs[kind]} ${listNames(names)}.`] : [];
  });
  const omitted = prepared.length - diffs.length;
  const note = omitted > 0 ? `[The diffs of ${omitted} more files are not shown.]` : "";
  return {
    content: [{ type: "text", text: rows.join("\n") }],
    details: { diff: [...diffs, note].filter((text) => text !== "").join("\n"), files },
  };
}
