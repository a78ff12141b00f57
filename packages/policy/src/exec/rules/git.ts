/** git: settings and options that run programs, deleting, and sending. */
import { runCode } from "../code/run-code.ts";
import type { GitRule, Program, Subcommand } from "../programs/program.ts";
import type { ExecFinding } from "../classification.ts";
import { getZone, isBelow, type Zone } from "../paths.ts";
import { getOperands, hasArg, isInformation, type Judge, type ProgramCall, resolveAll } from "./invocation.ts";
import { runOption } from "./option-code.ts";
import { type ParsedOptions, parseOptions } from "./options.ts";
import { deepen, report, type Scope } from "../shell/analysis.ts";
import { getReadOrigin, getWrittenOrigin, judgeRead } from "../shell/files.ts";
import { emptyText, isKnown, joinOrigins, known, toShown, origins, type Options, type Text } from "../shell/text.ts";
import { addForeign, judgeDelete } from "./files.ts";
import { fits, judgeEffects } from "./effects.ts";
import { judgeConfig } from "./git-config.ts";
import { judgeSent } from "./network.ts";
import { listOutputs } from "./output-options.ts";
import { judgeAssignment } from "./variables.ts";
import { judgeRoots } from "./whole-home.ts";
import { judgeWrites } from "./write.ts";

export const git: Judge = ({ args, program }, outer) => {
  const general = parseOptions(args, program);
  const workTrees = listWorkTrees(general, outer);
  const scope = enterDirectories([...general.get("C"), ...workTrees], outer);
  for (const setting of general.get("c")) {
    const index = setting.text.indexOf("=");
    const key = index === -1 ? setting.text : setting.text.slice(0, index);
    judgeConfig(key, { ...setting, text: index === -1 ? "" : setting.text.slice(index + 1) }, scope, "once");
  }
  for (const path of general.get("exec-path"))
    if (path.text !== "") report(scope, "high", "opaque_exec", `git runs its programs from ${path.text}.`);
  const [command, ...rest] = general.operands;
  if (!command) return undefined;
  const call: GitCall = {
    name: command.text,
    words: general.operands,
    args: rest,
    program: findSubcommand(program, command.text),
  };
  judgeWorkTree(call, workTrees.length > 0, scope);
  if (!isKnown(command.text))
    report(scope, "medium", "opaque_exec", "The subcommand of git is not known before it runs.");
  judgeWrites(listOutputs("git", rest), scope);
  for (const directory of general.get("git-dir")) judgeAssignment("GIT_DIR", directory, scope);
  stage(call, scope);
  outer.state.staged |= scope.state.staged;
  const output = judgeSubcommand(call, scope);
  judgeReads(rest, scope);
  return output;
};

interface GitCall extends ProgramCall {
  readonly program: Subcommand;
}

const byName = new Map<string, Subcommand>();

/** `git-credential-NAME` is also called as a subcommand. */
function findSubcommand({ subcommands = {} }: Program, name: string): Subcommand {
  if (byName.size === 0)
    for (const [names, record] of Object.entries(subcommands))
      for (const each of names.split(" ")) byName.set(each, record);
  return byName.get(name.startsWith("credential-") ? "credential" : name) ?? {};
}

function judgeSubcommand(call: GitCall, scope: Scope): Options<Text> | undefined {
  const { name, args, program } = call;
  if (name.startsWith("credential-") && isInformation(args)) return undefined;
  for (const code of program.code === undefined ? [] : parseOptions(args, program).getAll(program.code))
    runCode(code, [], scope);
  if (program.does ?? program.effects) return judgeEffects(call, scope) ?? undefined;
  return program.rule && rules[program.rule](args, scope, program);
}

/**
 * Judges files that git replaces or deletes outside of the workspace. `isElsewhere`: the work tree is not the directory of the
 * repository, so that git takes every file there for its own.
 */
function judgeWorkTree({ name, args, program }: GitCall, isElsewhere: boolean, scope: Scope): void {
  if (!program.changesFiles) return;
  for (const directory of listTargets(args)) judgeCreated({ ...directory, text: `${directory.text}/x` }, scope);
  const discardsFiles = program.discards !== undefined && fits(program.discards, args);
  for (const directory of scope.state.realDirectories) {
    const tier = getTreeTier(getZone(directory, scope.analysis.context), isElsewhere, discardsFiles);
    if (tier)
      report(scope, tier, "recursive_delete", `git ${name} replaces files in ${toShown(directory)}.`, {
        path: directory,
      });
  }
}

