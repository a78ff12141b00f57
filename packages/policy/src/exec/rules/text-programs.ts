/** awk and sed: small languages that can run programs and write files. */
import { judgeWrites } from "./write.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { isKnown, known, type Text } from "../shell/text.ts";
import { judgeOrigin, runCode } from "../code/run-code.ts";
import { judgeLiterals } from "../code/inline-effects.ts";
import { findLiterals, foldLiterals } from "../code/code-calls.ts";
import { type Judge, resolveAll } from "./invocation.ts";
import { parseOptions } from "./options.ts";

export const awk: Judge = ({ args }, scope) => {
  const options = parseOptions(args, {
    options:
      "F:v:f:e:i:l:E:W:bcCdDgGhIkLMnNoOprsStV field-separator= assign= file= source= include= load= exec= posix traditional re-interval sandbox version help",
    stopsAtOperand: true,
  });
  const files = options.get("f", "file", "E", "exec");
  const sources = [
    ...options.get("e", "source"),
    ...files.flatMap((file) => resolveAll(file, scope).flatMap((path) => scope.state.files.get(path) ?? [])),
  ];
  const programs = files.length > 0 || sources.length > 0 ? sources : options.operands.slice(0, 1);
  const assigned = options.get("v", "assign").map(({ text }) => text.split(/=(.*)/s) as [string, string]);
  for (const program of programs) judgeAwk(program, new Map(assigned), scope);
  const isInPlace = options.get("i", "include").some(({ text }) => text === "inplace");
  const operands = files.length > 0 || sources.length > 0 ? options.operands : options.operands.slice(1);
  judgeWrites([...(isInPlace ? operands : []), ...args.flatMap(toReport)], scope);
};

/** Options of gawk that write what they found out to a file. */
function toReport(arg: Text): Text[] {
  const file = /^(?:-[pdo]|--(?:dump-variables|profile|pretty-print)=)(?=[\w.~/])(.+)$/s.exec(arg.text)?.[1];
  return file === undefined ? [] : [{ ...arg, text: file }];
}

function judgeAwk(program: Text, variables: Map<string, string>, scope: Scope): void {
  judgeOrigin({ ...program, text: isKnown(program.text) ? "" : program.text }, scope);
  // `"a" "b"` is one text in awk.
  const source = foldLiterals(
    program.text.slice(0, 10_000).replace(/"((?:\\.|[^"\\])*)"\s+"((?:\\.|[^"\\])*)"/g, '"$1$2"'),
  );
  judgeLiterals(findLiterals(source), scope);
  if (/\/inet6?\/(?:tcp|udp)\//.test(source))
    report(
      scope,
      /getline|system|\|&/.test(source) ? "critical" : "high",
      "reverse_shell",
      "awk connects to another machine.",
    );
  for (const [, argument] of source.matchAll(/\bsystem\s*\(([^)]*)(?:\)|$)/g)) runLiteral(argument!, scope);
  for (const [, command] of source.matchAll(/\|&?\s*("(?:\\.|[^"\\])*")/g)) runLiteral(command!, scope);
  for (const [, printed, command] of source.matchAll(/\bprintf?\b([^;}\n|]*)\|&?\s*("(?:\\.|[^"\\])*")/g))
    if (/^"(?:\S*\/)?(?:ba|da|z|k|a)?sh\b/.test(command!)) runLiteral(printed!, scope);
  for (const [, command] of source.matchAll(/("(?:\\.|[^"\\])*")\s*\|&?\s*getline/g)) runLiteral(command!, scope);
  for (const [, name, value] of source.matchAll(/\b(\w+)\s*=\s*"((?:\\.|[^"\\])*)"/g)) variables.set(name!, value!);
  for (const [, literal, name] of source.matchAll(/>>?\s*(?:"((?:\\.|[^"\\])*)"|(\w+))/g)) {
    const path = literal ?? variables.get(name!);
    if (path !== undefined) judgeWrites([known(path)], scope);
  }
  if (
    /\|&?\s*(?!getline)[a-zA-Z_$(]|[a-zA-Z_)\]]\s*\|&?\s*getline/.test(
      source.replace(/"(?:\\.|[^"\\])*"|\/(?:\\.|[^/\\\n])+\//g, '""').replaceAll("||", " "),
    )
  )
    report(scope, "high", "opaque_exec", "awk runs a command that is not known before.");
}

