/**
 * Runs of schedules. Each is recorded before it begins and has a session of its own, whose message is accepted by the inbox with the
 * run's id as its key. After a crash, the key and the session's log say whether the agent has got the message: it never gets it twice.
 */
import { mkdir } from "node:fs/promises";
import type { Clock } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import type { HostedSession } from "@tau/harness/host";
import { sumUsage } from "@tau/harness/session";
import { customTypes, type SessionEvent } from "@tau/protocol";
import type { InboxRequestData } from "@tau/protocol/gateway";
import { isGatewayError } from "../errors.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { getFirstWords } from "../inbox/message.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import { isSaid, readOutcome, type RunOutcome, type SeenEnd } from "./read-outcome.ts";
import type { RunEnding } from "./records.ts";
import { cutText, formatFailure } from "./run-text.ts";
import type { Schedule, ScheduleRun } from "./schedule.ts";
import type { ScheduleStore } from "./store.ts";

interface ScheduledRunsParts {
  store: ScheduleStore;
  sessions: OpenSessions;
  inbox: Inbox;
  /** Finds a message by its key, wherever its session is. */
  findRequest: (requestKey: string) => Promise<InboxRequestData | undefined>;
  /** Undefined for one that was removed. */
  findSchedule: (scheduleId: string) => Schedule | undefined;
  /** Creates the message that the agent reads. */
  createPrompt: (schedule: Schedule, run: ScheduleRun) => Promise<string>;
  isStopping: () => boolean;
  /** Called when a run has ended. */
  onEnded: () => void;
  clock: Clock;
  log: (line: string) => void;
}

/** A schedule counts as a device of its own. */
const getDevice = (scheduleId: string): string => `schedule ${scheduleId}`;

const getRequestKey = (runId: string): string => `schedule\n${runId}`;

/** Answers are sent to a conversation up to this length. */
const maxAnswerLength = 20_000;

/** The session is in use elsewhere, or the gateway stops: that may pass. */
const passingCodes: readonly unknown[] = ["moved", "overtaken", "read_only", "conflict", "unavailable", "closed"];

export class ScheduledRuns {
  readonly #parts: ScheduledRunsParts;
  /** Serialise the work for each run. */
  readonly #queues = new Map<string, SerialQueue>();
  /** Stop following sessions, by run. */
  readonly #followed = new Map<string, () => void>();
  /** How the agent's runs ended, by run; undefined while they last. */
  readonly #ends = new Map<string, SeenEnd | undefined>();

  constructor(parts: ScheduledRunsParts) {
    this.#parts = parts;
    parts.sessions.watch({
      onOpened: (hosted) => {
        const run = this.#findOwn(hosted.session.sessionId);
        if (run) this.#follow(run.id, hosted);
      },
      onClosed: (sessionId) => {
        const run = this.#findOwn(sessionId);
        if (run) this.#unfollow(run.id);
      },
    });
  }

  /** Runs of this process that are not over. */
  listOwn(): ScheduleRun[] {
    const { table, owner } = this.#parts.store;
    return [...table.runs()].filter((run) => run.state === "begun" && run.owner === owner);
  }

  /** Takes over the runs of processes that have ended. */
  async takeOver(): Promise<void> {
    const { store } = this.#parts;
    const ids = Array.from(store.table.runs(), ({ id }) => id);
    for (const runId of ids) {
      const { revision } = store;
      const run = store.table.getRun(runId);
      if (run?.state !== "begun" || run.owner === store.owner || !(await store.isGone(run.owner))) continue;
      // If another node was faster, the next look decides.
      const taken = await store.append({ type: "taken", runId, owner: store.owner }, revision);
      if (taken !== undefined) void this.resume(runId);
    }
  }

