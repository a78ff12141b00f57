/** All rules by the name of the program. */
import { archivePrograms } from "../programs/archives.ts";
import { interpreters } from "../programs/interpreters.ts";
import type { Invocation, Judge, Judges } from "../programs/invocation.ts";
import { multipliers } from "../programs/multipliers.ts";
import { isLoaderName, optionPrograms } from "../programs/option-code.ts";
import { codePrinters, outputs } from "../programs/outputs.ts";
import { shells } from "../programs/shells.ts";
import { textPrograms } from "../programs/text-programs.ts";
import { wrappers } from "../programs/wrappers.ts";
import type { Scope } from "../shell/analysis.ts";
import type { Options, Text } from "../shell/text.ts";
import { cloudRules } from "./cloud.ts";
import { connectionRules } from "./connections.ts";
import { containerRules } from "./containers.ts";
import { credentialRules } from "./credentials.ts";
import { deleteRules } from "./delete.ts";
import { destroyRules, judgeTasks, judgeUnknownClient } from "./destroy.ts";
import { deviceRules } from "./devices.ts";
import { gitRules } from "./git.ts";
import { installRules } from "./installs.ts";
import { networkRules } from "./network.ts";
import { judgeBehindDashes, judgeHiddenCommands } from "./hidden-commands.ts";
import { judgeDisks, judgeOutputOptions, outputOperandRules } from "./output-options.ts";
import { ownProgramRules } from "./own-program.ts";
import { packageRules } from "./packages.ts";
import { persistenceRules } from "./persistence.ts";
import { privilegeRules } from "./privilege.ts";
import { publishingRules } from "./publishing.ts";
import { systemPackageRules } from "./system-packages.ts";
import { judgeMiner } from "./miners.ts";
import { isCredentialHelper, readHelper, secretReaderRules } from "./secret-readers.ts";
import { systemRules } from "./system.ts";
import { buildOptionRules, toolchainRules } from "./toolchains.ts";
import { stdinCodeRules } from "./stdin-code.ts";
import { wholeHomeRules } from "./whole-home.ts";

/** Programs that run other ones. Those of `privilege.ts` also unwrap, so they replace the plain wrappers. */
const runners: Judges = { ...wrappers, ...privilegeRules };

/** A program may have rules in several tables. */
const tables: readonly Judges[] = [
  runners,
  outputs,
  wholeHomeRules,
  codePrinters,
  shells,
  interpreters,
  multipliers,
  optionPrograms,
  archivePrograms,
  textPrograms,
  deleteRules,
  deviceRules,
  networkRules,
  connectionRules,
  cloudRules,
  credentialRules,
  persistenceRules,
  systemRules,
  gitRules,
  packageRules,
  toolchainRules,
  buildOptionRules,
  containerRules,
  installRules,
  systemPackageRules,
  destroyRules,
  publishingRules,
  outputOperandRules,
  secretReaderRules,
  stdinCodeRules,
  ownProgramRules,
];

/** Their arguments are mostly those of another program, which is judged by itself. */
const passesArguments = (name: string) => [runners, shells, multipliers].some((table) => Object.hasOwn(table, name));

/** Programs whose first words may be a task of a project or of a framework. */
const taskRunners: readonly Judges[] = [interpreters, packageRules, toolchainRules, installRules, publishingRules];

/** Rules for what a program installs, prints or destroys do not say what else it runs. */
const narrowTables: readonly Judges[] = [
  codePrinters,
  buildOptionRules,
  installRules,
  systemPackageRules,
  destroyRules,
  publishingRules,
  outputOperandRules,
  secretReaderRules,
  stdinCodeRules,
  ownProgramRules,
];
const partlyKnownNames = new Set(
  narrowTables
    .flatMap(Object.keys)
    .filter((name) => tables.every((table) => narrowTables.includes(table) || !Object.hasOwn(table, name))),
);

const judges = new Map<string, Judge[]>();
for (const table of tables) {
  for (const [name, judge] of Object.entries(table)) judges.set(name, [...(judges.get(name) ?? []), judge]);
}

/** Names of all programs with rules; first those that do harm themselves. */
export const ruledNames: readonly string[] = [
  ...new Set([
    ...[deleteRules, deviceRules, systemRules, credentialRules, privilegeRules].flatMap(Object.keys),
    ...judges.keys(),
  ]),
];

/** Applies every rule of a program. Returns what it prints, where a rule knows that. */
export function judgeProgram(invocation: Invocation, scope: Scope): Options<Text> | undefined {
  const name = findRuledName(invocation.name);
  if (!passesArguments(name ?? "")) judgeOutputOptions({ ...invocation, name: name ?? invocation.name }, scope);
  if (!passesArguments(name ?? "")) judgeMiner({ ...invocation, name: name ?? invocation.name }, scope);
  if (name === undefined) {
    if (isCredentialHelper(invocation.name)) return readHelper(invocation, scope);
    judgeHiddenCommands(invocation, isDangerous, scope);
    judgeDisks(invocation, scope);
    judgeUnknownClient(invocation, scope);
    return undefined;
  }
  if (taskRunners.some((table) => Object.hasOwn(table, name))) judgeTasks(invocation, scope);
  if (partlyKnownNames.has(name)) {
    judgeHiddenCommands(invocation, isDangerous, scope);
    if (!Object.hasOwn(destroyRules, name)) judgeUnknownClient(invocation, scope);
  } else if (!passesArguments(name)) judgeBehindDashes(invocation, isDangerous, scope);
  let output: Options<Text> | undefined;
  for (const judge of judges.get(name)!) output = judge({ ...invocation, name }, scope) ?? output;
  return output;
}

/** Programs that do harm themselves, or run others that do. */
const isDangerous = (name: string) =>
  dangerousNames.has(name) || (/[A-Z\d]|^g/.test(name) && dangerousNames.has(findRuledName(name) ?? ""));
const dangerousNames = new Set(
  [deleteRules, deviceRules, shells, interpreters, multipliers, runners].flatMap(Object.keys),
);

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
  const found = candidates.find((candidate) => judges.has(candidate));
  if (found !== undefined || !/^(?:g|mkfs\.)/.test(name)) return found;
  if (name.startsWith("mkfs.")) return "mkfs";
  const isOfGnu = [runners, deleteRules, deviceRules].some((table) => Object.hasOwn(table, name.slice(1)));
  return isOfGnu ? name.slice(1) : undefined;
}
