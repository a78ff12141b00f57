/** Package managers and build tools of other languages, and programs that run a command inside of an environment. */
import { getZone } from "../paths.ts";
import { judgeOrigin, runCode } from "../code/run-code.ts";
import { getOperands, hasArg, type Judge, resolveAll } from "./invocation.ts";
import { runOption } from "./option-code.ts";
import { parseOptions } from "./options.ts";
import { deepen, report, type Scope } from "../shell/analysis.ts";
import { concat, hasOrigin, isKnown, known, origins, type Text } from "../shell/text.ts";
import { getVariable } from "../shell/variables.ts";
import { judgeInstall, judgeSource } from "./packages.ts";
import { judgeAssignment } from "./variables.ts";

/** Whether it is the `pip` of an environment of the project, by its path or because that comes first. */
function isOfProject(program: Text, scope: Scope): boolean {
  const { context } = scope.analysis;
  const isInside = (path: string) => /^(?:in-workspace|in-temp)$/.test(getZone(path, context));
  if (program.text.includes("/")) return resolveAll(program, scope).every(isInside);
  return getVariable("PATH", scope.state, context).every(([value]) => {
    const [first = ""] = value?.text.split(":") ?? [];
    return first !== "" && resolveAll(known(first), scope).every(isInside);
  });
}

