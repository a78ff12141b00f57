/** Sessions of codex: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, the items of its requests in order. */
import type { AssistantMessage, ImageContent, TextContent, Usage } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { type Conversion, noteTexts } from "./conversion.ts";
import { convertLines, type ConversionState, type LineConverter } from "./convert-lines.ts";
import type { ForeignResult, Position } from "./entry-chain.ts";
import {
  type ForeignRecord,
  getList,
  getRecord,
  getText,
  getTime,
  parseDataUrl,
  toAnswer,
  toArguments,
  toTextBlock,
  toUsage,
} from "./foreign-values.ts";
import type { ReadLinesOptions } from "./read-lines.ts";

export const convertCodex = (path: string, options?: ReadLinesOptions): Conversion =>
  convertLines(path, (state) => new CodexConverter(state), options);

/** Texts that codex puts before the first prompt in the user's name. Newer versions mark them as their own. */
const ownTexts =
  /^\s*(?:<(?:environment_context|user_instructions|permissions instructions|skills_instructions|turn_aborted|collaboration_mode)>|# AGENTS\.md instructions)/;

/** Lines that only keep track of the program's own state, or repeat what other lines have. */
const ignoredTypes = new Set(["world_state", "inter_agent_communication", "session_state", "ghost_snapshot"]);
const itemTypes = new Set([
  ..."message reasoning function_call function_call_output custom_tool_call custom_tool_call_output".split(" "),
  ..."local_shell_call local_shell_call_output".split(" "),
]);

/** An answer, and the results that came before the usage of its request was known. */
interface OpenAnswer {
  content: AssistantMessage["content"];
  /** The line of its last item. */
  line: number;
  time: number;
  model: string;
  usage?: Usage;
  results: { line: number; time: number; result: ForeignResult }[];
}

class CodexConverter implements LineConverter {
  readonly #state: ConversionState;
  #position: Position = null;
  #answer: OpenAnswer | undefined;
  #model = "unknown";
  #provider = "openai";
  /** The position before each prompt, for those that were taken back. */
  readonly #beforePrompts: Position[] = [];

  constructor(state: ConversionState) {
    this.#state = state;
  }

  push(line: ForeignRecord, lineNumber: number): void {
    const { notes } = this.#state;
    this.#state.lastTime = getTime(line["timestamp"], this.#state.lastTime);
    const type = getText(line["type"]);
    const payload = getRecord(line["payload"]);
    switch (type) {
      case "session_meta":
        return this.#readMeta(payload);
      case "turn_context":
        this.#model = getText(payload["model"]) || this.#model;
        return;
      case "response_item":
        return this.#addItem(payload, lineNumber);
      case "event_msg":
        return this.#addEvent(payload);
      case "token_usage_record":
        return this.#setUsage(payload["usage"]);
      case "compacted":
        return this.#addCompaction(payload, lineNumber);
      case "":
        // The first version began with its meta data, without a type, and wrote `record_type` for its own state.
        if (typeof line["id"] === "string") this.#readMeta(line);
        return;
      default:
        if (itemTypes.has(type)) this.#addItem(line, lineNumber);
        else if (!ignoredTypes.has(type)) notes.add(noteTexts.unknown);
    }
  }

  end(): void {
    this.#finishAnswer();
  }

  #readMeta(meta: ForeignRecord): void {
    const { info } = this.#state;
    // A session that continues another one repeats the meta data of that one.
    if (info.started !== undefined) return;
    info.started = getTime(meta["timestamp"], this.#state.lastTime);
    info.cwd = getText(meta["cwd"]);
    this.#provider = getText(meta["model_provider"]) || this.#provider;
    this.#state.lastTime = Math.max(this.#state.lastTime, info.started);
  }

  #addItem(item: ForeignRecord, line: number): void {
    const { lastTime: time, notes } = this.#state;
    switch (item["type"]) {
      case "message":
        return item["role"] === "assistant"
          ? this.#extend(line, readText(item["content"]))
          : this.#addPrompt(item, line);
      case "reasoning": {
        const texts = [...getList(item["summary"]), ...getList(item["content"])].map((part) =>
          getText(getRecord(part)["text"]),
        );
        const thinking = texts.filter((text) => text !== "").join("\n\n");
        return this.#extend(line, thinking === "" ? [] : [{ type: "thinking", thinking }]);
      }
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call": {
        const id = getText(item["call_id"]) || getText(item["id"]);
        if (id === "") return notes.add(noteTexts.unknown);
        const name = getText(item["name"]) || "shell";
        const given = item["arguments"] ?? item["input"] ?? item["action"];
        return this.#extend(line, [{ type: "toolCall", id, name, arguments: toArguments(given) }]);
      }
      case "function_call_output":
      case "custom_tool_call_output":
      case "local_shell_call_output": {
        const result = { callId: getText(item["call_id"]), ...readOutput(item["output"]) };
        if (this.#answer) this.#answer.results.push({ line, time, result });
        else
          this.#position =
            this.#state.chain.addResult(this.#position, { key: `${line}`, time }, result) ?? this.#position;
        return;
      }
      default:
        return;
    }
  }

  /** Adds blocks to the answer, or begins another one once results or a prompt have followed. */
  #extend(line: number, content: AssistantMessage["content"]): void {
    if (content.length === 0) return;
    if (this.#answer && this.#answer.results.length > 0) this.#finishAnswer();
    this.#answer ??= { content: [], line, time: this.#state.lastTime, model: this.#model, results: [] };
    this.#answer.content.push(...content);
    this.#answer.line = line;
  }

  #addPrompt(item: ForeignRecord, line: number): void {
    // Instructions of the program itself; tau has its own.
    if (item["role"] !== "user") return;
    const content = readContent(withoutOwnParts(item)).filter(
      (block) => block.type !== "text" || !ownTexts.test(block.text),
    );
    if (content.length === 0) return;
    this.#finishAnswer();
    this.#beforePrompts.push(this.#position);
    const { chain, lastTime: time } = this.#state;
    this.#position = chain.addMessage(
      this.#position,
      { key: `${line}`, time },
      { role: "user", content, timestamp: time },
    );
  }

  #finishAnswer(): void {
    const answer = this.#answer;
    if (!answer) return;
    this.#answer = undefined;
    const { chain } = this.#state;
    const { content, line, time, model, usage, results } = answer;
    const message = toAnswer({ content, provider: this.#provider, model, time, ...(usage && { usage }) });
    this.#position = chain.addMessage(this.#position, { key: `${line}`, time }, message);
    for (const each of results) {
      const entry = { key: `${each.line}`, time: each.time };
      this.#position = chain.addResult(this.#position, entry, each.result) ?? this.#position;
    }
  }

  #addEvent(event: ForeignRecord): void {
    if (event["type"] === "token_count") this.#setUsage(getRecord(event["info"])["last_token_usage"]);
    if (event["type"] !== "thread_rolled_back") return;
    this.#finishAnswer();
    const count = event["num_turns"];
    if (typeof count !== "number" || !(count >= 1)) return;
    const dropped = this.#beforePrompts.splice(-Math.floor(count));
    if (dropped.length > 0) this.#position = dropped[0]!;
  }

  /** The input of codex includes what was read from a cache. */
  #setUsage(value: unknown): void {
    if (!this.#answer || this.#answer.usage || !isRecord(value)) return;
    const cached = typeof value["cached_input_tokens"] === "number" ? value["cached_input_tokens"] : 0;
    const written = typeof value["cache_write_input_tokens"] === "number" ? value["cache_write_input_tokens"] : 0;
    this.#answer.usage = toUsage({
      input: Number(value["input_tokens"]) - cached - written,
      output: value["output_tokens"],
      cacheRead: cached,
      cacheWrite: written,
      reasoning: value["reasoning_output_tokens"],
    });
  }

  /** A summary that only the provider can read takes nothing away: the conversation stays as it was. */
  #addCompaction(payload: ForeignRecord, line: number): void {
    this.#finishAnswer();
    const summary = getText(payload["message"]);
    if (summary === "") return;
    const { chain, lastTime: time } = this.#state;
    this.#position = chain.add(this.#position, { key: `${line}`, time }, (id) => ({
      type: "compaction",
      summary,
      firstKeptEntryId: id,
      tokensBefore: 0,
    }));
  }
}

