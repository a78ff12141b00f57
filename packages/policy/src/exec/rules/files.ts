/** Files, directories and disks: what is deleted, copied, linked or overwritten. */
import { isUnresolved, unresolvedTarget } from "../links.ts";
import { type Zone, baseName, getZone, toCoveredPath } from "../paths.ts";
import { type Scope, report } from "../shell/analysis.ts";
import { getFileOrigin, isCredentialPath, judgeRead, readFile, writeFile } from "../shell/files.ts";
import { type Text, isKnown, known, limitOptions, origins, toShown, unknown, unknownMark } from "../shell/text.ts";
import { isRawDisk } from "./device-names.ts";
import { type Judge, getOperands, isInformation, resolveAll, resolveEntries } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { findProtected, judgeWrite, judgeWrites, reportUnresolved } from "./write.ts";

type Tier = "critical" | "high" | "medium" | undefined;

const whole: Record<Zone, Tier> = {
  root: "critical",
  home: "critical",
  system: "high",
  "in-home": "high",
  workspace: "high",
  repository: "high",
  outside: "high",
  temp: "medium",
  unknown: "medium",
  "in-workspace": undefined,
  "in-temp": undefined,
};

const single: Record<Zone, Tier> = {
  root: "high",
  home: "high",
  system: "high",
  "in-home": "medium",
  workspace: undefined,
  repository: "high",
  outside: "medium",
  temp: "medium",
  unknown: undefined,
  "in-workspace": undefined,
  "in-temp": undefined,
};

/** Caches of package managers and builds, which people empty to save space. */
const caches =
  /\/(?:\.cache|\.npm|\.yarn|\.pnpm-store|\.cargo\/(?:registry|git)|\.gradle\/caches|\.m2\/repository|\.nuget\/packages|Library\/Caches|go\/pkg)(?:\/|$)/;

/** How `path` is deleted. `isRecursive`: with everything below it. */
export function judgeDelete(target: Text, scope: Scope, { isRecursive }: { isRecursive: boolean }): void {
  for (const path of resolveEntries(target, scope)) judgeDeletedPath(path, scope, isRecursive);
}

function judgeDeletedPath(path: string, scope: Scope, isRecursive: boolean): void {
  const { context } = scope.analysis;
  if (isUnresolved(path)) reportUnresolved(path, scope, "deletes");
  const covered = toCoveredPath(path);
  const zone = getZone(covered, context);
  const isCache = zone === "in-home" && caches.test(covered);
  // A pattern for all names deletes everything, whatever the options are.
  const isWhole = isRecursive || (covered !== path && (zone === "root" || zone === "home"));
  const tier = isCache ? "medium" : (isWhole ? whole : single)[zone];
  const shown = toShown(path);
  if (tier) {
    const extent = isRecursive ? " with everything below it" : "";
    report(scope, tier, "recursive_delete", `It deletes ${shown}${extent}.`, { path: covered });
  }
  const protectedPath = zone === "in-workspace" ? undefined : findProtected(covered, context);
  if (protectedPath && protectedPath.tier !== "medium")
    report(scope, protectedPath.emptyTier ?? protectedPath.tier, protectedPath.class, `It deletes ${shown}.`);
  else if (isCredentialPath(covered, context)) report(scope, "high", "credential_change", `It deletes ${shown}.`);
}

export const remove: Judge = ({ args, program }, scope) => {
  if (isInformation(args)) return;
  const options = parseOptions(args, program);
  const mayBeRecursive = args.some(({ text }) => text.startsWith(unknownMark));
  const isRecursive = options.has("r", "R", "recursive");
  for (const operand of options.operands) {
    const isWhole =
      isRecursive ||
      (mayBeRecursive &&
        resolveAll(operand, scope).some((path) => getZone(toCoveredPath(path), scope.analysis.context) === "root"));
    judgeDelete(operand, scope, { isRecursive: isWhole });
  }
};

