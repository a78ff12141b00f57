/** The tool `schedule`, with which an agent does something later, or again and again. Its code is loaded when it is called. */
import type { Feature, FeatureTool } from "@tau/extensions";
import { isRecord } from "@tau/ai/internal";
import type { SessionSchedules } from "./session-schedules.ts";

const text = { type: "string" };

export const scheduleTool: FeatureTool = {
  name: "schedule",
  category: "coordination",
  label: "Schedule",
  description:
    "Do something later or regularly: `add` with a prompt and one of `at` (2026-12-24T18:00, or 20m from now), `every` (30m, 1d) and `cron` (five fields, or six with seconds); `list`, `remove`, `pause` and `resume` with an id. Each run is a new session without a person: the prompt must say everything.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["add", "list", "remove", "pause", "resume"] },
      id: text,
      name: text,
      prompt: text,
      at: text,
      every: text,
      cron: text,
      time_zone: { type: "string", description: "Such as Europe/Berlin." },
    },
    required: ["action"],
  },
  promptSnippet: "do something later or regularly",
  exposure: "deferred",
  isContained: true,
  executionMode: "sequential",
  summarise: (args: unknown) => summarise(args),
  access: (args: unknown) => {
    const action = getField(args, "action");
    const target = { kind: "name", name: "schedule" } as const;
    if (action === "list" || action === "pause") return [];
    if (action === "remove") return [{ capability: "session", target }];
    return [{ capability: "session", target, eachTime: `It will run without a person. ${summarise(args)}` }];
  },
};

function summarise(args: unknown): string {
  const get = (name: string) => getField(args, name);
  const action = get("action");
  if (action !== "add") return `Schedules: ${action} ${get("id")}`.trim();
  const times = ["at", "every", "cron"].flatMap((name) => (get(name) === "" ? [] : [`${name} ${get(name)}`]));
  const zone = get("time_zone") === "" ? "" : ` (${get("time_zone")})`;
  return `Schedule ${times.join(", ")}${zone}: ${get("prompt")}`;
}

const getField = (args: unknown, name: string): string =>
  isRecord(args) && typeof args[name] === "string" ? args[name] : "";

/** The feature `schedule` of the sessions of a gateway. `find` gives nothing before the gateway has started. */
export const createScheduleFeature = (find: () => SessionSchedules | undefined): Feature => ({
  name: "schedule",
  summary: "Schedules: prompts that run later or regularly, at the gateway.",
  tools: [scheduleTool],
  load: async () => (await import("./schedule-extension.ts")).createScheduleExtension(find),
});
