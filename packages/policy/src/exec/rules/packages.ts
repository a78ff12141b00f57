/** Package managers: code from a registry that runs at once, settings, publishing, and what is installed outside of the workspace. */
import { runCode } from "../code/run-code.ts";
import { getZone } from "../paths.ts";
import { printsKeys } from "../programs/credentials.ts";
import type { OptionSpec } from "../programs/program.ts";
import { type Scope, deepen, report } from "../shell/analysis.ts";
import { type Options, type Text, known } from "../shell/text.ts";
import { type Judge, hasArg, isInformation, resolveAll } from "./invocation.ts";
import { judgePublished } from "./network.ts";
import { type ParsedOptions, parseOptions } from "./options.ts";
import { joinWords } from "./shells.ts";
import { judgeAssignment } from "./variables.ts";
import { judgeWrite, judgeWrites } from "./write.ts";

/** Tools that projects have as dependencies: `npx` then runs the copy of the project. */
const projectTools = new Set(
  "tsc tsx ts-node eslint prettier vitest jest mocha ava tap nyc c8 vite next nuxt nuxi astro svelte-kit svelte-check vue-tsc vue-cli-service ng nx turbo lerna rollup webpack webpack-cli esbuild swc babel parcel tsup tsdown rimraf cpx concurrently nodemon husky lint-staged commitlint changeset semantic-release standard xo biome oxlint oxfmt stylelint markdownlint markdownlint-cli2 cspell knip madge depcheck playwright cypress wdio storybook sb typedoc jsdoc api-extractor publint attw prisma drizzle-kit typeorm sequelize knex graphql-codegen graphql-code-generator openapi-generator-cli serve http-server json-server live-server wait-on cross-env dotenv env-cmd npm-run-all run-s run-p patch-package ncu npm-check-updates size-limit bundlesize tailwindcss postcss sass lessc terser uglifyjs react-scripts react-native expo remix gatsby docusaurus vuepress vitepress eleventy hexo gulp grunt bower electron electron-builder electron-forge tauri cap capacitor pkg ncc rescript elm purs solhint hardhat truffle wrangler vercel netlify firebase supabase cdk sst serverless sls tsd dtslint are-the-types-wrong syncpack manypkg sort-package-json zx hygen plop degit shadcn shadcn-ui create-react-app create-next-app create-vite create-vue create-svelte create-astro create-remix create-expo-app ember pnpm yarn npm node only-allow unbuild tsconfig-paths web-ext allure release-it auto-changelog conventional-changelog husky-init simple-git-hooks is-ci rspack rsbuild farm bun deno mkdirp shx copyfiles del-cli cpy-cli kill-port which prettier-eslint ts-jest tape uvu jasmine karma protractor testcafe nightwatch lhci lighthouse pa11y axe".split(
    " ",
  ),
);

/** Options of `npx` and of the commands of package managers that do the same. */
const npxSpec: OptionSpec = {
  options:
    "p:c:w:yq package= call= shell= cache= userconfig= node-options= registry= workspace= yes no no-install ignore-existing quiet workspaces prefer-offline offline bun verbose silent",
  stopsAtOperand: true,
};

export const npx: Judge = ({ name, args }, scope) => {
  if (isInformation(args)) return undefined;
  return callPackage(name, parseOptions(args, npxSpec), scope);
};

function callPackage(name: string, options: ParsedOptions, scope: Scope, isForced = options.has("y", "yes")) {
  for (const code of options.get("c", "call")) runCode(code, [], scope);
  for (const shell of options.get("shell", "node-options"))
    report(scope, "high", "opaque_exec", `${name} runs code with ${shell.text}.`);
  return runPackage(name, options.operands, scope, {
    isForced,
    packages: options.get("p", "package"),
    isOffline: options.has("no", "no-install", "offline"),
  });
}

interface PackageCall {
  /** Whether a missing package is installed without a question. */
  isForced: boolean;
  packages: readonly Text[];
  isOffline: boolean;
}