/** Programs that always delete with everything below. */
export const removeAll: Judge = ({ args }, scope) => {
  if (isInformation(args)) return;
  for (const operand of getOperands(args)) judgeDelete(operand, scope, { isRecursive: true });
};

/** A moved directory is gone from where it was. */
export const move: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  const [directory] = options.get("t", "target-directory");
  const sources = directory ? options.operands : options.operands.slice(0, -1);
  const target = directory ?? options.operands.at(-1);
  for (const source of sources) {
    moveLinks(source, target, scope);
    for (const path of resolveEntries(source, scope)) {
      const zone = getZone(toCoveredPath(path), scope.analysis.context);
      if (zone === "root" || zone === "home")
        report(scope, "critical", "recursive_delete", `It moves ${toShown(path)} away.`);
      else if (zone === "system" || zone === "repository")
        report(scope, "high", "recursive_delete", `It moves ${toShown(path)} away.`);
      else if (zone === "workspace" || zone === "in-home")
        report(scope, "medium", "recursive_delete", `It moves ${toShown(path)} away.`, { path });
    }
  }
  if (target) judgeCopy(sources, target, scope);
};

export const rsync: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  const target = options.operands.at(-1);
  if (!target || options.operands.length < 2 || options.has("n", "dry-run")) return;
  const sources = options.operands.slice(0, -1).filter(({ text }) => !isRemote(text));
  if (options.has("remove-source-files"))
    for (const source of sources) judgeDelete(source, scope, { isRecursive: true });
  if (isRemote(target.text)) return;
  const deletes = [...options.names].some((name) => name.startsWith("del"));
  if (deletes) judgeDelete({ ...target, text: `${target.text.replace(/\/+$/, "")}/*` }, scope, { isRecursive: true });
  else judgeCopy(sources, target, scope);
};

/** `host:path` and `rsync://host/path`. */
export const isRemote = (text: string): boolean =>
  /^(?:[\w.@-]+|\[[\da-fA-F:]+\]|\uFFFF):(?!\/\/)|^\w+:\/\//.test(text) && !/^[a-zA-Z]:\\/.test(text);

export const shred: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  for (const operand of options.operands) {
    for (const path of resolveAll(operand, scope)) {
      if (/^\/dev\/(?!null|zero|shm\/)/.test(path))
        report(scope, "critical", "disk_wipe", `It overwrites the device ${path}.`);
      else judgeDeletedPath(path, scope, false);
    }
  }
};

export function judgeCopy(sources: readonly Text[], target: Text, scope: Scope): void {
  judgeTarget(target, sources, scope);
  for (const source of sources) copyContent(source, target, scope);
}

/** Where files are put: into a directory they keep their names. */
function judgeTarget(target: Text, sources: readonly Text[], scope: Scope): void {
  for (const path of resolveAll(target, scope)) {
    judgeWrite(path, scope);
    for (const source of sources.slice(0, 8)) {
      const name = source.text.replace(/\/+$/, "").split("/").at(-1)!;
      if (name !== "" && !path.endsWith(`/${name}`))
        for (const inside of scope.state.follow(`${path}/${name}`)) judgeWrite(inside, scope, { isGuess: true });
    }
  }
}

/** Remembers what a copy contains. A program of the system stays that program under its new name. */
function copyContent(source: Text, target: Text, scope: Scope): void {
  for (const path of resolveAll(source, scope)) {
    const isProgram = /\/s?bin\/[^/]+$/.test(path) && isKnown(path);
    const origin = getFileOrigin(path, scope.analysis.context);
    judgeRead(path, scope);
    const isSecret = (origin & (origins.credential | origins.secret)) !== 0;
    const plain = isProgram ? [known(`exec ${path} "$@"`)] : isSecret ? [unknown(origin)] : undefined;
    const content = scope.state.files.get(path) ?? plain;
    if (!content) continue;
    for (const to of resolveAll(target, scope)) {
      scope.state.files.set(to, content);
      scope.state.files.set(`${to}/${baseName(path)}`, content);
    }
  }
}