function runLiteral(expression: string, scope: Scope): void {
  const [literal] = findLiterals(expression);
  const isWhole = literal !== undefined && expression.trim() === `"${literal}"`;
  if (literal !== undefined) runCode(known(literal), [], scope);
  if (!isWhole && !/^\s*"(?:\\.|[^"\\])*"\s*$/.test(expression))
    report(scope, "high", "opaque_exec", "awk runs a command that is not known before.");
}

export const sed: Judge = ({ args }, scope) => {
  const options = parseOptions(
    args.map((arg) => (/^-i./.test(arg.text) && !/^-i[nEr]/.test(arg.text) ? { ...arg, text: "-i" } : arg)),
    {
      options:
        "e:f:l:nrEsuzi expression= file= line-length= in-place=? quiet silent regexp-extended separate unbuffered null-data posix sandbox debug follow-symlinks help version",
    },
  );
  const files = options.get("f", "file");
  const given = [
    ...options.get("e", "expression"),
    ...files.flatMap((file) => resolveAll(file, scope).flatMap((path) => scope.state.files.get(path) ?? [])),
  ];
  const hasScript = options.has("e", "expression", "f", "file");
  for (const script of hasScript ? given : options.operands.slice(0, 1)) judgeSed(script, scope);
  if (!options.has("i", "in-place")) return;
  judgeWrites(hasScript ? options.operands : options.operands.slice(1), scope);
};

const address = String.raw`(?:\d+|\$|\/(?:\\.|[^/\\\n])*\/[IM]*)`;
/** `w FILE` behind an address; GNU needs no blank. */
const writeCommand = new RegExp(
  String.raw`(?:^|[;{}\n])\s*(?:${address}(?:,${address})?)?\s*!?\s*[wW][ \t]*([^\n;}]+)`,
  "g",
);
interface Substitution {
  replacement: string;
  /** The text after the command: its flags, and everything after them. */
  rest: string;
}

/** `s/a/b/` with any delimiter. */
function listSubstitutions(source: string): Substitution[] {
  const list: Substitution[] = [];
  const start = /s([^\w\s\\])/g;
  for (let match = start.exec(source); match; match = start.exec(source)) {
    const middle = findUnescaped(source, match[1]!, start.lastIndex);
    const end = middle === -1 ? -1 : findUnescaped(source, match[1]!, middle + 1);
    if (end === -1) continue;
    list.push({ replacement: source.slice(middle + 1, end), rest: source.slice(end + 1) });
    start.lastIndex = end + 1;
  }
  return list;
}

function findUnescaped(source: string, delimiter: string, from: number): number {
  let index = source.indexOf(delimiter, from);
  while (index > from && source[index - 1] === "\\" && source[index - 2] !== "\\")
    index = source.indexOf(delimiter, index + 1);
  return index;
}

function judgeSed(script: Text, scope: Scope): void {
  const source = script.text.slice(0, 10_000);
  // An address, then `e` with a command for the rest of the line.
  for (const [, code] of source.matchAll(/(?:^|[;{}\n]|\d|\$|\/[gI]*|!)\s*e(?:[ \t]+([^\n]*)|(?=\s*(?:$|[;}\n])))/g)) {
    if (code) runCode({ ...script, text: code }, [], scope);
    else report(scope, "high", "opaque_exec", "sed runs its input as commands.");
  }
  const substitutions = listSubstitutions(source);
  for (const { replacement, rest } of substitutions) {
    if (!/^[gpiImM\d]*e/.test(rest)) continue;
    report(scope, "high", "opaque_exec", "sed runs the result of a replacement.");
    runCode({ ...script, text: replacement.replace(/\\(.)/gs, "$1") }, [], scope);
  }
  // `s/a/b/w FILE`.
  const flags = substitutions.flatMap(({ rest }) => /^[gpiImMe\d]*w[ \t]*([^\n]+)/.exec(rest)?.[1] ?? []);
  const written = [...flags, ...[...source.matchAll(writeCommand)].map(([, path]) => path!)];
  judgeWrites(
    written.map((path) => known(path.trim())),
    scope,
  );
}
