/** A session whose events a test makes, and clients in memory that may read slowly. */
import { systemIds } from "@tau/ai";
import { createFakeClock, type FakeClock } from "@tau/ai/testing";
import { type AgentSession, createAgentSession, SessionManager, SettingsManager } from "@tau/harness";
import { HostedSession, createSessionFrameRedactor } from "@tau/harness/host";
import { emptyView } from "@tau/protocol";
import type { EventFrame } from "@tau/protocol/gateway";
import { onTestFinished } from "vitest";
import type { Client } from "../../src/client.ts";
import type { EncodedFrame } from "../../src/encoded-frame.ts";
import { Subscriptions } from "../../src/bridge/subscriptions.ts";
import { OpenSession } from "../../src/sessions/open-session.ts";

export interface BridgeTest {
  session: AgentSession;
  open: OpenSession;
  subscriptions: Subscriptions;
  clock: FakeClock;
}

/** How often the long form of a test repeats what its short form does. */
export const isLong = process.env["TAU_LONG"] === "1";

export async function openBridge(): Promise<BridgeTest> {
  const clock = createFakeClock();
  const session = await createAgentSession({
    sessionManager: await SessionManager.inMemory("/"),
    settingsManager: SettingsManager.inMemory({}),
    resources: { contextFiles: "none", discoverSkills: false, discoverPrompts: false },
    watch: false,
  });
  onTestFinished(() => session.dispose());
  const hosted = new HostedSession(session, { epoch: "this one", view: emptyView });
  const redactor = createSessionFrameRedactor(session);
  hosted.redactWith(redactor);
  const subscriptions = new Subscriptions(clock);
  const parts = { host: undefined as never, hosted, redactor, clock, ids: systemIds, getIdleCloseMs: () => 1e12 };
  const countFollowers = () => subscriptions.count(session.sessionId);
  const getPosition = () => undefined;
  const open = new OpenSession({ ...parts, countFollowers, getPosition, onIdle: () => {}, log: () => {} });
  onTestFinished(() => open.end());
  return { session, open, subscriptions, clock };
}

/** A client that gets what it is sent at once, or while it stalls, when it goes on. */
export class MemoryClient implements Client {
  readonly connectionId: string;
  readonly deviceId = "test";
  readonly scopes = new Set(["read", "write", "approve"] as const);
  abilities = { approvals: false, ui: false };
  closedWith: number | undefined;
  bufferedBytes = 0;
  /** The most that ever waited. */
  maxBufferedBytes = 0;
  readonly #onFrame: (frame: EventFrame) => void;
  #isStalled = false;
  #waiting: EncodedFrame[] = [];
  readonly #onClosed = new Set<() => void>();

  constructor(id: string, onFrame: (frame: EventFrame) => void) {
    this.connectionId = id;
    this.#onFrame = onFrame;
  }

  setAbilities(abilities: Client["abilities"]): void {
    this.abilities = abilities;
  }

  /** How many wait for its end. */
  get listenerCount(): number {
    return this.#onClosed.size;
  }

  get isStalled(): boolean {
    return this.#isStalled;
  }

  stall(): void {
    this.#isStalled = true;
  }

  goOn(): void {
    this.#isStalled = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.bufferedBytes = 0;
    for (const frame of waiting) this.#read(frame);
  }

  send(frame: EncodedFrame): void {
    if (this.closedWith !== undefined) return;
    if (!this.#isStalled) return this.#read(frame);
    this.#waiting.push(frame);
    this.bufferedBytes += frame.json.length;
    this.maxBufferedBytes = Math.max(this.maxBufferedBytes, this.bufferedBytes);
  }

  close(code: number): void {
    if (this.closedWith !== undefined) return;
    this.closedWith = code;
    this.#waiting = [];
    for (const listener of this.#onClosed) listener();
  }

  onClosed(listener: () => void): () => void {
    this.#onClosed.add(listener);
    return () => this.#onClosed.delete(listener);
  }

  #read(frame: EncodedFrame): void {
    this.#onFrame(JSON.parse(frame.json.toString()) as EventFrame);
  }
}
