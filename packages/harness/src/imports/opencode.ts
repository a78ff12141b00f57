/** Sessions of opencode: messages and their parts, as JSON in a database or in one file each. */
import { createHash } from "node:crypto";
import type { AssistantMessage, ImageContent, StopReason, TextContent, Usage } from "@tau/ai";
import type { SessionEntry } from "../session/entry.ts";
import { type Conversion, type ConvertedInfo, Notes, noteTexts } from "./conversion.ts";
import { addName } from "./convert-lines.ts";
import { EntryChain, type ForeignResult, type Position } from "./entry-chain.ts";
import {
  type ForeignRecord,
  getRecord,
  getText,
  getTime,
  parseDataUrl,
  toAnswer,
  toTextBlock,
  toUsage,
} from "./foreign-values.ts";

/** A message with its parts, in order. */
export interface OpencodeMessage {
  info: ForeignRecord;
  parts: readonly ForeignRecord[];
}

export interface OpencodeSession {
  info: ForeignRecord;
  /** In the order of their ids, which is that of their time. */
  messages: AsyncIterable<OpencodeMessage>;
}

export function convertOpencode(open: () => Promise<OpencodeSession>): Conversion {
  const ready: SessionEntry[] = [];
  const notes = new Notes();
  const info: ConvertedInfo = { cwd: "", started: undefined };
  const chain = new EntryChain((entry) => ready.push(entry));
  async function* entries(): AsyncGenerator<SessionEntry> {
    const session = await open();
    const { created } = getRecord(session.info["time"]);
    info.cwd = getText(session.info["directory"]);
    info.started = getTime(created, 0);
    info.name = getText(session.info["title"]);
    // What the user has taken back is still there.
    const reverted = getText(getRecord(session.info["revert"])["messageID"]);
    const converter = new MessageConverter(chain, notes, info.started);
    for await (const message of session.messages) {
      if (reverted !== "" && getText(message.info["id"]) >= reverted) continue;
      converter.push(message);
      yield* ready.splice(0);
    }
    chain.end(converter.lastTime);
    addName({ chain, info, lastTime: converter.lastTime });
    yield* ready;
  }
  return {
    entries: entries(),
    info,
    get notes() {
      return notes.list();
    },
  };
}

/** The answer to one request, and the results of its calls. */
interface Step {
  content: AssistantMessage["content"];
  results: ForeignResult[];
  usage?: Usage;
  stopReason?: StopReason;
}

class MessageConverter {
  readonly #chain: EntryChain;
  readonly #notes: Notes;
  #position: Position = null;
  lastTime: number;

  constructor(chain: EntryChain, notes: Notes, started: number) {
    this.#chain = chain;
    this.#notes = notes;
    this.lastTime = started;
  }

  push({ info, parts }: OpencodeMessage): void {
    this.lastTime = getTime(getRecord(info["time"])["created"], this.lastTime);
    if (info["role"] === "user") this.#addUser(info, parts);
    else if (info["role"] === "assistant") this.#addAssistant(info, parts);
    else this.#notes.add(noteTexts.unknown);
  }

