/** Package managers: code from a registry that runs at once, settings, and publishing. */
import { runCode } from "../programs/code.ts";
import { forNames, getOperands, isInformation, resolveAll, type Judge, type Judges } from "../programs/invocation.ts";
import { parseOptions } from "../programs/options.ts";
import { deepen, report, type Scope } from "../shell/analysis.ts";
import { isKnown, known, type Options, type Text } from "../shell/text.ts";

/** Tools that projects have as dependencies: `npx` then runs the copy of the project. */
const projectTools = new Set(
  "tsc tsx ts-node eslint prettier vitest jest mocha ava tap nyc c8 vite next nuxt nuxi astro svelte-kit svelte-check vue-tsc vue-cli-service ng nx turbo lerna rollup webpack webpack-cli esbuild swc babel parcel tsup tsdown rimraf cpx concurrently nodemon husky lint-staged commitlint changeset semantic-release standard xo biome oxlint oxfmt stylelint markdownlint markdownlint-cli2 cspell knip madge depcheck playwright cypress wdio storybook sb typedoc jsdoc api-extractor publint attw prisma drizzle-kit typeorm sequelize knex graphql-codegen graphql-code-generator openapi-generator-cli serve http-server json-server live-server wait-on cross-env dotenv env-cmd npm-run-all run-s run-p patch-package ncu npm-check-updates size-limit bundlesize tailwindcss postcss sass lessc terser uglifyjs react-scripts react-native expo remix gatsby docusaurus vuepress vitepress eleventy hexo gulp grunt bower electron electron-builder electron-forge tauri cap capacitor pkg ncc rescript elm purs solhint hardhat truffle wrangler vercel netlify firebase supabase cdk sst serverless sls tsd dtslint are-the-types-wrong syncpack manypkg sort-package-json zx hygen plop degit shadcn shadcn-ui create-react-app create-next-app create-vite create-vue create-svelte create-astro create-remix create-expo-app ember pnpm yarn npm node only-allow unbuild tsconfig-paths web-ext allure release-it auto-changelog conventional-changelog husky-init simple-git-hooks is-ci rspack rsbuild farm bun deno mkdirp shx copyfiles del-cli cpy-cli kill-port which prettier-eslint ts-jest tape uvu jasmine karma protractor testcafe nightwatch lhci lighthouse pa11y axe".split(
    " ",
  ),
);

const npx: Judge = ({ name, args }, scope) => {
  if (isInformation(args)) return undefined;
  const options = parseOptions(args, {
    short: "p:c:w:yq",
    long: "package= call= shell= cache= userconfig= node-options= registry= workspace= yes no no-install ignore-existing quiet workspaces prefer-offline offline bun verbose silent",
    stopsAtOperand: true,
  });
  for (const code of options.get("c", "call")) runCode(code, [], scope);
  for (const shell of options.get("shell", "node-options"))
    report(scope, "high", "opaque_exec", `${name} runs code with ${shell.text}.`);
  return runPackage(name, options.operands, scope, {
    isForced: options.has("y", "yes"),
    packages: options.get("p", "package"),
    isOffline: options.has("no", "no-install", "offline"),
  });
};

interface PackageCall {
  /** Whether a missing package is installed without a question. */
  isForced: boolean;
  packages?: readonly Text[];
  isOffline?: boolean;
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
    (call.isOffline ?? false) ||
    (isProjectTool &&
      (version === undefined || call.isForced || /^(?:latest|next|canary|[\^~]?\d)/.test(version)) &&
      !/[:/].*[:/]/.test(first.text));
  if (!isLocal || (call.packages?.length ?? 0) > 0)
    report(scope, "medium", "pipe_to_shell", `${name} may run code from a registry: ${first.text}.`);
  const program = bare.split("/").at(-1)!;
  // Only programs with the name of a tool are also judged as that tool: a package called `kill-port` is not `kill`.
  return scope.interpreter.runCommand([known(program || first.text), ...operands.slice(1)], deepen(scope));
}