/** Newer versions say of each part where it comes from. */
function withoutOwnParts(item: ForeignRecord): unknown {
  const marks = getList(getRecord(item["internal_chat_message_metadata_passthrough"])["content_item_metadata"]);
  const isOwn = (index: number) => getRecord(getRecord(marks[index])["provenance"])["type"] === "harness";
  return Array.isArray(item["content"]) ? item["content"].filter((_part, index) => !isOwn(index)) : item["content"];
}

const readText = (content: unknown): TextContent[] => readContent(content).filter((block) => block.type === "text");

function readContent(content: unknown): (TextContent | ImageContent)[] {
  if (typeof content === "string") return content === "" ? [] : [toTextBlock(content)];
  return getList(content).flatMap((value): (TextContent | ImageContent)[] => {
    const part = getRecord(value);
    const text = getText(part["text"]);
    if (text !== "") return [toTextBlock(text)];
    const image = parseDataUrl(getText(part["image_url"]));
    return image ? [image] : [];
  });
}

/** A text, a list of parts, or in older versions JSON with the output and the exit code. */
function readOutput(output: unknown): Pick<ForeignResult, "content" | "isError"> {
  const parsed = typeof output === "string" && output.startsWith("{") ? tryParseJson(output) : output;
  if (isRecord(parsed) && ("output" in parsed || "content" in parsed)) {
    const exitCode = getRecord(parsed["metadata"])["exit_code"];
    const failed = parsed["success"] === false || (typeof exitCode === "number" && exitCode !== 0);
    return { content: readContent(parsed["output"] ?? parsed["content"]), isError: failed };
  }
  const exited =
    typeof output === "string" ? /^Process exited with code (\d+)$/m.exec(output.slice(0, 500))?.[1] : undefined;
  return { content: readContent(output), isError: exited !== undefined && exited !== "0" };
}
