/** Programs that install something: what they put outside of the workspace. */
import { getZone } from "../paths.ts";
import { hasArg, isInformation, type Judge, resolveAll } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { deepen, report, type Scope } from "../shell/analysis.ts";
import { known, type Text } from "../shell/text.ts";
import { judgeAssignment } from "./variables.ts";
import { judgeWrite, judgeWrites } from "./write.ts";

/** Whether a path may be changed without anybody noticing it elsewhere. */
const isInside = (path: string, scope: Scope): boolean =>
  /^(?:in-workspace|workspace|in-temp|temp)$/.test(getZone(path, scope.analysis.context));

/**
 * Reports what is installed: into the directories that the command names, otherwise for every project of the person or of
 * the machine.
 */
export function judgeInstall(name: string, directories: readonly Text[], scope: Scope): void {
  const paths = directories.flatMap((directory) => resolveAll(directory, scope));
  for (const path of paths) judgeWrite(path, scope);
  if (!paths.some((path) => isInside(path, scope)))
    report(scope, "medium", "persistence", `${name} installs programs outside of the workspace.`);
}

const commonOptions = "path= git= version= features= config= color= global system locked";

/**
 * Installers of programs for the person, by their first words. Options with a directory replace the usual place. Those of the
 * system need other rights, which are judged where they are taken.
 */
export const install: Judge = ({ name, args, program }, scope) => {
  if (isInformation(args) || hasArg(args, /^--(?:dry-run|simulate)$/)) return;
  const { words, into = [] } = program.installs!;
  const options = parseOptions(args, {
    options: ["C:i:n:t:f:yqgj:p:l:L:d:r:", ...into.map((option) => `${option}=`), commonOptions].join(" "),
  });
  // `cargo +nightly install` chooses a toolchain.
  const operands = options.operands.map(({ text }) => text).filter((text) => !text.startsWith("+"));
  const flags = args.filter(({ text }) => text.startsWith("-")).map(({ text }) => text);
  const text = [...operands, ...flags].join(" ");
  if (words.test(text)) judgeInstall(name, options.get(...into), scope);
};

/**
 * Environments of conda: that of the project has a name or a directory of its own. Without either, it is the one that is
 * active or the one that all projects share.
 */
export const conda: Judge = ({ name, args, program }, scope) => {
  const options = parseOptions(args, program);
  if (options.has("d", "dry-run")) return;
  const words = options.operands.map(({ text }) => text).join(" ");
  if (/^(?:shell )?init\b/.test(words)) {
    report(scope, "high", "persistence", `${name} changes what shells do when they start.`);
    return;
  }
  if (/^config\b/.test(words) && hasArg(args, /^--(?:add|append|prepend|set|remove)/))
    report(scope, "medium", "persistence", `${name} changes its settings.`);
  if (!/^(?:install|update|upgrade|remove|uninstall)\b/.test(words)) return;
  const isNamed = options.get("n", "name").some(({ text }) => text !== "base" && text !== "root");
  if (!isNamed) judgeInstall(name, options.get("p", "prefix"), scope);
};

/** Libraries of R and Julia belong to the person, unless the call names a directory or a project. */
export const library: Judge = ({ name, args }, scope) => {
  const code = args.map(({ text }) => text).join(" ");
  const isOwn = /--project|Pkg\.activate|\blib(?:\.loc)?\s*=|renv::|(?:^| )(?:-l|--library)\b/.test(code);
  if (
    !isOwn &&
    /\binstall\.packages\s*\(|\binstall_(?:github|git|url|cran|version)\s*\(|\bpkg_install\s*\(|\bPkg\.(?:add|develop)\s*\(|^CMD INSTALL\b/.test(
      code,
    )
  )
    judgeInstall(name, [], scope);
};

/** A plug-in is code that later calls run. */
export const asdf: Judge = ({ name, args }, scope) => {
  const [first, verb, , address] = args.map(({ text }) => text);
  if (first === "plugin" && verb === "add" && address)
    report(scope, "medium", "pipe_to_shell", `${name} installs code from ${address}.`);
};

/** `direnv allow` lets a file of the project change every shell that enters it. */
export const direnv: Judge = ({ args }, scope) => {
  const [verb, directory, ...command] = args;
  if (/^(?:allow|permit|grant|edit)$/.test(verb?.text ?? ""))
    report(scope, "high", "persistence", "direnv runs the .envrc of a directory in every shell that enters it.");
  return verb?.text === "exec" && directory && command.length > 0
    ? scope.interpreter.runCommand(command, deepen(scope))
    : undefined;
};

/** The commands of `cmake -E`, as the programs that do the same. */
const cmakeCommands: Record<string, readonly string[]> = {
  rm: ["rm"],
  remove: ["rm"],
  remove_directory: ["rm", "-r"],
  copy: ["cp"],
  copy_if_different: ["cp"],
  copy_directory: ["cp", "-r"],
  copy_directory_if_different: ["cp", "-r"],
  rename: ["mv"],
  make_directory: ["mkdir", "-p"],
  touch: ["touch"],
  touch_nocreate: ["touch"],
  create_symlink: ["ln", "-s"],
  create_hardlink: ["ln"],
  cat: ["cat"],
  env: ["env"],
  time: ["time"],
  tar: ["tar"],
};

export const cmake: Judge = ({ name, args, program }, scope) => {
  const index = args.findIndex(({ text }) => text === "-E");
  const verb = args[index + 1]?.text ?? "";
  if (index !== -1 && Object.hasOwn(cmakeCommands, verb)) {
    const words = [...cmakeCommands[verb]!.map((word) => known(word)), ...args.slice(index + 2)];
    return scope.interpreter.runCommand(words, deepen(scope));
  }
  if (index !== -1 && verb === "chdir" && args.length > index + 3) {
    const inner = { ...scope, state: scope.state.clone() };
    scope.interpreter.runCommand([known("cd"), args[index + 2]!], deepen(inner));
    return scope.interpreter.runCommand(args.slice(index + 3), deepen(inner));
  }
  const options = parseOptions(args, program);
  // Some variables name programs that the build runs.
  for (const definition of options.get("D")) {
    const [, variable, value] = /^(\w+)(?::\w+)?=(.+)$/s.exec(definition.text) ?? [];
    if (variable !== undefined) judgeAssignment(variable, { ...definition, text: value! }, scope);
  }
  const targets = options.get("target").map(({ text }) => text);
  if (options.has("install") || targets.some((target) => /^(?:un)?install/.test(target)))
    judgeInstall(name, options.get("prefix"), scope);
  judgeWrites(options.get("B"), scope);
  return undefined;
};
