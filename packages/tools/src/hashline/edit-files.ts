/** Edits the files of both hashline tools: prepares all, then writes all, and restores all if one write fails. */
import type { Clock } from "@tau/ai";
import { withoutUndefined } from "@tau/ai/internal";
import { applySteps, type PlannedStep } from "../changes/apply-steps.ts";
import type { ChangeJournal } from "../changes/journal.ts";
import { markContent } from "../changes/step.ts";
import { ToolsError } from "../errors.ts";
import { unifiedDiff } from "../files/diff.ts";
import { aloneWith, type EditorPorts, unlessOvertaken } from "../files/file-queue.ts";
import { noteWritten } from "../files/seen-files.ts";
import type { Syntax } from "../platform/syntax.ts";
import { defaultMaxBytes } from "../truncate.ts";
import { applyHunks, changedBlocks, type Hunk, refuseOverlaps } from "./apply.ts";
import { type BlockEdit, resolveBlocks } from "./blocks.ts";
import { findBrokenSyntax } from "./check-syntax.ts";
import { type LineEdit, type Plan, planLineEdits, type Refusal } from "./plan.ts";
import { getFirst, type OutputBudget, shareBudget } from "./output-budget.ts";
import { renderChanges, showSpots } from "./show.ts";
import type { Snapshots } from "./snapshots.ts";
import type { TextFile } from "./text.ts";

/** Ports and state of the hashline tools. */
export interface HashlinePorts extends EditorPorts {
  snapshots: Snapshots;
  /** See `ChangePorts`. */
  journal?: ChangeJournal | undefined;
  /** Finds blocks, and syntax errors that an edit makes. Default: none, and edits of blocks are refused. */
  syntax?: Syntax | undefined;
  /** Limits the time that a parser may take. Default: the system's. */
  clock?: Clock;
}

export interface FileEdits {
  /** The path as the model typed it. */
  typed: string;
  /** The absolute path. */
  path: string;
  realPath: string;
  edits: (LineEdit | BlockEdit)[];
  fileTag?: string;
}

export interface HashlineChange {
  path: string;
  /** A unified diff. */
  diff: string;
  /** 1-based, in the new text; undefined when nothing changed. */
  firstChangedLine: number | undefined;
  /** How edits were placed although the file had changed. */
  recoveries: string[];
}

/** The largest file that is edited, or shown with tags: both need all of it. */
export const maxHashlineBytes = 64 * 1024 ** 2;

interface Prepared extends FileEdits {
  /** The stamp of the reading that gave `before`. */
  stamp: string;
  before: TextFile;
  after: TextFile;
  hunks: Hunk[];
  notes: string[];
  /** Which lines the blocks are that edits name. */
  blocks: string[];
}

/** Returns the text for the model, and what happened to each file. Nothing is written unless every edit can be placed. */
export async function editFiles(
  ports: HashlinePorts,
  findTargets: () => Promise<readonly FileEdits[]>,
  signal?: AbortSignal,
): Promise<{ text: string; changes: HashlineChange[] }> {
  const edited = await aloneWith(ports.queue, signal, findTargets, async (targets, beginWriting) => {
    const prepared = await unlessOvertaken(async () => {
      const ready = await prepareAll(ports, targets);
      beginWriting();
      const steps = ready.filter(isChanged).map(toStep);
      for (const written of await applySteps(ports, steps)) noteWritten(ports.seen, written);
      return ready;
    });
    const shown = prepared.map((file) => present(ports.snapshots, file, prepared.length));
    const text = shareBudget(
      shown.map((file) => file.text),
      (count) => `${count} more files were edited.`,
    );
    return { text, changes: shown.map(({ change }) => change), changed: prepared.filter(isChanged) };
  });
  const broken = await findBrokenSyntax(ports, edited.changed, signal);
  return { text: [edited.text, ...broken].join("\n"), changes: edited.changes };
}

const isChanged = ({ before, after }: Prepared) => !before.text.equals(after.text);

