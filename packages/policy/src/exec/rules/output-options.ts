/** Options and operands that name a file to write, of programs that are known for nothing else. */
import { getOperands, hasArg, type Invocation, type Judge, resolveAll } from "./invocation.ts";
import { runCode } from "../code/run-code.ts";
import { isProgram } from "../programs/index.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { getReadOrigin, writeFile } from "../shell/files.ts";
import { joinOrigins, origins, type Text, unknown } from "../shell/text.ts";
import { isRawDisk } from "./device-names.ts";
import { judgeWrites } from "./write.ts";

/** `--output`, `--out-dir`, `--outFile`, `--python_out`, `-out`, `--log-file`, `--target-dir`, `-MF` and the like. */
const outputName =
  /^(?:--?(?:[\w-]+[-_])?out(?:put)?(?:[-_]?(?:file|name|dir|directory|path|folder|document|prefix))?|--(?:log|report|result|trace|profile|coverage|dest|destination|target|build|install|save|dump|export|cache|artifacts?)[-_]?(?:file|dir|directory|path|to|location)|--(?:dest|destination|export|save-to|write-to|root-dir)|-sOutputFile|-M[FJ])$/i;

/** They judge these options by the directory that they change to. */
const ownRules = new Set(["git"]);

/** Names of programs instead of files: `|CMD`, `!CMD`, and `%pipe%CMD` of Ghostscript. */
const pipe = /^\s*(?:\||!|%pipe%)\s*(.+)$/s;

/** A file that is written, or a program that is given the output instead. */
export function judgeOutput(file: Text, scope: Scope): void {
  const code = pipe.exec(file.text)?.[1];
  if (code === undefined) {
    judgeWrites([file], scope);
    return;
  }
  report(scope, "high", "opaque_exec", `An option gives the output to ${code.slice(0, 80)}.`);
  runCode({ ...file, text: code }, [], { ...scope, stdin: [unknown(joinOrigins(scope.stdin))] });
}

/** Judges what an option of any program writes, as a redirection to that file is judged. */
export function judgeOutputOptions({ name, args }: Invocation, scope: Scope): void {
  if (ownRules.has(name)) return;
  const files = listOutputs(name, args);
  for (const file of files) judgeOutput(file, scope);
  const origin = files.length === 0 ? 0 : getCarried(args, scope);
  for (const path of files.flatMap((file) => resolveAll(file, scope))) {
    // What is made of a download is a download, such as a program of its source; what is made of a key is a key.
    if (origin !== 0) writeFile(path, [unknown(origin)], scope);
  }
}

/** Where from downloads of the script and secrets come that a program reads: what it writes is the same then. */
function getCarried(args: readonly Text[], scope: Scope): number {
  const paths = getOperands(args).flatMap((arg) => resolveAll(arg, scope));
  const carried = origins.network | origins.credential | origins.secret;
  return (getReadOrigin(paths, scope) | joinOrigins(scope.stdin)) & carried;
}

/** The values of options that write. */
export function listOutputs(name: string, args: readonly Text[]): Text[] {
  const files: Text[] = [];
  for (const [index, arg] of args.entries()) {
    if (arg.text === "--") break;
    if (arg.text[0] !== "-" || arg.text.length < 2) continue;
    const [, option = "", value] = /^([^=]*)(?:=(.*))?$/s.exec(arg.text)!;
    const next = args[index + 1];
    if (outputName.test(option)) {
      if (value !== undefined) files.push({ ...arg, text: value });
      else if (next && !next.text.startsWith("-")) files.push(next);
    } else if (option.startsWith("-o") && !isProgram(name, "otherO")) {
      if (arg.text === "-o") files.push(...(next && !next.text.startsWith("-") ? [next] : []));
      // `-oFILE` only where it is a path: `-open` and `-offline` are names of options.
      else if (/^-o(?:[~/]|\.\.?\/|\.\w)/.test(arg.text)) files.push({ ...arg, text: arg.text.slice(2) });
    }
  }
  return files;
}

/** A program without rules that is given a disk and something else may write one to the other. */
export function judgeDisks({ name, args }: Invocation, scope: Scope): void {
  if (!args.some(({ text }) => text.startsWith("/dev/") && isRawDisk(text))) return;
  if (isProgram(name, "readsDisks") || /^[a-z\d]*sum$/.test(name) || getOperands(args).length < 2) return;
  report(scope, "medium", "device_write", `${name} may write to a disk.`);
}

/** Judges the operand that a program writes. */
export const writeOperand: Judge = ({ name, args, program }, scope) => {
  const { index, min } = program.writesOperand!;
  // Numbers are values of options.
  const words = getOperands(args).filter(({ text }) => !/^\d+$/.test(text));
  // `7z x` and `ar t` read their archive.
  if (/^(?:7z|ar|rar)/.test(name) && !/^-?[aqrud]/.test(words[0]?.text ?? "")) return;
  // With `-c` the output of a compressor goes to standard output.
  if (hasArg(args, /^(?:-\w*[cltk]\w*|--stdout|--list|--test)$/) && /zip|xz/.test(name)) return;
  const word = words.length >= min ? words.at(index) : undefined;
  if (word) judgeOutput(word, scope);
};
