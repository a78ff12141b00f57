/** The state of a protected name. */
import { join } from "node:path";
import { findRealPath, listNames, lookAtPath, readLink } from "./look.ts";

export type NameState = { readonly kind: "missing" | "present" } | { readonly kind: "link"; readonly target: string };

export const isSameState = (a: NameState, b: NameState): boolean =>
  a.kind === b.kind && (a.kind !== "link" || a.target === (b as typeof a).target);

const maxLinkLooks = 500;

/** The real paths that symbolic links at a path or below it lead to. */
export function findLinkTargets(path: string): string[] {
  const targets: string[] = [];
  const pending = [path];
  for (let looks = 0; pending.length > 0 && looks < maxLinkLooks; looks++) {
    const next = pending.pop()!;
    const stats = lookAtPath(next);
    if (stats?.isSymbolicLink()) targets.push(...[findRealPath(next)].filter((target) => target !== undefined));
    else if (stats?.isDirectory()) pending.push(...listNames(next).map((name) => join(next, name)));
  }
  return targets;
}

export function getState(path: string): NameState {
  const stats = lookAtPath(path);
  if (!stats) return { kind: "missing" };
  if (!stats.isSymbolicLink()) return { kind: "present" };
  return { kind: "link", target: readLink(path) ?? "" };
}
