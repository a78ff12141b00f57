/** Predicts the output of well-known programs, so that code and names that a script puts together are known. */
import { posix } from "node:path";
import type { Printer } from "../programs/program.ts";
import { getReadOrigin, readFile } from "../shell/files.ts";
import type { Scope } from "../shell/analysis.ts";
import { matchesAll } from "./system.ts";
import { hasPattern } from "../shell/pattern.ts";
import { formatEcho } from "../shell/printf.ts";
import {
  concatOptions,
  emptyText,
  isKnown,
  joinOrigins,
  known,
  limitOptions,
  origins,
  unknown,
  type Options,
  type Text,
} from "../shell/text.ts";
import { getOperands, hasArg, type Judge, resolveAll } from "./invocation.ts";
import { parseOptions } from "./options.ts";

const line = (text: string, origin = 0): Options<Text> => [known(`${text}\n`, origin)];
const unknownLine = (origin = 0): Options<Text> => [unknown(origin)];

/** The content of the named files one after the other, or the input. */
function readOperands(operands: readonly Text[], scope: Scope): Options<Text> {
  if (operands.length === 0) return scope.stdin;
  return operands.reduce<Options<Text>>(
    (all, operand) => {
      const content =
        operand.text === "-" ? scope.stdin : resolveAll(operand, scope).flatMap((path) => readFile(path, scope));
      return concatOptions(all, limitOptions(content));
    },
    [emptyText],
  );
}

/** Changes known text, and keeps the origin of text that is not known. */
const transform = (texts: Options<Text>, change: (text: string) => string | undefined, extra = 0): Options<Text> =>
  limitOptions(
    texts.map((text) => {
      const result = isKnown(text.text) ? change(text.text) : undefined;
      return result === undefined ? unknown(text.origin | extra) : known(result, text.origin);
    }),
  );

const decode = (encoding: BufferEncoding) => (text: string) => {
  const bytes = Buffer.from(text.replace(/\s+/g, ""), encoding);
  const decoded = bytes.toString("utf8");
  return decoded.includes("\ufffd") ? bytes.toString("latin1") : decoded;
};

const base64: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  const input = readOperands(options.operands, scope);
  const isDecoding = options.has("d", "D", "decode");
  if (isDecoding) return transform(input, decode("base64"), origins.encoded);
  return transform(input, (text) => `${Buffer.from(text).toString("base64")}\n`, origins.encoded);
};

const openssl: Judge = ({ args }, scope) => {
  const texts = args.map(({ text }) => text);
  const isBase64 =
    texts.some((text) => /^-?-?(?:base64|a|A|enc)$/.test(text)) && texts.some((text) => /base64|^-a$/.test(text));
  if (isBase64 && texts.includes("-d")) return transform(scope.stdin, decode("base64"), origins.encoded);
  return undefined;
};

const hexDump: Judge = ({ args }, scope) => {
  const flags = args.map(({ text }) => text).join(" ");
  const input = readOperands(getOperands(args), scope);
  if (/-\w*r/.test(flags)) return transform(input, decode("hex"), origins.encoded);
  return transform(input, () => undefined, origins.encoded);
};

const reverse = (text: string) =>
  text
    .split("\n")
    .map((part) => [...part].toReversed().join(""))
    .join("\n");

/** `tr a-z b-y`, also with classes and `-d`. */
const translate: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  const [from, to] = options.operands.map(({ text }) => toCharacters(text));
  if (!from || options.has("c", "C", "complement")) return transform(scope.stdin, () => undefined);
  const isDeleting = options.has("d", "delete");
  return transform(scope.stdin, (text) =>
    [...text]
      .map((char) => {
        const index = from.indexOf(char);
        if (index === -1) return char;
        return isDeleting ? "" : (to?.[Math.min(index, to.length - 1)] ?? char);
      })
      .join(""),
  );
};

