/** A session that a client of MCP runs prompts in. */
import {
  createSessionFrameRedactor,
  type FrameRedactor,
  type Host,
  type HostedSession,
  runPrompt,
} from "@tau/harness/host";
import { HarnessError, type SessionEvent } from "@tau/protocol";
import type { SessionReport } from "@tau/protocol/mcp-server";
import { getRunActivity } from "../modes/progress.ts";
import { formatEnd, toExitCode } from "../modes/prompt-end.ts";
import { exitCodes } from "../process/exit-codes.ts";

interface Run {
  readonly over: Promise<void>;
  activity: string;
}

export class ServedSession {
  readonly #host: Host;
  readonly #hosted: HostedSession;
  readonly #redactor: FrameRedactor;
  readonly #listeners = new Set<(activity: string) => void>();
  #run: Run | undefined;
  #last: Pick<SessionReport, "state" | "answer" | "reason"> = { state: "idle" };

  constructor(host: Host, sessionId: string) {
    this.#host = host;
    this.#hosted = host.get(sessionId);
    this.#redactor = createSessionFrameRedactor(this.#hosted.session);
  }

  get id(): string {
    return this.#hosted.session.sessionId;
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /** Begins a run. Its outcome is in the next report after it is over. */
  begin(prompt: string): void {
    if (this.#run)
      throw new HarnessError("busy", "A run is already in progress in this session. Use steer, or wait with result.");
    const run: Run = { activity: "waiting for the model", over: this.#work(prompt).then(() => this.#end()) };
    this.#run = run;
  }

  /** Resolves when no run is in progress. `onActivity` is called with what the run does. */
  async wait({ signal, onActivity }: { signal: AbortSignal; onActivity: (activity: string) => void }): Promise<void> {
    const { over } = this.#run ?? {};
    if (!over || signal.aborted) return;
    this.#listeners.add(onActivity);
    let stop: () => void = () => {};
    const aborted = new Promise<void>((resolve) => {
      stop = resolve;
      signal.addEventListener("abort", stop, { once: true });
    });
    await Promise.race([over, aborted]);
    signal.removeEventListener("abort", stop);
    this.#listeners.delete(onActivity);
  }

  async steer(message: string): Promise<void> {
    if (!this.#run) throw new HarnessError("invalid_input", "No run is in progress in this session. Use run.");
    await this.#host.execute(this.id, { type: "steer", message });
  }

  /** Ends the run. */
  async cancel(): Promise<void> {
    const { over } = this.#run ?? {};
    await this.#hosted.abort();
    await over;
  }

  report(): SessionReport {
    const { id: session } = this;
    if (this.#run) return { session, state: "running", activity: this.#clean(this.#run.activity) };
    return { session, ...this.#last };
  }

  async close(): Promise<void> {
    await this.#host.dispose("gateway_disconnected");
    await this.#run?.over;
  }

  /** Never rejects. */
  async #work(prompt: string): Promise<void> {
    const denied: string[] = [];
    const stop = this.#hosted.subscribe((item) => {
      if (item.kind !== "event") return;
      if (item.event.type === "tool_denied") denied.push(item.event.advice);
      this.#follow(item.event);
    });
    try {
      const end = await runPrompt(this.#hosted, prompt, { source: "rpc" });
      await this.#hosted.session.waitForIdle();
      const code = toExitCode(end, denied.length);
      const reason = formatEnd(end, denied);
      this.#last = {
        state: code === exitCodes.failed || code === exitCodes.interrupted ? "failed" : "done",
        answer: this.#clean(end.answer),
        ...(reason !== undefined && { reason: this.#clean(reason) }),
      };
    } catch (error) {
      this.#last = { state: "failed", reason: this.#clean(error instanceof Error ? error.message : String(error)) };
    } finally {
      stop();
    }
  }

  #end(): void {
    this.#run = undefined;
  }

  #follow(event: SessionEvent): void {
    const activity = getRunActivity(event);
    if (!this.#run || activity === undefined || activity === this.#run.activity) return;
    this.#run.activity = activity;
    for (const listener of this.#listeners) listener(this.#clean(activity));
  }

  #clean(text: string): string {
    return this.#redactor.redactLine(text);
  }
}
