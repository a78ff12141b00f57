/** Commands about the tree of a session, and about other sessions. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { closeAfter, withoutUndefined } from "@tau/ai/internal";
import { type CommandParams, HarnessError, type SearchParams, usageGroups } from "@tau/protocol";
import { unlessMissing } from "@tau/tools/platform";
import type { AgentSession } from "../../agent-session/agent-session.ts";
import { decimal, flag, nonEmptyText, nullable, oneOf, optional, text, wholeNumber } from "@tau/config/fields";
import { mustBeInSessionDirectory } from "../../session/find-session.ts";
import { filterSessions } from "../../session/filter-sessions.ts";
import { readOnlyError } from "../../session/read-only.ts";
import { sessionDirectory } from "../../session/session-directory.ts";
import { SessionManager } from "../../session/session-manager.ts";
import { restoreSession } from "../../session/trash.ts";
import { getUserText, toSearchData, toSessionSummary } from "../data.ts";
import { unknownEntry } from "../errors.ts";
import { isCancelled } from "../extension-host.ts";
import {
  command,
  type CommandContext,
  type CommandOptions,
  getLookup,
  type SomeCommands,
  longCommand,
} from "./command.ts";
import { findNamed, getStoredSessions } from "./named-session.ts";

/** Fields of the commands that list sessions. */
export const listFields = {
  query: optional(text),
  all: optional(flag),
  named: optional(flag),
  children: optional(flag),
  sort: optional(oneOf("modified", "created", "name")),
  cursor: optional(nonEmptyText),
  limit: optional(wholeNumber({ min: 1, unit: "sessions" })),
};

/** Fields of the commands that search sessions. */
export const searchFields = {
  text,
  since: optional(text),
  until: optional(text),
  model: optional(nonEmptyText),
  minCost: optional(decimal({ min: 0, unit: "US dollars" })),
  maxCost: optional(decimal({ min: 0, unit: "US dollars" })),
  limit: optional(wholeNumber({ min: 1, unit: "hits" })),
};

/** Fields of the commands that report what was used. */
export const usageReportFields = {
  by: optional(oneOf(...usageGroups)),
  since: optional(nonEmptyText),
  until: optional(nonEmptyText),
};

export const sessionCommands = {
  navigate: longCommand(
    {
      entryId: nullable(nonEmptyText),
      summarise: optional(flag),
      instructions: optional(text),
      label: optional(nonEmptyText),
    },
    async ({ session }, { entryId, ...options }) => {
      await session.navigate(entryId, options);
      return { leafId: session.sessionManager.getLeafId() };
    },
  ),
  set_label: command(
    { entryId: nonEmptyText, label: optional(nonEmptyText) },
    async ({ session }, { entryId, label }) => {
      await session.sessionManager.appendLabelChange(entryId, label);
    },
  ),
  branch: command({ entryId: nonEmptyText }, async ({ host, session }, { entryId }) => {
    if (!(await session.sessionManager.getEntry(entryId))) throw unknownEntry(entryId);
    if (await isCancelled(session, { type: "session_before_fork", entryId, position: "at" })) return stay(session);
    return { sessionId: await host.fork(session.sessionId, entryId), cancelled: false };
  }),
  fork: command({ entryId: nonEmptyText }, async (context, { entryId }) => {
    const { sessionManager } = context.session;
    const entry = await sessionManager.getEntry(entryId);
    if (!entry) throw unknownEntry(entryId);
    const userText = getUserText(entry);
    if (userText === undefined) {
      throw new HarnessError("invalid_input", `The entry ${entryId} is not a user message: choose one to fork before.`);
    }
    const event = { type: "session_before_fork", entryId, position: "before" } as const;
    if (await isCancelled(context.session, event)) return { text: userText, ...stay(context.session) };
    return { text: userText, sessionId: await openBefore(context, entry.parentId), cancelled: false };
  }),
  clone: command({}, async (context) => {
    const leafId = context.session.sessionManager.getLeafId();
    if (leafId === null) throw new HarnessError("invalid_input", "The session is empty: there is nothing to clone.");
    const event = { type: "session_before_fork", entryId: leafId, position: "at" } as const;
    if (await isCancelled(context.session, event)) return stay(context.session);
    return { sessionId: await openBefore(context, leafId), cancelled: false };
  }),
  new_session: command(
    { parentSession: optional(nonEmptyText), agent: optional(nonEmptyText) },
    async (context, { parentSession, agent }) => {
      const { session } = context;
      if (await isCancelled(session, { type: "session_before_switch", reason: "new" })) return stay(session);
      const manager = await session.sessionManager.createSession({
        ...(parentSession !== undefined && { parentSession: resolve(session.cwd, parentSession) }),
        ...(agent !== undefined && { agentName: agent }),
      });
      await setUp(manager, context.options.setup);
      return { sessionId: await openWithChoices(context, manager), cancelled: false };
    },
  ),
  switch_session: command({ sessionPath: nonEmptyText }, (context, { sessionPath }) =>
    switchSession(context, sessionPath),
  ),
  set_session_name: command({ name: nonEmptyText }, async ({ session }, { name }) => {
    await session.sessionManager.appendSessionInfo(name.trim());
  }),
  list_sessions: command(listFields, listSessions),
  search_sessions: longCommand({ ...searchFields, all: optional(flag) }, searchMessages),
  get_usage_report: longCommand(usageReportFields, reportUsed),
  rename_session: command({ session: nonEmptyText, name: nonEmptyText }, async (context, { session, name }) => {
    const named = await findNamed(context, session);
    const open = await named.findOpen();
    if (open) return void (await open.session.sessionManager.appendSessionInfo(name.trim()));
    await named.mustBeOwn();
    const manager = await named.open({ agentDir: context.host.agentDir });
    await closeAfter(manager, () => manager.appendSessionInfo(name.trim()));
  }),
  delete_session: command({ session: nonEmptyText }, async (context, { session }) => {
    const named = await findNamed(context, session);
    const open = await named.findOpen();
    if (open === context.hosted) {
      throw new HarnessError("busy", "The session is open here. Switch to another one before you delete it.");
    }
    if (open)
      throw new HarnessError("busy", "The session is open for another client. Close it there before you delete it.");
    await named.mustBeOwn();
    const { id } = await named.delete();
    return { id };
  }),
  restore_session: command({ session: nonEmptyText }, async (context, { session }) => {
    const stored = getStoredSessions(context.session);
    return stored ? await stored.restore(session) : await restoreSession(session, getLookup(context));
  }),
} satisfies SomeCommands;

