/** awk and sed: small languages that can run programs and write files. */
import { judgeWrite } from "../rules/write.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { isKnown, known, type Text } from "../shell/text.ts";
import { judgeOrigin, runCode } from "./code.ts";
import { isCredentialLiteral } from "./inline-effects.ts";
import { findLiterals, foldLiterals } from "./code-calls.ts";
import { forNames, resolveAll, type Judge, type Judges } from "./invocation.ts";
import { parseOptions } from "./options.ts";

const awk: Judge = ({ args }, scope) => {
  const options = parseOptions(args, {
    short: "F:v:f:e:i:l:E:W:bcCdDgGhIkLMnNoOprsStV",
    long: "field-separator= assign= file= source= include= load= exec= posix traditional re-interval sandbox version help",
    stopsAtOperand: true,
  });
  const files = options.get("f", "file", "E", "exec");
  const sources = [
    ...options.get("e", "source"),
    ...files.flatMap((file) => resolveAll(file, scope).flatMap((path) => scope.state.files.get(path) ?? [])),
  ];
  const programs = files.length > 0 || sources.length > 0 ? sources : options.operands.slice(0, 1);
  for (const program of programs) judgeAwk(program, scope);
};

function judgeAwk(program: Text, scope: Scope): void {
  judgeOrigin({ ...program, text: isKnown(program.text) ? "" : program.text }, scope);
  // `"a" "b"` is one text in awk.
  const source = foldLiterals(
    program.text.slice(0, 10_000).replace(/"((?:\\.|[^"\\])*)"\s+"((?:\\.|[^"\\])*)"/g, '"$1$2"'),
  );
  if (findLiterals(source).some((literal) => isCredentialLiteral(literal, scope)))
    report(scope, "high", "exfiltration", "The code names stored credentials.");
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
  for (const [, path] of source.matchAll(/>>?\s*"((?:\\.|[^"\\])*)"/g))
    for (const full of resolveAll(known(path!), scope)) judgeWrite(full, scope);
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

const sed: Judge = ({ args }, scope) => {
  const options = parseOptions(
    args.map((arg) => (/^-i./.test(arg.text) && !/^-i[nEr]/.test(arg.text) ? { ...arg, text: "-i" } : arg)),
    {
      short: "e:f:l:nrEsuzi",
      long: "expression= file= line-length= in-place=? quiet silent regexp-extended separate unbuffered null-data posix sandbox debug follow-symlinks help version",
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
  for (const file of hasScript ? options.operands : options.operands.slice(1))
    for (const path of resolveAll(file, scope)) judgeWrite(path, scope);
};

function judgeSed(script: Text, scope: Scope): void {
  const source = script.text.slice(0, 10_000);
  // An address, then `e` with a command for the rest of the line.
  for (const [, code] of source.matchAll(/(?:^|[;{}\n]|\d|\$|\/[gI]*|!)\s*e(?:[ \t]+([^\n]*)|(?=\s*(?:$|[;}\n])))/g)) {
    if (code) runCode({ ...script, text: code }, [], scope);
    else report(scope, "high", "opaque_exec", "sed runs its input as commands.");
  }
  for (const [, , replacement, flags] of source.matchAll(
    /s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1((?:\\.|(?!\1)[^\\])*)\1([a-zA-Z\d]*)/gs,
  )) {
    if (!/^[gpiImM\d]*e/.test(flags!)) continue;
    report(scope, "high", "opaque_exec", "sed runs the result of a replacement.");
    runCode({ ...script, text: replacement!.replace(/\\(.)/gs, "$1") }, [], scope);
  }
  for (const [, path] of source.matchAll(/(?:^|[;{}\n]|\d|\$|\/[gpiImM\d]*)\s*[wW][ \t]+([^\n;}]+)/g))
    for (const full of resolveAll(known(path!.trim()), scope)) judgeWrite(full, scope);
}

export const textPrograms: Judges = {
  ...forNames("awk gawk mawk nawk original-awk", awk),
  ...forNames("sed gsed ssed", sed),
};
