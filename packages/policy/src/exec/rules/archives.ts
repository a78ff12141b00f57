/** Programs that pack and unpack files. */
import { getZone } from "../paths.ts";
import { addForeign, judgeDelete } from "./files.ts";
import { judgeWrite, judgeWrites } from "./write.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { getReadOrigin, judgeRead } from "../shell/files.ts";
import { joinOrigins, known, origins, unknown, type Text } from "../shell/text.ts";
import { getOperands, isInformation, type Judge, resolveAll } from "./invocation.ts";
import { isCompressor, runOption } from "./option-code.ts";
import { parseOptions } from "./options.ts";

export const tar: Judge = ({ args, program }, scope) => {
  if (isInformation(args)) return undefined;
  const [first, ...rest] = args;
  // `tar czf` has no dash; the values of its letters follow in order.
  const isOldStyle = first !== undefined && /^[A-Za-z]+$/.test(first.text);
  const words = isOldStyle ? fromOldStyle(first.text, rest) : args;
  const options = parseOptions(words, program);
  for (const action of options.get("checkpoint-action"))
    if (action.text.startsWith("exec=")) runOption({ ...action, text: action.text.slice(5) }, scope);
  for (const code of options.get("to-command", "rsh-command", "rmt-command", "info-script", "new-volume-script", "F"))
    runOption(code, scope);
  for (const code of options.get("I", "use-compress-program")) if (!isCompressor(code)) runOption(code, scope);
  const isExtracting = options.has("x", "extract", "get");
  const isCreating = options.has("c", "create", "r", "append", "u", "update");
  const [file] = options.get("f", "file");
  if (isExtracting)
    for (const directory of options.get("C", "directory"))
      for (const path of resolveAll(directory, scope)) judgeUnpacked(path, file, scope);
  if (isExtracting) addForeign(options.get("C", "directory")[0], scope);
  if (isExtracting && options.has("P", "absolute-names"))
    report(scope, "medium", "persistence", "tar writes to absolute paths.");
  if (isCreating && file && file.text !== "-" && !file.text.includes(":")) judgeWrites([file], scope);
  if (isCreating && file && /^[\w.@-]+:/.test(file.text))
    report(scope, "high", "exfiltration", `tar writes to ${file.text}.`);
  if (options.has("remove-files"))
    for (const operand of options.operands) judgeDelete(operand, scope, { isRecursive: true });
  const directories = [known("."), ...options.get("C", "directory")];
  const paths = options.operands.flatMap((operand) =>
    directories.flatMap((directory) => resolveAll(inDirectory(operand, directory), scope)),
  );
  if (isCreating) for (const path of paths) judgeRead(path, scope);
  const origin = getReadOrigin(paths, scope) | (isCreating ? origins.encoded : 0) | joinOrigins(scope.stdin);
  if (isExtracting) unpack(file === undefined || file.text === "-" ? [] : [file], scope);
  if (isCreating && file && file.text !== "-")
    for (const path of resolveAll(file, scope)) scope.state.files.set(path, [unknown(origin)]);
  return [unknown(origin)];
};

/** An archive replaces any file below the directory, and one of another machine whichever it likes. */
function judgeUnpacked(path: string, file: Text | undefined, scope: Scope): void {
  judgeWrite(path, scope);
  const isWhole =
    /^(?:root|home)$/.test(getZone(path, scope.analysis.context)) && path !== scope.analysis.context.workspace;
  if (!isWhole) return;
  const isInput = file === undefined || file.text === "-";
  const origin = isInput ? joinOrigins(scope.stdin) : getReadOrigin(resolveAll(file, scope), scope);
  const isReceived = (origin & origins.network) !== 0;
  report(scope, isReceived ? "critical" : "high", "persistence", `An archive replaces files below ${path}.`);
}

/** Remembers that an archive came from another machine. Without a file it is the input. */
function unpack(files: readonly Text[], scope: Scope): void {
  const paths = files.flatMap((file) => resolveAll(file, scope));
  const origin = files.length === 0 ? joinOrigins(scope.stdin) : getReadOrigin(paths, scope);
  if ((origin & origins.network) !== 0) scope.state.hasUnpacked = true;
}

const inDirectory = (operand: Text, directory: Text): Text =>
  /^[/~]/.test(operand.text) ? operand : { ...operand, text: `${directory.text}/${operand.text}` };

function fromOldStyle(letters: string, rest: readonly Text[]): Text[] {
  const values = [...rest];
  const words: Text[] = [];
  for (const letter of letters) {
    words.push(known(`-${letter}`));
    if (/[bCfFgHIKLNTVX]/.test(letter) && values.length > 0) words.push(values.shift()!);
  }
  return [...words, ...values];
}

export const extract: Judge = ({ name, args }, scope) => {
  args.forEach((arg, index) => {
    const isAttached = (name === "unzip" ? /^-d./ : /^-o./).test(arg.text);
    const directory = isAttached
      ? { ...arg, text: arg.text.slice(2) }
      : arg.text === "-d"
        ? args[index + 1]
        : undefined;
    if (directory) {
      judgeWrites([directory], scope);
      addForeign(directory, scope);
    }
  });
  unpack(getOperands(args), scope);
  // `7z a -sdel` deletes what it packed.
  if (name !== "unzip" && args.some(({ text }) => text === "-sdel")) deletePacked(getOperands(args).slice(2), scope);
};

function deletePacked(files: readonly Text[], scope: Scope): void {
  for (const file of files) judgeDelete(file, scope, { isRecursive: true });
}

/** `zip -T -TT CODE` tests the archive with another program. */
export const zip: Judge = ({ args }, scope) => {
  args.forEach((arg, index) => {
    const [, attached] = /^(?:-TT|--unzip-command=)(.+)$/s.exec(arg.text) ?? [];
    const isOption = arg.text === "-TT" || arg.text === "--unzip-command";
    const code = attached === undefined ? (isOption ? args[index + 1] : undefined) : { ...arg, text: attached };
    if (code) runOption(code, scope);
  });
  const [archive, ...files] = getOperands(args);
  const origin = getReadOrigin(
    files.flatMap((file) => resolveAll(file, scope)),
    scope,
  );
  if (archive && (origin & (origins.credential | origins.secret)) !== 0)
    for (const path of resolveAll(archive, scope)) scope.state.files.set(path, [unknown(origin)]);
  const isMoving = args.some(({ text }) => /^-(?!-|TT)\w*m/.test(text) || text === "--move");
  if (isMoving) deletePacked(getOperands(args).slice(1), scope);
};

export const patch: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  if (options.has("dry-run")) return;
  judgeWrites([...options.get("d", "directory", "o", "output"), ...options.operands.slice(0, 1)], scope);
};

/** `cpio -i` unpacks here or with `-D` elsewhere, `cpio -p DIR` copies to a directory. */
export const cpio: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  const copied = options.has("p", "pass-through") ? options.operands : [];
  judgeWrites([...options.get("D", "directory", "O"), ...copied], scope);
};
