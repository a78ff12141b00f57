/** The settings of schedules and of the heartbeat. */
import type { Field } from "../fields/field.ts";
import { flag, list, nonEmptyText, scalar, wholeNumber } from "../fields/kinds.ts";
import { group, setting } from "./node.ts";
import { workingPath } from "./shape.ts";

const project = "never";
const texts: Field<readonly string[]> = list(nonEmptyText);

const durationPattern = "^(?:\\d{1,9}[smhdw])+$";
const duration = scalar({
  expected: "a duration such as 30m, 2h or 1d",
  type: "string",
  schema: { type: "string", pattern: durationPattern },
  accepts: (value): value is string => typeof value === "string" && new RegExp(durationPattern).test(value),
});

const clockTimePattern = "^(?:(?:[01]\\d|2[0-3]):[0-5]\\d|24:00)$";
const clockTime = scalar({
  expected: "a time of the day from 00:00 to 24:00",
  type: "string",
  schema: { type: "string", pattern: clockTimePattern },
  accepts: (value): value is string => typeof value === "string" && new RegExp(clockTimePattern).test(value),
});

export const scheduleSettings = {
  schedules: group("Schedules, `tau cron`.", {
    enabled: setting(flag, { default: true, description: "Whether schedules and the heartbeat run.", project }),
    timeZone: setting(nonEmptyText, {
      default: undefined,
      description: "The time zone of schedules that name none, such as `Europe/Berlin`. Default: that of the machine.",
      project,
    }),
  }),
  heartbeat: group("The heartbeat: an agent that looks from time to time whether something needs attention.", {
    every: setting(duration, {
      default: undefined,
      description: "How often, such as `30m`. Without it, there is no heartbeat.",
      project,
    }),
    prompt: setting(nonEmptyText, {
      default: undefined,
      description: "Instructions besides its list. Without it, an empty list costs nothing: no model is asked.",
      project,
    }),
    cwd: setting(workingPath, {
      default: undefined,
      description:
        "Its directory, with its list in the file `HEARTBEAT.md`. Default: `heartbeat` of the agent directory.",
      project,
    }),
    agent: setting(nonEmptyText, { default: undefined, description: "The agent that looks.", project }),
    model: setting(nonEmptyText, { default: undefined, description: "The model that is asked.", project }),
    policy: setting(nonEmptyText, {
      default: "safe",
      description: "A profile that makes the policy of its sessions stricter.",
      project,
    }),
    tools: setting(texts, {
      default: ["read", "grep", "find", "ls"],
      description: "The tools that it has, by name or pattern; `*` means all.",
      project,
    }),
    maxTokens: setting(wholeNumber({ min: 1, unit: "tokens" }), {
      default: 30_000,
      description: "How many tokens each time may use, input and output together.",
      project,
    }),
    activeHours: group("The hours of the day in which it looks.", {
      start: setting(clockTime, { default: "00:00", description: "The first minute, such as `08:00`.", project }),
      end: setting(clockTime, {
        default: "24:00",
        description: "The first minute in which it does not look any more. Before `start`: over midnight.",
        project,
      }),
      timeZone: setting(nonEmptyText, {
        default: undefined,
        description: "The time zone of these hours. Default: that of the machine.",
        project,
      }),
    }),
    channel: setting(nonEmptyText, {
      default: undefined,
      description:
        "An account of `gateway.channels`: what it reports is sent to the conversation that was used last. Without it, it is only kept.",
      project,
    }),
  }),
};
