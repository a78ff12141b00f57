/** Servers of MCP as they are configured. */
import type { SandboxNetwork } from "@tau/sandbox";

/** How a model reaches the tools of a server; see `ToolExposure` of `@tau/extensions`. */
export const mcpExposures = ["codemode", "deferred", "direct", "hidden"] as const;
export type McpExposure = (typeof mcpExposures)[number];

/**
 * Where an entry comes from. Only entries of the user may run commands for values, leave the sandbox or be trusted without a
 * question.
 */
export interface McpSource {
  readonly scope: "user" | "project" | "package" | "extension";
  /** The file, the directory of the package, or the path of the extension. */
  readonly path: string;
  /** Paths that its programs read in the sandbox, besides what the model's commands read: those of a package. */
  readonly readablePaths?: readonly string[];
}

/** Values may have `${NAME}` and `${NAME:-default}` in them; see `resolveEntry`. */
export interface StdioTarget {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Undefined: in the sandbox as the model's commands are. */
  readonly sandbox?: false | { readonly network?: SandboxNetwork; readonly allowedPaths?: readonly string[] };
}

/** `auto` begins with streamable HTTP and falls back to SSE, for entries without a `type`. */
export interface HttpTarget {
  readonly type: "http" | "sse" | "auto";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** False turns signing in off. */
  readonly oauth?: false | McpOAuth;
}

export type McpTarget = StdioTarget | HttpTarget;

export interface McpOAuth {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly callbackPort?: number;
  readonly callbackUrl?: string;
  readonly scope?: string;
  readonly clientName?: string;
  readonly clientRegistration?: string;
  readonly authServerMetadataUrl?: string;
}

export interface McpEntry {
  readonly name: string;
  readonly source: McpSource;
  /**
   * Identifies name, source and target: the command or the address and all that goes with it. Answers, tokens and cached
   * definitions belong to it, so that an entry that changes, or one of the same name from elsewhere, has none of them.
   */
  readonly hash: string;
  readonly target: McpTarget;
  readonly isEnabled: boolean;
  readonly description?: string;
  /** How long a request may take; progress starts it again. */
  readonly timeoutMs: number;
  readonly exposure: McpExposure;
  /** By the name of a tool, or a pattern with `*`. Exact names come first. */
  readonly toolExposure: Readonly<Record<string, McpExposure>>;
  /** Whether the user's own file answers the question before the first start. */
  readonly isTrusted: boolean;
  /** The variables that its values name, in order. */
  readonly variables: readonly string[];
}

/** An entry that cannot be used. The message is a sentence and holds no values, which may be secrets. */
export interface McpEntryProblem {
  readonly name?: string;
  readonly source: McpSource;
  readonly message: string;
}

export interface McpConfiguration {
  /** Entries with different names, in the order of the names' first appearance. */
  readonly entries: readonly McpEntry[];
  readonly problems: readonly McpEntryProblem[];
}