/** Runs a program of a package: one of the project, or one that is fetched for it. */
function runPackage(
  name: string,
  operands: readonly Text[],
  scope: Scope,
  call: PackageCall,
): Options<Text> | undefined {
  const [first] = operands;
  if (!first) return undefined;
  const [, bare = "", version] = /^((?:@[^/]+\/)?[^@]*)(?:@(.*))?$/s.exec(first.text) ?? [];
  const isProjectTool =
    projectTools.has(bare.replace(/^@[^/]+\//, "")) ||
    /^@(?:biomejs|changesets|nestjs|angular|vue|sveltejs|storybook|playwright|openapitools|graphql-codegen|commitlint|microsoft|babel|tailwindcss|typescript-eslint|arethetypeswrong|nx|capacitor|expo|redocly|stoplight|modelcontextprotocol|electron-forge|tauri-apps|swc)\//.test(
      bare,
    );
  const isLocal =
    call.isOffline ||
    (isProjectTool &&
      (version === undefined || call.isForced || /^(?:latest|next|canary|[\^~]?\d)/.test(version)) &&
      !/[:/].*[:/]/.test(first.text));
  if (!isLocal || call.packages.length > 0)
    report(scope, "medium", "pipe_to_shell", `${name} may run code from a registry: ${first.text}.`);
  // The program has another name than the package, or one that nobody knows.
  if (printsKeys(joinWords(operands.slice(1)).text))
    report(scope, "critical", "exfiltration", "It prints a key or a token of a provider.");
  const program = bare.split("/").at(-1)!;
  // Only programs with the name of a tool are also judged as that tool: a package called `kill-port` is not `kill`.
  return scope.interpreter.runCommand([known(program || first.text), ...operands.slice(1)], deepen(scope));
}

export const npm: Judge = ({ name, args }, scope) => {
  if (args.some(({ text }) => text === "--help")) return undefined;
  const options = parseOptions(args, {
    options:
      "C:w:DgSEPOBfqsydi prefix= registry= script-shell= workspace= filter= userconfig= globalconfig= cache= loglevel= omit= include= tag= access= otp= dir= cwd= node-options= dry-run global save-dev yes no force silent production frozen-lockfile immutable recursive ignore-scripts no-audit no-fund legacy-peer-deps workspaces if-present parallel",
  });
  for (const shell of options.get("script-shell", "node-options")) {
    report(scope, "high", "opaque_exec", `${name} runs scripts with ${shell.text}.`);
    runCode(shell, [], scope);
  }
  for (const registry of options.get("registry"))
    if (!/registry\.(?:npmjs|npmmirror|yarnpkg)\.(?:org|com)|^https?:\/\/(?:localhost|127\.)/.test(registry.text))
      report(scope, "medium", "pipe_to_shell", `${name} takes packages from ${registry.text}.`);
  const index = args.findIndex(({ text }) => text === options.operands[0]?.text);
  const [verb, second] = options.operands;
  const rest = args.slice(index + 1);
  const changes = /^(?:install|i|add|in|ins|isntall|ci|remove|rm|uninstall|un|unlink|r|update|up|upgrade|link|ln)$/;
  const [isGlobal, action] =
    verb?.text === "global" ? [true, second?.text] : [options.has("g", "global", "location"), verb?.text];
  if (changes.test(action ?? "") && (isGlobal || /^(?:link|ln)$/.test(action!)))
    judgeInstall(name, options.get("prefix"), scope);
  switch (verb?.text) {
    case "exec":
    case "x":
    case "dlx":
    case "create":
    case "init":
      return runTool(name, verb.text, rest, scope);
    case "workspace":
      return runInWorkspace(name, rest.slice(1), scope);
    case "workspaces":
      return second?.text === "foreach" ? runInWorkspace(name, rest.slice(1), scope) : undefined;
    case "config":
    case "set":
    case "c":
      judgeSetting(
        name,
        verb.text === "set" ? options.operands.slice(1) : options.operands.slice(2),
        second?.text ?? "",
        scope,
        verb.text,
      );
      return undefined;
    case "publish":
    case "unpublish":
    case "deprecate":
    case "dist-tag":
      if (!options.has("dry-run") && second?.text !== "ls")
        report(scope, "high", "exfiltration", `${name} ${verb.text} changes what others install.`);
      if (verb.text === "publish") judgePublished(scope, `with ${name}`);
      return undefined;
    case "login":
    case "adduser":
    case "logout":
    case "token":
    case "owner":
    case "access":
    case "profile":
      if (!/^(?:list|ls|get)$/.test(second?.text ?? ""))
        report(scope, "high", "credential_change", `${name} ${verb.text} changes stored logins.`);
      return undefined;
    case "explore":
      return second && options.operands.length > 2
        ? runCode(joinWords(options.operands.slice(2)), [], scope)
        : undefined;
    case "node":
      return scope.interpreter.runCommand([known("node"), ...rest], deepen(scope));
    case "install":
    case "i":
    case "add":
      for (const source of options.operands.slice(1)) judgeSource(name, source, scope);
      return undefined;
    default:
      return undefined;
  }
};

/** `yarn workspace NAME COMMAND` and `yarn workspaces foreach COMMAND`: a command of the same program. */
function runInWorkspace(name: string, args: readonly Text[], scope: Scope) {
  const { operands } = parseOptions(args, {
    options:
      "j:ARWitvp from= include= exclude= jobs= since=? all recursive worktree parallel interlaced topological verbose",
    stopsAtOperand: true,
  });
  return operands.length > 0 ? scope.interpreter.runCommand([known(name), ...operands], deepen(scope)) : undefined;
}

function runTool(name: string, verb: string, args: readonly Text[], scope: Scope) {
  const call = parseOptions(args, npxSpec);
  if (verb === "create" || verb === "init") {
    const [template] = call.operands;
    if (
      template &&
      !/^[\w-]*(?:vite|next-app|react-app|vue|svelte|astro|remix|expo-app|nuxt|playwright|eslint|solid|tauri-app|electron-app|docusaurus|vitepress)(?:@latest)?$|^@eslint\//.test(
        template.text,
      )
    )
      report(scope, "medium", "pipe_to_shell", `${name} ${verb} runs code from a registry: ${template.text}.`);
    return undefined;
  }
  return callPackage(name, call, scope, verb === "dlx" || call.has("y", "yes"));
}

