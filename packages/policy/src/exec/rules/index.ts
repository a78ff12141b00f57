/** Applies the rules that the record of a program asks for. */
import { findProgram, listNames } from "../programs/index.ts";
import type { Program, RuleName, Trait } from "../programs/program.ts";
import type { Scope } from "../shell/analysis.ts";
import type { Options, Text } from "../shell/text.ts";
import { cpio, extract, patch, tar, zip } from "./archives.ts";
import { awsCopy, copyCloud, docker, gcloud, gh, kubectl, remoteShell } from "./cloud.ts";
import { copyRemote, logger, netcat, openssl, sendAll, socat, ssh, telnet } from "./connections.ts";
import { gpg, passwordStore, sshKeygen, writePaths } from "./credentials.ts";
import {
  copy,
  dd,
  erase,
  format,
  link,
  mkdir,
  move,
  remove,
  removeAll,
  rsync,
  shred,
  stow,
  tee,
  writeOperands,
} from "./files.ts";
import { database, judgeClient, judgeTasks, judgeUnknownClient, sqlite } from "./destroy.ts";
import {
  isCredentialHelper,
  judgeDeployment,
  judgeEffects,
  judgeMachinePackages,
  judgePublishing,
  judgeSecrets,
  judgeStdinCode,
  readHelper,
} from "./effects.ts";
import { git } from "./git.ts";
import { judgeBehindDashes, judgeHiddenCommands } from "./hidden-commands.ts";
import { asdf, cmake, conda, direnv, install, library, npm, npx } from "./packages.ts";
import { runLanguage } from "./interpreters.ts";
import type { Invocation, Judge } from "./invocation.ts";
import { judgeMiner } from "./miners.ts";
import { fd, find, parallel, xargs } from "./multipliers.ts";
import { curl, fetchOther, getent, resolveName, wget } from "./network.ts";
import {
  apt,
  clientCode,
  debug,
  editor,
  isLoaderName,
  judgeOptions,
  less,
  loader,
  logrotate,
  man,
  multiCall,
  screen,
  tmux,
} from "./option-code.ts";
import { judgeDisks, judgeOutputOptions, writeOperand } from "./output-options.ts";
import { printCode, printOutput } from "./outputs.ts";
import { capsh, chmod, chown, groups, installFiles, su, sudo } from "./rights.ts";
import { runShell } from "./shells.ts";
import { at, kill, killByName } from "./system.ts";
import { awk, sed } from "./text-programs.ts";
import { cargo, gcc, go, java, make, maven, pip, runInside, runReceived, uv } from "./toolchains.ts";
import { readBelow } from "./whole-home.ts";
import { runEnv, runLines, runWrapped } from "./wrappers.ts";

/** A property that follows from a rule, or from a trait of a record. */
type Flag =
  /** The arguments are mostly those of another program, which is judged by itself. */
  | "passes"
  /** It does harm itself, or runs others that do. */
  | "dangerous"
  /** On macOS its name begins with `g`. */
  | "gnu"
  /** Its first words may be a task of a project or of a framework. */
  | "tasks"
  /** The rule does not say what else the program runs. */
  | "narrow"
  /** The record says what it destroys. */
  | "destroys";

interface RuleGroup {
  readonly flags?: readonly Flag[];
  readonly rules: Partial<Record<RuleName | keyof Program | "values", Judge>>;
}

/** All rules in the order in which those of one program are applied. */
const ruleGroups: readonly RuleGroup[] = [
  { rules: { effects: judgeEffects, does: judgeEffects } },
  { flags: ["passes", "dangerous", "gnu"], rules: { wraps: runWrapped, lines: runLines, env: runEnv } },
  { flags: ["passes", "dangerous", "gnu"], rules: { sudo, su, chmod, chown, installFiles, groups, capsh } },
  { rules: { prints: printOutput, readsBelow: readBelow } },
  { flags: ["narrow"], rules: { printsCode: printCode } },
  { flags: ["passes", "dangerous"], rules: { shell: runShell } },
  { flags: ["dangerous", "tasks"], rules: { language: runLanguage } },
  { flags: ["passes", "dangerous"], rules: { xargs, parallel, find, fd } },
  { rules: { values: judgeOptions, less, logrotate, apt, man, editor, clientCode, debugger: debug, tmux, screen } },
  { rules: { multiCall, loader, tar, extract, cpio, zip, patch, awk, sed } },
  {
    flags: ["dangerous", "gnu"],
    rules: { remove, removeAll, move, shred, rsync, dd, format, erase, copy, writeOperands, tee },
  },
  { rules: { curl, wget, getent, fetchOther, resolveName, netcat, telnet, ssh, copyRemote, sendAll, socat, openssl } },
  { rules: { logger, gcloud, copyCloud, gh, deploys: judgeDeployment, awsCopy } },
  { rules: { sshKeygen, gpg, passwordStore, writePaths, kill, killByName } },
  { rules: { at, link, mkdir, stow, git } },
  { flags: ["tasks"], rules: { npx, npm, pip, uv, make, runInside, go, cargo, java, runReceived } },
  { flags: ["narrow"], rules: { maven, gcc } },
  { rules: { docker, kubectl, remoteShell } },
  { flags: ["narrow", "tasks"], rules: { installs: install, conda, library, asdf, direnv, cmake } },
  { flags: ["narrow"], rules: { changesMachine: judgeMachinePackages } },
  { flags: ["narrow", "destroys"], rules: { client: judgeClient, database, sqlite } },
  { flags: ["narrow", "tasks"], rules: { publishes: judgePublishing } },
  { flags: ["narrow"], rules: { writesOperand: writeOperand, secrets: judgeSecrets, stdinCode: judgeStdinCode } },
];

