/** Builds the parts of schedules in the order in which they need each other: some before sessions exist, and the rest after. */
import type { Clock, Ids } from "@tau/ai";
import type { Feature } from "@tau/extensions";
import type { SessionSpecificParams } from "@tau/harness/host";
import type { InboxRequestData } from "@tau/protocol/gateway";
import type { Channels } from "../channels/channels.ts";
import type { ChannelStore } from "../channels/store.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import type { GatewaySettings } from "../settings.ts";
import { createScheduleFeature } from "./feature.ts";
import { createHeartbeat, heartbeatId, readHeartbeatPrompt } from "./heartbeat.ts";
import { formatPrompt } from "./run-text.ts";
import type { Schedule, ScheduleConversation, ScheduleRun } from "./schedule.ts";
import { ScheduleMessages } from "./schedule-messages.ts";
import { ScheduledRuns } from "./scheduled-runs.ts";
import { Schedules } from "./schedules.ts";
import { getScheduleSessionParams } from "./session-params.ts";
import type { ScheduleStore } from "./store.ts";
import { addFromSession, type SessionSchedules } from "./session-schedules.ts";

interface SchedulePartsOptions {
  agentDir: string;
  store: ScheduleStore;
  channelStore: ChannelStore;
  getSettings: () => GatewaySettings;
  isStopping: () => boolean;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
}

interface RestOfParts {
  sessions: OpenSessions;
  inbox: Inbox;
  channels: Channels;
  /** Finds a message by its key, wherever its session is. */
  findRequest: (requestKey: string) => Promise<InboxRequestData | undefined>;
}

interface ScheduleParts {
  /** Gives sessions the tool `schedule`. */
  readonly feature: Feature;
  /** Undefined for a session that is not that of a run. */
  getSessionParams(sessionId: string): SessionSpecificParams | undefined;
  open(rest: RestOfParts): Schedules;
}

export function openScheduleParts(options: SchedulePartsOptions): ScheduleParts {
  const { agentDir, store, channelStore, getSettings, isStopping, clock, ids, log } = options;
  const getHeartbeat = (): Schedule | undefined => {
    const { heartbeat } = getSettings();
    const { channel } = heartbeat;
    const conversation = channel === undefined ? undefined : findLastConversation(channelStore, channel);
    return createHeartbeat(heartbeat, { agentDir, conversation });
  };
  const findSchedule = (id: string) => (id === heartbeatId ? getHeartbeat() : store.table.get(id)?.schedule);
  let ofSessions: SessionSchedules | undefined;
  return {
    // It finds the rest when it is called.
    feature: createScheduleFeature(() => ofSessions),
    getSessionParams: (sessionId: string) => getScheduleSessionParams({ table: store.table, findSchedule }, sessionId),
    open({ sessions, inbox, channels, findRequest }: RestOfParts): Schedules {
      const { accounts, outbox } = channels;
      const messages = new ScheduleMessages({ store, accounts, outbox, findSchedule, getSettings, clock });
      const runs: ScheduledRuns = new ScheduledRuns({
        store,
        sessions,
        inbox,
        findRequest,
        findSchedule,
        createPrompt,
        isStopping,
        onEnded: () => void schedules.wake(),
        clock,
        log,
      });
      const schedules: Schedules = new Schedules({ store, runs, messages, getHeartbeat, getSettings, clock, ids, log });
      ofSessions = {
        schedules,
        add: (draft) => addFromSession({ schedules, sessions, channelStore, getSettings }, draft),
      };
      return schedules;
    },
  };
}

async function createPrompt(schedule: Schedule, run: ScheduleRun): Promise<string> {
  const isHeartbeat = schedule.id === heartbeatId;
  // The list may have become empty meanwhile.
  return isHeartbeat ? ((await readHeartbeatPrompt(schedule)) ?? "Answer HEARTBEAT_OK.") : formatPrompt(schedule, run);
}

/** The conversation of an account that was used last. */
function findLastConversation({ table }: ChannelStore, accountId: string): ScheduleConversation | undefined {
  const last = [...table.conversations()].findLast((conversation) => conversation.accountId === accountId);
  return last && { accountId, address: last.address, peer: last.peer };
}
