/**
 * Decides what undo writes: three-way, of what a run found, what it left and what is there now. What a person has changed since
 * stays, or is a conflict. Pure but for `merge`.
 */
import { type FileState, isSameState, listParents, type MaybeState } from "./file-state.ts";

/** `base` becomes `target`. */
export interface Step {
  readonly path: string;
  readonly base: MaybeState;
  readonly target: MaybeState;
}

export interface PlannedChange {
  readonly path: string;
  readonly from: MaybeState;
  readonly to: MaybeState;
}

interface Conflict {
  readonly path: string;
  /** Continues a sentence that begins with the path. */
  readonly reason: string;
}

export interface Plan {
  /** Sorted by path. */
  readonly changes: readonly PlannedChange[];
  readonly conflicts: readonly Conflict[];
}

/** Joins two changes of a content; undefined if they do not fit. Takes and returns ids. */
export type Merge = (base: string, ours: string, theirs: string) => Promise<string | undefined>;

/** `steps` are made one list after the other. `current` has each of their paths. */
export async function planChanges(
  steps: readonly (readonly Step[])[],
  current: ReadonlyMap<string, MaybeState>,
  merge: Merge,
): Promise<Plan> {
  const states = new Map(current);
  const conflicts = new Map<string, Conflict>();
  for (const { path, base, target } of steps.flat()) {
    if (conflicts.has(path)) continue;
    const state = states.get(path);
    const next = await takeStep(state, { base, target }, merge);
    if (next === "conflict") conflicts.set(path, { path, reason: describeConflict(state, base) });
    else states.set(path, next);
  }
  const changes = [...states]
    .map(([path, to]) => ({ path, from: current.get(path), to }))
    .filter(({ path, from, to }) => !conflicts.has(path) && !isSameState(from, to));
  return { changes: changes.toSorted(comparePaths), conflicts: [...conflicts.values()].toSorted(comparePaths) };
}

async function takeStep(
  state: MaybeState,
  { base, target }: Omit<Step, "path">,
  merge: Merge,
): Promise<MaybeState | "conflict"> {
  if (isSameState(state, base)) return target;
  if (isSameState(state, target)) return state;
  if (state?.kind !== "file" || base?.kind !== "file" || target?.kind !== "file") return "conflict";
  const isExecutable = state.isExecutable === base.isExecutable ? target.isExecutable : state.isExecutable;
  const id = await mergeContents(state.id, { base: base.id, target: target.id }, merge);
  return id === undefined ? "conflict" : { ...state, id, isExecutable };
}

async function mergeContents(ours: string, { base, target }: { base: string; target: string }, merge: Merge) {
  if (ours === base) return target;
  if (ours === target || target === base) return ours;
  return await merge(base, ours, target);
}

function describeConflict(state: MaybeState, base: MaybeState): string {
  if (state === undefined) return "was removed since";
  return base === undefined ? "was created since" : "was changed since";
}

const comparePaths = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);

/** The state of the directories above planned paths. */
export type Place = "directory" | "other" | "missing";

/** Finds what is in the way of new files: something that is no directory, or names that a disk takes for the same one. */
export function findObstacles(
  changes: readonly PlannedChange[],
  { places, ignoresCase }: { places: ReadonlyMap<string, Place>; ignoresCase: boolean },
): Conflict[] {
  const removed = new Set(changes.filter(({ to }) => to === undefined).map(({ path }) => path));
  const obstacles = new Map<string, Conflict>();
  const folded = new Map<string, string>();
  for (const { path, to } of changes) {
    const key = path.normalize("NFC").toLowerCase();
    const other = folded.get(key);
    folded.set(key, path);
    if (ignoresCase && other !== undefined)
      obstacles.set(path, { path, reason: `has the same name as ${other} on this disk` });
    if (to === undefined) continue;
    for (const parent of listParents(path)) {
      if (places.get(parent) === "other" && !removed.has(parent))
        obstacles.set(parent, { path: parent, reason: "is no directory any more" });
    }
  }
  return [...obstacles.values()];
}

/** Lists the directories that have to be made for new files, those above first. */
export function listNewDirectories(
  changes: readonly PlannedChange[],
  places: ReadonlyMap<string, Place>,
): readonly string[] {
  const parents = changes.flatMap(({ path, to }) => (to === undefined ? [] : listParents(path)));
  return [...new Set(parents)].filter((path) => places.get(path) !== "directory").toSorted();
}

/** Lists the directories that are there afterwards, as far as the plan says. */
export const listUsed = (changes: readonly PlannedChange[]): ReadonlySet<string> =>
  new Set(
    changes.flatMap(({ path, to }) =>
      to === undefined ? [] : [...listParents(path), ...(to.kind === "directory" ? [path] : [])],
    ),
  );

/** Lists the directories that removals may have left empty, those below first. They are removed if they are. */
export function listEmptied(changes: readonly PlannedChange[]): readonly string[] {
  const used = listUsed(changes);
  const parents = changes.flatMap(({ path, from, to }) => (from && to === undefined ? listParents(path) : []));
  return [...new Set(parents)]
    .filter((path) => !used.has(path))
    .toSorted(comparePathText)
    .toReversed();
}

const comparePathText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Names contents that a plan writes. */
export const getContentId = (state: MaybeState): string | undefined =>
  state && state.kind !== "directory" ? (state satisfies FileState).id : undefined;
