/** Finds what the session of a run is opened with: the rights of its schedule, and while the run lasts its model and its limits. */
import type { SessionSpecificParams } from "@tau/harness/host";
import { heartbeatSystemPrompt } from "./heartbeat.ts";
import type { Schedule } from "./schedule.ts";
import type { ScheduleStore } from "./store.ts";

interface ScheduleParamsParts {
  table: ScheduleStore["table"];
  /** Undefined for one that was removed. */
  findSchedule: (scheduleId: string) => Schedule | undefined;
}

/** Undefined for a session that is not that of a run. */
export function getScheduleSessionParams(
  { table, findSchedule }: ScheduleParamsParts,
  sessionId: string,
): SessionSpecificParams | undefined {
  const run = table.findRunOfSession(sessionId);
  const schedule = run && findSchedule(run.scheduleId);
  if (!schedule) return undefined;
  const { tools, permissionMode } = schedule.rights;
  return {
    ...(tools && !tools.includes("*") && { allowedTools: tools }),
    ...(permissionMode !== undefined && { permissionMode }),
    ...(run.state === "begun" && getRunParams(schedule)),
  };
}

const getRunParams = ({ model, budget, isLight }: Schedule): SessionSpecificParams => ({
  ...(model !== undefined && { model }),
  ...(budget && { budgets: budget }),
  ...(isLight && {
    systemPrompt: heartbeatSystemPrompt,
    resources: { contextFiles: "none", discoverSkills: false, discoverPrompts: false },
  }),
});
