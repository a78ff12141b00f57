/**
 * Acts in directories that commands change at the same time. Between a look and an act, a command can replace a directory by a
 * link to one outside; an open directory stays the one that was looked at.
 */
import { accessSync, chmodSync, closeSync, constants, openSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { lookAtPath, unlessUnseen } from "./look.ts";

/** `O_PATH` of Linux, which Node does not name: a directory that its owner may not list can be held too. */
const pathOnly = 0o10000000;

/**
 * Calls `act` with a path through the open directory of `path`, which must be a real path up to its last name. Undefined,
 * without a call, if the directory is missing or a link on the way leads elsewhere.
 */
export function inHeldDirectory<T>(path: string, act: (heldPath: string) => T): T | undefined {
  const directory = dirname(path);
  const descriptor = unlessUnseen(() => openSync(directory, pathOnly | constants.O_DIRECTORY));
  if (descriptor === undefined) return undefined;
  try {
    const held = `/proc/self/fd/${descriptor}`;
    return readlinkSync(held) === directory ? act(join(held, basename(path))) : undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** A command may have taken them away, so that nothing in the directory can be changed. */
export function giveOwnerRights(directory: string): void {
  unlessUnseen(() => {
    const { mode } = statSync(directory);
    if ((mode & 0o700) !== 0o700) chmodSync(directory, mode | 0o700);
  });
}

/** Opens a directory that a command has closed: what cannot be looked into would count as empty. */
export function makeReadable(directory: string): void {
  const stats = lookAtPath(directory);
  const isClosed = stats?.isDirectory() && (stats.mode & 0o500) !== 0o500;
  if (!isClosed || unlessUnseen(() => (accessSync(directory, constants.R_OK | constants.X_OK), true))) return;
  inHeldDirectory(join(directory, "any name"), (held) => giveOwnerRights(dirname(held)));
}
