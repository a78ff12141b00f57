/** What a surface may ask of a session. Each has one answer: see `CommandResponse`. */
import type { ImageContent } from "@tau/ai";

export type Command =
  /** Busy: `streamingBehavior` says which queue; without it the command is refused. */
  | { type: "prompt"; message: string; images?: ImageContent[]; streamingBehavior?: "steer" | "followUp" }
  /** With `interrupt`, the running turn is aborted first. */
  | { type: "steer"; message: string; images?: ImageContent[]; interrupt?: boolean }
  | { type: "follow_up"; message: string; images?: ImageContent[] }
  | { type: "abort" }
  | { type: "clear_queue" }
  | { type: "compact"; customInstructions?: string }
  /** A new session with a copy of the branch up to an entry. */
  | { type: "branch"; entryId: string }
  /** Goes to an entry of the same session; with `summarise`, what is left is summarised there. */
  | { type: "navigate"; entryId: string | null; summarise?: boolean }
  | { type: "set_model"; provider: string; modelId: string }
  | { type: "set_thinking_level"; level: string }
  | { type: "approve"; approvalId: string; decision: "allow" | "deny"; remember?: "session" | "always" };

export type CommandName = Command["type"];

/** A command on a wire, with the id that its answer carries. */
export type CommandRequest = Command & { id?: string };

export type CommandResponse =
  | { type: "response"; id?: string; command: CommandName; success: true; data?: unknown }
  | { type: "response"; id?: string; command: CommandName; success: false; error: string };
