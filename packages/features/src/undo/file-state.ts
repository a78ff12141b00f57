/** The state of a path: in a snapshot, or on the disk. Paths are relative to the workspace, with slashes. Pure. */

export type FileState =
  /** `id` names the content in the store. `mode`: the permissions that a new file gets, where they are known. */
  | { readonly kind: "file"; readonly id: string; readonly isExecutable: boolean; readonly mode?: number }
  /** `id` names the path that it leads to. */
  | { readonly kind: "link"; readonly id: string }
  /** Without anything in it: other directories are known by what is in them. */
  | { readonly kind: "directory" };

/** Undefined: nothing, or a directory with something in it. */
export type MaybeState = FileState | undefined;

export interface Change {
  readonly path: string;
  readonly before: MaybeState;
  readonly after: MaybeState;
}

/** Something that is not kept. `stamp` changes with it. */
export interface Skipped {
  readonly path: string;
  readonly reason: string;
  readonly stamp: string;
}

/** The difference between two snapshots. */
export interface Comparison {
  readonly changes: readonly Change[];
  /** Changed between the two, but not kept in one of them. */
  readonly lost: readonly Skipped[];
}

/** Two files with equal contents are the same unless one can be executed and the other cannot. */
export function isSameState(a: MaybeState, b: MaybeState): boolean {
  if (a?.kind !== b?.kind) return false;
  if (a?.kind === "file" && b?.kind === "file") return a.id === b.id && a.isExecutable === b.isExecutable;
  return a?.kind !== "link" || b?.kind !== "link" || a.id === b.id;
}

/** Finds what of two lists of skipped paths has changed between them. */
export function findLost(before: readonly Skipped[], after: readonly Skipped[]): Skipped[] {
  const stamps = new Map(before.map(({ path, stamp }) => [path, stamp]));
  const later = new Map(after.map((skipped) => [skipped.path, skipped]));
  const changed = after.filter(({ path, stamp }) => stamps.get(path) !== stamp);
  return [...changed, ...before.filter(({ path }) => !later.has(path))];
}

/** Lists the directories above a path, the nearest first. */
export function listParents(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, names.length - index).join("/"));
}
