/** Schedules as the agent of a session adds them: with the rights of that session, and so many. */
import type { ScheduleData } from "@tau/protocol/gateway";
import { customTypes } from "@tau/protocol";
import type { ChannelStore } from "../channels/store.ts";
import { resolveAccountSettings } from "../channels/account-settings.ts";
import { GatewayError } from "../errors.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import type { GatewaySettings } from "../settings.ts";
import type { WrittenTime } from "./parse-time.ts";
import type { ScheduleRights } from "./schedule.ts";
import type { Schedules } from "./schedules.ts";

/** A schedule as an agent writes it. */
interface SessionDraft extends WrittenTime {
  readonly sessionId: string;
  readonly prompt: string;
  readonly name?: string | undefined;
  readonly timeZone?: string | undefined;
}

/** The port of the tool `schedule`. */
export interface SessionSchedules {
  readonly schedules: Schedules;
  add(draft: SessionDraft): Promise<ScheduleData>;
}

interface SessionScheduleParts {
  schedules: Schedules;
  sessions: Pick<OpenSessions, "find">;
  channelStore: ChannelStore;
  getSettings: () => GatewaySettings;
}

const maxPerSession = 10;

/** Throws `rate_limited` for a session with too many, and what `Schedules.add` throws. */
export async function addFromSession(
  { schedules, sessions, channelStore, getSettings }: SessionScheduleParts,
  { sessionId, ...draft }: SessionDraft,
): Promise<ScheduleData> {
  const session = sessions.find(sessionId)?.hosted.session;
  // A sub-agent's work is its parent's.
  if (!session || session.isChild)
    throw new GatewayError("forbidden", "Only the main agent of a session adds schedules.");
  if ((await schedules.count(sessionId)) >= maxPerSession) {
    const text = `This session has ${maxPerSession} schedules already. Remove one of them first.`;
    throw new GatewayError("rate_limited", text);
  }
  const { policyProfile, agentName } = session.sessionManager;
  const conversation = channelStore.table.getConversation(sessionId);
  const account = conversation && resolveAccountSettings(getSettings().channels[conversation.accountId]);
  const entries = await session.sessionManager.getEntries();
  const rights: ScheduleRights = {
    permissionMode: session.permissions.mode,
    ...(policyProfile !== undefined && { policy: policyProfile }),
    ...(account && { tools: account.tools }),
    isTainted: entries.some((entry) => entry.type === "custom" && entry.customType === customTypes.tainted),
  };
  return await schedules.add({
    ...draft,
    cwd: session.cwd,
    sessionId,
    rights,
    ...(agentName !== undefined && { agent: agentName }),
    ...(conversation && {
      conversation: { accountId: conversation.accountId, address: conversation.address, peer: conversation.peer },
    }),
  });
}
