import { arch, platform, release } from "node:os";
import type { AgentSession } from "../agent-session/agent-session.ts";
import { hideKeys } from "@tau/config/internal";
import { formatFileProblem } from "@tau/config/settings";
import { toModelData, toStatsData } from "./data.ts";
import { createSessionRedactor } from "./redact-session.ts";

/** The last entries of the branch; what went wrong is at its end. */
const maxEntries = 50;

/** Collects what is needed to look into a problem, as JSON without secrets. `version` is that of the program. */
export async function createBugReport(
  session: AgentSession,
  { description, version }: { description?: string; version?: string },
): Promise<string> {
  const { model, settings, settingsManager, modelRegistry, sessionManager } = session;
  const report = {
    description,
    version,
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    model: model && toModelData(model),
    settings: hideKeys(settings),
    problems: [...settingsManager.problems, ...modelRegistry.problems].map(formatFileProblem),
    notices: session.notices,
    stats: await toStatsData(session),
    entries: (await sessionManager.getBranchPage({ limit: maxEntries })).entries,
  };
  return `${JSON.stringify(createSessionRedactor(session).redact(report), undefined, 2)}\n`;
}