const npm: Judge = ({ name, args }, scope) => {
  const options = parseOptions(args, {
    short: "C:w:DgSEPOBfqsydi",
    long: "prefix= registry= script-shell= workspace= filter= userconfig= globalconfig= cache= loglevel= omit= include= tag= access= otp= dir= cwd= node-options= dry-run global save-dev yes force silent production frozen-lockfile immutable recursive ignore-scripts no-audit no-fund legacy-peer-deps workspaces if-present parallel",
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
  switch (verb?.text) {
    case "exec":
    case "x":
    case "dlx":
    case "create":
    case "init":
      return runTool(name, verb.text, rest, scope);
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

function runTool(name: string, verb: string, args: readonly Text[], scope: Scope) {
  const call = parseOptions(args, {
    short: "p:c:w:yq",
    long: "package= call= workspace= yes no offline silent",
    stopsAtOperand: true,
  });
  for (const code of call.get("c", "call")) runCode(code, [], scope);
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
  return runPackage(name, call.operands, scope, {
    isForced: call.has("y", "yes") || verb === "dlx",
    packages: call.get("p", "package"),
  });
}

/** Packages from an address are code that nobody has published. */
function judgeSource(name: string, source: Text, scope: Scope): void {
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

const pip: Judge = ({ name, args }, scope) => {
  const options = parseOptions(args, {
    short: "r:e:c:i:f:t:qvUI",
    long: "requirement= editable= constraint= index-url= extra-index-url= find-links= target= trusted-host= root= prefix= python= upgrade user no-deps quiet break-system-packages no-cache-dir disable-pip-version-check",
  });
  const [verb, second] = options.operands.map(({ text }) => text);
  for (const index of options.get("i", "index-url", "extra-index-url", "f", "find-links"))
    if (!/pypi\.org|download\.pytorch\.org|^\.|pypi\.tuna|^https?:\/\/(?:localhost|127\.)/.test(index.text))
      report(scope, "medium", "pipe_to_shell", `${name} takes packages from ${index.text}.`);
  if (verb === "config" && /^(?:set|unset|edit)$/.test(second ?? ""))
    report(scope, "medium", "persistence", `${name} changes its settings.`);
  if (/^(?:install|download|wheel)$/.test(verb ?? ""))
    for (const source of [...options.operands.slice(1), ...options.get("e", "editable")])
      judgeSource(name, source, scope);
};

/** `uvx X`, `pipx run X`, `uv run X`, `go run X@v`. */
const uv: Judge = ({ name, args }, scope) => {
  const spec = {
    short: "p:m:qvn",
    long: "with= from= python= extra= group= package= directory= project= env-file= module= all-extras no-sync frozen locked isolated dev",
    stopsAtOperand: true,
  };
  const first = parseOptions(args, spec);
  if (name === "uvx") return runPython(first.operands);
  const [verb, ...rest] = first.operands;
  const inner = parseOptions(rest, spec);
  if ((name === "uv" && verb?.text === "run") || ((name === "pdm" || name === "rye") && verb?.text === "run")) {
    for (const module of inner.get("m", "module"))
      scope.interpreter.runCommand([known("python"), known("-m"), module, ...inner.operands], deepen(scope));
    return inner.operands.length > 0 ? scope.interpreter.runCommand(inner.operands, deepen(scope)) : undefined;
  }
  if (name === "pipx" && verb?.text === "run") return runPython(inner.operands);
  if (name === "uv" && verb?.text === "tool" && inner.operands[0]?.text === "run")
    return runPython(inner.operands.slice(1));
  if (verb?.text === "publish") report(scope, "high", "exfiltration", `${name} publish uploads a package.`);
  return undefined;
  function runPython(operands: readonly Text[]): undefined {
    const tool = operands[0]?.text ?? "";
    if (
      !/^(?:ruff|black|mypy|pytest|isort|flake8|pyright|pre-commit|tox|nox|poetry|build|twine|cookiecutter|mkdocs|sphinx-build|pip-audit|httpie|ty|pylint|bandit)(?:@.*)?$/.test(
        tool,
      )
    )
      report(scope, "medium", "pipe_to_shell", `${name} may run code from a registry: ${tool}.`);
  }
};

const go: Judge = ({ args }, scope) => {
  const [verb, target] = getOperands(args);
  const isRemote = target !== undefined && /@/.test(target.text) && /\./.test(target.text);
  if (verb?.text === "run" && isRemote) report(scope, "medium", "pipe_to_shell", `go runs code from ${target.text}.`);
  const exec = args.find(({ text }) => /^-(?:exec|toolexec)(?:=|$)/.test(text));
  if (exec)
    runCode(
      {
        ...exec,
        text: exec.text.includes("=")
          ? exec.text.split("=").slice(1).join("=")
          : (args[args.indexOf(exec) + 1]?.text ?? ""),
      },
      [],
      scope,
    );
  if (verb?.text === "env" && args.some(({ text }) => text === "-w"))
    report(scope, "medium", "persistence", "go changes its settings.");
};

const cargo: Judge = ({ args }, scope) => {
  const words = getOperands(args).filter(({ text }) => !text.startsWith("+"));
  const verb = words[0]?.text;
  if (/^(?:login|logout|owner)$/.test(verb ?? ""))
    report(scope, "high", "credential_change", `cargo ${verb} changes stored logins.`);
  else if (/^(?:publish|yank)$/.test(verb ?? "") && !args.some(({ text }) => text === "--dry-run" || text === "-n"))
    report(scope, "high", "exfiltration", `cargo ${verb} changes what others install.`);
  else if (verb === "install" && args.some(({ text }) => text === "--git"))
    report(scope, "medium", "pipe_to_shell", "cargo installs code from a repository.");
  const config = args.find(
    ({ text }, index) =>
      /\.runner|rustc-wrapper|build\.rustc|\.linker/.test(text) &&
      (args[index - 1]?.text === "--config" || text.startsWith("--config")),
  );
  if (config) report(scope, "high", "opaque_exec", "cargo runs another program.");
};

const make: Judge = ({ name, args }, scope) => {
  const options = parseOptions(args, {
    short: "C:f:j:l:o:W:I:E:BeiknpqrRstvw",
    long: "eval= file= makefile= directory= include-dir= jobs=? load-average=? dry-run always-make keep-going silent question touch print-data-base environment-overrides",
  });
  for (const code of options.get("E", "eval")) {
    for (const [, inner] of code.text.matchAll(/\$\(shell\s+((?:[^()]|\([^()]*\))*)\)/g))
      runCode({ ...code, text: inner! }, [], scope);
    if (!/\$\(shell/.test(code.text))
      report(scope, "medium", "opaque_exec", `${name} runs rules from the command line.`);
  }
  for (const operand of options.operands) {
    const [, variable, value] = /^(\w+)[:+?]?=(.*)$/s.exec(operand.text) ?? [];
    if (variable === "SHELL" || variable === ".SHELLFLAGS") runCode({ ...operand, text: value! }, [], scope);
    for (const [, inner] of operand.text.matchAll(/\$\(shell\s+((?:[^()]|\([^()]*\))*)\)/g))
      runCode({ ...operand, text: inner! }, [], scope);
  }
  const files = options.get("f", "file", "makefile");
  const usesInput = files.some(({ text }) => text === "-" || text === "/dev/stdin");
  const texts = usesInput
    ? scope.stdin
    : files.flatMap((file) => resolveAll(file, scope).flatMap((path) => scope.state.files.get(path) ?? []));
  for (const text of texts) {
    if (!isKnown(text.text)) report(scope, "high", "opaque_exec", `${name} runs rules that are not known.`);
    for (const [, recipe] of text.text.matchAll(/^(?:\t|[^\n#=]*?:[^\n;]*;)[@+-]*(.+)$/gm))
      runCode({ ...text, text: recipe!.replaceAll("$$", "$") }, [], scope);
  }
  return undefined;
};

/** `bundle exec CMD`, `rbenv exec CMD`, `conda run CMD`, `mise exec -- CMD`, `nix-shell --run CODE`. */
const runInside: Judge = ({ args }, scope) => {
  const options = parseOptions(args, {
    short: "n:p:c:E:I:",
    long: "name= prefix= run= command= cwd= packages= pure impure no-capture-output live-stream",
    stopsAtOperand: true,
  });
  for (const code of options.get("run", "command", "c")) runCode(code, [], scope);
  const [verb, ...rest] = options.operands;
  const inner = parseOptions(rest, {
    short: "n:p:c:",
    long: "name= prefix= command= no-capture-output live-stream cwd=",
    stopsAtOperand: true,
  });
  for (const code of inner.get("c", "command")) runCode(code, [], scope);
  if (!/^(?:exec|run|x|shell|develop|with)$/.test(verb?.text ?? "")) return undefined;
  const words =
    verb!.text === "exec" && /^\.?\.?\//.test(inner.operands[0]?.text ?? "") && inner.operands.length > 1
      ? inner.operands.slice(1)
      : inner.operands;
  const start = words.findIndex(({ text }) => !/^[\w.-]+@[\w.-]+$/.test(text));
  return start >= 0 && words.length > start
    ? scope.interpreter.runCommand(words.slice(start), deepen(scope))
    : undefined;
};

export const packageRules: Judges = {
  ...forNames("npx bunx pnpx", npx),
  ...forNames("npm pnpm yarn bun cnpm", npm),
  ...forNames("pip pip3", pip),
  ...forNames("uv uvx pipx pdm rye hatch", uv),
  ...forNames("make gmake", make),
  ...forNames(
    "bundle rbenv pyenv nodenv conda mamba micromamba mise asdf rtx nix nix-shell direnv devbox lerna rustup",
    runInside,
  ),
  go,
  cargo,
  brew: ({ args }, scope) => {
    if (args.some(({ text }) => /^https?:\/\//.test(text)))
      report(scope, "medium", "pipe_to_shell", "brew installs code from an address.");
    if (args[0]?.text === "services" && /^(?:start|restart|run)$/.test(args[1]?.text ?? ""))
      report(scope, "high", "persistence", "brew makes a service start by itself.");
  },
  poetry: ({ args }, scope) => {
    if (args[0]?.text === "publish" && !args.some(({ text }) => text === "--dry-run"))
      report(scope, "high", "exfiltration", "poetry publish uploads a package.");
    if (args[0]?.text === "config" && args.some(({ text }) => /^(?:pypi-token|http-basic|repositories)/.test(text)))
      report(scope, "high", "credential_change", "poetry stores a login.");
  },
  gem: ({ args }, scope) => {
    if (args[0]?.text === "push") report(scope, "high", "exfiltration", "gem push publishes a package.");
  },
};
