/** The tasks that one session has given to agents. */
import { systemClock } from "@tau/ai";
import { followSignal, untilTimeout, withoutUndefined } from "@tau/ai/internal";
import type { ExtensionAPI } from "@tau/extensions";
import { getLastNumber, type KnownTask, customType, type TaskEntry } from "./task-log.ts";
import { Outbox } from "./outbox.ts";
import { formatReport, getAnswerLimit, type TaskReport } from "./reports.ts";
import { runAgent } from "./run-agent.ts";
import type { TaskRequest } from "./task-arguments.ts";
import { type Agent, type AgentTrees, rootId } from "./tree.ts";

interface TeamParts {
  tau: ExtensionAPI;
  /** The directory of the session. */
  cwd: string;
  trees: AgentTrees;
  /** The agent that the session is. */
  self: Agent;
  /** Called with the reports of background tasks that ended together. */
  deliver: (reports: readonly TaskReport[]) => void;
  /** Called when an abort of the session ends a task. */
  onAbort: () => void;
  getMaxDepth: () => number;
}

interface RunningTask {
  readonly agent: Agent;
  readonly isBackground: boolean;
  readonly done: Promise<TaskReport>;
}

/** How long the end of a session waits for its tasks. */
const maxCloseMs = 5_000;

export class Team {
  readonly self: Agent;
  readonly outbox: Outbox;
  readonly #parts: TeamParts;
  readonly #running = new Map<string, RunningTask>();
  readonly #sessions = new Map<string, string>();
  /** The tasks that work in copies of the repository, also when they are resumed. */
  readonly #isolated = new Set<string>();
  #lastNumber = 0;
  #isClosed = false;

  constructor(parts: TeamParts) {
    this.#parts = parts;
    this.self = parts.self;
    this.outbox = new Outbox(parts.deliver);
  }

