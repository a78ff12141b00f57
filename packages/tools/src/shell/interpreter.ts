/** Finds the shell that runs commands, and builds its arguments. */
import { ToolsError } from "../errors.ts";
import { type ExitStatus, type Spawn, trySpawn } from "../platform/spawn.ts";
import { formatBytes } from "../truncate.ts";

export type Shell = readonly [string, ...string[]];

const bash = ["bash", "--norc", "--noprofile"] as const;
const sh = ["sh"] as const;
const shells = new WeakMap<Spawn, Promise<Shell>>();

/** bash where there is one, and sh where there is none. Tried once, unless the system had no clear answer. */
export function findShell(spawn: Spawn, getEnv: () => Readonly<Record<string, string>>): Promise<Shell> {
  const known = shells.get(spawn);
  if (known) return known;
  const answer = tryBash(spawn, getEnv());
  const search = answer.then(({ shell }) => shell);
  shells.set(spawn, search);
  const forget = () => shells.delete(spawn);
  answer.then(({ isCertain }) => isCertain || forget(), forget);
  return search;
}

async function tryBash(spawn: Spawn, env: Readonly<Record<string, string>>) {
  const tried = await trySpawn(spawn, { argv: [...bash, "-c", "exit 0"], cwd: "/", env });
  // A wrapper refused the test; it may allow the command itself.
  if ("refusal" in tried) return { shell: bash, isCertain: !tried.isPassing };
  const { child } = tried;
  child.stdout.resume();
  child.stderr.resume();
  return decideShell(await child.exit);
}

/**
 * The shell to use after an attempt to run bash. A lack of processes or descriptors says nothing about bash; a wrapper may
 * fail for reasons of its own. Pure.
 */
export function decideShell(status: ExitStatus): { shell: Shell; isCertain: boolean } {
  switch (status.kind) {
    case "exited":
      if (status.code === 0) return { shell: bash, isCertain: true };
      return { shell: sh, isCertain: status.code === 126 || status.code === 127 };
    case "failed": {
      const isMissing = status.code === "ENOENT" || status.code === "EACCES";
      return { shell: isMissing ? sh : bash, isCertain: isMissing };
    }
    case "signalled":
      return { shell: bash, isCertain: false };
  }
}

/** More than a model writes, and half of what Linux takes in all arguments together. */
const maxCommandBytes = 1024 * 1024;
/** Linux takes 128 KB in one argument. */
const argumentBytes = 120_000;
/** Splits into parts of so many code points, which have four bytes at most. */
const parts = /[^]{1,30000}/gu;

/** Joins the parts of a command again. The command cannot notice it, not even by its line numbers. */
const join = 's=$IFS; IFS=; eval "IFS=\\$s; unset s; set --; $*"';

/** The arguments that make `shell` run `command`: in parts when it is long, refused when it is too long. Pure. */
export function toArgv(shell: Shell, command: string): [string, ...string[]] {
  const bytes = Buffer.byteLength(command);
  // Only where it is needed: shells such as fish take it for the command.
  const ending = /^[-+]/.test(command) ? ["--"] : [];
  if (bytes <= argumentBytes) return [...shell, "-c", ...ending, command];
  if (bytes > maxCommandBytes) throw tooLong(command, `at most ${formatBytes(maxCommandBytes)} can be run`);
  return [...shell, "-c", join, shell[0], ...(command.match(parts) ?? [])];
}

export const tooLong = (command: string, why: string): ToolsError =>
  new ToolsError(
    "too_large",
    `The command has ${formatBytes(Buffer.byteLength(command))}; ${why}. Write it to a file and run that.`,
  );
