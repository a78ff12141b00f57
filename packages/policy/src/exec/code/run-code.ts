/** Code that a command runs as shell code: given as text, read from a stream, or read from a file. */
import { baseName, getZone } from "../paths.ts";
import { deepen, inSubshell, report, type Scope } from "../shell/analysis.ts";
import { detectRecursion } from "../shell/functions.ts";
import {
  emptyText,
  hasOrigin,
  isKnown,
  known,
  limitOptions,
  origins,
  unknownMark,
  type Options,
  type Text,
} from "../shell/text.ts";
import { resolveAll } from "../rules/invocation.ts";

/** Runs code in a shell of its own. `args` are `$0`, `$1` and so on. */
export function runCode(code: Text, args: readonly Text[], scope: Scope): Options<Text> {
  const [name, ...positional] = args;
  return inSubshell(scope, (inner) => {
    if (name) inner.state.set("0", [[name]]);
    inner.state.positional = [positional];
    return runHere(code, inner);
  });
}

/** Runs code in the shell itself, as `eval` does. */
export function runHere(code: Text, scope: Scope): Options<Text> {
  judgeOrigin(code, scope);
  if (code.text.trim() === "" || code.text.replaceAll(unknownMark, "").trim() === "") return [{ ...code }];
  return scope.interpreter.runText(code, deepen(scope, { command: null }));
}

/** Judges code that is not known, or not known completely. */
export function judgeOrigin(code: Text, scope: Scope): void {
  if (hasOrigin(code, origins.network)) {
    const rights = scope.isPrivileged ? " with the rights of another user" : "";
    const tier = scope.isPrivileged ? "critical" : "high";
    report(scope, tier, "pipe_to_shell", `It runs code that it received from another machine${rights}.`);
    return;
  }
  if (isKnown(code.text) || hasOrigin(code, origins.trusted)) return;
  const isWhole = code.text.trim() === unknownMark;
  report(scope, isWhole ? "high" : "medium", "opaque_exec", "It runs code that is not known before.");
}

/** Runs a file of code if the script itself wrote it; undefined otherwise. */
export function runFile(file: Text, args: readonly Text[], scope: Scope): Options<Text> | undefined {
  const paths = resolveAll(file, scope);
  const contents = paths.flatMap((path) => scope.state.files.get(path) ?? []);
  if (contents.length > 0) return runContents(contents, [known(paths[0]!), ...args], scope);
  const zones = paths.map((path) => getZone(path, scope.analysis.context));
  if (scope.state.hasUnpacked && zones.includes("in-workspace"))
    report(scope, "medium", "pipe_to_shell", `It may run what it unpacked from another machine: ${file.text}.`);
  if (zones.includes("in-temp"))
    report(scope, "medium", "opaque_exec", `It runs a program from a temporary directory: ${file.text}.`);
  return undefined;
}

/** Runs what a script or a program wrote as code: by the interpreter that its first line names, otherwise by a shell. */
export function runContents(contents: Options<Text>, args: readonly Text[], scope: Scope): Options<Text> {
  const name = `file ${args[0]?.text ?? ""}`;
  if (detectRecursion(name, scope)) return [emptyText];
  const call = { name, returns: [], recursions: new Map(), pipeline: scope.pipeline, backgrounds: scope.backgrounds };
  const inner = deepen(scope, { calls: [...scope.calls, call] });
  return limitOptions(
    contents.flatMap((content) => {
      const interpreter = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/.exec(content.text)?.[1];
      if (!interpreter || /^(?:ba|da|z|k|a)?sh$/.test(baseName(interpreter))) return runCode(content, args, inner);
      judgeOrigin(content, inner);
      return scope.interpreter.runCommand([known(interpreter), known("-")], { ...inner, stdin: [content] });
    }),
  );
}

/** Runs everything that a stream may contain as code. */
export const runStream = (stream: Options<Text>, args: readonly Text[], scope: Scope): Options<Text> =>
  limitOptions(stream.flatMap((code) => runCode(code, args, { ...scope, stdin: [emptyText] })));