function getTreeTier(zone: Zone, isElsewhere: boolean, discardsFiles: boolean): ExecFinding["tier"] | undefined {
  switch (zone) {
    case "root":
    case "home":
      return isElsewhere && discardsFiles ? "critical" : isElsewhere || discardsFiles ? "high" : undefined;
    case "system":
      return isElsewhere || discardsFiles ? "high" : undefined;
    case "in-home":
    case "outside":
      return isElsewhere && discardsFiles ? "high" : isElsewhere || discardsFiles ? "medium" : undefined;
    default:
      return undefined;
  }
}

const stagesAll = /^(?:-\w*[aAu]\w*|--all|--update|--include-untracked)$/;

/** Remembers that keys or secrets become a part of the repository, for a push that follows. */
function stage({ name, args, program }: GitCall, scope: Scope): void {
  if (!program.stages) return;
  const paths = getOperands(args).flatMap((operand) => resolveAll(operand, scope));
  const isAll = name === "stash" || hasArg(args, stagesAll);
  const written = getWrittenOrigin(isAll ? [...paths, ...scope.state.directories] : paths, scope);
  const input = args.some(({ text }) => text === "--stdin" || text === "-") ? joinOrigins(scope.stdin) : 0;
  const origin = joinOrigins(args) | getReadOrigin(paths, scope) | written | input;
  scope.state.staged |= origin & (origins.credential | origins.secret);
}

/** `git diff --no-index`, `git commit -F FILE` and such read any file. */
function judgeReads(args: readonly Text[], scope: Scope): void {
  const { workspace } = scope.analysis.context;
  for (const operand of getOperands(args))
    if (!operand.text.includes("="))
      for (const path of resolveAll(operand, scope)) if (!isBelow(path, workspace)) judgeRead(path, scope);
}

/** `git checkout-index --prefix=DIR`, `git apply --directory=DIR`. */
const listTargets = (args: readonly Text[]): Text[] =>
  args.flatMap((arg) => {
    const directory = /^--(?:prefix|directory)=(.+)$/s.exec(arg.text)?.[1];
    return directory === undefined ? [] : [{ ...arg, text: directory }];
  });

/** Under this name the shell remembers what the script sets with `git config`. No variable can be called so. */
const workTreeSetting = "git core.worktree";

/** Where git works instead of the directory that it finds: by an option, a setting for this call, or a variable. */
function listWorkTrees(options: ReturnType<typeof parseOptions>, scope: Scope): Text[] {
  const settings = options.get("c").flatMap((setting) => {
    const directory = /^core\.worktree=(.+)$/is.exec(setting.text)?.[1];
    return directory === undefined ? [] : [{ ...setting, text: directory }];
  });
  const variables = [workTreeSetting, "GIT_WORK_TREE"].flatMap((name) =>
    (scope.state.variables.get(name) ?? []).flat().slice(0, 1),
  );
  return [...variables, ...settings, ...options.get("work-tree")].filter(({ text }) => text !== "").slice(-1);
}

/** `git -C DIR` works as if it were started there. */
function enterDirectories(directories: readonly Text[], scope: Scope): Scope {
  if (directories.length === 0) return scope;
  const inner = { ...scope, state: scope.state.clone() };
  for (const directory of directories) {
    inner.state.directories = inner.state.resolve(directory.text, scope.analysis.context.home);
    inner.state.earlierDirectories = [];
  }
  return inner;
}

type SubcommandRule = (args: readonly Text[], scope: Scope, program: Subcommand) => Options<Text> | undefined;

const clean: SubcommandRule = (args, scope, program) => {
  const options = parseOptions(args, program);
  if (options.has("n", "dry-run", "i", "interactive") || !options.has("f", "force")) return undefined;
  // What is tracked stays, so a directory is never deleted as a whole.
  const isHere = ({ text }: Text) => /^\.(?:\/+\.?)*$/.test(text);
  const places = options.operands.length > 0 ? options.operands : [known(".")];
  for (const place of places.filter(({ text }) => text !== "")) {
    const text = isHere(place) ? "./inside" : place.text;
    for (const path of scope.state.resolve(text, scope.analysis.context.home))
      judgeDelete(known(path), scope, { isRecursive: true });
  }
  return undefined;
};

