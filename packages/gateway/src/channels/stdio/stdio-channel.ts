/**
 * A channel that another program brings: it reads and writes one JSON object a line. What the program prints as messages is
 * answered like those of a platform, so that a small program is enough for any network that people use.
 */
import { followSignal, getErrorMessage, isRecord, tryParseJson } from "@tau/ai/internal";
import { createSpawn, type ExitStatus, type RunningProcess } from "@tau/tools";
import { type Line, readLines } from "@tau/tools/platform";
import type { Channel, ChannelEvents, ChannelOptions, ChannelType, Delivery } from "@tau/extensions";
import { pause } from "../pause.ts";
import { parseStdioMessage } from "./stdio-message.ts";

export const stdioChannel: ChannelType = {
  secrets: {},
  open: async (options) => new StdioChannel(options),
};

/** How long the program may take to say what became of a request. */
const answerTimeoutMs = 30_000;
const maxLineBytes = 8 * 1024 * 1024;
const maxErrorLineBytes = 64 * 1024;
/** How long a program that is to end may take, and how long what it has started may keep its output open afterwards. */
const endTimeoutMs = 5_000;
/** How many lines of a program are logged in a minute. */
const maxLoggedLines = 200;
const logWindowMs = 60_000;
const defaultMaxTextLength = 4_000;

class StdioChannel implements Channel {
  readonly limits = { maxTextLength: defaultMaxTextLength, maxFileBytes: 5 * 1024 * 1024, provesNonce: false };
  readonly #options: ChannelOptions;
  readonly #waiting = new Map<string, (delivery: Delivery) => void>();
  #logged = { sinceMs: 0, count: 0 };
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
    const { settings } = this.#options;
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
    const stopEnding = this.#endWith(child, signal);
    void this.#logErrors(child);
    events.onState({ kind: "connected" });
    for await (const line of readLines(child.stdout, { maxBytes: maxLineBytes })) await this.#take(line, events);
    const status = await this.#waitForExit(child);
    stopEnding();
    this.#process = undefined;
    for (const settle of this.#waiting.values()) settle({ kind: "unknown", reason: "The program ended." });
    this.#waiting.clear();
    if (status.kind === "failed") return `${command} could not be started: ${status.message}`;
    return `${command} ended with ${status.kind === "exited" ? `the code ${status.code}` : status.signal}.`;
  }

  /** Ends the program with the signal, and with the program what it has started. Returns what stops that. */
  #endWith(child: RunningProcess, signal: AbortSignal): () => void {
    const { clock } = this.#options;
    let cancelTimer = () => {};
    const stopFollowing = followSignal(signal, () => {
      child.signal("SIGTERM", "group");
      cancelTimer = clock.setTimer(endTimeoutMs, () => child.signal("SIGKILL", "group"));
    });
    const endRest = async () => {
      await child.exit;
      cancelTimer();
      child.signal("SIGKILL", "group");
      // A program that has left the group may keep the output open for ever.
      cancelTimer = clock.setTimer(endTimeoutMs, () => {
        child.stdout.destroy();
        child.stderr.destroy();
      });
    };
    void endRest();
    return () => {
      stopFollowing();
      cancelTimer();
    };
  }

  /** A program that has closed its output cannot say anything any more, and is ended if it does not end by itself. */
  async #waitForExit(child: RunningProcess): Promise<ExitStatus> {
    const cancelTimer = this.#options.clock.setTimer(endTimeoutMs, () => child.signal("SIGKILL", "group"));
    const status = await child.exit;
    cancelTimer();
    return status;
  }

  async #logErrors({ stderr }: RunningProcess): Promise<void> {
    for await (const line of readLines(stderr, { maxBytes: maxErrorLineBytes })) {
      this.#log(line.kind === "text" ? line.text.slice(0, 500) : "A line of its errors is too long.");
    }
  }

  /** Leaves out most lines of a program that writes without end. */
  #log(line: string): void {
    const { clock, log } = this.#options;
    const nowMs = clock.monotonic();
    if (nowMs - this.#logged.sinceMs > logWindowMs) this.#logged = { sinceMs: nowMs, count: 0 };
    this.#logged.count++;
    if (this.#logged.count < maxLoggedLines) log(line);
    if (this.#logged.count === maxLoggedLines)
      log("The program writes too much: more lines of this minute are left out.");
  }

  async #take(line: Line, events: ChannelEvents): Promise<void> {
    if (line.kind === "too_long") return this.#log(`A line has more than ${maxLineBytes / 1024 / 1024} MiB.`);
    const value = tryParseJson(line.text);
    if (!isRecord(value)) return this.#log(`A line is not a JSON object: ${line.text.slice(0, 200)}`);
    if (value["type"] === "delivery") {
      const settle = this.#waiting.get(String(value["id"]));
      this.#waiting.delete(String(value["id"]));
      return settle?.(toDelivery(value));
    }
    const parsed = parseStdioMessage(value);
    if (parsed.kind === "wrong") {
      this.#log(`A message is not complete: ${parsed.reason}`);
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
    this.#process?.stdin?.write(`${toLine(value)}\n`);
  }
}

/** Many languages take more characters for the end of a line than JSON escapes. */
const toLine = (value: Record<string, unknown>): string =>
  JSON.stringify(value).replaceAll(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, "0")}`,
  );

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
