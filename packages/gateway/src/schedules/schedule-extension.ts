/** Executes the tool `schedule`. An agent sees and changes only the schedules of its own session. */
import type { ExtensionFactory } from "@tau/extensions";
import type { ScheduleData } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";
import { scheduleTool } from "./feature.ts";
import type { SessionSchedules } from "./session-schedules.ts";

interface ScheduleArguments {
  action: "add" | "list" | "remove" | "pause" | "resume";
  id?: string;
  name?: string;
  prompt?: string;
  at?: string;
  every?: string;
  cron?: string;
  time_zone?: string;
}

export const createScheduleExtension =
  (find: () => SessionSchedules | undefined): ExtensionFactory =>
  (tau) => {
    tau.registerTool({
      ...scheduleTool,
      async execute(_toolCallId, args: ScheduleArguments, _signal, _onUpdate, { sessionManager }) {
        const own = find();
        if (!own) throw new GatewayError("unavailable", "The gateway is starting. Try again.");
        return toResult(await run(own, sessionManager.getSessionId(), args));
      },
    });
  };

async function run(own: SessionSchedules, sessionId: string, args: ScheduleArguments): Promise<string> {
  const { schedules } = own;
  const { action, id = "", prompt = "", name, at, every, cron, time_zone: timeZone } = args;
  if (action === "add") {
    if (prompt.trim() === "") throw new GatewayError("invalid_parameters", "The prompt is missing.");
    return `Added. ${describe(await own.add({ sessionId, prompt, name, at, every, cron, timeZone }))}`;
  }
  const listed = (await schedules.list()).filter((schedule) => schedule.sessionId === sessionId);
  if (action === "list") return listed.length === 0 ? "There are none." : listed.map(describe).join("\n");
  if (!listed.some((schedule) => schedule.id === id)) {
    throw new GatewayError(
      "not_found",
      `This session has no schedule ${JSON.stringify(id)}. The action list shows them.`,
    );
  }
  switch (action) {
    case "remove":
      await schedules.remove(id);
      return "It is removed.";
    case "pause":
      await schedules.pause(id);
      return "It is paused.";
    case "resume":
      await schedules.resume(id);
      return "It is resumed.";
  }
}

const describe = ({ id, name, when, state, nextAt }: ScheduleData): string =>
  `${id} ${JSON.stringify(name)}: ${when}, ${nextAt === undefined ? state : `next at ${nextAt}`}`;

const toResult = (text: string) => ({ content: [{ type: "text" as const, text }], details: undefined });
