/** Retries when a path vanishes while bubblewrap makes its mounts, such as a socket whose program ends. */
import { lookAtPath } from "./look.ts";
import type { Mount } from "./mounts.ts";

/** How often a plan is made again for one start. */
export const maxRenewals = 2;

/** Without what is hidden and gone: it cannot be covered, and need not be. A plan may be seconds old. */
export const withoutVanished = (mounts: readonly Mount[]): Mount[] =>
  mounts.filter(
    ({ kind, path }) => (kind !== "hidden-file" && kind !== "hidden-directory") || lookAtPath(path) !== undefined,
  );

/**
 * Whether bubblewrap was refused a namespace. Once in many thousand starts the kernel does that on a busy machine to users who
 * may have one, as the probe has shown. Pure.
 */
export const isNamespaceRefused = (complaint: string): boolean =>
  complaint.trim().startsWith("bwrap: No permissions to create new namespace");

/** Whether these are bubblewrap's words about a path that it was to mount, or to mount something on. Pure. */
export const isMountMissing = (complaint: string): boolean =>
  /^bwrap: Can't (?:find source path|get type of source|create file at|mkdir|mount tmpfs|bind mount|remount readonly)/.test(
    complaint.trim(),
  );