  /** Does what is next for a run of this process that is recorded. Never rejects. */
  resume(runId: string): Promise<void> {
    const queue = this.#queues.get(runId) ?? new SerialQueue();
    this.#queues.set(runId, queue);
    return queue.add(async () => {
      const run = this.#parts.store.table.getRun(runId);
      if (run?.state !== "begun" || this.#parts.isStopping()) return;
      try {
        await this.#advance(run);
      } catch (error) {
        await this.#fail(run, error);
      }
    });
  }

  /** Waits until nothing is being done for any run. */
  async settled(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.whenIdle()));
  }

  async #advance(run: ScheduleRun): Promise<void> {
    const { inbox, findRequest, findSchedule, createPrompt } = this.#parts;
    const schedule = findSchedule(run.scheduleId);
    const key = getRequestKey(run.id);
    const open = run.sessionId === undefined ? undefined : await this.#find(run.sessionId);
    if (open) {
      const { session } = open.hosted;
      this.#follow(run.id, open.hosted);
      const branch = await session.sessionManager.getBranch();
      if (isSaid(branch)) {
        const isRunning = this.#ends.has(run.id) && this.#ends.get(run.id) === undefined;
        if (isRunning || session.isStreaming) return;
        return await this.#end(run, readOutcome(branch, this.#ends.get(run.id)), open.hosted);
      }
    }
    const request = run.sessionId === undefined ? undefined : (inbox.findRequest(key) ?? (await findRequest(key)));
    if (request?.state === "waiting") return;
    if (request) {
      // Its session was deleted after the agent got the message.
      const outcome: RunOutcome =
        request.state === "said"
          ? { state: "cut", reason: cutText, isForPeople: true }
          : { state: "failed", reason: request.reason ?? "" };
      return await this.#end(run, outcome);
    }
    if (!schedule)
      return await this.#end(run, { state: "failed", reason: "The schedule was removed.", isForPeople: true });
    const sessionId = open?.hosted.session.sessionId ?? (await this.#create(schedule, run));
    await inbox.accept({
      sessionId,
      text: await createPrompt(schedule, run),
      isVerbatim: true,
      mode: "followup",
      // Tools that ask for a scope are for people.
      origin: { kind: "scheduled", deviceId: getDevice(schedule.id), scopes: [] },
      requestKey: key,
    });
  }

  /** Undefined for one that was deleted, or was never written. */
  async #find(sessionId: string) {
    try {
      return await this.#parts.sessions.open(sessionId);
    } catch (error) {
      if (isGatewayError(error) && error.code === "not_found") return undefined;
      throw error;
    }
  }

  async #create({ name, cwd, agent, rights }: Schedule, run: ScheduleRun): Promise<string> {
    const { store, sessions } = this.#parts;
    // The heartbeat has a directory of its own, which may not be there yet.
    await mkdir(cwd, { recursive: true, mode: 0o700 });
    const open = await sessions.create(cwd, {
      ...(agent !== undefined && { agentName: agent }),
      ...(rights.policy !== undefined && { policyProfile: rights.policy }),
      isAnyDirectory: true,
      fill: async (log) => {
        // Before it is opened, because its tools and limits are those of its schedule.
        await appendAlways(store, { type: "session", runId: run.id, sessionId: log.id });
        await log.appendSessionInfo(`${name}, ${new Date(run.dueMs).toISOString().slice(0, 16).replace("T", " ")}`);
        if (!rights.isTainted) return;
        await log.appendCustomEntry(customTypes.tainted, { source: "message", detail: `the schedule ${name}` });
      },
    });
    this.#follow(run.id, open.hosted);
    return open.hosted.session.sessionId;
  }

  #findOwn(sessionId: string): ScheduleRun | undefined {
    const run = this.#parts.store.table.findRunOfSession(sessionId);
    return run?.state === "begun" && run.owner === this.#parts.store.owner ? run : undefined;
  }

  #follow(runId: string, hosted: HostedSession): void {
    if (this.#followed.has(runId)) return;
    const { session } = hosted;
    let failure = "";
    const onEvent = (event: SessionEvent) => {
      if (event.type === "agent_start") this.#ends.set(runId, undefined);
      if (event.type === "error") failure = event.message;
      if (event.type !== "agent_end") return;
      // The gateway stops, and nobody decides about the run before the next start.
      if (event.terminationReason === "gateway_disconnected") return;
      this.#ends.set(runId, { reason: event.terminationReason, detail: event.detail, failure });
      void session.waitForIdle().then(() => this.resume(runId));
    };
    const { epoch, seq } = hosted.position;
    const stops = [
      hosted.subscribe((item) => item.kind === "event" && onEvent(item.event), { epoch, seq }),
      this.#parts.inbox.onEmpty(session.sessionId, () => void this.resume(runId)),
    ];
    this.#followed.set(runId, () => stops.forEach((stop) => stop()));
  }

  #unfollow(runId: string): void {
    if (this.#ends.get(runId) === undefined) this.#ends.delete(runId);
    this.#followed.get(runId)?.();
    this.#followed.delete(runId);
  }

  async #fail(run: ScheduleRun, error: unknown): Promise<void> {
    const { log, isStopping } = this.#parts;
    const reason = getErrorMessage(error);
    if (isStopping()) return;
    const isPassing = passingCodes.includes((error as { code?: unknown }).code);
    log(`The run ${run.id} ${isPassing ? "has to wait" : "failed"}: ${reason}`);
    if (isPassing) return;
    await this.#end(run, { state: "failed", reason }).catch((cause: unknown) => log(getErrorMessage(cause)));
  }

  async #end(run: ScheduleRun, outcome: RunOutcome, hosted?: HostedSession): Promise<void> {
    const { store, clock, sessions, findSchedule, onEnded, log } = this.#parts;
    const schedule = findSchedule(run.scheduleId);
    const redact = (text: string) => (run.sessionId && sessions.find(run.sessionId)?.redactLine(text)) ?? text;
    const text = redact(outcome.state === "done" ? outcome.answer : outcome.reason);
    const say =
      outcome.state === "done"
        ? text.slice(0, maxAnswerLength).toWellFormed()
        : formatFailure(schedule?.name ?? "", outcome.isForPeople ? text : undefined);
    const usage = hosted && (await sumUsage(hosted.session.sessionManager, new Date(0)));
    const end: RunEnding = {
      state: outcome.state,
      endedAt: clock.now(),
      ...(text !== "" && { text: getFirstWords(text, 300) }),
      ...usage,
      ...(schedule?.conversation && say !== "" && { say }),
    };
    await appendAlways(store, { type: "ended", runId: run.id, end });
    if (outcome.state !== "done") log(`The run ${run.id} ${outcome.state === "cut" ? "was cut" : "failed"}: ${text}`);
    this.#unfollow(run.id);
    this.#ends.delete(run.id);
    this.#queues.delete(run.id);
    onEnded();
  }
}

/** Appends what other nodes' records do not change. */
export async function appendAlways(
  store: ScheduleStore,
  record: Parameters<ScheduleStore["append"]>[0],
): Promise<void> {
  while ((await store.append(record)) === undefined);
}
