/** The things that other programs have on this machine, and what an import would do with each. */
import type { Credential } from "../auth/credential.ts";
import type { PackageEntry } from "../installs/package-entry.ts";

export const importTools = ["pi", "claude-code", "codex", "opencode", "omp"] as const;
export type ImportTool = (typeof importTools)[number];

/** The kinds that are asked about, in this order. `sessions` are found by `@tau/harness/imports`. */
export const importKinds = [
  "sessions",
  "settings",
  "models",
  "instructions",
  "skills",
  "prompts",
  "agents",
  "hooks",
  "packages",
  "mcp",
  "keybindings",
  "themes",
  "keys",
] as const;
export type ImportKind = (typeof importKinds)[number];

export interface FoundItem {
  tool: ImportTool;
  kind: ImportKind;
  /** For people: the name of a setting, a server, a file. Never a secret. */
  name: string;
  /** The file that it is in. */
  path: string;
  action: ImportAction;
}

export type ImportAction =
  /** Sets a setting by its dotted name. */
  | { kind: "set"; key: string; value: unknown }
  /** Adds to an object in a file of the agent directory. */
  | { kind: "add"; file: "models.json" | "mcp.json" | "keybindings.json"; to: readonly string[]; value: unknown }
  /** Copies a file or a directory. `to` is relative to the agent directory. */
  | { kind: "copy"; from: string; to: string; isDirectory: boolean }
  /** Writes a text file. */
  | { kind: "write"; text: string; to: string }
  | { kind: "install"; entry: PackageEntry }
  | { kind: "credential"; provider: string; credential: Credential }
  /** Brings nothing. The reason completes a sentence that begins with the name. */
  | { kind: "none"; reason: string };
