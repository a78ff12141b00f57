/** Sessions of Claude Code: `~/.claude/projects/<directory>/<id>.jsonl`, a tree of lines by `uuid` and `parentUuid`. */
import type { AssistantMessage, ImageContent, StopReason, TextContent } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { type Conversion, noteTexts } from "./conversion.ts";
import { convertLines, type ConversionState, type LineConverter } from "./convert-lines.ts";
import type { Position } from "./entry-chain.ts";
import {
  type ForeignRecord,
  getList,
  getRecord,
  getText,
  getTime,
  toAnswer,
  toTextBlock,
  toUsage,
} from "./foreign-values.ts";
import type { ReadLinesOptions } from "./read-lines.ts";

export const convertClaudeCode = (path: string, options?: ReadLinesOptions): Conversion =>
  convertLines(path, (state) => new ClaudeCodeConverter(state), options);

/** Lines that only keep track of the program's own state. */
const ignoredTypes = new Set([
  ..."queue-operation last-prompt file-history-snapshot file-history-delta progress attachment mode permission-mode".split(
    " ",
  ),
  ..."agent-name agent-setting tag pr-link content-replacement worktree-state".split(" "),
]);

const stopReasons: Readonly<Record<string, StopReason>> = { max_tokens: "length", tool_use: "toolUse" };

/** An answer is written as several lines, one for each block, all with its id. */
interface OpenAnswer {
  messageId: string;
  after: Position;
  uuids: string[];
  content: AssistantMessage["content"];
  message: ForeignRecord;
  time: number;
}

class ClaudeCodeConverter implements LineConverter {
  readonly #state: ConversionState;
  /** The position that each line stands for; lines that become no entry stand for that of the line before them. */
  readonly #positions = new Map<string, Position>();
  /** The usage of an answer is on each of its lines, and counted once. */
  readonly #counted = new Set<string>();
  #answer: OpenAnswer | undefined;
  #tokensBefore = 0;

  constructor(state: ConversionState) {
    this.#state = state;
  }

  push(line: ForeignRecord, lineNumber: number): void {
    const { info, notes } = this.#state;
    const type = getText(line["type"]);
    const uuid = getText(line["uuid"]) || `line ${lineNumber}`;
    // A line that is there twice was copied by the program when it shortened the conversation.
    if (this.#positions.has(uuid)) return;
    if (line["isSidechain"] === true) return notes.add(noteTexts.subAgent);
    this.#state.lastTime = getTime(line["timestamp"], this.#state.lastTime);
    if (info.cwd === "") info.cwd = getText(line["cwd"]);
    if (type === "user" || type === "assistant" || type === "system") info.started ??= this.#state.lastTime;
    switch (type) {
      case "user":
        return this.#addUser(line, uuid);
      case "assistant":
        return this.#addAssistant(line, uuid);
      case "system":
        return this.#addSystem(line, uuid);
      case "summary":
      case "ai-title":
      case "custom-title":
        info.name = getText(line["customTitle"]) || getText(line["aiTitle"]) || getText(line["summary"]) || info.name;
        return;
      default:
        if (typeof line["uuid"] === "string") this.#positions.set(uuid, this.#findPosition(line["parentUuid"]));
        if (!ignoredTypes.has(type)) notes.add(noteTexts.unknown);
    }
  }

  end(): void {
    this.#finishAnswer();
  }

  /** The position of a line; that of the last entry if the line is not there. */
  #findPosition(uuid: unknown): Position {
    if (uuid === null) return null;
    if (this.#answer?.uuids.includes(getText(uuid))) this.#finishAnswer();
    const position = this.#positions.get(getText(uuid));
    if (position !== undefined) return position;
    this.#finishAnswer();
    return this.#state.chain.last;
  }

  #addUser(line: ForeignRecord, uuid: string): void {
    const { chain, notes, lastTime: time } = this.#state;
    const { content } = getRecord(line["message"]);
    let position = this.#findPosition(line["parentUuid"]);
    this.#finishAnswer();
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : getList(content);
    for (const [index, block] of blocks.entries()) {
      if (!isRecord(block) || block["type"] !== "tool_result") continue;
      const result = {
        callId: getText(block["tool_use_id"]),
        content: this.#readContent(block["content"]),
        isError: block["is_error"] === true,
      };
      position = chain.addResult(position, { key: `${uuid} ${index}`, time }, result) ?? position;
    }
    const rest = this.#readContent(blocks.filter((block) => getRecord(block)["type"] !== "tool_result"));
    if (rest.length > 0 && line["isCompactSummary"] === true) {
      const summary = rest.map((block) => (block.type === "text" ? block.text : "")).join("\n");
      const tokensBefore = this.#tokensBefore;
      position = chain.add(position, { key: uuid, time }, (id) => ({
        type: "compaction",
        summary,
        firstKeptEntryId: id,
        tokensBefore,
      }));
    } else if (rest.length > 0 && line["isMeta"] === true) {
      const note = { type: "custom_message", customType: "claude-code", content: rest, display: false };
      position = chain.add(position, { key: uuid, time }, () => note);
    } else if (rest.length > 0) {
      position = chain.addMessage(position, { key: uuid, time }, { role: "user", content: rest, timestamp: time });
    } else if (blocks.length === 0) notes.add(noteTexts.unknown);
    this.#positions.set(uuid, position);
  }

