/** Formats what people are shown before files are taken back. */
import { summariseChanges } from "@tau/tools";
import type { UndoData } from "@tau/protocol";
import type { MaybeState } from "./file-state.ts";
import type { Effect } from "./history.ts";
import { getContentId, type PlannedChange } from "./plan-changes.ts";
import { decodeText, type PreparedUndo } from "./prepare-undo.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

interface ShownFile {
  readonly path: string;
  readonly kind: "created" | "changed" | "removed";
}

const maxDiffBytes = 200_000;
/** The longest file that is compared. */
const maxComparedBytes = 1_000_000;
const maxListed = 20;

export const listShownFiles = ({ plan }: PreparedUndo): ShownFile[] =>
  plan.changes.map(({ path, from, to }) => ({
    path,
    kind: to === undefined ? "removed" : from === undefined ? "created" : "changed",
  }));

/** Formats everything that would be written, as it would be: the plan itself is what is carried out. */
export async function formatDiff({ plan }: PreparedUndo, store: SnapshotStore): Promise<string> {
  return (await formatChanges(plan.changes, store)).join("\n");
}

/** Formats each change with its diff, and says how many there was no room for. */
export async function formatChanges(changes: readonly PlannedChange[], store: SnapshotStore): Promise<string[]> {
  const parts: string[] = [];
  let left = maxDiffBytes;
  for (const [index, change] of changes.entries()) {
    if (left <= 0) {
      parts.push(`[${changes.length - index} more files]`);
      break;
    }
    const part = await formatChange(change, store, left);
    left -= part.length;
    parts.push(part);
  }
  return parts;
}

async function formatChange({ path, from, to }: PlannedChange, store: SnapshotStore, maxBytes: number) {
  const ids = [getContentId(from), getContentId(to)];
  const contents = await store.read(ids.filter((id) => id !== undefined));
  const [before, after] = [from, to].map((state, index) => {
    if (state === undefined || state.kind === "directory") return "";
    const bytes = contents.get(ids[index]!);
    return bytes && bytes.length <= maxComparedBytes ? decodeText(bytes) : undefined;
  });
  const title = describeChange({ path, from, to });
  if (before === undefined || after === undefined) return `${title}\n[not shown: no text, or long]`;
  if (before === after) return title;
  const { diff } = summariseChanges(before, [{ from: 0, to: before.length, text: after }], path, maxBytes);
  return `${title}\n${diff.trimEnd()}`;
}

function describeChange({ path, from, to }: PlannedChange): string {
  const name = showPath(path);
  if (to === undefined) return `Remove ${name}${describeKind(from)}`;
  if (from === undefined) return `Create ${name}${describeKind(to)}`;
  if (from.kind !== to.kind) return `Replace ${name}${describeKind(from)} by ${kinds[to.kind]}`;
  const isSwitched = from.kind === "file" && to.kind === "file" && from.isExecutable !== to.isExecutable;
  const right = isSwitched && to.kind === "file" ? (to.isExecutable ? " (executable)" : " (not executable)") : "";
  return `Change ${name}${describeKind(to)}${right}`;
}

const kinds = { file: "a file", link: "a link", directory: "an empty directory" } as const;
const describeKind = (state: MaybeState): string => (!state || state.kind === "file" ? "" : ` (${kinds[state.kind]})`);

/** Formats which prompts it is about, what stands in the way, and what is not covered. */
export function formatSummary(prepared: PreparedUndo): string {
  const { chosen, plan, lost } = prepared;
  const files = plan.changes.length === 1 ? "1 file" : `${plan.changes.length} files`;
  const prompts = chosen.map(
    ({ effect, direction }) => `${direction === "back" ? "Take back" : "Do again"}: “${effect.prompt}”`,
  );
  const cut = chosen.some(({ effect }) => effect.isCut)
    ? ["The program ended during it, so changes that others made until the next run are taken for its own."]
    : [];
  return [
    ...prompts,
    ...cut,
    ...(plan.changes.length > 0 || plan.conflicts.length === 0 ? [`${files} would be written.`] : []),
    ...listSome(
      "Conflicts, so that nothing is written:",
      plan.conflicts.map(({ path, reason }) => `${showPath(path)} ${reason}`),
    ),
    ...listSome(
      "Changed, but not kept, and left as it is:",
      lost.map(({ path, reason }) => `${showPath(path)}: ${reason}`),
    ),
  ].join("\n");
}

function listSome(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > maxListed ? [`  and ${lines.length - maxListed} more`] : [];
  return [title, ...lines.slice(0, maxListed).map((line) => `  ${line}`), ...more];
}

/** A line break in a name would look like another line. */
// oxlint-disable-next-line no-control-regex -- control characters are what is replaced
export const showPath = (path: string): string => path.replaceAll(/[\u0000-\u001f\u007f]/g, "\uFFFD");

/** Formats what was written, for people and for the model. */
export function formatWritten(direction: "undo" | "redo", { prompts, files }: UndoData): string {
  const names = files.slice(0, maxListed).map(({ path, kind }) => `${showPath(path)} (${kind})`);
  const more = files.length > maxListed ? ` and ${files.length - maxListed} more` : "";
  const what = prompts.map((prompt) => `“${prompt}”`).join(", ");
  const verb =
    direction === "undo" ? "The user took back what was done to the files" : "The user did again what was taken back";
  return `${verb}: ${what}. ${names.length === 0 ? "No file differed." : `Files: ${names.join(", ")}${more}.`}`;
}

export const formatEffect = ({ at, prompt, undone, failure, isCut }: Effect): string => {
  const state = failure === undefined ? (undone === undefined ? "" : " (taken back)") : ` (cannot be: ${failure})`;
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")}  ${prompt}${state}${isCut ? " (cut off)" : ""}`;
};
