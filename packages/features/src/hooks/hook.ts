/** A hook, resolved from wherever it is configured. */
import type { HookEventName } from "./events.ts";

/** Where a hook is configured. `claude` files have the rules of Claude Code for failures. */
export interface HookSource {
  readonly scope: "user" | "project";
  readonly isClaude: boolean;
  /** The path, or the name of the setting, for people. */
  readonly label: string;
}

export interface Hook {
  readonly event: HookEventName;
  /** The matcher as it is written; undefined: all. */
  readonly matcher: string | undefined;
  /** Patterns of files, one of which the call has to name. Empty: any call. */
  readonly paths: readonly string[];
  /** A rule in the form `Tool(pattern)`, which the call has to fit as well. */
  readonly condition: string | undefined;
  readonly command: string;
  readonly timeoutMs: number;
  readonly onFailure: "block" | "continue";
  readonly isSandboxed: boolean;
  readonly source: HookSource;
}

/** A hook that is configured and does not run, with the reason. */
export interface UnusedHook {
  readonly event: string;
  readonly what: string;
  readonly source: HookSource;
  readonly reason: string;
}
