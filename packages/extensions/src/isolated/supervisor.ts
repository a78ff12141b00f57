/** The process of one isolated extension: started with the first call, started again after a crash, turned off by rules. */
import { getErrorMessage, untilAborted, untilTimeout } from "@tau/ai/internal";
import { maxLoadMs } from "../pipeline/tool-lifecycles.ts";
import { writeExtensionTrust } from "@tau/config/trust";
import type { ExtensionEvent } from "../api/events.ts";
import type { ExtensionSource } from "../api/extension.ts";
import { HostcallServer } from "./hostcalls/server.ts";
import { type KillReason, KillRules } from "./kill-rules.ts";
import type { Manifest } from "./manifest.ts";
import type { ChildCall, CrossingEvent } from "./messages.ts";
import { openProcess, type OpenProcess } from "./open-process.ts";
import type { IsolatedPorts } from "./ports.ts";
import type { CallAnswer, CallOptions } from "./process-link.ts";
import { QuotaMeter } from "./quota.ts";
import type { IsolationPrograms } from "./start-process.ts";
import { streamedEvents } from "./stream-batch.ts";
import { ExtensionError } from "../errors.ts";

interface SupervisorParts {
  source: ExtensionSource;
  isolation: IsolationPrograms;
  ports: IsolatedPorts;
  onManifest: (manifest: Manifest) => void;
  /** It was turned off, and will not run again. */
  onKilled: () => void;
}

type LifecycleCall = Extract<ChildCall, { kind: "lifecycle" }>;

type State =
  | { kind: "idle" }
  | { kind: "starting"; started: Promise<OpenProcess>; abort: AbortController }
  | { kind: "running"; process: OpenProcess }
  | { kind: "over"; reason: string };

