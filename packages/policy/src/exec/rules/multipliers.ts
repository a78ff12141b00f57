/** Programs that run another one for each of many inputs: xargs, parallel, find. */
import { baseName, getZone, isBelow } from "../paths.ts";
import { judgeDelete } from "./files.ts";
import { judgeWrites } from "./write.ts";
import { deepen, report, type Scope } from "../shell/analysis.ts";
import { readFile } from "../shell/files.ts";
import { isCheapPattern, toRegExp } from "../shell/pattern.ts";
import {
  concat,
  emptyText,
  hasOrigin,
  isKnown,
  joinOrigins,
  known,
  limitOptions,
  origins,
  unknown,
  unknownMark,
  type Options,
  type Text,
} from "../shell/text.ts";
import { runCode } from "../code/run-code.ts";
import { getOperands, hasArg, isInformation, type Judge, resolveAll } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { joinWords } from "./shells.ts";

const maxInputs = 12;

export const xargs: Judge = ({ args, program }, scope) => {
  if (isInformation(args)) return undefined;
  const options = parseOptions(args, { ...program, stopsAtOperand: true });
  if (options.unknown.length > 0)
    report(scope, "high", "opaque_exec", `xargs has an unknown option ${options.unknown[0]}.`);
  if (scope.stdin.some((text) => hasOrigin(text, origins.endless)) && options.has("P", "max-procs")) {
    report(scope, "high", "fork_bomb", "It starts processes for an input that never ends.");
  }
  const command = options.operands.length > 0 ? options.operands : [known("echo")];
  const placeholder = options.get("I", "replace")[0]?.text ?? (options.has("I", "i", "replace") ? "{}" : undefined);
  const isSplitByLine = placeholder !== undefined || options.has("0", "null", "d", "delimiter", "L");
  const delimiter = options.get("d", "delimiter")[0]?.text;
  const isEach = placeholder !== undefined || options.has("n", "L", "max-args", "max-lines");
  const files = options.get("a", "arg-file");
  const inputs = files.length === 0 ? scope.stdin : readAll(files, scope);
  const outputs = inputs.flatMap((stdin) => {
    const items = splitInput(stdin, isSplitByLine, delimiter);
    const groups = isEach && items.length <= maxInputs ? items.map((item) => [item]) : [items];
    return groups.flatMap((group) => {
      const words =
        placeholder === undefined
          ? [...command, ...group]
          : command.map((word) => replace(word, placeholder, group[0] ?? emptyText));
      return scope.interpreter.runCommand(words, deepen(scope, { stdin: [emptyText] }));
    });
  });
  return limitOptions(outputs);
};

const readAll = (files: readonly Text[], scope: Scope): Options<Text> =>
  limitOptions(files.flatMap((file) => resolveAll(file, scope).flatMap((path) => readFile(path, scope))));

