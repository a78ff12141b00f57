/** Disks and other devices. */
import { getOperands, isInformation, type Judge, resolveAll } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { readFile, writeFile } from "../shell/files.ts";
import { limitOptions, type Text } from "../shell/text.ts";
import { isRawDisk } from "./device-names.ts";
import { judgeCopy } from "./copy.ts";
import { addLink, moveLinks } from "./links.ts";
import { judgeWrite, judgeWrites } from "./write.ts";

/** What formats a disk writes to a device; only what erases it wipes it, by the ten names. */
const writesDevice = { dangerousCommandClass: "device_write" } as const;

export const dd: Judge = ({ args }, scope) => {
  const find = (name: string): Text[] =>
    args.flatMap((arg) => (arg.text.startsWith(name) ? [{ ...arg, text: arg.text.slice(name.length) }] : []));
  const sources = find("if=");
  const content = sources.length > 0 ? sources.flatMap((file) => readAll(file, scope)) : scope.stdin;
  const outputs = find("of=");
  for (const path of outputs.flatMap((output) => resolveAll(output, scope))) {
    if (isRawDisk(path)) report(scope, "critical", "disk_wipe", `It overwrites the device ${path}.`, writesDevice);
    else judgeWrite(path, scope);
    writeFile(path, content, scope);
  }
  return outputs.length > 0 ? undefined : limitOptions(content);
};

const readAll = (file: Text, scope: Scope) => resolveAll(file, scope).flatMap((path) => readFile(path, scope));

/** Programs that write a new structure to a disk. On an image in the workspace they are harmless. */
const change =
  (details: Parameters<typeof report>[4]): Judge =>
  ({ name, args }, scope) => {
    if (isInformation(args)) return;
    const named = getOperands(args).filter(({ text }) => text.includes("/"));
    if (named.some((arg) => resolveAll(arg, scope).some((path) => path.startsWith("/dev/"))))
      report(scope, "critical", "disk_wipe", `${name} destroys what is on a disk.`, details);
    else judgeWrites(named, scope);
  };
export const format = change(writesDevice);
export const erase = change({});

export const copy: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  const [directory] = options.get("t", "target-directory");
  const target = directory ?? options.operands.at(-1);
  const sources = directory ? options.operands : options.operands.slice(0, -1);
  if (!target || sources.length === 0) return;
  judgeCopy(sources, target, scope);
  const isSymbolic = options.has("s", "symbolic-link");
  for (const source of sources) {
    if (isSymbolic || options.has("l", "link")) addLink({ source, target, isSymbolic }, scope);
    else if (options.has("P", "d", "a", "archive", "no-dereference")) moveLinks(source, target, scope);
  }
};

/** `tee` writes what it reads, and passes it on. */
export const tee: Judge = (invocation, scope) => {
  writeOperands(invocation, scope);
  for (const operand of getOperands(invocation.args))
    for (const path of resolveAll(operand, scope)) writeFile(path, scope.stdin, scope);
  return scope.stdin;
};

export const writeOperands: Judge = ({ args }, scope) => judgeWrites(getOperands(args), scope);