/** Packages from an address are code that nobody has published. */
export function judgeSource(name: string, source: Text, scope: Scope): void {
  if (
    /^(?:git\+|https?:|git:|ssh:|git@)/.test(source.text) &&
    !/^(?:git\+)?https:\/\/(?:github|gitlab)\.com\//.test(source.text)
  )
    report(scope, "medium", "pipe_to_shell", `${name} installs code from ${source.text}.`);
}

function judgeSetting(name: string, words: readonly Text[], verb: string, scope: Scope, command: string): void {
  if (command !== "set" && !/^(?:set|delete|rm|edit)$/.test(verb)) return;
  const [key = "", value = ""] =
    words.length > 1 ? words.map(({ text }) => text) : (words[0]?.text ?? "").split(/=(.*)/s);
  if (/_auth|_password|token|:username|email/i.test(key))
    report(scope, "high", "credential_change", `${name} stores a login.`);
  else if (
    /^(?:script-shell|node-options|shell|editor|git|prefix|globalconfig|userconfig|init-module|onload-script|viewer|cafile|ca|strict-ssl|proxy|https-proxy|ignore-scripts|scripts-prepend-node-path|pre|plugins|yarnPath)/i.test(
      key,
    )
  )
    report(scope, "high", "persistence", `${name} sets ${key} to ${value}.`);
  else if (/registry/i.test(key)) report(scope, "medium", "persistence", `${name} takes packages from ${value}.`);
}

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
