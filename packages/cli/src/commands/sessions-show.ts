import type { SessionManager } from "@tau/harness";
import type { SessionEntry } from "@tau/protocol";
import { describeEntry } from "@tau/protocol/surface";
import type { Io } from "./command.ts";
import { jsonLine } from "../modes/json-line.ts";
import { cleanLine, cutTo, tableText, terminalWidth } from "../process/table.ts";
import { findSessionFile, openCommandContext, readSession, reportSettingsProblems } from "./command-context.ts";
import type { CommandArgs } from "./usage.ts";

export async function show(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io);
  const path = await findSessionFile(context, args.positionals[0], io);
  await readSession(path, context, async (session) => {
    const branch = await session.getBranch();
    if (args.has("json")) {
      const { header, name, leafId } = await session.exportSource();
      return io.out(jsonLine({ path, header, name, leafId, problems: session.problems, entries: branch }));
    }
    reportSettingsProblems(context, io);
    io.out(`${await formatFacts(session, path, io)}\n${branchTable(branch, io)}`);
  });
}

async function formatFacts(session: SessionManager, path: string, io: Io): Promise<string> {
  const { parentId, branchPoint, problems } = session;
  const { model, thinkingLevel } = await session.getChoices();
  const facts: [string, string | undefined][] = [
    ["session", session.id],
    ["name", await session.getSessionName()],
    ["file", path],
    ["directory", session.getCwd() || undefined],
    ["started", new Date(session.createdAt).toISOString()],
    ["last used", new Date(session.lastActiveAt).toISOString()],
    ["model", model ? `${model.provider}/${model.modelId}, thinking ${thinkingLevel}` : undefined],
    ["came from", parentId === null ? undefined : `${parentId}${branchPoint === null ? "" : ` at ${branchPoint}`}`],
    ["entries", String(session.getEntryCount())],
    ["damage", problems.length === 0 ? undefined : `${problems[0]!.message} See tau sessions repair.`],
  ];
  const lines = facts.flatMap(([title, text]) => (text === undefined ? [] : `${title.padEnd(10)} ${cleanLine(text)}`));
  return `${lines.map((line) => cutTo(line, terminalWidth(io))).join("\n")}\n`;
}

function branchTable(branch: readonly SessionEntry[], io: Io): string {
  const rows = branch.flatMap((entry) => {
    const description = describeEntry(entry);
    return description ? [[entry.id, description.author, cutTo(cleanLine(description.text), 200)]] : [];
  });
  return tableText([{ title: "ENTRY" }, { title: "AUTHOR" }, { title: "CONTENT", shrinks: true }], rows, io);
}