const flagsOfTraits: Partial<Record<Trait, readonly Flag[]>> = {
  runner: ["passes", "dangerous", "gnu"],
  harmful: ["dangerous", "gnu"],
  partial: ["narrow"],
  destroys: ["narrow", "destroys"],
};

interface Rule {
  readonly order: number;
  readonly judge: Judge;
  readonly flags: readonly Flag[];
}

const rules = new Map<string, Rule>();
for (const { rules: list, flags = [] } of ruleGroups)
  for (const [name, judge] of Object.entries(list)) rules.set(name, { order: rules.size, judge, flags });

interface Compiled {
  readonly judges: readonly Judge[];
  readonly flags: ReadonlySet<Flag>;
}

const compiled = new WeakMap<Program, Compiled>();

/** The rules of a record, in order. None for a record with traits only. */
function compile(program: Program): Compiled {
  const cached = compiled.get(program);
  if (cached) return cached;
  const { is = [], wraps, lines, runs, code, writes, embedded } = program;
  const fields = Object.keys(program).filter((name) => program[name as keyof Program] !== undefined);
  const hasOptions = !wraps && !lines && (runs ?? code ?? writes ?? embedded) !== undefined;
  const names = [...fields, ...(hasOptions ? ["values"] : []), ...(program.rules ?? [])];
  const found = names.flatMap((name) => rules.get(name) ?? []).sort((a, b) => a.order - b.order);
  const traits = is.flatMap((trait) => flagsOfTraits[trait] ?? []);
  const flags = new Set([...found.flatMap((rule) => rule.flags), ...traits]);
  // What one rule leaves open, another one may say.
  const isNarrow = traits.includes("narrow") || found.every((rule) => rule.flags.includes("narrow"));
  if (!isNarrow) flags.delete("narrow");
  const result = { judges: found.map(({ judge }) => judge), flags };
  compiled.set(program, result);
  return result;
}

const hasRules = (name: string): boolean => {
  const program = findProgram(name);
  return program !== undefined && compile(program).judges.length > 0;
};
const hasFlag = (name: string, flag: Flag): boolean => {
  const program = findProgram(name);
  return program !== undefined && compile(program).flags.has(flag);
};

/** Names of all programs with rules; first those that do harm themselves. */
export const listRuledNames = (): string[] => [...listNames()].filter(hasRules);

/** Applies every rule of a program. Returns what it prints, where a rule knows that. */
export function judgeProgram(invocation: Invocation, scope: Scope): Options<Text> | undefined {
  const name = findRuledName(invocation.name);
  const program = name === undefined ? undefined : findProgram(name);
  if (name === undefined || !program) {
    judgeOutputOptions(invocation, scope);
    judgeMiner(invocation, scope);
    if (isCredentialHelper(invocation.name)) return readHelper(invocation, scope);
    judgeHiddenCommands(invocation, isDangerous, scope);
    judgeDisks(invocation, scope);
    judgeUnknownClient(invocation, scope);
    return undefined;
  }
  const { judges, flags } = compile(program);
  const call = { ...invocation, name, program };
  if (!flags.has("passes")) {
    judgeOutputOptions(call, scope);
    judgeMiner(call, scope);
  }
  if (flags.has("tasks")) judgeTasks(invocation, scope);
  if (flags.has("narrow")) {
    judgeHiddenCommands(invocation, isDangerous, scope);
    if (!flags.has("destroys")) judgeUnknownClient(invocation, scope);
  } else if (!flags.has("passes")) judgeBehindDashes(invocation, isDangerous, scope);
  let output: Options<Text> | undefined;
  for (const judge of judges) output = judge(call, scope) ?? output;
  return output;
}

/** Programs that do harm themselves, or run others that do. */
const isDangerous = (name: string) =>
  hasFlag(name, "dangerous") || (/[A-Z\d]|^g/.test(name) && hasFlag(findRuledName(name) ?? "", "dangerous"));

/** No program with rules has a longer name. */
const maxNameLength = 64;

/**
 * The exact name, the name without a version at its end, or in lower case as some file systems find it; and names that
 * macOS gives to programs of GNU, such as `gtimeout`.
 */
function findRuledName(name: string): string | undefined {
  if (name.length > maxNameLength) return undefined;
  const candidates = [name, name.replace(/-?\d[\d.]*$/, ""), name.replace(/\.exe$/i, "").toLowerCase()];
  if (isLoaderName(name)) return "ld.so";
  const found = candidates.find(hasRules);
  if (found !== undefined || !/^(?:g|mkfs\.)/.test(name)) return found;
  if (name.startsWith("mkfs.")) return "mkfs";
  return hasFlag(name.slice(1), "gnu") ? name.slice(1) : undefined;
}