/** `.`, `./lib`, `dist/x.whl`: the project itself, or what is in it. */
const isLocalSource = (text: string) => /^\.{1,2}(?:$|[/[])|\//.test(text) && !/^[\w+]+:\/\/|^git@/.test(text);

const packagingTools = /^(?:pip|setuptools|wheel|build|virtualenv)(?:[[<>=~!].*)?$/;

export const pip: Judge = ({ name, args, words, program }, scope) => {
  const options = parseOptions(args, program);
  const [verb, second] = options.operands.map(({ text }) => text);
  for (const index of options.get("i", "index-url", "extra-index-url", "f", "find-links"))
    if (!/pypi\.org|download\.pytorch\.org|^\.|pypi\.tuna|^https?:\/\/(?:localhost|127\.)/.test(index.text))
      report(scope, "medium", "pipe_to_shell", `${name} takes packages from ${index.text}.`);
  if (verb === "config" && /^(?:set|unset|edit)$/.test(second ?? ""))
    report(scope, "medium", "persistence", `${name} changes its settings.`);
  const places = options.get("t", "target", "root", "prefix");
  // What a project names in a file is the project's; single packages belong to whatever environment is in use.
  const single = options.operands.slice(1).some(({ text }) => !isLocalSource(text) && !packagingTools.test(text));
  const isShared =
    options.has("user", "break-system-packages") || (single && words[0] !== undefined && !isOfProject(words[0], scope));
  if (verb === "install" && !options.has("dry-run") && (isShared || places.length > 0))
    judgeInstall(name, places, scope);
  if (/^(?:install|download|wheel)$/.test(verb ?? ""))
    for (const source of [...options.operands.slice(1), ...options.get("e", "editable")])
      judgeSource(name, source, scope);
};

/** `uvx X`, `pipx run X`, `uv run X`, `go run X@v`. */
export const uv: Judge = ({ name, args }, scope) => {
  const spec = {
    options:
      "p:m:qvn with= from= python= extra= group= package= directory= project= env-file= module= all-extras no-sync frozen locked isolated dev",
    stopsAtOperand: true,
  };
  const first = parseOptions(args, spec);
  if (name === "uvx") return runPython(first.operands);
  const [verb, ...rest] = first.operands;
  const inner = parseOptions(rest, spec);
  if (verb?.text === "run" && name !== "pipx") {
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

/** `java -jar FILE`, `go run FILE`: a file that came from another machine. */
export const runReceived: Judge = ({ args }, scope) => {
  for (const path of getOperands(args).flatMap((arg) => resolveAll(arg, scope)))
    for (const content of scope.state.files.get(path) ?? [])
      if (hasOrigin(content, origins.network)) judgeOrigin(content, scope);
};

/** `java -XX:OnError=CODE` runs it when the machine of Java ends. */
export const java: Judge = (invocation, scope) => {
  runReceived(invocation, scope);
  for (const arg of invocation.args) {
    const code = /^-XX:On(?:OutOfMemory)?Error=(.+)$/s.exec(arg.text)?.[1];
    if (code !== undefined) runOption({ ...arg, text: code }, scope);
  }
};

/** `mvn exec:exec -Dexec.executable=PROGRAM -Dexec.args=ARGUMENTS`. */
export const maven: Judge = ({ args }, scope) => {
  const getProperty = (name: string) =>
    args.flatMap((arg) => (arg.text.startsWith(`-D${name}=`) ? { ...arg, text: arg.text.slice(name.length + 3) } : []));
  for (const program of getProperty("exec.executable")) {
    const [words = known("")] = getProperty("exec.args");
    runOption(concat(program, concat(known(" "), words)), scope);
  }
};

/** `gcc -wrapper PROGRAM,ARGUMENT` runs each part of the compiler with it. */
export const gcc: Judge = ({ args }, scope) => {
  const program = args[args.findIndex(({ text }) => text === "-wrapper") + 1];
  if (program && program !== args[0]) runOption({ ...program, text: program.text.replaceAll(",", " ") }, scope);
};

export const go: Judge = (invocation, scope) => {
  const { args } = invocation;
  runReceived(invocation, scope);
  const [verb, target] = getOperands(args);
  const isRemote = target !== undefined && /@/.test(target.text) && /\./.test(target.text);
  if (verb?.text === "run" && isRemote) report(scope, "medium", "pipe_to_shell", `go runs code from ${target.text}.`);
  const exec = args.find(({ text }) => /^-(?:exec|toolexec|vettool)(?:=|$)/.test(text));
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

export const cargo: Judge = ({ args }, scope) => {
  const verb = getOperands(args)[0]?.text;
  if (verb === "watch") {
    const options = parseOptions(args, { options: "s:x:w:i:d:cq shell= exec= watch= ignore= delay= why" });
    for (const code of options.get("s", "shell")) runCode(code, [], scope);
    for (const command of options.get("x", "exec")) runCode(concat(known("cargo "), command), [], scope);
  }
  const config = args.find(
    ({ text }, index) =>
      /\.runner|rustc-wrapper|build\.rustc|\.linker/.test(text) &&
      (args[index - 1]?.text === "--config" || text.startsWith("--config")),
  );
  if (config) report(scope, "high", "opaque_exec", "cargo runs another program.");
};

export const make: Judge = ({ name, args, program }, scope) => {
  const options = parseOptions(args, program);
  for (const code of options.get("E", "eval")) {
    for (const [, inner] of code.text.matchAll(/\$\(shell\s+((?:[^()]|\([^()]*\))*)\)/g))
      runCode({ ...code, text: inner! }, [], scope);
    for (const recipe of listRecipes(code.text)) runCode({ ...code, text: recipe }, [], scope);
    if (!/\$\(shell/.test(code.text))
      report(scope, "medium", "opaque_exec", `${name} runs rules from the command line.`);
  }
  for (const operand of options.operands) {
    const [, variable, value] = /^(\w+)[:+?]?=(.*)$/s.exec(operand.text) ?? [];
    if (variable === "SHELL" || variable === ".SHELLFLAGS") runCode({ ...operand, text: value! }, [], scope);
    else if (variable !== undefined) judgeAssignment(variable, { ...operand, text: value! }, scope);
    for (const [, inner] of operand.text.matchAll(/\$\(shell\s+((?:[^()]|\([^()]*\))*)\)/g))
      runCode({ ...operand, text: inner! }, [], scope);
  }
  if (hasArg(options.operands, /^(?:un)?install(?:$|-)/) && !options.has("n", "dry-run")) {
    const assigned = options.operands.flatMap((operand) => {
      const place = /^(?:DESTDIR|PREFIX|prefix|INSTALL_ROOT|CMAKE_INSTALL_PREFIX)=(.+)$/s.exec(operand.text)?.[1];
      return place === undefined ? [] : [{ ...operand, text: place }];
    });
    judgeInstall(name, assigned, scope);
  }
  // Without a name, a makefile is used that came from another machine.
  for (const path of ["GNUmakefile", "makefile", "Makefile"].flatMap((file) => resolveAll(known(file), scope)))
    for (const content of scope.state.files.get(path) ?? [])
      if (hasOrigin(content, origins.network)) judgeOrigin(content, scope);
  const files = options.get("f", "file", "makefile");
  const usesInput = files.some(({ text }) => text === "-" || text === "/dev/stdin");
  const texts = usesInput
    ? scope.stdin
    : files.flatMap((file) => resolveAll(file, scope).flatMap((path) => scope.state.files.get(path) ?? []));
  for (const text of texts) {
    if (!isKnown(text.text)) report(scope, "high", "opaque_exec", `${name} runs rules that are not known.`);
    for (const recipe of listRecipes(text.text)) runCode({ ...text, text: recipe }, [], scope);
  }
  return undefined;
};

/** The commands of a makefile: behind a tab, or behind the `;` of a rule. */
function listRecipes(makefile: string): string[] {
  return makefile.split("\n").flatMap((line) => {
    const colon = line.search(/[:#=]/);
    const start = line.startsWith("\t") ? 0 : line[colon] === ":" ? line.indexOf(";", colon) : -1;
    const recipe = start === -1 ? "" : line.slice(start + 1).replace(/^[@+-]+/, "");
    return recipe === "" ? [] : [recipe.replaceAll("$$", "$")];
  });
}

/** `bundle exec CMD`, `rbenv exec CMD`, `conda run CMD`, `mise exec -- CMD`, `nix-shell --run CODE`. */
export const runInside: Judge = ({ name, args }, scope) => {
  // `nix shell PACKAGE -c CMD` takes all the words that follow.
  const command = name === "nix" ? args.findIndex(({ text }) => /^(?:-c|--command)$/.test(text)) + 1 : 0;
  if (command > 0 && command < args.length) return scope.interpreter.runCommand(args.slice(command), deepen(scope));
  const options = parseOptions(args, {
    options: "n:p:c:E:I: name= prefix= run= command= cwd= packages= pure impure no-capture-output live-stream",
    stopsAtOperand: true,
  });
  for (const code of options.get("run", "command", "c")) runCode(code, [], scope);
  const [verb, ...rest] = options.operands;
  const inner = parseOptions(rest, {
    options: "n:p:c: name= prefix= command= no-capture-output live-stream cwd=",
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
