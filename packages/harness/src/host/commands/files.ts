/** Commands that write a session to a file, or read one from a file. */
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { extname, join, resolve } from "node:path";
import { expandHome } from "@tau/config/internal";
import type { AgentSession } from "../../agent-session/agent-session.ts";
import { exportHtml } from "../../export/html.ts";
import { importIntoStorage, importSessionFile } from "../../export/import-file.ts";
import { exportJsonl } from "../../export/jsonl.ts";
import type { ExportedRequest, ExportSource } from "../../export/source.ts";
import { writeFileTarget } from "../../export/write-target.ts";
import { leaveOut as leavePartsOut } from "../../export/leave-out.ts";
import { type ExportPart, exportParts, HarnessError } from "@tau/protocol";
import { flag, list, nonEmptyText, oneOf, optional, text } from "@tau/config/fields";
import { SessionManager } from "../../session/session-manager.ts";
import { createBugReport } from "../bug-report.ts";
import { redactSource } from "../redact-session.ts";
import { command, getLookup, type SomeCommands } from "./command.ts";

const targetFields = { outputPath: optional(nonEmptyText), inExports: optional(flag) };
const outputFields = { ...targetFields, redact: optional(flag) };

export const fileCommands = {
  export_html: command(
    { ...outputFields, leaveOut: optional(list(oneOf(...exportParts))) },
    async (context, params) => {
      const { host, session } = context;
      const { redact, leaveOut = [], ...target } = params;
      const content = await exportHtml(await read(session, { redact, withRequest: leaveOut.length === 0, leaveOut }));
      return await write(session, { ...toOutput(host.agentDir, target), extension: "html", text: content });
    },
  ),
  export_jsonl: command(outputFields, async ({ host, session }, { redact, ...target }) => {
    const content = exportJsonl(await read(session, { redact }));
    return await write(session, { ...toOutput(host.agentDir, target), extension: "jsonl", text: content });
  }),
  write_bug_report: command(
    { ...targetFields, description: optional(text), version: optional(text) },
    async ({ host, session }, { outputPath, inExports, ...about }) => {
      const report = await createBugReport(session, about);
      const output = toOutput(host.agentDir, { outputPath, inExports });
      return await write(session, { ...output, extension: "bug.json", text: report });
    },
  ),
  import_session: command(
    { path: nonEmptyText, keepsDirectory: optional(flag) },
    async (context, { path: source, keepsDirectory = false }) => {
      const { host, session } = context;
      const file = resolvePath(session, source);
      const { durability } = session.settings;
      const options = { agentDir: host.agentDir, durability };
      const { customStorage: storage } = session.sessionManager;
      if (storage && keepsDirectory)
        throw new HarnessError("invalid_input", "Sessions of a storage are imported into the directory of this one.");
      const imported = await session.namedFiles.use({ capability: "read", path: file, by: "import" }, async (files) =>
        storage
          ? { path: undefined, ...(await importIntoStorage(file, { cwd: session.cwd, storage }, files)) }
          : await importSessionFile(file, getLookup(context), files, { keepsDirectory }),
      );
      if (imported.kind === "denied") throw new HarnessError("denied", imported.reason);
      const { value } = imported;
      if (value.path !== undefined && value.cwd !== resolve(session.cwd)) {
        for (const { message } of value.problems) session.notify("import", message);
        const elsewhere = { path: value.path, cwd: value.cwd };
        return { sessionId: session.sessionId, cancelled: false, elsewhere };
      }
      const manager = storage
        ? await SessionManager.openStored(value.id, { ...options, storage })
        : await SessionManager.open(value.path!, options);
      const sessionId = await host.openLike(session.sessionId, manager);
      for (const { message } of value.problems) host.get(sessionId).session.notify("import", message);
      return { sessionId, cancelled: false };
    },
  ),
} satisfies SomeCommands;

interface ReadOptions {
  redact?: boolean | undefined;
  withRequest?: boolean;
  leaveOut?: readonly ExportPart[];
}

async function read(
  session: AgentSession,
  { redact = false, withRequest = false, leaveOut = [] }: ReadOptions,
): Promise<ExportSource> {
  const log = leavePartsOut(await session.sessionManager.exportSource(), leaveOut);
  const source = withRequest ? { ...log, request: describeRequest(session) } : log;
  return redact ? redactSource(session, source) : source;
}

const describeRequest = ({ systemPrompt, tools }: AgentSession): ExportedRequest => ({
  systemPrompt,
  tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
});

/** People type `~` here, and no shell has read it. */
const resolvePath = (session: AgentSession, path: string): string => resolve(session.cwd, expandHome(path, homedir()));

/** `inExports`: a file without a name of its own is not put into the project, where it could be committed by accident. */
const toOutput = (
  agentDir: string,
  { outputPath, inExports = false }: { outputPath?: string | undefined; inExports?: boolean | undefined },
): Pick<Output, "outputPath" | "directory"> => ({
  outputPath,
  directory: inExports ? join(agentDir, "exports") : undefined,
});

interface Output {
  outputPath: string | undefined;
  /** Where the file is written if there is no `outputPath`. Undefined: the working directory. */
  directory: string | undefined;
  /** Extension of the file that is written if there is no `outputPath`. */
  extension: string;
  text: string;
}

async function write(session: AgentSession, { outputPath, directory, extension, text: content }: Output) {
  const name = `tau-session-${session.sessionId}.${extension}`;
  const put = async (path: string) => {
    await writeFileTarget(path, content, {
      log: session.sessionFile,
      extension: extname(name),
      followsLinks: outputPath !== undefined,
    });
    return { path };
  };
  // Nobody chose this path, so nobody's rights apply.
  if (outputPath === undefined && directory !== undefined) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return await put(join(directory, name));
  }
  const path = resolvePath(session, outputPath ?? name);
  const written = await session.namedFiles.use({ capability: "write", path, by: "export" }, async (files) => {
    // Refuses what may not be written.
    await files.realPath(path, "write");
    await put(path);
  });
  if (written.kind === "denied") throw new HarnessError("denied", written.reason);
  return { path };
}
