import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { homedir } from "node:os";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import {
  classifyCommand,
  type ExecContext,
  type ExecMediationPolicy,
  getSessionPolicy,
  mediate,
  withDiskLinks,
} from "@tau/harness/policy";
import { getAgentDir } from "../agent-dir.ts";
import type { Io } from "../command.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonLine } from "../json-line.ts";
import { openCommandContext, reportSettingsProblems } from "./command-context.ts";
import type { CommandArgs } from "./usage.ts";

/** One JSON line for each command, as if there were no sandbox. Nothing is run. */
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
  const judge = (command: string) => io.out(jsonLine(judgeCommand(command, { policy, place, attended })));
  if (args.positionals.length > 0) return args.positionals.forEach(judge);
  const input = io.terminal.input ? undefined : io.input();
  if (!input) throw new UsageError('Name a command, or send lines such as {"cmd":"ls"} to standard input.');
  let number = 0;
  for await (const line of createInterface({ input })) {
    number++;
    if (io.signal.aborted) return exitCodes.interrupted;
    if (line.trim() === "") continue;
    const value = tryParseJson(line);
    const command = isRecord(value) ? value["cmd"] : undefined;
    if (typeof command !== "string")
      throw new UsageError(`Line ${number} of the input is not of the form {"cmd":"ls"}.`);
    judge(command);
  }
}

interface Situation {
  policy: ExecMediationPolicy;
  place: ExecContext;
  attended: boolean;
}

function judgeCommand(cmd: string, { policy, place, attended }: Situation): object {
  const classification = classifyCommand(cmd, withDiskLinks(place));
  const result = mediate(policy, classification, { attended, sandboxed: false });
  const { tier, commands, dangerousCommandClass } = classification;
  const reason = result.kind === "allow" ? classification.reason : result.reason;
  const isAudited = result.kind === "allow_with_audit";
  return {
    cmd,
    decision: isAudited ? "allow" : result.kind,
    class: classification.class,
    dangerousCommandClass,
    tier,
    reason,
    commands,
    ...(isAudited && { audit: true }),
  };
}
