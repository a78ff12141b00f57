/** Redirections: where a command reads from and writes to. */
import type { Redirect, Redirection } from "unbash";
import { judgeWrite } from "../rules/write.ts";
import { judgeSentOutput, judgeSocket } from "../rules/addresses.ts";
import { report, type Scope } from "./analysis.ts";
import { expandParts, expandToText } from "./expand.ts";
import { judgeRead, readFile, writeFile } from "./files.ts";
import { runSinks } from "./substitute.ts";
import { concatOptions, emptyText, known, type Options, type Text } from "./text.ts";

interface AppliedRedirects {
  /** Undefined where the input is not redirected. */
  stdin: Options<Text> | undefined;
  /** Paths that receive the output. */
  targets: { path: string; isAppended: boolean }[];
  /** Whether anything was opened for reading and writing on a socket, which only shells do that obey others. */
  hasSocket: boolean;
}

export function applyRedirects(redirects: readonly Redirection[], outer: Scope): AppliedRedirects {
  // A pattern that allows the command does not allow what it writes to.
  const scope = { ...outer, command: null };
  const applied: AppliedRedirects = { stdin: undefined, targets: [], hasSocket: false };
  for (const redirect of redirects) {
    if (redirect.type === "Redirect") applyRedirect(redirect, scope, applied);
    else {
      const text = readHere(redirect, scope);
      const descriptor = redirect.descriptor?.type === "FileDescriptor" ? redirect.descriptor.value : 0;
      if (descriptor === 0) applied.stdin = text;
      scope.state.files.set(`/dev/fd/${descriptor}`, text);
    }
  }
  return applied;
}

function readHere(redirect: Exclude<Redirection, Redirect>, scope: Scope): Options<Text> {
  if (redirect.type === "HereString") {
    return redirect.target ? concatOptions(expandToText(redirect.target, scope), [known("\n")]) : [emptyText];
  }
  const { body, delimiter, operator } = redirect;
  const isPlain = delimiter?.quoted || !body.parts;
  const texts = isPlain ? [known(body.text)] : expandParts(body.parts, scope);
  return operator === "<<-" ? texts.map((text) => ({ ...text, text: text.text.replace(/^\t+/gm, "") })) : texts;
}

function applyRedirect(redirect: Redirect, scope: Scope, applied: AppliedRedirects): void {
  const { operator, descriptor, target } = redirect;
  if (!target) return;
  const reads = operator.startsWith("<");
  const number = descriptor?.type === "FileDescriptor" ? String(descriptor.value) : reads ? "0" : "1";
  for (const text of expandToText(target, scope)) {
    const isDuplicate = operator.endsWith("&") && /^(?:\d+-?|-)$/.test(text.text);
    const duplicate = isDuplicate ? scope.state.descriptors.get(text.text.replace("-", "")) : undefined;
    if (isDuplicate && duplicate === undefined) continue;
    for (const path of duplicate === undefined
      ? scope.state.resolve(text.text, scope.analysis.context.home)
      : [duplicate]) {
      if (descriptor !== undefined && !isDuplicate) scope.state.descriptors.set(number, path);
      const socket = judgeSocket(path, operator, scope);
      applied.hasSocket ||= socket === "remote";
      if (reads && duplicate === undefined) judgeRead(path, scope);
      if (reads && number === "0") applied.stdin = readFile(path, scope);
      if (reads && operator !== "<>") continue;
      if (duplicate === undefined && !socket) judgeWrite(path, scope, { isAppended: operator.includes(">>") });
      if (number === "1" || operator.startsWith("&") || operator === ">&") {
        applied.targets.push({ path, isAppended: operator.includes(">>") || isDuplicate });
      }
    }
  }
}

/** Passes the output on to where it goes; returns what is left of it. */
export function finishRedirects(applied: AppliedRedirects, output: Options<Text>, scope: Scope): Options<Text> {
  if (applied.targets.length === 0) return output;
  for (const { path, isAppended } of applied.targets) {
    judgeSentOutput(path, output, { ...scope, command: null });
    writeFile(path, isAppended ? concatOptions(scope.state.files.get(path) ?? [emptyText], output) : output, scope);
  }
  runSinks(
    applied.targets.map(({ path }) => path),
    output,
    scope,
  );
  return applied.targets.some(({ path }) => /^\/dev\/(?:stdout|fd\/1|tty|stderr)$/.test(path)) ? output : [emptyText];
}

/** Reports a shell whose input and output are a socket. */
export function judgeShellSocket(applied: AppliedRedirects, name: string, scope: Scope): void {
  if (!applied.hasSocket || !/^(?:exec|(?:ba|da|z|k|c|tc|fi|a)?sh|python[\d.]*|perl|ruby|nc|script)$/.test(name))
    return;
  report({ ...scope, command: null }, "critical", "reverse_shell", "A shell takes its commands from another machine.");
}