  #addUser(info: ForeignRecord, parts: readonly ForeignRecord[]): void {
    const content = parts.flatMap((part): (TextContent | ImageContent)[] => {
      if (part["type"] === "text" && part["ignored"] !== true && getText(part["text"]) !== "") {
        return [toTextBlock(getText(part["text"]))];
      }
      return part["type"] === "file" ? this.#readFile(part) : [];
    });
    if (content.length === 0) return;
    const time = this.lastTime;
    const message = { role: "user" as const, content, timestamp: time };
    this.#position = this.#chain.addMessage(this.#position, { key: toKey(info, message), time }, message);
  }

  #readFile(part: ForeignRecord): (TextContent | ImageContent)[] {
    const url = getText(part["url"]);
    const image = parseDataUrl(url);
    if (image) return [image];
    // The text of a file is a part of its own.
    if (getText(part["mime"]).startsWith("image/")) this.#notes.add(noteTexts.lostImage);
    else if (url.startsWith("data:") && !getText(part["mime"]).startsWith("text/")) this.#notes.add(noteTexts.document);
    return [];
  }

  #addAssistant(info: ForeignRecord, parts: readonly ForeignRecord[]): void {
    const time = this.lastTime;
    const steps = this.#readSteps(parts);
    if (info["summary"] === true) {
      const texts = steps.flatMap(({ content }) => content).map((block) => (block.type === "text" ? block.text : ""));
      const summary = texts.filter((text) => text !== "").join("\n\n");
      if (summary === "") return;
      this.#position = this.#chain.add(this.#position, { key: toKey(info, summary), time }, (id) => ({
        type: "compaction",
        summary,
        firstKeptEntryId: id,
        tokensBefore: 0,
      }));
      return;
    }
    for (const [index, { content, results, usage, stopReason }] of steps.entries()) {
      const tokens = usage ?? (steps.length === 1 ? readTokens(info["tokens"], info["cost"]) : undefined);
      const answer = toAnswer({
        content,
        provider: getText(info["providerID"]) || "unknown",
        model: getText(info["modelID"]) || "unknown",
        time,
        ...(tokens && { usage: tokens }),
        ...(stopReason && { stopReason }),
      });
      const key = toKey(info, [index, answer, results]);
      this.#position = this.#chain.addMessage(this.#position, { key, time }, answer);
      for (const result of results) {
        const entry = { key: `${key} ${result.callId}`, time };
        this.#position = this.#chain.addResult(this.#position, entry, result) ?? this.#position;
      }
    }
  }

  /** A message has the answers to several requests when the model called tools in between. */
  #readSteps(parts: readonly ForeignRecord[]): Step[] {
    const steps: Step[] = [];
    let step: Step | undefined;
    const begin = () => {
      step = { content: [], results: [] };
      steps.push(step);
      return step;
    };
    for (const part of parts) {
      const text = getText(part["text"]);
      switch (part["type"]) {
        case "step-start":
          begin();
          break;
        case "step-finish": {
          const current = step ?? begin();
          current.usage = readTokens(part["tokens"], part["cost"]);
          if (part["reason"] === "length") current.stopReason = "length";
          break;
        }
        case "text":
        case "reasoning": {
          if (text === "") break;
          const current = step === undefined || step.results.length > 0 ? begin() : step;
          current.content.push(part["type"] === "text" ? toTextBlock(text) : { type: "thinking", thinking: text });
          break;
        }
        case "tool":
          this.#addCall(part, step ?? begin());
          break;
        default:
      }
    }
    return steps.filter(({ content }) => content.length > 0);
  }

  #addCall(part: ForeignRecord, step: Step): void {
    const id = getText(part["callID"]) || getText(part["id"]);
    if (id === "") return this.#notes.add(noteTexts.unknown);
    const state = getRecord(part["state"]);
    step.content.push({ type: "toolCall", id, name: getText(part["tool"]), arguments: getRecord(state["input"]) });
    const isError = state["status"] === "error";
    if (state["status"] !== "completed" && !isError) return;
    const output = getText(isError ? state["error"] : state["output"]);
    const attachments = Array.isArray(state["attachments"]) ? (state["attachments"] as unknown[]) : [];
    const images = attachments.flatMap((file) => this.#readFile(getRecord(file)));
    step.results.push({ callId: id, content: [...(output === "" ? [] : [toTextBlock(output)]), ...images], isError });
  }
}

/** Messages are changed in place while they are written, so what they hold is a part of the key. */
const toKey = (info: ForeignRecord, content: unknown): string =>
  `${getText(info["id"])} ${createHash("sha256").update(JSON.stringify(content)).digest("hex")}`;

function readTokens(value: unknown, cost: unknown): Usage {
  const tokens = getRecord(value);
  const cache = getRecord(tokens["cache"]);
  return toUsage({
    input: tokens["input"],
    output: tokens["output"],
    cacheRead: cache["read"],
    cacheWrite: cache["write"],
    reasoning: tokens["reasoning"],
    cost,
  });
}
