/** Which capabilities a call needs, and of what: the table of tools. Pure. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Capability, Target } from "./policy.ts";

/** One thing that a call wants. Paths are as they were typed, but absolute: where they really lead is for others. */
export interface CallRequest {
  capability: Capability;
  target: Target;
}

export interface JudgedCall {
  name: string;
  /** Validated. */
  args: unknown;
}

type Table = Readonly<Record<string, (call: JudgedCall, cwd: string) => CallRequest[]>>;

const ofPath =
  (capability: "read" | "write", missing?: string) =>
  (call: JudgedCall, cwd: string): CallRequest[] => [
    request(capability, call.name, cwd, getText(call.args, "path") ?? missing),
  ];

const ofSession = ({ name }: JudgedCall): CallRequest[] => [{ capability: "session", target: { kind: "name", name } }];

const table: Table = {
  read: ofPath("read"),
  grep: ofPath("read", "."),
  find: ofPath("read", "."),
  ls: ofPath("read", "."),
  write: ofPath("write"),
  edit: ofPath("write"),
  hashline_edit: ofPath("write"),
  hashline_patch: (call, cwd) => patchedPaths(call.args).map((path) => request("write", call.name, cwd, path)),
  bash: ({ name, args }) => {
    const command = getText(args, "command");
    return [
      { capability: "exec", target: command === undefined ? { kind: "name", name } : { kind: "command", command } },
    ];
  },
  jobs: ({ name }) => [{ capability: "exec", target: { kind: "name", name } }],
  session_branch: ofSession,
  session_navigate: ofSession,
  gateway_reload: ofSession,
  agent_interrupt: ofSession,
};

/**
 * What a call wants, at least one thing. A file tool whose path cannot be told targets its own name: the tool refuses such
 * arguments itself, and what it opens nevertheless is judged when it is opened.
 */
export function getCallRequests(call: JudgedCall, { cwd }: { cwd: string }): CallRequest[] {
  const row = Object.hasOwn(table, call.name) ? table[call.name] : undefined;
  return row ? row(call, cwd) : [{ capability: "tool", target: { kind: "name", name: call.name } }];
}

function request(capability: Capability, name: string, cwd: string, given: string | undefined): CallRequest {
  const path = given === undefined ? undefined : absolutePath(cwd, given);
  return { capability, target: path === undefined ? { kind: "name", name } : { kind: "path", path } };
}

/** As the tools read it: relative to `cwd`, `~` for the home directory, without the `@` of a mention. */
function absolutePath(cwd: string, given: string): string | undefined {
  const path = given.startsWith("@") ? given.slice(1) : given;
  if (path === "" || path.includes("\0") || /^file:\/\//i.test(path)) return undefined;
  if (path === "~") return homedir();
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : resolve(cwd, path);
}

const patchHeader = /^¶\s*(.+)#[0-9a-f]{4}\s*$/i;

/** The paths in the headers of a patch; one that is undefined for each header that tells none, and for none at all. */
export function patchedPaths(args: unknown): (string | undefined)[] {
  const rows = (getText(args, "patch") ?? "").split("\n").filter((row) => row.startsWith("¶"));
  return rows.length === 0 ? [undefined] : rows.map((row) => patchHeader.exec(row)?.[1]?.trim());
}

/** A field that is a text; undefined otherwise. */
export function getText(args: unknown, name: string): string | undefined {
  if (typeof args !== "object" || args === null || !Object.hasOwn(args, name)) return undefined;
  const value = (args as Record<string, unknown>)[name];
  return typeof value === "string" ? value : undefined;
}