const push: SubcommandRule = (args, scope, program) => {
  const options = parseOptions(args, program);
  for (const code of options.getAll(program.runs)) runOption(code, scope);
  if (options.has("n", "dry-run")) return undefined;
  const [remote] = options.get("repo").length > 0 ? options.get("repo") : options.operands;
  const name = remote?.text ?? "";
  const isAddress = /[:@]|^[./~]/.test(name) || !isKnown(name);
  const isChanged = scope.state.remotes.has(name === "" ? "origin" : name);
  judgeAddress(name, scope);
  if (isAddress || isChanged)
    report(scope, "high", "exfiltration", `It sends the repository to ${toShown(name) || "a changed address"}.`);
  else report(scope, "medium", "exfiltration", `It sends commits to ${name || "the configured remote"}.`);
  judgeSent(joinOrigins(args) | scope.state.staged, scope, "to a repository");
  return undefined;
};

/** `ext::CODE` runs code as a transport. */
function judgeAddress(address: string, scope: Scope): void {
  const code = /^ext::(.*)$/s.exec(address)?.[1];
  if (code === undefined) return;
  report(scope, "high", "opaque_exec", "git runs a program as a transport.");
  // `% ` is a blank inside of a word.
  const words = code.split(/(?<!%) /).map((word) => known(word.replaceAll("% ", " ").replaceAll("%%", "%")));
  scope.interpreter.runCommand(words, deepen(scope));
}

/** Judges the directory or file that a subcommand creates. */
function judgeCreated(target: Text | undefined, scope: Scope): void {
  if (target) judgeWrites([target], scope);
}

/** `git archive -o FILE`, `git format-patch -o DIRECTORY`. */
const exportTo: SubcommandRule = (args, scope, program) => {
  const options = parseOptions(args, program);
  for (const file of options.get("o")) judgeCreated(file, scope);
  return undefined;
};

const createBundle: SubcommandRule = (args, scope, program) => createAt("create", parseOptions(args, program), scope);

function createAt(verb: string, { operands }: ParsedOptions, scope: Scope): undefined {
  if (operands[0]?.text === verb) judgeCreated(operands[1], scope);
}

