/** Shells, and builtins that run code. */
import { getZone } from "../paths.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { judgeRead, readFile } from "../shell/files.ts";
import {
  concat,
  emptyText,
  isKnown,
  known,
  limitOptions,
  origins,
  hasOrigin,
  type Options,
  type Text,
} from "../shell/text.ts";
import { getVariable } from "../shell/variables.ts";
import { runCode, runContents, runFile, runHere, runStream } from "../code/run-code.ts";
import { isInformation, type Judge, resolveAll } from "./invocation.ts";

interface ShellCall {
  code: Text | undefined;
  /** After `-c`: `$0`, `$1` and so on. Otherwise the file to run and its arguments. */
  operands: readonly Text[];
  startFiles: readonly Text[];
  readsInput: boolean;
  isSyntaxCheck: boolean;
}

function parseShellCall(args: readonly Text[]): ShellCall {
  const startFiles: Text[] = [];
  let hasCode = false;
  let readsInput = false;
  let isSyntaxCheck = false;
  let index = 0;
  for (; index < args.length; index++) {
    const { text } = args[index]!;
    if (text === "--" || text === "-") {
      index++;
      break;
    }
    if (/^--(?:rcfile|init-file)$/.test(text)) startFiles.push(args[++index] ?? emptyText);
    else if (text.startsWith("--")) continue;
    else if (/^[-+]/.test(text)) {
      if (text.startsWith("-")) {
        hasCode ||= text.includes("c");
        readsInput ||= text.includes("s");
        isSyntaxCheck ||= text === "-n" || text === "-nv";
      }
      if (/^[-+][a-zA-Z]*[oO]$/.test(text)) index++;
    } else break;
  }
  const operands = args.slice(index);
  return {
    code: hasCode ? (operands[0] ?? emptyText) : undefined,
    operands: hasCode ? operands.slice(1) : operands,
    startFiles,
    readsInput,
    isSyntaxCheck,
  };
}

export const runShell: Judge = ({ args }, scope) => {
  if (isInformation(args)) return undefined;
  const { code, operands, startFiles, readsInput, isSyntaxCheck } = parseShellCall(args);
  if (isSyntaxCheck) return undefined;
  for (const file of startFiles) sourceFile(file, scope);
  if (code) return runCode(code, operands, scope);
  const [file, ...rest] = operands;
  if (!file || readsInput) return runInput([known("bash"), ...operands], scope);
  return runScriptFile(file, rest, scope);
};

/** Runs the input and marks its output: sent to another machine, it is a shell for that machine. */
const runInput = (args: readonly Text[], scope: Scope): Options<Text> =>
  runStream(scope.stdin, args, scope).map((text) => ({ ...text, origin: text.origin | origins.shell }));

/** `bash FILE`: what the script itself wrote is walked; other files are judged by where they are. */
function runScriptFile(file: Text, args: readonly Text[], scope: Scope): Options<Text> | undefined {
  if (/^\/dev\/(?:stdin|fd\/0)$/.test(file.text)) return runInput([file, ...args], scope);
  if (!isKnown(file.text)) report(scope, "medium", "opaque_exec", "The script that it runs is not known before.");
  const output = runFile(file, args, scope);
  if (output) return output;
  for (const path of resolveAll(file, scope)) {
    const content = readFile(path, scope);
    if (content.some((text) => hasOrigin(text, origins.network))) runContents(content, [file], scope);
  }
  return undefined;
}

/** `source FILE` runs in the same shell. */
export function sourceFile(file: Text, scope: Scope): Options<Text> {
  const outputs = resolveAll(file, scope).flatMap((path): Options<Text> => {
    const content = readFile(path, scope);
    const isWritten = scope.state.files.has(path) || path === "/dev/stdin" || path === "/dev/fd/0";
    if (isWritten) return content.flatMap((code) => runHere(code, scope));
    judgeRead(path, scope);
    const zone = getZone(path, scope.analysis.context);
    if (zone === "in-workspace" && path.endsWith("/bin/activate")) activate(path, scope);
    if (zone === "in-temp" || zone === "unknown" || !isKnown(file.text)) {
      report(scope, "medium", "opaque_exec", `It runs ${file.text}, whose content is not known.`);
    }
    return [emptyText];
  });
  return limitOptions(outputs);
}

/** An environment of the project puts its programs first. */
function activate(path: string, { state, analysis }: Scope): void {
  const directory = path.slice(0, path.lastIndexOf("/"));
  const paths = getVariable("PATH", state, analysis.context);
  state.set(
    "PATH",
    paths.map(([value]) => [known(`${directory}:${value?.text ?? ""}`, value?.origin)]),
  );
}

/** Words that become one line of code. */
export const joinWords = (words: readonly Text[]): Text =>
  words.reduce((text, word, index) => concat(index > 0 ? concat(text, known(" ")) : text, word), emptyText);
