/** Deleting files and directories. */
import { getZone, toCoveredPath, type Zone } from "../paths.ts";
import { getOperands, isInformation, type Judge, resolveAll, resolveEntries } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { isCredentialPath } from "../shell/files.ts";
import { toShown, unknownMark, type Text } from "../shell/text.ts";
import { judgeCopy } from "./copy.ts";
import { isUnresolved } from "../links.ts";
import { moveLinks } from "./links.ts";
import { findProtected, reportUnresolved } from "./write.ts";

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
