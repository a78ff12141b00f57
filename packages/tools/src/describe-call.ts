/** How the built-in tools describe their calls. Pure, and loaded at every start, unlike the tools. */
import { isRecord } from "@tau/ai/internal";
import type { AccessRequest } from "./access.ts";
import { getPath, getText } from "./arguments.ts";
import { getPathAccess, listExisting, listNew, listReadable, type PathAccess } from "./files/path.ts";
import { listHeaders, listPatchPaths } from "./hashline/patch-header.ts";
import type { FileTouches } from "./tool.ts";

type GetAccess = (args: unknown, cwd: string) => AccessRequest[];

/** A call reads the file or directory that it names, or `defaultPath`. */
export const readsPath = (toolName: string, defaultPath?: string): GetAccess =>
  opensPath({ capability: "read", toolName, list: listExisting }, defaultPath);

/** A call reads the file that it names, or a part of it. */
export const readsPart = (toolName: string): GetAccess =>
  opensPath({ capability: "read", toolName, list: listReadable });

/** A call changes a file that should exist. */
export const changesPath = (toolName: string): GetAccess =>
  opensPath({ capability: "write", toolName, list: listExisting });

/** A call writes a file that may not exist yet. */
export const writesPath = (toolName: string): GetAccess => opensPath({ capability: "write", toolName, list: listNew });

function opensPath(access: PathAccess, defaultPath?: string): GetAccess {
  return (args, cwd) => [getPathAccess(access, cwd, getPath(args) ?? defaultPath)];
}

/** A call changes every file that a header of its patch names. */
export function changesPatched(toolName: string): GetAccess {
  const access: PathAccess = { capability: "write", toolName, list: listExisting };
  return (args, cwd) => {
    const headers = listHeaders(getText(args, "patch") ?? "");
    const paths = headers.length === 0 ? [undefined] : headers.map((header) => header?.path);
    return paths.map((path) => getPathAccess(access, cwd, path));
  };
}

/** A call runs its command, and wants the variables that it names: they may be secrets, which a job does not get. */
export const runsCommand =
  (toolName: string): GetAccess =>
  (args) => {
    const command = getText(args, "command");
    if (command === undefined) return [{ capability: "exec", target: { kind: "name", name: toolName } }];
    const isJob = isRecord(args) && (args["background"] === true || args["tty"] === true);
    const variables = (isJob ? [] : listVariables(command)).map((name): AccessRequest => ({
      capability: "env",
      target: { kind: "name", name },
    }));
    return [{ capability: "exec", target: { kind: "command", command } }, ...variables];
  };

/** The names after `$` and `${` that look like those of exported variables, and those that `printenv` asks for. */
function listVariables(command: string): string[] {
  const names = command.matchAll(/\$\{?[!#]?([A-Z][A-Z0-9_]{2,})|\bprintenv\s+([A-Z][A-Z0-9_]{2,})/g);
  return [...new Set([...names].map(([, name, asked]) => (name ?? asked)!))].slice(0, maxVariables);
}

/** More than a command that a person can still judge. */
const maxVariables = 100;

/** `Read src/a.ts`. */
export const summarisePath =
  (verb: string, defaultPath?: string) =>
  (args: unknown): string | undefined => {
    const path = getPath(args) ?? defaultPath;
    return path === undefined ? undefined : `${verb} ${path}`;
  };

/** `Search src for key`. */
export const summariseSearch =
  (verb: string) =>
  (args: unknown): string =>
    `${verb} ${getPath(args) ?? "."} for ${getText(args, "pattern") ?? "?"}`;

export function summariseWrite(args: unknown): string | undefined {
  const [path, content] = [getPath(args), getText(args, "content")];
  if (path === undefined || content === undefined) return undefined;
  return `Write ${content.length} ${content.length === 1 ? "character" : "characters"} to ${path}`;
}

export function summarisePatch(args: unknown): string | undefined {
  const paths = listPatchPaths(getText(args, "patch") ?? "");
  return paths.length === 0 ? undefined : `Change ${paths.join(", ")}`;
}

export function summariseCommand(args: unknown): string | undefined {
  const command = getText(args, "command");
  return command === undefined ? undefined : `Run ${command}`;
}

/** Undefined for what is no writing: the name and the arguments say it. */
export function summariseJobs(args: unknown): string | undefined {
  if (getText(args, "action") !== "write") return undefined;
  return `Write to job ${getText(args, "id") ?? "?"}: ${getText(args, "text") ?? ""}`;
}

export const readFile = (args: unknown): FileTouches => ({ read: listPath(args), modified: [] });

export const changedFile = (args: unknown): FileTouches => ({ read: [], modified: listPath(args) });

export const patchedFiles = (args: unknown): FileTouches => ({
  read: [],
  modified: listPatchPaths(getText(args, "patch") ?? ""),
});

function listPath(args: unknown): string[] {
  const path = getPath(args);
  return path === undefined ? [] : [path];
}
