/** Opens the interactive terminal over a host in this process. */
import type { SessionManager } from "@tau/harness";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import { Hosts } from "../hosting/hosts.ts";
import { describeOtherAgents } from "../terminal/other-agents.ts";
import { createProgram } from "../terminal/program.ts";
import { runTerminal } from "./run-terminal.ts";

export async function runInteractive(options: SessionOptions, io: Io): Promise<ExitCode> {
  const others = await describeOtherAgents(io);
  const hosts = new Hosts(options, io);
  const client = await hosts.open();
  const { settingsManager, cwd, sessionManager } = hosts.get(client.sessionId).session;
  const shown = {
    client,
    settingsManager,
    cwd,
    program: createProgram(io, hosts),
    notices: [...others, ...describeHolder(sessionManager)],
    describeEnd: (sessionId: string) => describeResume(hosts, sessionId),
    close: () => hosts.dispose(),
  };
  return await runTerminal(shown, options, io);
}

/** Said before the user writes something that would be refused. */
function describeHolder({ readOnly }: SessionManager): string[] {
  if (readOnly?.reason !== "held") return [];
  const use = "Close it there and open it again, or continue here with a copy: /clone.";
  const { name } = readOnly.holder;
  return [`${name[0]!.toUpperCase()}${name.slice(1)} has this session open, so that it can only be read here. ${use}`];
}

/** Empty for a session that is not stored, or that nothing was said in. */
function describeResume(hosts: Hosts, sessionId: string): string {
  const { sessionFile, messages } = hosts.get(sessionId).session;
  return sessionFile === undefined || messages.length === 0
    ? ""
    : `To continue this session: tau --session ${sessionId}\n`;
}
