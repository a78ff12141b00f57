/** Works out what taking back would write, and writes it. */
import { systemIds } from "@tau/ai";
import { mergeLines } from "@tau/tools";
import { applyChanges } from "./apply-changes.ts";
import { UndoError } from "./failure.ts";
import type { MaybeState, Skipped } from "./file-state.ts";
import { listParents } from "./file-state.ts";
import { type ChosenEffect, chooseEffects, type Effect, markEffects, type UndoTarget } from "./history.ts";
import { hash } from "./own-files.ts";
import {
  findObstacles,
  getContentId,
  listNewDirectories,
  type Merge,
  type Place,
  planChanges,
  type Plan,
  type Step,
} from "./plan-changes.ts";
import type { Project } from "./project.ts";
import { closeCut } from "./recorder.ts";
import type { SnapshotStore } from "./snapshot-store.ts";
import { listBelow, lookAtPlace, readState } from "./workspace-files.ts";

export interface PreparedUndo {
  readonly chosen: readonly ChosenEffect[];
  readonly plan: Plan;
  readonly made: readonly string[];
  /** Changed by the prompts, but not kept, so that it stays. */
  readonly lost: readonly Skipped[];
  /** Equal for equal plans. */
  readonly digest: string;
}

/** Call it while nobody else works with the project. Throws `UndoError` if it cannot be taken back. */
export async function prepareUndo(project: Project, sessionId: string, target: UndoTarget): Promise<PreparedUndo> {
  const effects = await readClosed(project, sessionId);
  const chosen = chooseEffects(effects, target);
  const steps: Step[][] = [];
  const lost = new Map<string, Skipped>();
  for (const { effect, direction } of chosen) {
    const { before, after } = mustBeKept(effect);
    const comparison = await project.store.compare(before, after);
    const isBack = direction === "back";
    steps.push(
      comparison.changes.map(({ path, ...change }) => ({
        path,
        base: isBack ? change.after : change.before,
        target: isBack ? change.before : change.after,
      })),
    );
    for (const skipped of comparison.lost) lost.set(skipped.path, skipped);
  }
  const planned = await planSteps(project, steps);
  const places = await readPlaces(project.root, planned);
  const obstacles = [
    ...findObstacles(planned.changes, { places, ignoresCase: process.platform !== "linux" }),
    ...(await findOccupied(project.root, planned)),
  ];
  const plan: Plan = { ...planned, conflicts: [...planned.conflicts, ...obstacles] };
  const made = listNewDirectories(plan.changes, places);
  const ids = chosen.map(({ effect, direction }) => [effect.id, direction]);
  return { chosen, plan, made, lost: [...lost.values()], digest: hash(JSON.stringify([ids, plan])).slice(0, 32) };
}

/** Plans the steps from the files as they are now. Throws `UndoError` if a content is missing. */
export async function planSteps(project: Project, steps: readonly (readonly Step[])[]): Promise<Plan> {
  const current = await readCurrent(project, steps);
  await refuseMissing(project, steps);
  return await planChanges(steps, current, createMerge(project.store));
}

/** Call it while nobody else works with the project. Throws `UndoError`; then nothing was changed. */
export async function carryOut(project: Project, sessionId: string, prepared: PreparedUndo): Promise<void> {
  const { chosen, plan, made } = prepared;
  if (plan.conflicts.length > 0) throw new UndoError("There are conflicts, so nothing was changed.");
  const id = systemIds();
  await applyChanges(project.ports, { id, changes: plan.changes, made }, async () => {
    const effects = markEffects(await readClosed(project, sessionId), chosen);
    await project.writeHistory({ sessionId, effects, lastChange: id });
  });
}

/** The effects of a session. One that was cut off ends now. */
async function readClosed(project: Project, sessionId: string): Promise<readonly Effect[]> {
  const history = await project.readHistory(sessionId);
  const isCut = ({ before, after, failure }: Effect) => before && after === undefined && failure === undefined;
  if (!history.effects.some(isCut)) return history.effects;
  const kept = await project.store.keep();
  const effects = closeCut(history.effects, kept.id);
  await project.writeHistory({ ...history, effects });
  return effects;
}

function mustBeKept({ before, after, failure, prompt }: Effect): { before: string; after: string } {
  if (before !== undefined && after !== undefined && failure === undefined) return { before, after };
  const reason = failure ?? "it is not over";
  throw new UndoError(`What “${prompt}” did cannot be taken back: ${reason}.`);
}

async function readCurrent({ root, store, maxFileBytes }: Project, steps: readonly (readonly Step[])[]) {
  const known = new Set(steps.flat().flatMap(({ base, target }) => [getContentId(base), getContentId(target)]));
  const current = new Map<string, MaybeState>();
  const options = { maxBytes: maxFileBytes, identify: store.identify.bind(store) };
  for (const { path } of steps.flat()) {
    if (current.has(path)) continue;
    const { state, bytes } = await readState(root, path, options);
    current.set(path, state);
    // Of a person: it is needed if the change is cut off, and to join it with the change.
    if (bytes && !known.has(getContentId(state))) await store.put(bytes);
  }
  return current;
}

/** An object that the repository had may be gone. */
async function refuseMissing({ store }: Project, steps: readonly (readonly Step[])[]): Promise<void> {
  const contents = new Map(
    steps.flat().flatMap(({ path, base, target }) =>
      [base, target].flatMap((state) => {
        const id = getContentId(state);
        return id === undefined ? [] : [[id, path] as const];
      }),
    ),
  );
  const missing = await store.findMissing([...contents.keys()]);
  if (missing.length === 0) return;
  const paths = missing.map((id) => contents.get(id)!);
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : "";
  throw new UndoError(
    `The kept contents of ${paths.slice(0, 5).join(", ")}${more} are missing: the repository may have removed them. Nothing was changed.`,
  );
}

/** Joins texts line by line. */
const createMerge =
  (store: SnapshotStore): Merge =>
  async (...ids) => {
    const contents = await store.read([...new Set(ids)]);
    const texts = ids.map((id) => decodeText(contents.get(id)));
    const [base, ours, theirs] = texts;
    if (base === undefined || ours === undefined || theirs === undefined) return undefined;
    const merged = mergeLines(base, ours, theirs);
    return merged === undefined ? undefined : await store.put(Buffer.from(merged));
  };

/** Undefined for bytes that are no text. */
export function decodeText(bytes: Buffer | undefined): string | undefined {
  if (!bytes || bytes.includes(0)) return undefined;
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : undefined;
}

async function readPlaces(root: string, { changes }: Plan): Promise<Map<string, Place>> {
  const parents = new Set(changes.flatMap(({ path, to }) => (to === undefined ? [] : listParents(path))));
  const places = new Map<string, Place>();
  for (const parent of parents) places.set(parent, await lookAtPlace(root, parent));
  return places;
}

/** Finds directories in the place of new files, with something in them that stays. */
async function findOccupied(root: string, { changes }: Plan) {
  const removed = new Set(changes.filter(({ to }) => to === undefined).map(({ path }) => path));
  const conflicts: { path: string; reason: string }[] = [];
  for (const { path, from, to } of changes) {
    if (from !== undefined || to === undefined || to.kind === "directory") continue;
    if ((await lookAtPlace(root, path)) !== "directory") continue;
    const stays = (await listBelow(root, path)).some((below) => below !== path && !removed.has(below));
    if (stays) conflicts.push({ path, reason: "is a directory with other files in it" });
  }
  return conflicts;
}