  /** Takes over the tasks of the session's log: they can be read and resumed. */
  restore(tasks: Iterable<KnownTask>): void {
    const known = [...tasks];
    this.#lastNumber = Math.max(this.#lastNumber, getLastNumber(known.map(({ id }) => id)));
    for (const { id, sessionId, description, agent: agentName, isIsolated, status } of known) {
      if (sessionId !== undefined) this.#sessions.set(id, sessionId);
      if (isIsolated) this.#isolated.add(id);
      if (this.#running.has(id)) continue;
      const agent = this.self.tree.add({ id, description, agentName, parent: this.self });
      agent.state = { kind: "ended", status };
      agent.sessionId = sessionId;
      if (sessionId !== undefined) this.#setReopen(agent, sessionId);
    }
  }

  /** Says why tasks cannot be started; undefined if they can. */
  findProblem(requests: readonly TaskRequest[]): string | undefined {
    const maxDepth = this.#parts.getMaxDepth();
    if (this.self.depth >= maxDepth)
      return `Agents may be ${maxDepth} deep, so this one has no sub-agents. Do the work yourself.`;
    for (const { resume, isolated } of requests) {
      if (isolated && this.#isPlanning())
        return "In plan mode nothing is written, also no copy of the repository. Leave `isolated` out.";
      if (resume === undefined) continue;
      if (this.#running.has(resume))
        return `The task ${resume} is not over. Send it a message with agents, or wait for it.`;
      if (!this.#sessions.has(resume))
        return `There is no task ${JSON.stringify(resume)} to resume.${this.#listResumable()}`;
    }
    return undefined;
  }

  /** Starts tasks side by side, and resolves when all have ended. The signal ends them. */
  async run(requests: readonly TaskRequest[], signal: AbortSignal): Promise<TaskReport[]> {
    const tasks = this.#begin(requests, { isBackground: false, signal });
    return await this.whileWaiting(() => Promise.all(tasks.map(({ done }) => done)), signal);
  }

  /** Starts tasks whose reports are delivered later. */
  start(requests: readonly TaskRequest[]): readonly Agent[] {
    const tasks = this.#begin(requests, { isBackground: true, signal: undefined });
    for (const { done } of tasks) void done.then((report) => this.#isClosed || this.outbox.add(report));
    return tasks.map(({ agent }) => agent);
  }

  /** The tasks in the background that have not ended; all, or those of these ids. */
  listBackground(ids?: ReadonlySet<string>): readonly RunningTask[] {
    return [...this.#running.values()].filter(
      ({ isBackground, agent }) => isBackground && (ids?.has(agent.id) ?? true),
    );
  }

  /** Does work that only waits for agents. This one's place among those that run is free meanwhile. */
  async whileWaiting<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { tau } = this.#parts;
    const { state } = this.self;
    const wait = () => tau.whileWaiting(work);
    return state.kind === "working" ? await state.slot.whileWaiting(wait, signal) : await wait();
  }

  stopAll(): void {
    for (const { agent } of this.#running.values()) agent.stop();
  }

  /**
   * Cuts the tasks, because the session ends: their ends are not in the log. Resolves when they are over, so that copies of the
   * repository are not left behind, or after a while.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.stopAll();
    if (this.self.id === rootId) this.#parts.trees.leave(this.self);
    const all = Promise.all(Array.from(this.#running.values(), ({ done }) => done));
    await untilTimeout(all, maxCloseMs, systemClock);
  }

  #begin(
    requests: readonly TaskRequest[],
    { isBackground, signal }: { isBackground: boolean; signal: AbortSignal | undefined },
  ): readonly RunningTask[] {
    const { tau, onAbort } = this.#parts;
    const maxAnswerLength = getAnswerLimit(isBackground ? 1 : requests.length);
    return requests.map((request) => {
      const agent = this.#addAgent(request);
      const ending = new AbortController();
      agent.stop = () => ending.abort();
      const stops = [
        followSignal(signal, agent.stop),
        followSignal(tau.getChildrenSignal(), () => {
          onAbort();
          agent.stop();
        }),
      ];
      const task: RunningTask = {
        agent,
        isBackground,
        done: this.#runTask(agent, request, { maxAnswerLength, signal: ending.signal }).finally(() =>
          stops.forEach((stop) => stop()),
        ),
      };
      this.#running.set(agent.id, task);
      return task;
    });
  }

  #addAgent({ description, agent: agentName, resume }: TaskRequest): Agent {
    const { self } = this;
    const before = resume === undefined ? undefined : self.tree.find(resume);
    const prefix = self.id === rootId ? "" : `${self.id}.`;
    return self.tree.add({
      id: before?.id ?? `${prefix}${++this.#lastNumber}`,
      description: description || (before?.description ?? ""),
      agentName: agentName ?? before?.agentName,
      parent: self,
    });
  }

  async #runTask(
    agent: Agent,
    request: TaskRequest,
    options: { maxAnswerLength: number; signal: AbortSignal },
  ): Promise<TaskReport> {
    const { tau, cwd, trees, getMaxDepth } = this.#parts;
    const { id, description, agentName } = agent;
    const named = withoutUndefined({ agent: agentName });
    this.#write({ kind: "asked", id, description, ...named });
    const sessionId = request.resume === undefined ? undefined : this.#sessions.get(request.resume);
    // Its own feature asks which agent it is while it opens.
    if (sessionId !== undefined) trees.set(agent, sessionId);
    const isIsolated = await this.#isIsolated(agent, request);
    const report = await runAgent(agent, request, {
      ...options,
      tau,
      cwd,
      isIsolated,
      sessionId,
      mayDelegate: agent.depth < getMaxDepth(),
      onOpen: (child) => {
        trees.set(agent, child.id);
        this.#sessions.set(id, child.id);
        this.#setReopen(agent, child.id);
        this.#write({
          kind: "started",
          id,
          sessionId: child.id,
          description,
          ...named,
          ...(isIsolated && { isolated: true }),
        });
      },
    });
    trees.leave(agent);
    this.#running.delete(id);
    agent.state = { kind: "ended", status: report.status };
    this.#write({ kind: "ended", id, status: report.status, report: formatReport(report) });
    agent.tree.changed();
    return report;
  }

  /** Because the task says so, because it did before, or because of the agent's file. */
  async #isIsolated({ id, agentName }: Agent, { isolated }: TaskRequest): Promise<boolean> {
    if (this.#isPlanning()) return false;
    const isFileAsked = isolated === undefined && agentName !== undefined;
    // Opening the agent fails with the same error, which is reported then.
    const agents = isFileAsked ? await this.#parts.tau.getAgents().catch(() => []) : [];
    const isNamed = agents.some((info) => info.name === agentName && info.isolated);
    if (isolated ?? isNamed) this.#isolated.add(id);
    return this.#isolated.has(id);
  }

  #isPlanning(): boolean {
    return this.#parts.tau.getPermissionMode() === "plan";
  }

  #setReopen(agent: Agent, sessionId: string): void {
    agent.reopen = () => this.#parts.tau.openChild({ name: agent.title, sessionId });
  }

  #write(entry: TaskEntry): void {
    if (this.#isClosed) return;
    try {
      this.#parts.tau.appendEntry(customType, entry);
    } catch {
      // The extension has ended: the task counts as cut.
      this.#isClosed = true;
    }
  }

  #listResumable(): string {
    const ids = [...this.#sessions.keys()].filter((id) => !this.#running.has(id));
    return ids.length === 0 ? " None has been started." : ` Those that can be resumed: ${ids.join(", ")}.`;
  }
}
