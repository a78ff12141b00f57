/** Commands that write a session to a file, or read one from a file. */
import { homedir } from "node:os";
import { extname, resolve } from "node:path";
import { expandHome } from "../../agent-dir.ts";
import type { AgentSession } from "../../agent-session/agent-session.ts";
import { exportHtml } from "../../export/html.ts";
import { importIntoStorage, importSessionFile } from "../../export/import-file.ts";
import { exportJsonl } from "../../export/jsonl.ts";
import { writeFileTarget } from "../../export/write-target.ts";
import { HarnessError } from "../../errors.ts";
import { flag, nonEmptyText, optional, text } from "../../fields/kinds.ts";
import { SessionManager } from "../../session/session-manager.ts";
import { createBugReport } from "../bug-report.ts";
import { readRedacted } from "../redact-session.ts";
import { command, getLookup, type SomeCommands } from "./command.ts";

const outputFields = { outputPath: optional(nonEmptyText), redact: optional(flag) };

export const fileCommands = {
  export_html: command(outputFields, async ({ session }, { outputPath, redact }) => {
    return await write(session, { outputPath, extension: "html", text: await exportHtml(await read(session, redact)) });
  }),
  export_jsonl: command(outputFields, async ({ session }, { outputPath, redact }) => {
    return await write(session, { outputPath, extension: "jsonl", text: exportJsonl(await read(session, redact)) });
  }),
  write_bug_report: command(
    { description: optional(text), version: optional(text), outputPath: optional(nonEmptyText) },
    async ({ session }, { outputPath, ...about }) => {
      const report = await createBugReport(session, about);
      return await write(session, { outputPath, extension: "bug.json", text: report });
    },
  ),
  import_session: command({ path: nonEmptyText }, async (context, { path: source }) => {
    const { host, session } = context;
    const file = resolvePath(session, source);
    const { durability } = session.settings;
    const options = { agentDir: host.agentDir, durability };
    const { customStorage: storage } = session.sessionManager;
    const imported = await session.namedFiles.use({ capability: "read", path: file, by: "import" }, async (files) =>
      storage
        ? { path: undefined, ...(await importIntoStorage(file, { cwd: session.cwd, storage }, files)) }
        : await importSessionFile(file, getLookup(context), files),
    );
    if (imported.kind === "denied") throw new HarnessError("denied", imported.reason);
    const { id, path, problems } = imported.value;
    const manager = storage
      ? await SessionManager.openStored(id, { ...options, storage })
      : await SessionManager.open(path!, options);
    const sessionId = await host.openLike(session.sessionId, manager);
    for (const { message } of problems) host.get(sessionId).session.notify("import", message);
    return { sessionId, cancelled: false };
  }),
} satisfies SomeCommands;

const read = (session: AgentSession, redact = false) =>
  redact ? readRedacted(session) : session.sessionManager.exportSource();

/** People type `~` here, and no shell has read it. */
const resolvePath = (session: AgentSession, path: string): string => resolve(session.cwd, expandHome(path, homedir()));

interface Output {
  outputPath: string | undefined;
  /** Of the file that is written if there is no `outputPath`. */
  extension: string;
  text: string;
}

async function write(session: AgentSession, { outputPath, extension, text: content }: Output) {
  const name = `tau-session-${session.sessionId}.${extension}`;
  const path = resolvePath(session, outputPath ?? name);
  const written = await session.namedFiles.use({ capability: "write", path, by: "export" }, async (files) => {
    // Refuses what may not be written.
    await files.realPath(path, "write");
    await writeFileTarget(path, content, {
      log: session.sessionFile,
      extension: extname(name),
      followsLinks: outputPath !== undefined,
    });
  });
  if (written.kind === "denied") throw new HarnessError("denied", written.reason);
  return { path };
}
