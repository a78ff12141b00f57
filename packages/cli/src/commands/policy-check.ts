import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { homedir } from "node:os";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { classifyCommand, type ExecContext, type ExecMediationPolicy, mediate, withDiskLinks } from "@tau/policy/exec";
import { getSessionPolicy } from "@tau/config/trust";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { jsonLine } from "../modes/json-line.ts";
import { tableText } from "../process/table.ts";
import { openCommandContext, reportSettingsProblems } from "./command-context.ts";
import type { CommandArgs } from "./usage.ts";

/** A table on a terminal, else one JSON line for each command, as if there were no sandbox. Nothing is run. */
export async function check(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const context = await openCommandContext(io);
  reportSettingsProblems(context, io);
  const policy = getSessionPolicy(context.settings).execMediation;
  const cwd = resolve(io.cwd, args.value("cwd") ?? ".");
  const home = args.value("home");
  const place: ExecContext = {
    cwd,
    home: resolve(home ?? homedir()),
    workspace: cwd,
    // Another home has its own.
    ...(home === undefined && { agentDir: getAgentDir(io) }),
  };
  const attended = !args.has("unattended");
  const isTable = io.terminal.out && !args.has("json");
  const judged: JudgedCommand[] = [];
  const judge = (command: string) => {
    const verdict = judgeCommand(command, { policy, place, attended });
    if (isTable) judged.push(verdict);
    else io.out(jsonLine(verdict));
  };
  const end = () => {
    if (isTable && judged.length > 0) io.out(formatTable(judged, io));
  };
  if (args.positionals.length > 0) {
    args.positionals.forEach(judge);
    return end();
  }
  const input = io.terminal.input ? undefined : io.input();
  if (!input)
    throw new UsageError("arguments", 'Name a command, or send lines such as {"cmd":"ls"} to standard input.');
  let number = 0;
  for await (const line of createInterface({ input })) {
    number++;
    if (io.signal.aborted) return exitCodes.interrupted;
    if (line.trim() === "") continue;
    const value = tryParseJson(line);
    const command = isRecord(value) ? value["cmd"] : undefined;
    if (typeof command !== "string")
      throw new UsageError("arguments", `Line ${number} of the input is not of the form {"cmd":"ls"}.`);
    judge(command);
  }
  end();
}

const columns = [
  { title: "DECISION" },
  { title: "TIER" },
  { title: "CLASS" },
  { title: "COMMAND", shrinks: true },
  { title: "REASON", shrinks: true },
] as const;

const colours = { allow: "green", ask: "yellow", deny: "red" } as const;

const formatTable = (judged: readonly JudgedCommand[], io: Io): string =>
  tableText(
    columns,
    judged.map((command) => [
      { text: command.decision, colour: colours[command.decision] },
      command.tier,
      command.class ?? "",
      command.cmd,
      command.reason,
    ]),
    io,
  );

interface JudgedCommand extends Pick<ReturnType<typeof classifyCommand>, "commands" | "dangerousCommandClass"> {
  cmd: string;
  decision: keyof typeof colours;
  tier: string;
  class: string | null;
  reason: string;
  audit?: true;
}

interface Situation {
  policy: ExecMediationPolicy;
  place: ExecContext;
  attended: boolean;
}

function judgeCommand(cmd: string, { policy, place, attended }: Situation): JudgedCommand {
  const classification = classifyCommand(cmd, withDiskLinks(place));
  const result = mediate(policy, classification, { attended, sandboxed: false });
  const { tier, commands, dangerousCommandClass } = classification;
  const reason = result.kind === "allow" ? classification.reason : result.reason;
  const isAudited = result.kind === "allow_with_audit";
  return {
    cmd,
    decision: result.kind === "allow_with_audit" ? "allow" : result.kind,
    class: classification.class,
    dangerousCommandClass,
    tier,
    reason,
    commands,
    ...(isAudited && { audit: true as const }),
  };
}