interface NewLink {
  source: Text;
  /** The name of the link, or a directory in which it gets the name of the source. */
  target: Text;
  /** Symbolic links keep the text of their target; of hard links it is a path like any other. */
  isSymbolic: boolean;
}

/** Remembers a link. The target may be a directory, where only the script's surroundings would tell. */
export function addLink({ source, target, isSymbolic }: NewLink, scope: Scope): void {
  const { state } = scope;
  for (const path of resolveEntries({ ...target, text: target.text.replace(/(?<=[^/])\/+$/, "") }, scope)) {
    const inside = `${path}/${baseName(source.text.replace(/\/+$/, ""))}`;
    const isDirectory = /(?:^|\/)\.{0,2}$/.test(target.text) || state.directories.includes(path);
    for (const link of isDirectory ? [inside] : [path, inside])
      for (const to of isSymbolic ? [toTarget(source)] : resolveAll(source, scope))
        if (to !== link) state.addLink(link, to);
  }
}

const toTarget = ({ text }: Text): string => (isKnown(text) ? text : unresolvedTarget);

/** A link that is moved or copied as a link leads to the same place under its new name. */
function moveLinks(source: Text, target: Text | undefined, scope: Scope): void {
  if (!target || scope.state.links.size === 0) return;
  for (const path of resolveEntries(source, scope)) {
    const directory = path.slice(0, path.lastIndexOf("/"));
    for (const to of scope.state.links.get(path) ?? []) {
      const absolute = to.startsWith("/") || !isKnown(to) ? to : `${directory}/${to}`;
      addLink({ source: { text: absolute, origin: 0 }, target, isSymbolic: true }, scope);
      for (const name of resolveEntries(target, scope)) scope.state.addLink(`${name}/${baseName(path)}`, absolute);
    }
  }
}

/** Remembers where files are put that may be links: a directory, or the current one beside files that are there. */
export function addForeign(directory: Text | undefined, scope: Scope): void {
  const { state } = scope;
  if (!directory) for (const path of state.realDirectories) state.foreignDirectories.set(path, "nested");
  else for (const path of resolveAll(directory, scope)) state.foreignDirectories.set(path, "all");
}

/** Formatting a disk writes to a device; only programs that erase it wipe it, by the ten names. */
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

export const link: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  const [directory] = options.get("t", "target-directory");
  // `ln FILE` makes the link here.
  const target = directory ?? (options.operands.length > 1 ? options.operands.at(-1)! : known("."));
  const sources = directory || options.operands.length < 2 ? options.operands : options.operands.slice(0, -1);
  judgeCopy(sources, target, scope);
  const isSymbolic = options.has("s", "symbolic");
  for (const source of sources) if (!programPath.test(source.text)) addLink({ source, target, isSymbolic }, scope);
};

/** A link to a program is that program under another name, which `judgeCopy` remembers. */
const programPath = /\/s?bin\/[^/]+$/;

/** Settings of programs have directories too; only those from which programs start by themselves matter. */
const isHarmlessDirectory = (path: string) =>
  path.includes("/.vscode") ||
  /\/\.config(?:\/(?!systemd|autostart|environment\.d|plasma-workspace|upstart)|$)/.test(path);

export const mkdir: Judge = ({ args }, scope) => {
  for (const operand of getOperands(args)) {
    for (const path of resolveAll(operand, scope))
      if (!isHarmlessDirectory(path)) judgeWrite(`${path}/x`, scope, { isGuess: true, isEmpty: true });
  }
};

/** `stow` links files of a directory into another one, by default the one above. */
export const stow: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  if (options.has("n", "no", "simulate")) return;
  const targets = options.get("t", "target");
  judgeWrites(targets.length > 0 ? targets : [known("..")], scope);
};
