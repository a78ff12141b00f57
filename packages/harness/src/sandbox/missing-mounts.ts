/** What to do when a path vanishes while bubblewrap makes its mounts, such as a socket whose program ends. Pure. */

/** How often a plan is made again for one start. */
export const maxRenewals = 2;

/** Whether these are bubblewrap's words about a path that it was to mount, or to mount something on. */
export const isMountMissing = (complaint: string): boolean =>
  /^bwrap: Can't (?:find source path|get type of source|create file at|mkdir|mount tmpfs|bind mount|remount readonly)/.test(
    complaint.trim(),
  );
