/** Interpreters of other languages: their code is given inline, by a stream or by a file. */
import type { Language } from "../programs/program.ts";
import { getZone } from "../paths.ts";
import { deepen, report, type Scope } from "../shell/analysis.ts";
import {
  emptyText,
  hasOrigin,
  isKnown,
  known,
  limitOptions,
  origins,
  unknown,
  type Options,
  type Text,
} from "../shell/text.ts";
import { printsKeys } from "../programs/credentials.ts";
import { judgeOrigin, runCode } from "../code/run-code.ts";
import { judgeInlineCode } from "../code/inline-code.ts";
import { judgePublished } from "./network.ts";
import { judgeWrites } from "./write.ts";
import { getOperands, hasArg, isInformation, type Judge, resolveAll } from "./invocation.ts";
import { joinWords } from "./shells.ts";

/** Without options that take a value, an empty argument is one: nothing follows from it. */
const noValues = /^$/;

export const runLanguage: Judge = ({ args, words, program }, scope) => {
  const spec = program.language!;
  const language = spec.name;
  const valued = spec.valued ?? noValues;
  if (isInformation(args) || args.some(({ text }) => text === "--version" || text === "-V")) return undefined;
  let hasCode = false;
  let used = "";
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    const { text } = arg;
    const code = findCode(text, spec, args[index + 1]);
    if (spec.modules && !text.startsWith("--")) {
      judgeModule(arg, spec.modules, language, scope);
      const module = /^[\w:]+/.exec(spec.modules.name.exec(text)?.[1] ?? "")?.[0];
      if (module !== undefined) used += `use ${module}; `;
    }
    if (code) {
      hasCode = true;
      const given = code.attached === undefined ? (args[index + 1] ?? emptyText) : { ...arg, text: code.attached };
      const source = { ...given, text: used + given.text };
      if (code.attached === undefined) index++;
      runInline(source, language, scope);
      runGiven(source, args.slice(index + 1), language, scope);
      if (language === "python") return undefined;
    } else if (text === "-m" && language === "python" && args[index + 1])
      return runModule(words[0]!.text, args.slice(index + 1), scope);
    else if (spec.loads && spec.loads.test(text.split("=")[0]!)) {
      const file = text.includes("=") ? { ...arg, text: text.split("=").slice(1).join("=") } : args[++index];
      if (file) judgeLoaded(file, language, scope);
    } else if (valued.test(text)) {
      index++;
      if (language === "php" && text === "-S" && !/^(?:127\.|localhost|\[::1\])/.test(args[index]?.text ?? ""))
        report(scope, "medium", "exfiltration", "It offers the files of a directory to other machines.");
    } else if (text === "-" || text === "/dev/stdin") break;
    else if (!/^[-+]/.test(text)) {
      if (spec.verb?.test(text)) {
        const code = args.slice(index + 1).find((next) => !next.text.startsWith("-"));
        return code ? runInline(code, language, scope) : undefined;
      }
      if (/^(?:node|bun|deno)$/.test(language) && printsKeys(joinWords(args.slice(index + 1)).text)) {
        report(scope, "critical", "exfiltration", "It prints a key or a token of a provider.");
        return [unknown(origins.credential)];
      }
      if (language === "deno" || language === "bun") return runDeno(args.slice(index), language, scope);
      if (!hasCode) judgeLoaded(arg, language, scope);
      else if (spec.inPlace && args.slice(0, index).some((option) => spec.inPlace!.test(option.text)))
        judgeWrites(getOperands(args.slice(index)), scope);
      return undefined;
    }
  }
  if (hasCode) return [unknown()];
  const outputs = scope.stdin.filter(({ text }) => text !== "").map((code) => runInline(code, language, scope));
  return outputs.length > 0 ? limitOptions(outputs.flat()) : undefined;
};

/** `Module`, `Module=a,b` and `Module qw(a b)`. */
const plainModule = /^[\w:.]+(?:=[\w:$@%&*!.,/ -]*|\s+qw\s*[(/][\w:\s]*[)/]|\s+[\w.]+|\s+'[^']*'|\s+\(\))?$/;

