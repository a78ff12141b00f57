/** Opens the interactive terminal over a host in this process. */
import { getErrorMessage } from "@tau/ai/internal";
import { hasPackages } from "@tau/config/settings";
import type { SessionManager } from "@tau/harness";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import { Hosts } from "../hosting/hosts.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";
import { describeOtherAgents } from "../terminal/other-agents.ts";
import type { PackageNewsOptions } from "../terminal/package-news.ts";
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
    onShown: (notify: (message: string) => void) => {
      if (hasPackages(settingsManager))
        void reportPackageNews({ cwd, agentDir: getAgentDir(io), settings: settingsManager }, notify);
      return () => {};
    },
    describeEnd: (sessionId: string) => describeResume(hosts, sessionId),
    close: () => hosts.dispose(),
  };
  return await runTerminal(shown, options, io);
}

async function reportPackageNews(options: PackageNewsOptions, notify: (message: string) => void): Promise<void> {
  try {
    const { describePackageNews } = await import("../terminal/package-news.ts");
    for (const notice of await describePackageNews(options)) notify(notice);
  } catch (error) {
    notify(getErrorMessage(error));
  }
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
