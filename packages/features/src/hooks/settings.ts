/** The settings of hooks. */
import { decimal } from "@tau/config/internal";
import { flag, list, nonEmptyText, object, oneOf, optional, text } from "@tau/config/fields";
import { group, setting } from "@tau/config/settings";
import { hookEventNames, hookEvents, type HookEventName } from "./events.ts";

/** Says what happens to the action if the hook gives no answer. */
const failureChoices = ["block", "continue"] as const;

const hook = object({
  type: optional(oneOf("command")),
  command: nonEmptyText,
  timeout: optional(decimal({ min: 0.001, unit: "seconds" })),
  onFailure: optional(oneOf(...failureChoices)),
  sandbox: optional(flag),
});

/** Hooks for some tools or files, in the form of Claude Code and with `paths`. */
const hookGroups = list(
  object({
    matcher: optional(text),
    paths: optional(list(nonEmptyText)),
    hooks: list(hook),
  }),
);

const event = (name: HookEventName) =>
  setting(hookGroups, {
    default: [],
    description: `Commands that run ${hookEvents[name].when}. Those of a trusted project run besides yours.`,
    project: "when trusted",
  });

export const hookSettings = {
  hooks: group(
    "Commands that run at certain moments of a session, in its sandbox: see tau help hooks.",
    Object.fromEntries(hookEventNames.map((name) => [name, event(name)])) as Record<
      HookEventName,
      ReturnType<typeof event>
    >,
  ),
  claudeHooks: setting(oneOf("off", "project", "all"), {
    default: "project",
    description:
      "Which hooks of Claude Code run too: those in `.claude/settings.json` and `.claude/settings.local.json` of a trusted project, or with `all` those in `~/.claude/settings.json` as well.",
    project: "never",
  }),
};