/** Perl pastes the name of a module into `use NAME;`, so that code may follow it. */
function judgeModule(arg: Text, modules: NonNullable<Language["modules"]>, language: string, scope: Scope): void {
  const name = modules.name.exec(arg.text)?.[1];
  if (language === "perl" && name !== undefined && !plainModule.test(name)) {
    report(scope, "high", "opaque_exec", `An option of ${language} has code in the name of a module.`);
    judgeInlineCode({ ...arg, text: `use ${name}` }, language, scope);
  }
  const directory = modules.directory.exec(arg.text)?.[1];
  if (directory === undefined) return;
  for (const path of resolveAll({ ...arg, text: directory }, scope))
    if (/^(?:temp|in-temp|outside)$/.test(getZone(path, scope.analysis.context)))
      report(scope, "high", "opaque_exec", `${language} loads modules from ${directory}.`);
}

/** Code that runs its arguments as programs, or its input as code. */
function runGiven(code: Text, args: readonly Text[], language: string, scope: Scope): void {
  // `perl -MExtUtils::Command -e rm_rf DIR` is `rm -rf DIR` of makefiles.
  const command = /^use ExtUtils::Command;.*?\b(rm_rf|rm_f|mv|cp)\b/s.exec(code.text)?.[1];
  if (language === "perl" && command !== undefined) {
    const [name, ...flags] = { rm_rf: "rm -rf", rm_f: "rm -f" }[command]?.split(" ") ?? [command];
    scope.interpreter.runCommand([known(name!), ...flags.map((flag) => known(flag)), ...args], deepen(scope));
  }
  const runsOutput = /(?:^|[;{]|\s)eval\s*\(?\s*(?:`|qx\b|%x)/.test(code.text);
  if (/^perl|^ruby/.test(language) && runsOutput)
    report(scope, "high", "opaque_exec", `${language} runs the output of a command as code.`);
  if (/^perl|^ruby/.test(language) && /(?:^|;|\{)\s*eval\s*(?:\(?\s*\$_\s*\)?)?\s*(?:;|\}|$)/.test(code.text))
    report(scope, "high", "opaque_exec", `${language} runs its input as code.`);
  if (
    /\b(?:exec|eval|compile|Function|instance_eval)\b/.test(code.text) &&
    /stdin|readFileSync\(\s*0|<>/i.test(code.text)
  )
    for (const input of scope.stdin) if (input.text !== "") runInline(input, language, scope);
  if (!/\bargv\b/i.test(code.text) || !/\b(?:exec\w*|system|spawn\w*|popen|Popen|run|call)\b/.test(code.text)) return;
  const operands = args[0]?.text === "--" ? args.slice(1) : args;
  if (operands.length > 0) scope.interpreter.runCommand(operands, deepen(scope, { stdin: [emptyText] }));
  for (const operand of operands.slice(0, 4)) if (/\s/.test(operand.text)) runCode(operand, [], scope);
}

/** Where the code of an option is: attached to it, or the next argument. */
function findCode(text: string, spec: Language, next: Text | undefined): { attached?: string } | undefined {
  // `node -p -e CODE` prints the result of the code that follows.
  if (/^(?:-p|--print)$/.test(text) && next?.text.startsWith("-")) return undefined;
  if (spec.longCode) {
    const [name, ...rest] = text.split("=");
    if (spec.longCode.test(name!)) return rest.length > 0 ? { attached: rest.join("=") } : {};
  }
  // `node -pe CODE` has two such letters.
  const letters = spec.code === "ep" ? "(?:pe|ep|[ep])" : `[${spec.code}]`;
  const match = spec.code === "" ? null : new RegExp(`^-[a-zA-Z0-9]*?${letters}(.*)$`, "s").exec(text);
  if (!match || text.startsWith("--")) return undefined;
  // `-Mmodule`, `-Idir` and `-iextension` are no combinations of options.
  if (
    (spec.attached ?? /^-[MImlFxrWXdTCE]/).test(text) &&
    !new RegExp(`^-[${spec.code}]`).test(text) &&
    !/^-(?:l\d*[a-z]*e|F.*e)$/.test(text)
  )
    return undefined;
  return match[1] === "" ? (next ? {} : { attached: "" }) : { attached: match[1]! };
}

function runInline(code: Text, language: string, scope: Scope): Options<Text> {
  judgeOrigin(code, scope);
  judgeInlineCode(code, language, scope);
  return [unknown(code.origin)];
}

/** A file of code: what the script itself wrote or received is judged. */
function judgeLoaded(file: Text, language: string, scope: Scope): void {
  if (/^(?:https?:|data:)/.test(file.text)) {
    report(scope, "high", "pipe_to_shell", `It runs code from ${file.text.slice(0, 100)}.`);
    return;
  }
  if (!isKnown(file.text) && !/\.\w+$/.test(file.text))
    report(scope, "medium", "opaque_exec", "The file that it runs is not known before.");
  for (const path of resolveAll(file, scope)) {
    for (const content of scope.state.files.get(path) ?? []) runInline(content, language, scope);
  }
}

/** `deno run URL` fetches and runs code; a package of npm is judged as with npx. */
function runDeno([verb, ...rest]: readonly Text[], language: string, scope: Scope): undefined {
  const file = /^(?:run|x|install|serve|test)$/.test(verb?.text ?? "")
    ? rest.find(({ text }) => !text.startsWith("-"))
    : verb;
  if (verb?.text === "exec" && language === "bun") runCode(joinWords(rest), [], scope);
  else if (verb?.text === "x" && file) scope.interpreter.runCommand([known("npx"), ...rest], deepen(scope));
  else if (verb && /^(?:add|install|create|publish|pm|i|remove|update|init)$/.test(verb.text) && language === "bun")
    scope.interpreter.runCommand([known("npm"), verb, ...rest], deepen(scope));
  else if (file?.text.startsWith("npm:")) {
    const args = rest.slice(rest.indexOf(file) + 1);
    const name = { ...file, text: file.text.replace(/^npm:\/*/, "") };
    scope.interpreter.runCommand([known("npx"), name, ...args], deepen(scope));
  } else if (file && /^(?:https?|jsr):/.test(file.text))
    report(scope, "high", "pipe_to_shell", `It runs code from ${file.text}.`);
  else if (file) judgeLoaded(file, language, scope);
}

function runModule(interpreter: string, [module, ...args]: readonly Text[], scope: Scope): Options<Text> | undefined {
  const name = module!.text;
  if (name === "http.server" || name === "SimpleHTTPServer") {
    const isLocal =
      args.some(
        ({ text }, index) =>
          /^(?:-b|--bind)$/.test(text) && /^(?:127\.|localhost|::1)/.test(args[index + 1]?.text ?? ""),
      ) || hasArg(args, /^--bind=(?:127\.|localhost)/);
    if (!isLocal) {
      report(scope, "medium", "exfiltration", "It offers the files of a directory to other machines.");
      judgePublished(scope, "to other machines");
    }
    return undefined;
  }
  if (/^(?:pip|twine|poetry|uv|pipx)$/.test(name)) {
    // The module belongs to the interpreter: that of an environment installs there.
    const directory = /^.*\//s.exec(interpreter)?.[0] ?? "";
    return scope.interpreter.runCommand([{ ...module!, text: directory + name }, ...args], deepen(scope));
  }
  if (name === "code") for (const code of scope.stdin) if (code.text !== "") runInline(code, "python", scope);
  const commands = name === "pdb" ? args.findIndex(({ text }) => text === "-c" || text === "--command") : -1;
  if (commands >= 0 && args[commands + 1]) judgeInlineCode(args[commands + 1]!, "python", scope);
  if (name === "timeit") for (const arg of args) if (!arg.text.startsWith("-")) judgeInlineCode(arg, "python", scope);
  if (name === "pty") report(scope, "medium", "opaque_exec", "It starts a shell.");
  if (scope.stdin.some((text) => hasOrigin(text, origins.network)) && /^(?:code|pdb|idlelib)$/.test(name))
    report(scope, "high", "pipe_to_shell", "It runs code that it received from another machine.");
  return undefined;
}
