/** `tau sessions share`: a page without secrets, in a file or at an address of the gateway. */
import { resolve } from "node:path";
import { Shares } from "@tau/gateway";
import { exportHtml, findTarget, leaveOut, writeTarget } from "@tau/harness/export";
import { createSessionRedactor } from "@tau/harness/host";
import { type ExportPart, exportParts } from "@tau/protocol";
import { createShareLink, formatShare, linksAreOff } from "../gateway/share-link.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";
import { jsonLine } from "../modes/json-line.ts";
import { confirm } from "../process/ask.ts";
import { UsageError } from "../process/errors.ts";
import { cleanLine, tableText } from "../process/table.ts";
import { openAccess } from "./access.ts";
import type { Io } from "./command.ts";
import { type CommandContext, findSessionFile, openCommandContext, readSession } from "./command-context.ts";
import { formatProblems } from "./format-problems.ts";
import type { CommandArgs } from "./usage.ts";

export async function shareSession(args: CommandArgs, io: Io): Promise<void> {
  const shares = new Shares({ agentDir: getAgentDir(io) });
  const revoked = args.value("revoke");
  if (revoked !== undefined) return await revoke(shares, revoked, io);
  if (args.has("list")) return await list(shares, args, io);
  const parts = parseParts(args.value("without"));
  const context = await openCommandContext(io);
  if (args.has("link") && !context.settings.get().gateway.shares) throw new UsageError("not_found", linksAreOff);
  const path = await findSessionFile(context, args.positionals[0], io);
  const page = await createPage(path, parts, context, io);
  if (args.has("link")) {
    const share = await createShareLink(page, io);
    io.out(args.has("json") ? jsonLine(share) : `${share.address}\n`);
    return io.err(`${formatShare(share)}\n`);
  }
  const output = args.value("output") ?? `tau-share-${page.sessionId}.html`;
  if (output === "-") return io.out(page.html);
  const target = await findTarget(resolve(io.cwd, output), path);
  if (target.kind === "file") {
    const declined = `${target.path} was not replaced.`;
    await confirm(io, `${target.path} exists already. Replace it?`, { yes: args.has("yes"), declined });
  }
  await writeTarget(target, page.html, io.signal);
  io.err(`Wrote ${target.path}, without keys and what looks like one. Look at it before you send it.\n`);
}

function parseParts(names: string | undefined): ExportPart[] {
  if (names === undefined) return [];
  return names.split(",").map((name) => {
    const part = exportParts.find((each) => each === name.trim());
    if (part) return part;
    throw new UsageError("arguments", `${JSON.stringify(name)} cannot be left out, only ${exportParts.join(", ")}.`);
  });
}

async function createPage(path: string, parts: readonly ExportPart[], context: CommandContext, io: Io) {
  const { source, problems } = await readSession(path, context, async (session) => ({
    source: await session.exportSource(),
    problems: session.problems,
  }));
  io.err(formatProblems(problems));
  const { auth, registry, settings, close } = await openAccess(io);
  const keys = { authStorage: auth, modelRegistry: registry, settings: settings.get() };
  const shown = createSessionRedactor(keys, io.env).redact(leaveOut(source, parts)) as typeof source;
  await close();
  const sessionId = shown.header.id;
  return { sessionId, title: shown.name ?? sessionId, html: await exportHtml(shown) };
}

async function list(shares: Shares, args: CommandArgs, io: Io): Promise<void> {
  const all = await shares.list();
  if (args.has("json")) return io.out(all.map((share) => jsonLine(share)).join(""));
  if (all.length === 0) return io.out("Nothing is shared.\n");
  const columns = ["SHARE", "UNTIL", "SESSION"].map((title) => ({ title }));
  const rows = all.map(({ id, expiresAt, sessionId, title }) => [
    id,
    new Date(expiresAt).toISOString(),
    sessionId,
    cleanLine(title),
  ]);
  io.out(tableText([...columns, { title: "TITLE", shrinks: true }], rows, io));
}

async function revoke(shares: Shares, id: string, io: Io): Promise<void> {
  if (!(await shares.revoke(id))) {
    throw new UsageError(
      "arguments",
      `Nothing is shared as ${JSON.stringify(id)}. tau sessions share --list shows what is.`,
    );
  }
  io.out(`${id} is not shared any more.\n`);
}
