import type { SessionManager } from "@tau/harness";
import type { SessionEntry } from "@tau/harness/session";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonLine } from "../json-line.ts";
import { cleanLine, cutTo, tableText, terminalWidth } from "../table.ts";
import { describeEntry } from "./describe-entry.ts";
import type { Given } from "./forms.ts";
import { openCommandContext, readSession, sessionFile, tellProblems } from "./command-context.ts";

export async function showSession(given: Given, io: Io): Promise<ExitCode> {
  const context = await openCommandContext(io);
  const path = await sessionFile(context, given.places[0], io);
  return await readSession(path, context, async (session) => {
    const branch = await session.getBranch();
    if (given.has("json")) {
      const { header, name, leafId } = await session.exportSource();
      io.out(jsonLine({ path, header, name, leafId, problems: session.problems, entries: branch }));
      return exitCodes.done;
    }
    tellProblems(context, io);
    io.out(await facts(session, path, io));
    io.out(`\n${branchTable(branch, io)}`);
    return exitCodes.done;
  });
}

async function facts(session: SessionManager, path: string, io: Io): Promise<string> {
  const { parentId, branchPoint, problems } = session;
  const { model, thinkingLevel } = await session.buildContext();
  const known: [string, string | undefined][] = [
    ["session", session.id],
    ["name", await session.getSessionName()],
    ["file", path],
    ["directory", session.getCwd() || undefined],
    ["begun", new Date(session.createdAt).toISOString()],
    ["last used", new Date(session.lastActiveAt).toISOString()],
    ["model", model ? `${model.provider}/${model.modelId}, thinking ${thinkingLevel}` : undefined],
    ["came from", parentId === null ? undefined : `${parentId}${branchPoint === null ? "" : ` at ${branchPoint}`}`],
    ["entries", String(session.getEntryCount())],
    ["damage", problems.length === 0 ? undefined : `${problems[0]!.message} See tau sessions repair.`],
  ];
  const lines = known.flatMap(([title, text]) => (text === undefined ? [] : `${title.padEnd(10)} ${cleanLine(text)}`));
  return `${lines.map((line) => cutTo(line, terminalWidth(io))).join("\n")}\n`;
}

function branchTable(branch: readonly SessionEntry[], io: Io): string {
  const columns = [{ title: "ENTRY" }, { title: "WHO" }, { title: "WHAT", gives: true as const }];
  const rows = branch.flatMap((entry) => {
    const { who, text, isShown } = describeEntry(entry);
    return isShown ? [[entry.id, who, cutTo(cleanLine(text), 200)]] : [];
  });
  return tableText(columns, rows, io);
}
