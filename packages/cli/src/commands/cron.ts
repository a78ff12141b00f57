/** `tau cron`: schedules of the gateway, and their runs. */
import { resolve } from "node:path";
import { withoutUndefined } from "@tau/ai/internal";
import type { ScheduleData, ScheduleParams, ScheduleRunData } from "@tau/protocol/gateway";
import { formatTokens } from "@tau/protocol/surface";
import { callRunningGateway } from "../gateway/ask-gateway.ts";
import { jsonLine } from "../modes/json-line.ts";
import { UsageError } from "../process/errors.ts";
import { cleanLine, tableText } from "../process/table.ts";
import type { Io } from "./command.ts";
import type { CommandArgs } from "./usage.ts";

export async function listSchedules(args: CommandArgs, io: Io): Promise<void> {
  const { schedules } = await callRunningGateway(io, "schedules.list");
  if (args.has("json")) return io.out(schedules.map((schedule) => jsonLine(schedule)).join(""));
  if (schedules.length === 0) return io.out("There are no schedules. tau cron add makes one.\n");
  const columns = ["ID", "WHEN", "STATE", "NEXT", "RUNS", "TOKENS", "COST"].map((title) => ({ title }));
  io.out(tableText([...columns, { title: "NAME", shrinks: true }], schedules.map(toRow), io));
}

const toRow = ({ id, when, state, nextAt, runs, tokens, cost, name }: ScheduleData): string[] => [
  id,
  cleanLine(when),
  state,
  nextAt ?? "",
  String(runs),
  formatTokens(tokens),
  formatCost(cost),
  cleanLine(name),
];

export async function addSchedule(args: CommandArgs, io: Io): Promise<void> {
  const prompt = args.positionals.join(" ");
  const getNumber = (flag: string, isWhole: boolean): number | undefined => {
    const value = args.value(flag);
    const number = Number(value);
    if (value === undefined) return undefined;
    if (value.trim() !== "" && number > 0 && (isWhole ? Number.isSafeInteger(number) : Number.isFinite(number)))
      return number;
    throw new UsageError("arguments", `--${flag} has to be a number above 0, not ${JSON.stringify(value)}.`);
  };
  const times = { at: args.value("at"), every: args.value("every"), cron: args.value("cron") };
  if (Object.values(times).filter((time) => time !== undefined).length !== 1) {
    throw new UsageError("arguments", "Say when: one of --at, --every and --cron.");
  }
  const params: ScheduleParams = {
    prompt,
    cwd: resolve(io.cwd, args.value("cwd") ?? "."),
    ...withoutUndefined({
      ...times,
      timeZone: args.value("tz"),
      name: args.value("name"),
      agent: args.value("agent"),
      model: args.value("model"),
      policy: args.value("policy"),
      tools: args.value("tools")?.split(","),
      channel: args.value("channel"),
      maxTokens: getNumber("max-tokens", true),
      maxCost: getNumber("max-cost", false),
    }),
  };
  const schedule = await callRunningGateway(io, "schedules.add", { ...params });
  if (args.has("json")) return io.out(jsonLine(schedule));
  const next = schedule.nextAt === undefined ? "" : ` It is due at ${schedule.nextAt}.`;
  io.out(`${schedule.id} is added: ${cleanLine(schedule.when)}.${next}\n`);
}

export async function removeSchedule(args: CommandArgs, io: Io): Promise<void> {
  await callRunningGateway(io, "schedules.remove", { id: args.positionals[0] });
  io.out("It is removed. A run that has begun continues.\n");
}

export async function pauseSchedule(args: CommandArgs, io: Io): Promise<void> {
  await callRunningGateway(io, "schedules.pause", { id: args.positionals[0] });
  io.out("It is paused.\n");
}

export async function resumeSchedule(args: CommandArgs, io: Io): Promise<void> {
  await callRunningGateway(io, "schedules.resume", { id: args.positionals[0] });
  io.out("It is resumed. Runs that were due meanwhile are left out.\n");
}

export async function runSchedule(args: CommandArgs, io: Io): Promise<void> {
  const { id } = await callRunningGateway(io, "schedules.run", { id: args.positionals[0] });
  io.out(`The run ${id} has begun. tau cron runs ${args.positionals[0]} shows what comes of it.\n`);
}

export async function listScheduleRuns(args: CommandArgs, io: Io): Promise<void> {
  const [id] = args.positionals;
  const { runs } = await callRunningGateway(io, "schedules.runs", withoutUndefined({ id }));
  if (args.has("json")) return io.out(runs.map((run) => jsonLine(run)).join(""));
  if (runs.length === 0) return io.out("There was no run yet.\n");
  const columns = ["DUE", "SCHEDULE", "STATE", "TOKENS", "COST", "SESSION"].map((title) => ({ title }));
  io.out(tableText([...columns, { title: "ANSWER", shrinks: true }], runs.map(toRunRow), io));
}

const toRunRow = (run: ScheduleRunData): string[] => [
  run.dueAt,
  cleanLine(run.name),
  run.cause === "late" && run.state !== "missed" ? `${run.state}, late` : run.state,
  run.tokens === undefined ? "" : formatTokens(run.tokens),
  run.cost === undefined ? "" : formatCost(run.cost),
  run.sessionId ?? "",
  cleanLine([run.missedText, run.text].filter((text) => text !== undefined).join("; ")),
];

const formatCost = (cost: number): string => (cost === 0 ? "$0" : `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`);
