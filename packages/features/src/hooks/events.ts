/** The events that hooks can be attached to, as data. Names are Claude Code's, because people have hooks for it. */

/** Describes what a hook can do at an event. */
interface HookEvent {
  /** Says when it happens, for people. */
  readonly when: string;
  /** Says what `matcher` is compared with; undefined: the event has none. */
  readonly matches?: "tool" | "text";
  /** Whether exit code 2, or `"decision": "block"`, stops what is about to happen, or asks for more work. */
  readonly blocks: boolean;
  /** Whether what a hook writes to standard output goes to the model although it is no JSON. */
  readonly outputIsContext: boolean;
}

export const hookEvents = {
  SessionStart: {
    when: "when a session begins, is continued or was compacted",
    matches: "text",
    blocks: false,
    outputIsContext: true,
  },
  UserPromptSubmit: { when: "before a prompt is taken", blocks: true, outputIsContext: true },
  PreToolUse: { when: "before a tool is called", matches: "tool", blocks: true, outputIsContext: false },
  PostToolUse: { when: "after a call that succeeded", matches: "tool", blocks: true, outputIsContext: false },
  PostToolUseFailure: { when: "after a call that failed", matches: "tool", blocks: false, outputIsContext: false },
  Notification: { when: "when you are asked or waited for", matches: "text", blocks: false, outputIsContext: false },
  PreCompact: { when: "before a compaction", matches: "text", blocks: true, outputIsContext: false },
  Stop: { when: "when the model has finished", blocks: true, outputIsContext: false },
  SubagentStop: { when: "when a sub-agent has finished", blocks: true, outputIsContext: false },
  SessionEnd: { when: "when a session ends", matches: "text", blocks: false, outputIsContext: false },
} as const satisfies Readonly<Record<string, HookEvent>>;

export type HookEventName = keyof typeof hookEvents;

export const hookEventNames = Object.keys(hookEvents) as HookEventName[];

export const getHookEvent = (name: HookEventName): HookEvent => hookEvents[name];