  /** Text and images of a content. Documents and references are noted. */
  #readContent(content: unknown): (TextContent | ImageContent)[] {
    if (typeof content === "string") return content === "" ? [] : [toTextBlock(content)];
    return getList(content).flatMap((value): (TextContent | ImageContent)[] => {
      const block = getRecord(value);
      if (block["type"] === "text" && getText(block["text"]) !== "") return [toTextBlock(getText(block["text"]))];
      if (block["type"] === "document") this.#state.notes.add(noteTexts.document);
      if (block["type"] !== "image") return [];
      const { data, media_type: mimeType } = getRecord(block["source"]);
      if (typeof data === "string" && typeof mimeType === "string") return [{ type: "image", data, mimeType }];
      this.#state.notes.add(noteTexts.lostImage);
      return [];
    });
  }

  #addAssistant(line: ForeignRecord, uuid: string): void {
    const message = getRecord(line["message"]);
    const messageId = getText(message["id"]) || uuid;
    const isSame = this.#answer?.messageId === messageId && this.#answer.uuids.includes(getText(line["parentUuid"]));
    if (!isSame) {
      const after = this.#findPosition(line["parentUuid"]);
      this.#finishAnswer();
      this.#answer = { messageId, after, uuids: [], content: [], message, time: this.#state.lastTime };
    }
    const answer = this.#answer!;
    answer.uuids.push(uuid);
    answer.message = message;
    // Answers of the program itself, such as errors of the API, were never sent to a model.
    if (message["model"] !== "<synthetic>") answer.content.push(...readBlocks(message["content"]));
  }

  #finishAnswer(): void {
    const answer = this.#answer;
    if (!answer) return;
    this.#answer = undefined;
    const { messageId, after, uuids, content, message, time } = answer;
    let position = after;
    if (content.length > 0) {
      const usage = this.#counted.has(messageId) ? {} : getRecord(message["usage"]);
      this.#counted.add(messageId);
      const converted = toAnswer({
        content,
        provider: "anthropic",
        model: getText(message["model"]) || "unknown",
        time,
        stopReason: stopReasons[getText(message["stop_reason"])] ?? "stop",
        usage: toUsage({
          input: usage["input_tokens"],
          output: usage["output_tokens"],
          cacheRead: usage["cache_read_input_tokens"],
          cacheWrite: usage["cache_creation_input_tokens"],
        }),
      });
      // If the last line is new, so is the entry: an answer that was cut becomes a branch that is left.
      position = this.#state.chain.addMessage(after, { key: uuids.at(-1)!, time }, converted);
    }
    for (const uuid of uuids) this.#positions.set(uuid, position);
  }

  #addSystem(line: ForeignRecord, uuid: string): void {
    const isBoundary = line["subtype"] === "compact_boundary";
    const { preTokens } = getRecord(line["compactMetadata"]);
    if (isBoundary) this.#tokensBefore = typeof preTokens === "number" && preTokens > 0 ? Math.round(preTokens) : 0;
    this.#positions.set(uuid, this.#findPosition(isBoundary ? line["logicalParentUuid"] : line["parentUuid"]));
  }
}

/** Signatures are left out: only the model that made them accepts them, in the session that it made them in. */
function readBlocks(content: unknown): AssistantMessage["content"] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : getList(content);
  return blocks.flatMap((value): AssistantMessage["content"] => {
    const block = getRecord(value);
    switch (block["type"]) {
      case "text":
        return getText(block["text"]) === "" ? [] : [toTextBlock(getText(block["text"]))];
      case "thinking":
        return getText(block["thinking"]) === "" ? [] : [{ type: "thinking", thinking: getText(block["thinking"]) }];
      case "tool_use": {
        const [id, name] = [getText(block["id"]), getText(block["name"])];
        return id === "" ? [] : [{ type: "toolCall", id, name, arguments: getRecord(block["input"]) }];
      }
      default:
        return [];
    }
  });
}