/** The arguments that an input becomes. Parts that are not known stay in place. */
function splitInput(stdin: Text, isByLine: boolean, delimiter?: string): Text[] {
  const separator =
    delimiter === undefined ? (isByLine ? /[\n\0]+/ : /[\s\0]+/) : delimiter.replace("\\n", "\n").replace("\\0", "\0");
  const parts = stdin.text.split(separator).filter((part) => part !== "");
  const items = parts.map((part) => ({
    text: isByLine ? part.trim() : part.replace(/['"\\]/g, ""),
    origin: stdin.origin,
  }));
  return items.length > 64 ? [unknown(stdin.origin)] : items;
}

const replace = (word: Text, placeholder: string, value: Text): Text =>
  word.text.includes(placeholder)
    ? { text: word.text.replaceAll(placeholder, () => value.text), origin: word.origin | value.origin }
    : word;

export const parallel: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, { ...program, stopsAtOperand: true });
  const end = options.operands.findIndex(({ text }) => /^:::[:+]?$/.test(text));
  const template = joinWords(end === -1 ? options.operands : options.operands.slice(0, end));
  const files = options.get("a", "arg-file");
  const streams = files.length === 0 ? scope.stdin : readAll(files, scope);
  const inputs = end === -1 ? streams.flatMap((stdin) => splitInput(stdin, true)) : options.operands.slice(end + 1);
  const list = inputs.length === 0 ? [unknown()] : inputs.slice(0, maxInputs);
  const outputs = list.flatMap((input) => {
    const hasPlace = /\{[./#%]*\}|\{\d\}/.test(template.text);
    const code = hasPlace
      ? { text: template.text.replace(/\{[./#%]*\}|\{\d\}/g, () => input.text), origin: template.origin | input.origin }
      : template.text === ""
        ? input
        : concat(concat(template, known(" ")), input);
    return runCode(code, [], { ...scope, stdin: [emptyText] });
  });
  return limitOptions(outputs);
};

export const find: Judge = ({ args }, scope) => {
  const start = args.findIndex(({ text }) => !/^-(?:[HLP]|O\d|D)$/.test(text));
  const end = args.findIndex(({ text }, index) => index >= start && /^(?:-.|[(!,)]$)/.test(text));
  const roots = args.slice(Math.max(start, 0), end === -1 ? undefined : end);
  const expression = end === -1 ? [] : args.slice(end);
  const names = expression.flatMap(({ text }, index) =>
    /^-i?(?:name|path|wholename|regex)$/.test(text) &&
    expression[index - 1]?.text !== "!" &&
    expression[index - 1]?.text !== "-not"
      ? (expression[index + 1] ?? [])
      : [],
  );
  const isFiltered = hasArg(expression, /^-(?:empty|size|[acm]time|[acm]min|newer\w*|perm|links)$/);
  const named = roots.filter(({ text }) => text !== "");
  if (roots.length > 0 && named.length === 0) return [emptyText];
  const places = named.length > 0 ? named : [known(".")];
  const matches = places.map((root) => toMatch(root, names[0], isFiltered, scope));
  const credentials = isFiltered ? [] : places.flatMap((root) => findCredentials(root, names, scope));
  const outputs: Text[] = [];
  for (let index = 0; index < expression.length; index++) {
    const { text } = expression[index]!;
    if (text === "-delete") for (const match of matches) judgeDelete(match, scope, { isRecursive: true });
    else if (/^-f(?:print0?|ls|printf)$/.test(text)) {
      judgeWrites(expression.slice(index + 1, index + 2), scope);
    } else if (/^-(?:exec|ok)(?:dir)?$/.test(text)) {
      const stop = expression.findIndex(
        (word, at) => at > index && (word.text === ";" || (word.text === "+" && expression[at - 1]?.text === "{}")),
      );
      const command = expression.slice(index + 1, stop === -1 ? undefined : stop);
      if (command.length > 0)
        for (const match of [...matches, ...credentials]) outputs.push(...runFor(command, match, scope));
      index = stop === -1 ? expression.length : stop;
    }
  }
  const listed = [...matches, ...credentials].reduce(
    (all, match) => concat(all, concat(match, known("\n"))),
    emptyText,
  );
  return limitOptions([listed, ...outputs]);
};

/** Matches what a search below a directory finds: everything, or only some names. */
function toMatch(root: Text, name: Text | undefined, isFiltered: boolean, scope: Scope): Text {
  const isPrecious = resolveAll(root, scope).some((path) =>
    /^(?:root|home|unknown)$/.test(getZone(path, scope.analysis.context)),
  );
  const text = name?.text ?? "";
  const isNarrow = isPrecious
    ? text !== "" && !/[*?[\]]/.test(text) && isKnown(text)
    : isFiltered || (isKnown(text) && !/^[*./?]*$/.test(text));
  const last = text.replace(/^.*\//, "") || "x";
  const found = isNarrow ? `/${unknownMark}/${last}` : `/${unknownMark}`;
  return concat({ ...root, text: root.text.replace(/(?<=.)\/+$/, "").replace(/^\/$/, "") }, known(found));
}

/** Where people keep credentials, by names that say so. */
const credentialSamples = [
  ".ssh/id_rsa",
  ".ssh/id_ed25519",
  ".ssh/host.pem",
  ".ssh/host.key",
  ".aws/credentials",
  ".config/gcloud/credentials.db",
  ".gnupg/secring.gpg",
  ".netrc",
  ".pgpass",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
];

/** A credential file that a search below a directory finds: one is enough to say what the search is about. */
function findCredentials(root: Text, names: readonly Text[], scope: Scope): Text[] {
  const { home, workspace } = scope.analysis.context;
  const patterns = names.map(({ text }) => text).filter((text) => isCheapPattern(text) && isKnown(text));
  const sample = resolveAll(root, scope).flatMap((directory) => {
    // If the home directory is the workspace, searching all of it is ordinary work.
    const isAnyName = names.length === 0 && directory !== workspace && !isBelow(directory, workspace);
    const isMatch = (path: string) =>
      isAnyName || patterns.some((text) => toRegExp(text).test(text.includes("/") ? path : baseName(path)));
    return credentialSamples
      .map((name) => `${home}/${name}`)
      .filter((path) => isBelow(path, directory) && isMatch(path));
  })[0];
  return sample === undefined ? [] : [known(sample, root.origin)];
}

const runFor = (command: readonly Text[], match: Text, scope: Scope): Options<Text> =>
  scope.interpreter.runCommand(
    command.map((word) => replace(word, "{}", match)),
    deepen(scope),
  );

/** `fd PATTERN -x CMD`. */
export const fd: Judge = ({ args }, scope) => {
  const index = args.findIndex(({ text }) => /^(?:-x|-X|--exec|--exec-batch)$/.test(text));
  if (index === -1 || index === args.length - 1) return undefined;
  const command = args.slice(index + 1);
  const hasPlace = command.some(({ text }) => text.includes("{"));
  const match = known(`./${unknownMark}/${args[0]?.text ?? ""}x`, joinOrigins(args));
  const [pattern, root = known(".")] = getOperands(args.slice(0, index));
  const credentials = pattern ? findCredentials(root, [known(`*${pattern.text}*`)], scope) : [];
  const whole = hasPlace ? command : [...command, known("{}")];
  return limitOptions([match, ...credentials].flatMap((path) => runFor(whole, path, scope)));
};