const toStep = ({ typed, realPath, stamp, before, after }: Prepared): PlannedStep => ({
  kind: "write",
  typed,
  path: realPath,
  stamp,
  before: before.bytes,
  after: markContent(after.bytes),
  bytes: after.bytes,
});

async function prepareAll(ports: HashlinePorts, targets: readonly FileEdits[]): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  const refused: Refused[] = [];
  for (const target of targets) {
    const outcome = await prepare(ports, target);
    if ("code" in outcome) refused.push(outcome);
    else prepared.push(outcome);
  }
  const [first] = refused;
  if (!first) return prepared;
  const text = shareBudget(
    refused.map((file) => file.text),
    (count) => `The edits of ${count} more files could not be placed either.`,
  );
  throw new ToolsError(first.code, text);
}

interface Refused {
  code: Refusal["code"];
  /** Shows the lines that the next attempt needs: they count as shown from then on. */
  text(budget: OutputBudget): string;
}

const maxReasons = 10;
const maxNotes = 20;

async function prepare({ files, snapshots, syntax }: HashlinePorts, target: FileEdits): Promise<Prepared | Refused> {
  const { typed, realPath, fileTag } = target;
  const { bytes, stamp } = await files.readWhole(realPath, maxHashlineBytes, { expected: snapshots.decoded });
  const before = snapshots.decode(bytes, typed);
  const versions = snapshots.versions(realPath);
  const resolved = await resolveBlocks({ edits: target.edits, current: before, versions, fileTag, typed, syntax });
  const plan: Plan & { blocks?: string[] } =
    resolved.kind === "refused"
      ? resolved
      : {
          ...planLineEdits({ edits: resolved.edits, current: before, versions, ...withoutUndefined({ fileTag }) }),
          blocks: resolved.notes,
        };
  if (plan.kind === "refused") {
    const { code, spots } = plan;
    const reasons = getFirst(plan.reasons, maxReasons, (count) => `${count} more could not be placed either.`);
    const head = `Nothing was changed in ${typed}. ${reasons.join(" ")}\nThe lines as they are now; use these tags:`;
    const text = (budget: OutputBudget) => {
      budget.take(head);
      const shown = { typed, realPath, file: before, spots, around: 3, isCorrection: true };
      return `${head}\n${showSpots(snapshots, shown, budget)}`;
    };
    return { code, text };
  }
  refuseOverlaps(plan.hunks, typed);
  const { hunks, notes, blocks = [] } = plan;
  return { ...target, stamp, before, after: applyHunks(before, hunks), hunks, notes, blocks };
}

/** How many bytes of changed lines are shown again: enough to continue, not the whole of a large rewrite. */
const changesBytes = 8 * 1024;

/** `count`: how many files share the limits of one result. */
function present(
  snapshots: Snapshots,
  file: Prepared,
  count: number,
): { text: (budget: OutputBudget) => string; change: HashlineChange } {
  const { typed, path, realPath, before, after, hunks } = file;
  const notes = getFirst(file.notes, maxNotes, (left) => `${left} more edits were placed so.`);
  const placed = [...getFirst(file.blocks, maxNotes, (left) => `${left} more edits are of blocks.`), ...notes];
  if (!isChanged(file)) {
    const text = [`Nothing to change in ${typed}: it is already so.`, ...placed].join("\n");
    return { text: () => text, change: { path, diff: "", firstChangedLine: undefined, recoveries: notes } };
  }
  const maxBytes = Math.floor(defaultMaxBytes / count);
  const summary = unifiedDiff(typed, changedBlocks(before, after, hunks), maxBytes);
  snapshots.edited(realPath, before, after, hunks);
  const text = (budget: OutputBudget) => {
    const head = [`Edited ${typed}.`, ...placed].join("\n");
    budget.take(head);
    const rows = renderChanges(snapshots, { typed, realPath, file: after, hunks }, budget.upTo(changesBytes));
    return `${head}\n${rows}`;
  };
  return { text, change: { path, ...summary, recoveries: notes } };
}
