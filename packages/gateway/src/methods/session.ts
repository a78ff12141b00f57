/** The commands of a session as methods. The host checks their parameters. */
import { resolve } from "node:path";
import { createSessionFrameRedactor, getStoredSessions, parseParams } from "@tau/harness/host";
import {
  findSession,
  idInFileName,
  mustBeInSessionDirectory,
  type MovedSession,
  type SessionLookup,
  trashSession,
} from "@tau/harness/session";
import { SessionManager } from "@tau/harness";
import type { Command, CommandData, CommandName, CommandParams } from "@tau/protocol";
import { maxBufferedBytes } from "../client.ts";
import { encodeFrame } from "../encoded-frame.ts";
import { GatewayError } from "../errors.ts";
import { acceptCommand, isMessageCommand } from "../inbox/accept-command.ts";
import { holdPlace } from "../lanes/hold-place.ts";
import type { GatewayParts } from "../parts.ts";
import { type MethodRoute, namingCommands } from "../port/method-route.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import { hideTokens } from "./hide-tokens.ts";
import { atSession, type MethodContext } from "./method.ts";

type Fields = Record<string, unknown>;

/** Done before a command, where other sessions of the gateway are concerned. What it answers with takes the command's place. */
type Before<Name extends CommandName> = (
  context: MethodContext,
  open: OpenSession,
  params: CommandParams<Name>,
) => Promise<unknown>;

const before: { readonly [Name in CommandName]?: Before<Name> } = {
  // A client that goes to another session leaves nothing: both stay open for others.
  switch_session: async ({ parts, client }, open, { sessionPath }) => {
    const { sessionId } = await findNamed(open, sessionPath);
    await parts.sessions.open(sessionId, client.deviceId);
    return { sessionId, cancelled: false };
  },
  rename_session: async ({ parts }, open, { session, name }) => {
    const other = await findOther(parts, open, session);
    if (!other) return undefined;
    await other.hosted.session.sessionManager.appendSessionInfo(name.trim());
    return null;
  },
  // A gateway shows no session, so it can delete each of them, also the one that the command is for.
  delete_session: async ({ parts }, open, { session }) => {
    const { sessionId, path, remove } = await findNamed(open, session);
    if (parts.sessions.find(sessionId)?.hosted.session.hasWork) {
      throw new GatewayError("busy", `The session ${sessionId} is running. Abort it before you delete it.`);
    }
    await parts.sessions.close(sessionId, "deleted");
    const { id } = await remove();
    markMoved(parts, sessionId, path);
    return { id };
  },
};

async function runBefore<Name extends CommandName>(
  context: MethodContext,
  open: OpenSession,
  { name, fields }: { name: Name; fields: Fields },
): Promise<unknown> {
  return await before[name]?.(context, open, parseParams(name, fields, { isClosed: true }));
}

const showsSettings: readonly CommandName[] = ["get_settings", "list_settings"];
/** Commands that open a session besides the one that they are for. */
const opensSession: readonly CommandName[] = ["new_session", "fork", "branch", "clone", "import_session"];

/** Says which node of a cluster runs a command: the one that runs its session, or the session that it names. */
export function getCommandRoute(name: CommandName): MethodRoute {
  const naming = namingCommands.find((command) => command === name);
  return naming === undefined ? atSession : { kind: "named_session", method: `session.${naming}` };
}

