/**
 * Binds an approval of a command to the commands that would run, the directory in which, and the contents of scripts
 * that they name. If one of these is different when the command is run, the approval does not apply to it.
 */
import { createHash } from "node:crypto";
import { basename, isAbsolute, join, resolve } from "node:path";
import type { Files } from "@tau/tools";
import { unknownSign } from "./exec/shell/text.ts";

interface BoundCommand {
  command: string;
  /** The commands that were found in it, each as its argv. */
  commands: readonly (readonly string[])[];
  cwd: string;
  /** Bound to the contents of scripts, but to no directory. Default false. */
  isAnywhere?: boolean;
}

/** Programs one of whose first arguments without a dash is a script. */
const interpreters =
  /^(?:\.|source|(?:ba|da|z|k|a)?sh|fish|pwsh|python[\d.]*|node|deno|bun|perl|ruby|php|lua|tclsh|expect|julia|elixir|escript|groovy|osascript|Rscript|tsx|ts-node)$/;

/** Arguments by which an interpreter reads code from its input or from another descriptor. */
const input = /^(?:-[a-z]*s[a-z]*|-|\/dev\/(?:stdin|fd\/.*)|\/proc\/[^/]+\/fd\/.*)$/;

const maxScriptBytes = 4 * 1024 * 1024;
const maxDirectories = 4;
const maxOperands = 4;
const maxScripts = 256;

/** A hash of all of it. A script that cannot be read counts as missing. */
export async function bindCommand(
  { command, commands, cwd, isAnywhere = false }: BoundCommand,
  files: Pick<Files, "realPath" | "readWhole">,
): Promise<string> {
  const realCwd = await files.realPath(cwd);
  const scripts = [...new Set([...findScripts(commands), ...findInputs(command, commands)])].slice(0, maxScripts);
  const contents = await Promise.all(
    scripts.map(async (path) => [path, await hashFile(resolve(realCwd, path), files)] as const),
  );
  return createHash("sha256")
    .update(JSON.stringify([command, commands, isAnywhere ? null : realCwd, contents]))
    .digest("hex");
}

/**
 * Every path that commands may run as a script, relative to the directory in which they begin: also from directories that they
 * change to, and behind options with values. Too many are harmless. Pure.
 */
function findScripts(commands: readonly (readonly string[])[]): string[] {
  const directories = [""];
  const paths = new Set<string>();
  for (const [program = "", ...args] of commands) {
    const operands = args.filter((arg) => !arg.startsWith("-"));
    if (/^(?:cd|pushd)$/.test(program) && operands[0] !== undefined) {
      const to = operands[0];
      directories.push(...directories.slice(-maxDirectories).map((from) => (isAbsolute(to) ? to : join(from, to))));
    }
    const scripts = [
      ...(program.includes("/") ? [program] : []),
      ...(interpreters.test(basename(program)) ? operands.slice(0, maxOperands) : []),
    ];
    for (const from of directories)
      for (const script of scripts) paths.add(isAbsolute(script) ? script : join(from, script));
  }
  return [...paths];
}

/**
 * Files whose contents may be run without being named as a script: `sh < x.sh`, `cat x.sh | sh`, `eval "$(cat x.sh)"`. All words
 * of the command may be such files. Pure.
 */
function findInputs(command: string, commands: readonly (readonly string[])[]): string[] {
  return commands.some(mayRunInput) ? (command.match(/[^\s<>|;&()"'`]+/g) ?? []) : [];
}

/** Whether a part of what is run is only known when it is run. */
function mayRunInput([program = "", ...args]: readonly string[]): boolean {
  if (program.includes(unknownSign)) return true;
  if (program !== "eval" && !interpreters.test(basename(program))) return false;
  return args.every((arg) => arg.startsWith("-")) || args.some((arg) => arg.includes(unknownSign) || input.test(arg));
}

async function hashFile(path: string, files: Pick<Files, "readWhole">): Promise<string | undefined> {
  try {
    const { bytes } = await files.readWhole(path, maxScriptBytes);
    return createHash("sha256").update(bytes).digest("hex");
  } catch {
    // Missing, a directory, too large or not allowed: what matters is that it stays so.
    return undefined;
  }
}