const maxListed = 100;

async function listSessions(
  { host, session }: CommandContext,
  {
    query = "",
    all = false,
    named = false,
    children = true,
    sort = "modified",
    cursor,
    limit = maxListed,
  }: CommandParams<"list_sessions">,
) {
  const { agentDir } = host;
  const stored = getStoredSessions(session);
  const directory = session.sessionManager.getSessionDir();
  const pageSize = Math.min(limit, maxListed);
  const isPlain = !stored && query.trim() === "" && !named && sort === "modified" && (all || directory !== undefined);
  const recent = isPlain
    ? await SessionManager.listLastUsed({
        agentDir,
        limit: pageSize,
        children,
        ...(!all && directory !== undefined && { sessionDir: directory }),
        ...(cursor !== undefined && { after: cursor }),
      })
    : undefined;
  if (recent) return { sessions: recent.map(toSessionSummary), cursor: recent.at(-1)!.id };
  const sessions = stored
    ? (await stored.list()).filter(({ cwd }) => all || cwd === "" || cwd === session.cwd)
    : all
      ? await SessionManager.listAll({ agentDir })
      : await SessionManager.list(session.cwd, directory, { agentDir });
  const matching = filterSessions(sessions, { query, named, children, sort });
  const start = cursor === undefined ? 0 : matching.findIndex(({ id }) => id === cursor) + 1;
  if (cursor !== undefined && start === 0) {
    const text = `The list cannot be continued after ${JSON.stringify(cursor)}: that session is not in it any more. List from the beginning.`;
    throw new HarnessError("invalid_input", text);
  }
  const page = matching.slice(start, start + pageSize);
  const last = page.at(-1);
  // Not before: of ten thousand sessions, the dates alone would take half of the time.
  return {
    sessions: page.map(toSessionSummary),
    ...(last && start + page.length < matching.length && { cursor: last.id }),
  };
}

async function searchMessages(
  { host, session }: CommandContext,
  { all = false, ...params }: CommandParams<"search_sessions">,
) {
  const { agentDir } = host;
  const { cwd, sessionManager: manager } = session;
  const directory = manager.getSessionDir();
  if (manager.customStorage && directory === undefined)
    throw new HarnessError("unavailable", "Only sessions in files can be searched, and these are in another storage.");
  const { listSessionDirectories, searchSessions } = await import("../../search/index.ts");
  const directories = all
    ? await listSessionDirectories(agentDir, directory)
    : [directory ?? sessionDirectory(cwd, agentDir)];
  return toSearchData(await searchSessions(directories, { ...toSearchOptions(params), ...(!all && { cwd }) }));
}

async function reportUsed({ host, session }: CommandContext, params: CommandParams<"get_usage_report">) {
  const { agentDir } = host;
  const { settings, sessionManager: manager } = session;
  if (session.isTenant)
    throw new HarnessError("denied", 'A session with isolation "tenant" does not see what other sessions have used.');
  const sessionDir = manager.getSessionDir();
  const storage = sessionDir === undefined ? manager.customStorage : undefined;
  const { reportUsage } = await import("../../usage/report-usage.ts");
  const { day, month } = settings.budgets;
  const limits = { day: day.cost, month: month.cost };
  return await reportUsage({ agentDir, limits, ...params, ...withoutUndefined({ sessionDir, storage }) });
}