export async function runCommand(
  context: MethodContext,
  name: CommandName,
  { sessionId, ...fields }: Fields,
): Promise<unknown> {
  const { parts, client } = context;
  if (typeof sessionId !== "string") throw new GatewayError("invalid_parameters", "sessionId is missing.");
  if (isMessageCommand(name)) return await acceptCommand(context, name, { ...fields, sessionId });
  if (name === "restore_session") {
    const { session } = parseParams(name, fields, { isClosed: true });
    // It is deleted, and cannot be opened.
    if (session === sessionId) return await restoreItself(parts, sessionId);
  }
  return await parts.sessions.use(sessionId, client.deviceId, async (open) => {
    const answer = await runBefore(context, open, { name, fields });
    if (answer !== undefined) return answer;
    const output = name === "bash" ? createOutput(context, open) : undefined;
    // Nobody else would resume the run if this client went away.
    const defaults = name === "approve" ? { resume: true } : {};
    const execute = () =>
      open.host.execute(sessionId, { ...defaults, ...fields, type: name } as Command, {
        isClosed: true,
        scopes: [...client.scopes],
        onInitialize: (abilities) => {
          client.setAbilities(abilities);
          parts.subscriptions.onAbilities(client);
        },
        ...(output && { onOutput: output.take }),
      });
    // A session that is busy refuses it at once.
    const beginsRun = name === "execute" && !open.hosted.session.isStreaming;
    const run = () => {
      if (beginsRun) return holdPlace(parts, { session: open.hosted.session, owner: client.deviceId }, execute);
      if (!opensSession.includes(name)) return execute();
      return parts.sessions.holdOpened(client.deviceId, async () => {
        const opened = (await execute()) as { sessionId: string };
        await keepBegun(parts, opened);
        return opened;
      });
    };
    const data: unknown = await run();
    if (name === "restore_session") {
      const { id, path } = data as CommandData<"restore_session">;
      markMoved(parts, id, path);
    }
    output?.end();
    // It may bring the first extensions.
    if (name === "reload") open.dialogs.attach();
    if (data === undefined) return null;
    const { gateway } = open.hosted.session.settings;
    return open.redact(showsSettings.includes(name) ? hideTokens(data, gateway) : data);
  });
}

/** Sends the output of a command, without keys, as long as the client keeps up. What may become a key is held back. */
function createOutput({ client, requestId }: MethodContext, { hosted: { session } }: OpenSession) {
  const redactor = createSessionFrameRedactor(session);
  const { sessionId } = session;
  const send = (event: { type: string; content?: string }) => {
    for (const { content: delta } of redactor.redactEvent({ toolCallId: requestId, updateType: "stdout", ...event })) {
      if (delta === undefined || client.bufferedBytes > maxBufferedBytes) continue;
      const payload = { sessionId, id: requestId, delta };
      client.send(encodeFrame({ type: "event", event: "session.bash.output", payload }));
    }
  };
  return {
    take: (text: string) => send({ type: "tool_execution_update", content: text }),
    end: () => send({ type: "tool_execution_end" }),
  };
}

const getLookup = ({ host, hosted: { session } }: OpenSession): SessionLookup => ({
  cwd: session.cwd,
  agentDir: host.agentDir,
  directory: session.sessionManager.getSessionDir(),
});

interface NamedSession {
  sessionId: string;
  path: string;
  /** Moves it to the trash. */
  remove(): Promise<MovedSession>;
}

/** The session that a client names. A path has to be in a session directory: other files are none of its business. */
async function findNamed(open: OpenSession, reference: string): Promise<NamedSession> {
  const stored = getStoredSessions(open.hosted.session);
  if (stored) {
    const { id, path } = await stored.find(reference);
    return { sessionId: id, path, remove: () => stored.delete(id) };
  }
  const lookup = getLookup(open);
  // Before anything is looked at: otherwise the answers would reveal which files there are.
  if (/[/\\]/.test(reference)) await mustBeInSessionDirectory(resolve(lookup.cwd, reference), lookup);
  const path = await findSession(reference, lookup);
  await mustBeInSessionDirectory(path, lookup);
  const info = await SessionManager.describe(path);
  return { sessionId: info?.id ?? idInFileName(path), path, remove: () => trashSession(path) };
}

/** The session that a client names, if it is open and not the one that it is named in. */
async function findOther({ sessions }: GatewayParts, open: OpenSession, reference: string) {
  const { sessionId } = await findNamed(open, reference);
  const other = sessions.find(sessionId);
  return other === open ? undefined : other;
}

async function restoreItself(parts: GatewayParts, sessionId: string) {
  const restored = await parts.sessionIndex.restore(sessionId);
  markMoved(parts, restored.id, restored.path);
  return restored;
}

/** A session was moved to the trash or out of it: lists show something else. */
function markMoved({ sessionIndex, sessionWatch }: GatewayParts, sessionId: string, path: string): void {
  sessionIndex.markChanged(path);
  sessionWatch.markChanged(sessionId);
}

/** A new session without entries has no file yet, so it would be in no list, and gone with the gateway. */
async function keepBegun({ sessions, cluster }: GatewayParts, { sessionId }: { sessionId: string }): Promise<void> {
  const begun = sessions.find(sessionId)?.hosted.session;
  if (!begun || begun.sessionManager.getEntryCount() > 0) return;
  await begun.persist();
  cluster?.catalogue.add(sessionId);
}