export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #rules: KillRules;
  readonly #server: HostcallServer;
  readonly #quota: QuotaMeter;
  #state: State = { kind: "idle" };
  #hasRun = false;
  /** The manifest of the extension, as far as it is known. */
  #manifest: Manifest | undefined;
  /** After a crash, the start of the session is reported to the extension again. */
  #sessionStart: CrossingEvent | undefined;
  /** And those of its tools that were loaded are loaded again. */
  readonly #loads = new Map<string, LifecycleCall>();
  /** Settles when that it is turned off is written down. */
  #killing: Promise<void> | undefined;
  /** Whether the policy lets it listen to events. Asked with the first event: before, there may be no session to ask. */
  #events: "unknown" | "allowed" | "refused" = "unknown";
  #askingForEvents: Promise<void> | undefined;
  /** Aborts when it is over, so that nobody is asked about it any more. */
  readonly #ending = new AbortController();

  constructor(parts: SupervisorParts, manifest: Manifest | undefined) {
    this.#parts = parts;
    this.#manifest = manifest;
    const { ports, source } = parts;
    const now = () => ports.clock.monotonic();
    this.#rules = new KillRules(now);
    this.#quota = new QuotaMeter(() => ports.getPolicy().quota, now);
    this.#server = new HostcallServer({
      ports,
      extension: source.name,
      quota: this.#quota,
      rules: this.#rules,
      getDeclared: () => this.#manifest?.capabilities,
      kill: (reason) => void this.#kill(reason),
    });
  }

  /** Whether its process has ever run. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** Whether a rule has turned it off. */
  get isKilled(): boolean {
    return this.#killing !== undefined;
  }

  /** There is a session, whose judge can be asked. A process that is started later is asked about when it starts. */
  async begin(): Promise<void> {
    if (this.#state.kind === "running" && this.#manifest?.handlers.length) await this.#askForEvents();
  }

  /** Starts the process to learn what the extension registers. Rejects with a sentence when it cannot be loaded. */
  async learn(): Promise<Manifest> {
    return (await this.#getProcess()).manifest;
  }

  /** Whether the conversation may be sent to the extension. */
  async mayReadSession(signal: AbortSignal = this.#ending.signal): Promise<boolean> {
    return await this.#server.mayReadSession(signal);
  }

  /** Rejects with a sentence. */
  call(call: ChildCall, options?: CallOptions): Promise<CallAnswer> {
    const state = this.#state;
    // Without a detour over a promise: most calls find the process running.
    return state.kind === "running" && !state.process.link.isOver
      ? this.#callAt(state.process, call, options)
      : this.#getProcess().then((process) => this.#callAt(process, call, options));
  }

  #callAt(process: OpenProcess, call: ChildCall, options: CallOptions | undefined): Promise<CallAnswer> {
    if (call.kind === "lifecycle") return this.#callLifecycle(process, call, options);
    if (call.kind !== "event" || this.#events === "allowed") {
      // Not before: a process that starts for this call would get it twice.
      if (call.kind === "event" && call.name === "session_start") this.#sessionStart = call.event;
      return process.link.call(call, options);
    }
    if (this.#events === "refused") return Promise.resolve({});
    return this.#askForEvents().then(() => this.#callAt(process, call, options));
  }

  async #callLifecycle({ link }: OpenProcess, call: LifecycleCall, options?: CallOptions): Promise<CallAnswer> {
    if (call.phase === "onUnload") this.#loads.delete(call.name);
    const answer = await link.call(call, options);
    if (call.phase === "onLoad") this.#loads.set(call.name, call);
    return answer;
  }

  /** Events of before the first call are not sent later: nobody waits for them. */
  stream(event: ExtensionEvent): void {
    const state = this.#state;
    if (state.kind === "running" && this.#events === "allowed") this.#parts.ports.stream.push(event);
    else if (state.kind === "running" && this.#events === "unknown") void this.#askForEvents();
    else if (state.kind === "idle") this.#getProcess().catch((error: unknown) => this.#report(getErrorMessage(error)));
  }

  async close(): Promise<void> {
    await this.#end("The session has ended.");
    // What was decided is written down before the program ends.
    await this.#server.settle();
    await this.#killing;
  }

  async #getProcess(): Promise<OpenProcess> {
    const state = this.#state;
    if (state.kind === "running") {
      if (!state.process.link.isOver) return state.process;
      // It is being ended, and the next one is started after it.
      await state.process.ended;
      return await this.#getProcess();
    }
    if (state.kind === "starting") return await state.started;
    if (state.kind === "over") throw new ExtensionError("unavailable", state.reason);
    const abort = new AbortController();
    const started = this.#start(abort.signal);
    this.#state = { kind: "starting", started, abort };
    return await started;
  }

  async #start(signal: AbortSignal): Promise<OpenProcess> {
    const { ports, source, isolation, onManifest } = this.#parts;
    // The process may start long after the extensions were found.
    if (source.isUnchanged?.() === false) {
      this.#state = { kind: "over", reason: "Its files have changed, so it does not run until it is looked at again." };
      throw new ExtensionError("unavailable", this.#state.reason);
    }
    try {
      const process = await openProcess({
        source,
        isolation,
        ports,
        server: this.#server,
        onManifest: (manifest) => {
          this.#manifest = manifest;
          if (this.#state.kind === "running") this.#listen(this.#state.process, manifest);
          onManifest(manifest);
        },
        onWritten: (bytes) => this.#countWritten(bytes),
        report: (message) => this.#report(message),
        signal,
      });
      if (ports.getSession() && process.manifest.handlers.length > 0) await this.#askForEvents();
      this.#repeatStart(process);
      await this.#repeatLoads(process);
      // It may have been closed meanwhile.
      if (this.#state.kind === "over") {
        await process.end(this.#state.reason);
        throw new ExtensionError("unavailable", this.#state.reason);
      }
      this.#state = { kind: "running", process };
      this.#hasRun = true;
      this.#listen(process, process.manifest);
      void process.ended.then((reason) => this.#noteEnd(process, reason));
      return process;
    } catch (error) {
      if (this.#state.kind === "starting") this.#state = { kind: "idle" };
      const kills = this.#rules.noteCrash();
      // Not awaited: another rule may be turning it off already, and waits for this start to be over.
      if (kills) void this.#kill(kills);
      throw error;
    }
  }

  #askForEvents(): Promise<void> {
    return (this.#askingForEvents ??= this.#judgeEvents());
  }

  async #judgeEvents(): Promise<void> {
    const { signal } = this.#ending;
    const reason = await this.#server.judgeEvents(signal);
    this.#events = reason === undefined ? "allowed" : "refused";
    if (reason !== undefined && !signal.aborted) this.#report(`It gets no events. ${reason}`);
    if (this.#state.kind === "running" && this.#manifest) this.#listen(this.#state.process, this.#manifest);
  }

  #listen({ link }: OpenProcess, { handlers }: Manifest): void {
    if (this.#events !== "allowed") return;
    const names = handlers.map(([name]) => name).filter((name) => streamedEvents.has(name));
    this.#parts.ports.stream.listen(link, names);
  }

  #repeatStart({ link, manifest }: OpenProcess): void {
    if (!this.#sessionStart || this.#events !== "allowed") return;
    const event = { ...this.#sessionStart, reason: "reload" };
    for (const handlerId of new Map(manifest.handlers).get("session_start") ?? []) {
      link
        .call({ kind: "event", name: "session_start", handlerId, event })
        .catch((error: unknown) => this.#report(`Its handler of session_start failed: ${getErrorMessage(error)}`));
    }
  }

  /** Calls of its tools wait for this. A tool that fails to load says so, and is called all the same. */
  async #repeatLoads({ link }: OpenProcess): Promise<void> {
    const loads = [...this.#loads.values()].map((call) =>
      link
        .call(call)
        .catch((error: unknown) => this.#report(`onLoad of its tool ${call.name} failed: ${getErrorMessage(error)}`)),
    );
    if (loads.length === 0) return;
    await untilTimeout(untilAborted(Promise.all(loads), this.#ending.signal), maxLoadMs, this.#parts.ports.clock);
  }

  /** The process ended by itself, or had to be ended for what it did. */
  #noteEnd(process: OpenProcess, reason: string): void {
    if (this.#state.kind !== "running" || this.#state.process !== process) return;
    this.#state = { kind: "idle" };
    this.#report(`Its process ended. ${reason}`);
    const kills = this.#rules.noteCrash();
    if (kills) void this.#kill(kills);
  }

  #countWritten(bytes: number): void {
    const breach = this.#quota.countWritten(bytes);
    if (!breach) return;
    const kills = this.#rules.noteBreach(breach.message);
    if (kills) void this.#kill(kills);
  }

  #kill(reason: KillReason): Promise<void> {
    return (this.#killing ??= this.#state.kind === "over" ? Promise.resolve() : this.#turnOff(reason));
  }

  async #turnOff({ rule, message }: KillReason): Promise<void> {
    const { source, ports, onKilled } = this.#parts;
    const { agentDir, ids, clock } = ports;
    const ended = this.#end(`The extension was turned off: ${message}`);
    onKilled();
    this.#report(`It was turned off: ${message} "tau extensions revive ${source.name}" turns it on again.`);
    try {
      const change = { to: "killed", operator: rule, reason: message } as const;
      await writeExtensionTrust(source, change, { agentDir, ids, clock });
    } catch (error) {
      this.#report(`That it is turned off could not be written down: ${getErrorMessage(error)}`);
    }
    await ended;
  }

  async #end(reason: string): Promise<void> {
    const state = this.#state;
    if (state.kind === "over") return;
    this.#state = { kind: "over", reason };
    this.#ending.abort();
    if (state.kind === "running") await state.process.end(reason);
    if (state.kind === "starting") {
      state.abort.abort(reason);
      await state.started.catch(() => undefined);
    }
  }

  #report(message: string): void {
    this.#parts.ports.report({ extension: this.#parts.source.name, message });
  }
}