/** Checks the times of a search, which arrive as texts. */
export function toSearchOptions({ since, until, limit = 20, ...params }: SearchParams) {
  const [sinceMs, untilMs] = [since, until].map((time) => (time === undefined ? undefined : Date.parse(time)));
  if (Number.isNaN(sinceMs) || Number.isNaN(untilMs))
    throw new HarnessError("invalid_input", "`since` and `until` are times in ISO 8601, such as 2026-11-19T14:00:00Z.");
  return { ...params, ...withoutUndefined({ sinceMs, untilMs }), limit: Math.min(limit, maxListed) };
}

/** A new session with the branch up to an entry; before the first entry it is empty. */
async function openBefore(context: CommandContext, parentId: string | null): Promise<string> {
  const { host, session } = context;
  if (parentId !== null) {
    const sessionId = await host.fork(session.sessionId, parentId);
    await keepChoices(host.get(sessionId).session, context);
    return sessionId;
  }
  const { sessionManager: manager, sessionFile } = session;
  const origin = { parentId: manager.id, ...(sessionFile !== undefined && { parentSession: sessionFile }) };
  return await openWithChoices(context, await manager.createSession(origin));
}

async function setUp(manager: SessionManager, setup: CommandOptions["setup"]): Promise<void> {
  if (!setup) return;
  try {
    await setup(manager);
    // Extensions of pi do not wait for what they append: there it is written at once.
    await manager.flush();
  } catch (error) {
    await manager.close();
    throw error;
  }
}

async function openWithChoices(context: CommandContext, manager: SessionManager): Promise<string> {
  const { host, session } = context;
  const sessionId = await host.openLike(session.sessionId, manager, "new");
  await keepChoices(host.get(sessionId).session, context);
  return sessionId;
}

/** A session that continues from another one keeps its model, thinking level and permission mode. */
async function keepChoices(next: AgentSession, { session: before, options }: CommandContext): Promise<void> {
  const { model, thinkingLevel } = before;
  const { mode, afterPlan = mode } = before.permissions;
  for (const each of afterPlan === mode ? [mode] : [afterPlan, mode]) {
    // A client without the right to choose `free` must not get another session in it.
    const mayKeep = each !== "free" || options.scopes?.includes("admin") !== false;
    if (mayKeep && next.permissions.mode !== each && next.permissions.choices.includes(each))
      await next.setPermissionMode(each);
  }
  if (!model) return;
  if (next.model?.id !== model.id || next.model.provider !== model.provider) await next.setModel(model);
  if (next.thinkingLevel !== thinkingLevel) await next.setThinkingLevel(thinkingLevel);
}

async function switchSession(context: CommandContext, reference: string) {
  const { host, hosted, session } = context;
  const newPath = await findNewPath(context, reference);
  if (newPath !== undefined) return await beginSession(context, newPath);
  const named = await findNamed(context, reference);
  const open = await named.findOpen();
  if (open === hosted) return { ...stay(session), cancelled: false };
  const target = withoutUndefined({ targetSessionFile: named.file });
  const event = { type: "session_before_switch", reason: "resume", ...target } as const;
  if (await isCancelled(session, event)) return stay(session);
  const shown = open && { sessionId: open.session.sessionId, cancelled: false };
  if (shown && open.session.readOnly?.reason !== "held") return shown;
  const manager = await named.open({ agentDir: host.agentDir, durability: session.settings.durability });
  const { readOnly } = manager;
  if (readOnly?.reason === "held") {
    await manager.close();
    if (shown) return shown;
    throw readOnlyError(named.name, readOnly);
  }
  // The other process has let it go, and what is open here cannot be written.
  if (shown) await host.close(shown.sessionId, { reason: "resume" });
  return { sessionId: await host.openLike(session.sessionId, manager), cancelled: false };
}

/** The path of a session file that does not exist yet. Undefined for one that does, for ids, and where sessions are in a storage. */
async function findNewPath({ session }: CommandContext, reference: string): Promise<string | undefined> {
  if (!reference.endsWith(".jsonl") || getStoredSessions(session)) return undefined;
  const path = resolve(session.cwd, reference);
  return (await unlessMissing(stat(path))) === undefined ? path : undefined;
}

async function beginSession(context: CommandContext, path: string) {
  const { host, session, options } = context;
  // A client with less than all rights must not choose where files are written.
  if (options.scopes !== undefined && !options.scopes.includes("admin"))
    await mustBeInSessionDirectory(path, getLookup(context));
  const event = { type: "session_before_switch", reason: "resume", targetSessionFile: path } as const;
  if (await isCancelled(session, event)) return stay(session);
  const { durability } = session.settings;
  const manager = await SessionManager.createFile(path, { agentDir: host.agentDir, durability, cwd: session.cwd });
  return { sessionId: await openWithChoices(context, manager), cancelled: false };
}

/** The answer where an extension does not want the session to be left. */
const stay = ({ sessionId }: AgentSession) => ({ sessionId, cancelled: true });
