/**
 * A channel that another program brings: it reads and writes one JSON object a line. What the program prints as messages is
 * answered like those of a platform, so that a small program is enough for any network that people use.
 */
import { createInterface } from "node:readline";
import { followSignal, getErrorMessage, isRecord, tryParseJson } from "@tau/ai/internal";
import { createSpawn, type RunningProcess } from "@tau/tools";
import type { Channel, ChannelEvents, ChannelOptions, ChannelType, Delivery } from "@tau/extensions";
import { pause } from "../pause.ts";
import { parseStdioMessage } from "./stdio-message.ts";

export const stdioChannel: ChannelType = {
  secrets: {},
  open: async (options) => new StdioChannel(options),
};

/** How long the program may take to say what became of a request. */
const answerTimeoutMs = 30_000;
const maxLineLength = 8 * 1024 * 1024;
const defaultMaxTextLength = 4_000;

class StdioChannel implements Channel {
  readonly limits = { maxTextLength: defaultMaxTextLength, maxFileBytes: 5 * 1024 * 1024, provesNonce: false };
  readonly #options: ChannelOptions;
  readonly #waiting = new Map<string, (delivery: Delivery) => void>();
  #process: RunningProcess | undefined;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  async run(events: ChannelEvents, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (let failures = 0; !signal.aborted; failures++) {
      const startedAt = clock.now();
      events.onState({ kind: "connecting" });
      const reason = await this.#runOnce(events, signal);
      if (signal.aborted) return;
      // A program that worked for a while begins with a short pause again.
      if (clock.now() - startedAt > maxPauseMs) failures = 0;
      const forMs = Math.min(firstPauseMs * 2 ** failures, maxPauseMs);
      events.onState({ kind: "waiting", reason, forMs });
      await pause(clock, forMs, signal);
    }
  }

  async send({ address, text, replyTo, buttons, nonce }: Parameters<Channel["send"]>[0]): Promise<Delivery> {
    return await this.#request({ type: "send", id: nonce, address, text, replyTo, buttons });
  }

  async react(address: Parameters<NonNullable<Channel["react"]>>[0], messageId: string, emoji: string) {
    return await this.#request({ type: "react", id: `${messageId} ${emoji}`, address, messageId, emoji });
  }

  async sendFile({ address, file, replyTo, nonce }: Parameters<NonNullable<Channel["sendFile"]>>[0]) {
    const { name, mimeType, bytes } = file;
    const data = Buffer.from(bytes).toString("base64");
    return await this.#request({ type: "file", id: nonce, address, replyTo, name, mimeType, data });
  }

  /** Returns why the program ended. */
  async #runOnce(events: ChannelEvents, signal: AbortSignal): Promise<string> {
    const { settings, log } = this.#options;
    const { command, args = [] } = settings;
    if (command === undefined) throw new Error("The setting `command` names no program.");
    const child = await createSpawn()({
      argv: [command, ...args],
      cwd: process.cwd(),
      env: getEnvironment(),
      stdin: "pipe",
      detached: true,
    });
    this.#process = child;
    child.stdin?.on("error", () => {});
    const end = () => child.signal("SIGTERM", "group");
    const stopFollowing = followSignal(signal, end);
    const errors = createInterface({ input: child.stderr });
    errors.on("line", (line) => log(line.slice(0, 500)));
    events.onState({ kind: "connected" });
    for await (const line of createInterface({ input: child.stdout })) {
      await this.#take(line, events);
    }
    const status = await child.exit;
    stopFollowing();
    child.signal("SIGKILL", "group");
    this.#process = undefined;
    for (const settle of this.#waiting.values()) settle({ kind: "unknown", reason: "The program ended." });
    this.#waiting.clear();
    if (status.kind === "failed") return `${command} could not be started: ${status.message}`;
    return `${command} ended with ${status.kind === "exited" ? `the code ${status.code}` : status.signal}.`;
  }

  async #take(line: string, events: ChannelEvents): Promise<void> {
    const { log } = this.#options;
    const value = line.length > maxLineLength ? undefined : tryParseJson(line);
    if (!isRecord(value)) return log(`A line is not a JSON object: ${line.slice(0, 200)}`);
    if (value["type"] === "delivery") {
      const settle = this.#waiting.get(String(value["id"]));
      this.#waiting.delete(String(value["id"]));
      return settle?.(toDelivery(value));
    }
    const parsed = parseStdioMessage(value);
    if (parsed.kind === "wrong") {
      log(`A message is not complete: ${parsed.reason}`);
      return this.#write({ type: "failed", id: value["id"], reason: parsed.reason });
    }
    try {
      if (parsed.kind === "message") await events.onMessage(parsed.message);
      else await events.onPress(parsed.press);
      this.#write({ type: "received", id: value["id"] });
    } catch (error) {
      // The program keeps the message, and writes it again later.
      this.#write({ type: "failed", id: value["id"], reason: getErrorMessage(error) });
    }
  }

  /** Asks the program to do something. Nothing is sent where it does not run. */
  async #request(request: { id: string } & Record<string, unknown>): Promise<Delivery> {
    if (!this.#process) return { kind: "not_sent", reason: "The program does not run." };
    return await new Promise<Delivery>((resolve) => {
      const cancel = this.#options.clock.setTimer(answerTimeoutMs, () => {
        this.#waiting.delete(request.id);
        resolve({ kind: "unknown", reason: "The program did not say whether it was delivered." });
      });
      this.#waiting.set(request.id, (delivery) => {
        cancel();
        resolve(delivery);
      });
      this.#write(request);
    });
  }

  #write(value: Record<string, unknown>): void {
    this.#process?.stdin?.write(`${JSON.stringify(value)}\n`);
  }
}

const firstPauseMs = 500;
const maxPauseMs = 60_000;

/** The program gets no keys of tau's environment. */
const getEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

function toDelivery({ status, messageId, reason, retryAfterMs }: Record<string, unknown>): Delivery {
  const text = typeof reason === "string" ? reason : "The program gave no reason.";
  if (status === "sent") return { kind: "sent", messageId: typeof messageId === "string" ? messageId : "" };
  if (status === "refused") return { kind: "refused", reason: text };
  if (status !== "not_sent") return { kind: "unknown", reason: text };
  return { kind: "not_sent", reason: text, ...(typeof retryAfterMs === "number" && { retryAfterMs }) };
}
