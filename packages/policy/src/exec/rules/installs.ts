/** Programs that install something: what they put outside of the workspace. */
import { getZone } from "../paths.ts";
import { forNames, isInformation, resolveAll, type Judge, type Judges } from "../programs/invocation.ts";
import { parseOptions } from "../programs/options.ts";
import { deepen, report, type Scope } from "../shell/analysis.ts";
import { known, type Text } from "../shell/text.ts";
import { judgeAssignment } from "./variables.ts";
import { judgeWrite } from "./write.ts";

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

/**
 * Installers of programs for the person, by their first words. Options with a directory replace the usual place. Those of the
 * system need other rights, which are judged where they are taken.
 */
const installers: Record<string, { words: RegExp; into?: readonly string[] }> = {
  cargo: { words: /^(?:install|uninstall|binstall)\b/, into: ["root"] },
  go: { words: /^install\b/ },
  gem: { words: /^(?:install|uninstall|update)\b/, into: ["install-dir", "i", "bindir", "n"] },
  pipx: { words: /^(?:install|uninstall|upgrade|inject|reinstall|ensurepath)/ },
  uv: { words: /^(?:tool (?:install|uninstall|upgrade|update-shell)|pip (?:install|uninstall|sync) .*--system)\b/ },
  volta: { words: /^install (?!(?:node|npm|yarn|pnpm)\b)/ },
  deno: { words: /^(?:install|uninstall) .*(?:-g|--global)\b/, into: ["root"] },
  cpan: { words: /./ },
  cpanm: { words: /^(?!\.( |$))./, into: ["local-lib", "local-lib-contained", "l", "L"] },
  easy_install: { words: /./, into: ["install-dir", "d"] },
  raco: { words: /^pkg (?:install|update|remove)\b/ },
  mix: { words: /^(?:archive|escript)\.(?:install|uninstall)\b/ },
  helm: { words: /^plugin (?:install|update)\b/ },
  kubectl: { words: /^krew (?:install|upgrade)\b/ },
  krew: { words: /^(?:install|upgrade)\b/ },
  poetry: { words: /^self (?:add|update|remove|install)\b/ },
  pdm: { words: /^self (?:add|update|remove|install)\b/ },
  "ansible-galaxy": { words: /^(?:(?:role|collection) )?install \w/, into: ["roles-path", "collections-path", "p"] },
  nix: { words: /^profile (?:install|add|remove|upgrade)\b/, into: ["profile"] },
  composer: { words: /^global (?:require|install|update|remove)\b/ },
  dotnet: {
    words: /^workload (?:install|update)\b|^tool (?:install|uninstall|update) .*(?:-g|--global)\b/,
    into: ["tool-path"],
  },
  brew: { words: /^(?:install|uninstall|upgrade|reinstall|tap|link)\b/ },
  cabal: { words: /^install\b/, into: ["installdir"] },
  stack: { words: /^(?:install|build .*--copy-bins)\b/, into: ["local-bin-path"] },
  opam: { words: /^(?:install|remove) (?!\.)/ },
  luarocks: { words: /^(?:install|remove)\b/, into: ["tree"] },
  nimble: { words: /^(?:install|uninstall)\b/ },
  ...repeat("mise rtx", { words: /^use .*(?:-g|--global)\b/ }),
  ...repeat("ninja samu", { words: /^(?:\S+ )*(?:un)?install(?: |$)/ }),
  meson: { words: /^install\b/, into: ["destdir"] },
};

function repeat<T>(names: string, value: T): Record<string, T> {
  return Object.fromEntries(names.split(" ").map((name) => [name, value]));
}

const install: Judge = ({ name, args }, scope) => {
  if (isInformation(args) || args.some(({ text }) => /^--(?:dry-run|simulate)$/.test(text))) return;
  const { words, into = [] } = installers[name]!;
  const options = parseOptions(args, {
    short: "C:i:n:t:f:yqgj:p:l:L:d:r:",
    long: `${into.map((option) => `${option}=`).join(" ")} path= git= version= features= config= color= global system locked`,
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
const conda: Judge = ({ name, args }, scope) => {
  const options = parseOptions(args, {
    short: "n:p:c:f:yqd",
    long: "name= prefix= root-prefix= channel= file= yes quiet dry-run json override-channels all",
  });
  if (options.has("d", "dry-run")) return;
  const words = options.operands.map(({ text }) => text).join(" ");
  if (/^(?:shell )?init\b/.test(words)) {
    report(scope, "high", "persistence", `${name} changes what shells do when they start.`);
    return;
  }
  if (/^config\b/.test(words) && args.some(({ text }) => /^--(?:add|append|prepend|set|remove)/.test(text)))
    report(scope, "medium", "persistence", `${name} changes its settings.`);
  if (!/^(?:install|update|upgrade|remove|uninstall)\b/.test(words)) return;
  const isNamed = options.get("n", "name").some(({ text }) => text !== "base" && text !== "root");
  if (!isNamed) judgeInstall(name, options.get("p", "prefix"), scope);
};

/** `pnpm setup`, which writes to the files that shells read at their start, is judged here; the rest with the packages. */
const pnpm: Judge = ({ args }, scope) => {
  if (args[0]?.text === "setup") report(scope, "high", "persistence", "pnpm changes what shells do when they start.");
};

/** Libraries of R and Julia belong to the person, unless the call names a directory or a project. */
const library: Judge = ({ name, args }, scope) => {
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
const asdf: Judge = ({ name, args }, scope) => {
  const [first, verb, , address] = args.map(({ text }) => text);
  if (first === "plugin" && verb === "add" && address)
    report(scope, "medium", "pipe_to_shell", `${name} installs code from ${address}.`);
};

/** `direnv allow` lets a file of the project change every shell that enters it. */
const direnv: Judge = ({ args }, scope) => {
  const [verb, directory, ...command] = args;
  if (/^(?:allow|permit|grant|edit)$/.test(verb?.text ?? ""))
    report(scope, "high", "persistence", "direnv runs the .envrc of a directory in every shell that enters it.");
  return verb?.text === "exec" && directory && command.length > 0
    ? scope.interpreter.runCommand(command, deepen(scope))
    : undefined;
};

/** `mise use -g`, and `mise trust` as `direnv allow`. */
const mise: Judge = (invocation, scope) => {
  if (invocation.args[0]?.text === "trust")
    report(scope, "high", "persistence", "mise runs what the settings of a directory name.");
  return install(invocation, scope);
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

const cmake: Judge = ({ name, args }, scope) => {
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
  const options = parseOptions(args, { short: "B:S:D:G:P:C:j:", long: "install= build= prefix= target= config=" });
  // Some variables name programs that the build runs.
  for (const definition of options.get("D")) {
    const [, variable, value] = /^(\w+)(?::\w+)?=(.+)$/s.exec(definition.text) ?? [];
    if (variable !== undefined) judgeAssignment(variable, { ...definition, text: value! }, scope);
  }
  const targets = options.get("target").map(({ text }) => text);
  if (options.has("install") || targets.some((target) => /^(?:un)?install/.test(target)))
    judgeInstall(name, options.get("prefix"), scope);
  for (const directory of options.get("B")) for (const path of resolveAll(directory, scope)) judgeWrite(path, scope);
  return undefined;
};

export const installRules: Judges = {
  ...forNames(Object.keys(installers).join(" "), install),
  ...forNames("mise rtx", mise),
  ...forNames("conda mamba micromamba", conda),
  ...forNames("R Rscript julia", library),
  pnpm,
  asdf,
  direnv,
  cmake,
};