function toCharacters(set: string): string[] {
  const plain = set
    .replaceAll("[:upper:]", "A-Z")
    .replaceAll("[:lower:]", "a-z")
    .replaceAll("[:digit:]", "0-9")
    .replaceAll("\\n", "\n")
    .replaceAll("\\t", "\t")
    .replace(/\\([0-7]{1,3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  const characters: string[] = [];
  for (const [, first, last] of plain.matchAll(/(.)(?:-(.))?/gs)) {
    const end = (last ?? first!).charCodeAt(0);
    for (let code = first!.charCodeAt(0); code <= end && characters.length < 512; code++)
      characters.push(String.fromCharCode(code));
    if (last && end < first!.charCodeAt(0)) characters.push(first!, "-", last);
  }
  return characters;
}

/** Only plain replacements are computed. */
const edit: Judge = ({ args }, scope) => {
  const script = /^s([/|,#])((?:(?!\1).)*)\1((?:(?!\1).)*)\1(g?)$/.exec(args[0]?.text ?? "");
  if (args.length !== 1 || !script || /[\\.*+?[\](){}^$&]/.test(script[2]! + script[3]!)) return undefined;
  const [, , from = "", to = "", all] = script;
  return transform(scope.stdin, (text) =>
    text
      .split("\n")
      .map((part) => (all ? part.replaceAll(from, () => to) : part.replace(from, () => to)))
      .join("\n"),
  );
};

const cut: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  const range = /^(\d+)(-?)(\d*)$/.exec(options.get("c", "b", "characters", "bytes", "f", "fields")[0]?.text ?? "");
  if (!range || options.operands.length > 0) return undefined;
  const [from, to] = [Number(range[1]) - 1, range[3] ? Number(range[3]) : range[2] ? undefined : Number(range[1])];
  const delimiter = options.get("d", "delimiter")[0]?.text ?? "\t";
  const isField = options.has("f", "fields");
  const change = (part: string) =>
    isField ? part.split(delimiter).slice(from, to).join(delimiter) : part.slice(from, to);
  return transform(scope.stdin, (text) => text.split("\n").map(change).join("\n"));
};

const pass: Judge = ({ args }, scope) =>
  readOperands(
    getOperands(args).filter(({ text }) => !/^\d+$/.test(text)),
    scope,
  );

const pack: Judge = ({ args }, scope) => {
  const paths = getOperands(args).flatMap((arg) => resolveAll(arg, scope));
  return unknownLine(joinOrigins(scope.stdin) | getReadOrigin(paths, scope) | origins.encoded);
};

const pathPart =
  (change: (path: string) => string): Judge =>
  ({ args }) => {
    const [path] = getOperands(args);
    return path && isKnown(path.text) ? line(change(path.text), path.origin) : undefined;
  };

const realPath: Judge = ({ args }, scope) => {
  const [path] = getOperands(args);
  return path ? resolveAll(path, scope).map((result) => known(`${result}\n`)) : undefined;
};

/** Names of files in directories: with the directory, so that a later command is judged by it. */
const list: Judge = ({ args }) => {
  const operands = getOperands(args);
  if (operands.length === 0) return [known(`./${unknown().text}\n`)];
  const isNamed = operands.every(({ text }) => hasPattern(text));
  return isNamed ? line(operands.map(({ text }) => text).join("\n"), joinOrigins(operands)) : unknownLine();
};

const environment: Judge = ({ args }, scope) => {
  const [name] = getOperands(args);
  if (!name) return unknownLine(origins.secret);
  return scope.state.variables.has(name.text)
    ? undefined
    : unknownLine(/TOKEN|KEY|SECRET|PASS/i.test(name.text) ? origins.token : 0);
};

/** Programs that print code for a shell to evaluate, as their documentation asks for. */
export const printCode: Judge = ({ args, program }, scope) => {
  const isAsked = args.length === 0 || args.some(({ text }) => program.printsCode!.test(text));
  const origin = (joinOrigins(args) | joinOrigins(scope.stdin)) & ~origins.trusted;
  return [unknown(isAsked ? origins.trusted : origin)];
};

/** Clients of services print what others wrote, but also completions of their own. */
const client: Judge = ({ name, args }) => {
  const words = args.map(({ text }) => text).join(" ");
  if (/^(?:completions?\b|env activate$)/.test(words)) return [unknown(origins.trusted)];
  const isRemote = /^(?:npm|pnpm|yarn|pip3?|poetry)$/.test(name)
    ? /^(?:view|info|show|v|search|download)\b/.test(words)
    : true;
  return isRemote ? [unknown(origins.network)] : undefined;
};

const printers: Record<Printer, Judge> = {
  nothing: () => [known("")],
  // Numbers, dates and versions: not known, but of no danger.
  value: () => unknownLine(),
  identity: () => unknownLine(origins.identity),
  counter: () => unknownLine(origins.counter),
  processes: () => unknownLine(origins.processes),
  pgrep: ({ args }) => unknownLine(getOperands(args).some(({ text }) => matchesAll.test(text)) ? origins.processes : 0),
  pidof: ({ args }) => (hasArg(args, /^(?:init|systemd|launchd)$/) ? line("1") : unknownLine()),
  which: ({ args }) => (args[0] ? line(args.at(-1)!.text) : undefined),
  echo: ({ args }) => formatEcho(args),
  rev: ({ args }, scope) => transform(readOperands(getOperands(args), scope), reverse),
  pwd: (_, scope) => scope.state.allDirectories.map((directory) => known(`${directory}\n`)),
  basename: pathPart((path) => posix.basename(path)),
  dirname: pathPart((path) => posix.dirname(path)),
  mktemp: () => [known(`/tmp/tmp.${unknown().text}\n`)],
  yes: ({ args }) => [known(`${args.map(({ text }) => text).join(" ") || "y"}\n`, origins.endless)],
  base64,
  client,
  cut,
  edit,
  environment,
  hexDump,
  list,
  openssl,
  pack,
  pass,
  realPath,
  translate,
};

export const printOutput: Judge = (call, scope) => printers[call.program.prints!](call, scope);