const clone: SubcommandRule = (args, scope, program) => {
  const { operands } = parseOptions(args, program);
  judgeCreated(operands[1], scope);
  const name = /([^/:]+?)(?:\.git)?\/*$/.exec(operands[0]?.text ?? "")?.[1];
  const directory = operands[1] ?? (name === undefined ? undefined : known(name));
  if (directory) addForeign(directory, scope);
  return fetch(args, scope, program);
};

const init: SubcommandRule = (args, scope, program) => {
  const options = parseOptions(args, program);
  judgeCreated(options.operands[0] ?? known("."), scope);
  for (const directory of options.get("separate-git-dir")) judgeCreated(directory, scope);
  return fetch(args, scope, byName.get("clone")!);
};

const fetch: SubcommandRule = (args, scope, program) => {
  const options = parseOptions(args, program);
  const commands = options.get("u").filter(({ text }) => /[\s/;|]/.test(text));
  for (const code of [...options.getAll(program.runs), ...commands]) runOption(code, scope);
  for (const template of options.get("template"))
    report(scope, "medium", "persistence", `git takes hooks from ${template.text}.`);
  for (const setting of options.get("c", "config"))
    judgeConfig(
      setting.text.split("=")[0]!,
      { ...setting, text: setting.text.split("=").slice(1).join("=") },
      scope,
      "always",
    );
  for (const operand of options.operands) {
    judgeAddress(operand.text, scope);
    judgeSent(operand.origin, scope, "to a repository");
  }
  return undefined;
};

const remote: SubcommandRule = (args, scope) => {
  const operands = args.filter(({ text }) => !text.startsWith("-")).map(({ text }) => text);
  if (/^(?:add|set-url)$/.test(operands[0] ?? "") && operands[1]) scope.state.remotes.add(operands[1]);
  if (operands[2]) judgeAddress(operands[2], scope);
  return undefined;
};

/** The name and address of the author, and the name of the first branch. Git runs none of them. */
const isPlainName = (key: string): boolean => /^(?:user\.(?:name|email)|init\.defaultbranch)$/i.test(key);

const config: SubcommandRule = (args, scope, program) => {
  const options = parseOptions(args, program);
  if (options.has("get", "get-all", "get-regexp", "get-urlmatch", "list", "l", "get-color", "get-colorbool"))
    return undefined;
  const operands = /^(?:get|set|list|unset|edit|remove-section|rename-section)$/.test(options.operands[0]?.text ?? "")
    ? options.operands.slice(1)
    : options.operands;
  const verb = options.operands[0]?.text;
  if (verb === "list" || verb === "get") return undefined;
  if (options.has("edit", "e") || verb === "edit")
    report(scope, "medium", "persistence", "It edits the settings of git.");
  const [key, value] = operands;
  // Settings under a harmless name would become others.
  if (
    (options.has("rename-section") || verb === "rename-section") &&
    !/^(?:branch|remote|user)\b/i.test(value?.text ?? "")
  )
    report(scope, "high", "persistence", "It renames settings of git.");
  if (!key || (value === undefined && !options.has("unset", "unset-all"))) return undefined;
  judgeConfig(key.text, value ?? emptyText, scope, "always");
  if (/^core\.worktree$/i.test(key.text) && value) setWorkTree(value, scope);
  if (options.has("system")) report(scope, "high", "persistence", "It changes git for every account.");
  else if (options.has("global") && !isPlainName(key.text))
    report(scope, "medium", "persistence", "It changes git for every repository.");
  const name = /^remote\.(.+)\.(?:push)?url$/i.exec(key.text)?.[1];
  if (name) scope.state.remotes.add(name);
  return undefined;
};

function setWorkTree(directory: Text, scope: Scope): void {
  scope.state.set(workTreeSetting, [[directory]]);
  for (const path of resolveAll(directory, scope))
    if (/^(?:root|home|system|in-home|outside)$/.test(getZone(path, scope.analysis.context)))
      report(scope, "high", "persistence", `It makes git work in ${toShown(path)}.`);
}

/** With `--force`, changes that were never committed go too. */
const worktree: SubcommandRule = (args, scope, program) => {
  const options = parseOptions(args, program);
  const [verb, directory] = options.operands;
  if (verb?.text === "remove" && directory && options.has("f", "force"))
    judgeDelete(directory, scope, { isRecursive: true });
  return createAt("add", options, scope);
};

/** `git grep -OPROGRAM`; without a program it is the pager. With `--no-index` it searches any directory. */
const grep: SubcommandRule = (args, scope) => {
  const operands = getOperands(args);
  if (args.some(({ text }) => text === "--no-index"))
    judgeRoots("git grep", operands.length > 1 ? operands : [known(".")], scope);
  for (const arg of args) {
    const program = /^(?:-O|--open-files-in-pager=)(.+)$/s.exec(arg.text)?.[1];
    if (program && !/^(?:less|more|vi|vim|nvim|cat)$/.test(program)) runOption({ ...arg, text: program }, scope);
  }
  return undefined;
};

const bisect: SubcommandRule = (args, scope) =>
  args[0]?.text === "run" && args.length > 1 ? scope.interpreter.runCommand(args.slice(1), deepen(scope)) : undefined;

const submodule: SubcommandRule = (args, scope) => {
  const index = args.findIndex(({ text }) => text === "foreach");
  const words = index === -1 ? [] : args.slice(index + 1).filter(({ text }) => !/^--(?:recursive|quiet)$/.test(text));
  if (words.length === 1) runCode(words[0]!, [], scope);
  else if (words.length > 1) scope.interpreter.runCommand(words, deepen(scope));
  for (const arg of args) judgeAddress(arg.text, scope);
  return undefined;
};

const revParse: SubcommandRule = (args, scope) => {
  const texts = args.map(({ text }) => text);
  if (texts.includes("--show-toplevel")) return [known(`${scope.analysis.context.workspace}\n`)];
  if (texts.includes("--git-dir") || texts.includes("--git-common-dir"))
    return [known(`${scope.analysis.context.workspace}/.git\n`)];
  return undefined;
};

const rules: Record<GitRule, SubcommandRule> = {
  bisect,
  clean,
  clone,
  config,
  createBundle,
  exportTo,
  fetch,
  grep,
  init,
  push,
  remote,
  revParse,
  submodule,
  worktree,
};
