/** The ports of servers of MCP, which a session or a program implements. */
import type { Readable, Writable } from "node:stream";
import type { AuthProvider } from "@modelcontextprotocol/client";
import type { SandboxNetwork } from "@tau/sandbox";
import type { ToolLogLevel } from "@tau/tools";
import type { HttpTarget, McpEntry } from "./entry.ts";

/** A running program, as `ExtensionAPI.spawn` gives it. */
export interface McpProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when nothing of it is left. Never rejects. */
  readonly exit: Promise<unknown>;
  end(graceMs?: number): Promise<void>;
}

export interface McpSpawnOptions {
  cwd?: string;
  env: Readonly<Record<string, string>>;
  /** The variables of ours that it gets. */
  inherits: readonly string[];
  sandbox: false | { network?: SandboxNetwork; allowedPaths: readonly string[]; readablePaths?: readonly string[] };
}

export type McpSpawn = (command: string, args: readonly string[], options: McpSpawnOptions) => Promise<McpProgram>;

/** The login of a server. */
export interface McpAuthProvider extends AuthProvider {
  /** Removes its secrets from a text: the server may repeat what it was sent. */
  hide(text: string): string;
}

/** Finds the login of a server. Undefined: the server gets no tokens. */
export type CreateAuthProvider = (entry: McpEntry, target: HttpTarget) => Promise<McpAuthProvider | undefined>;

/** An answer of a person to a request of a server; see the specification of MCP. */
export interface ElicitationAnswer {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, string | number | boolean | string[]>;
}

/** Asks the person in whose session a call runs. */
export interface McpPerson {
  /** Asks for the fields of a schema, or whether an address may be opened. */
  elicit(server: string, params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ElicitationAnswer>;
  /** Asks whether a server may use the model, and resolves with its answer. Rejects if it may not. */
  sample(server: string, params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<SamplingAnswer>;
}

export interface SamplingAnswer {
  role: "assistant";
  model: string;
  content: { type: "text"; text: string };
  stopReason?: string;
}

/** Writes into the debug log. The level is `debug` by default. */
export type McpLog = (message: string, level?: ToolLogLevel) => void;
