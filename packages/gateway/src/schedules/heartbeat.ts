/**
 * The heartbeat: an agent is woken from time to time and looks at a list of its own. It sees that list and little else, so that
 * each time costs little.
 */
import { join } from "node:path";
import { readWhole } from "@tau/tools/durable";
import { nodeFileSystem } from "@tau/tools/platform";
import type { GatewaySettings } from "../settings.ts";
import { findActive } from "./active-hours.ts";
import { getSystemTimeZone } from "./next-times.ts";
import { parseDuration } from "./parse-time.ts";
import type { Schedule, ScheduleConversation } from "./schedule.ts";

export const heartbeatId = "heartbeat";

/** The file with what the agent is to look at, in the directory of the heartbeat. */
const checklistName = "HEARTBEAT.md";

const maxChecklistBytes = 32 * 1024;

type HeartbeatSettings = GatewaySettings["heartbeat"];

interface HeartbeatPlace {
  readonly agentDir: string;
  readonly conversation: ScheduleConversation | undefined;
}

/** Undefined if the settings turn it off. Its prompt is only what the settings say. */
export function createHeartbeat(
  settings: HeartbeatSettings,
  { agentDir, conversation }: HeartbeatPlace,
): Schedule | undefined {
  const { every, agent, model, cwd, policy, tools, prompt, maxTokens } = settings;
  const everyMs = every === undefined ? undefined : parseDuration(every);
  if (everyMs === undefined) return undefined;
  return {
    id: heartbeatId,
    name: heartbeatId,
    // The same times after each start, and on all nodes of a cluster.
    time: { kind: "every", everyMs, anchorMs: 0 },
    prompt: prompt ?? "",
    cwd: cwd ?? join(agentDir, heartbeatId),
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    rights: { policy, tools },
    budget: { tokens: maxTokens },
    ...(conversation && { conversation }),
    createdAt: 0,
    isLight: true,
    leavesOutMissed: true,
  };
}

/** The next time in the active hours. */
export function getNextHeartbeat(
  { activeHours: { start, end, timeZone } }: HeartbeatSettings,
  afterMs: number,
  getNext: (afterMs: number) => number | undefined,
): number | undefined {
  return findActive(afterMs, { start, end, timeZone: timeZone ?? getSystemTimeZone() }, getNext);
}

/** The prompt with the list, or undefined if there is nothing to look at: then nothing is asked of a model. */
export async function readHeartbeatPrompt({ prompt, cwd }: Schedule): Promise<string | undefined> {
  const bytes = await readWhole(nodeFileSystem, join(cwd, checklistName));
  const list = bytes?.subarray(0, maxChecklistBytes).toString("utf8") ?? "";
  return formatHeartbeat(prompt, list);
}

/** A list of headings and blank lines is empty. Pure. */
export function formatHeartbeat(prompt: string, list: string): string | undefined {
  const hasList = list.split("\n").some((line) => !/^\s*(?:#.*|[-*]\s*(?:\[[ xX]?\])?\s*|<!--.*-->)?$/.test(line));
  if (!hasList && prompt === "") return undefined;
  return [
    "This is a heartbeat: look whether something needs attention now. If nothing does, answer only HEARTBEAT_OK; otherwise answer with what people should know, and nothing else.",
    ...(prompt === "" ? [] : [prompt]),
    ...(hasList ? [`${checklistName}:\n\n${list.trim()}`] : []),
  ].join("\n\n");
}

export const heartbeatSystemPrompt =
  "You are an agent that is woken from time to time to see whether something needs attention. Look only at what you are told to, with as few calls as possible. Nobody is there to answer questions.";
