/** Counts what the entries of a session have used, by local day, and by model or tool. Pure. */
import { asRecord } from "@tau/ai/internal";
import { noUsage, type UsageAmounts } from "@tau/protocol";
import { parseUsage } from "../budget/usage.ts";
import { formatDate } from "../prompt/system-prompt.ts";
import { customTypes, getNestedCall, type SessionEntry, type SessionHeader } from "../session/entry.ts";

export const addAmounts = (a: UsageAmounts, b: Partial<UsageAmounts>): UsageAmounts => ({
  requests: a.requests + (b.requests ?? 0),
  input: a.input + (b.input ?? 0),
  output: a.output + (b.output ?? 0),
  cacheRead: a.cacheRead + (b.cacheRead ?? 0),
  cacheWrite: a.cacheWrite + (b.cacheWrite ?? 0),
  cost: a.cost + (b.cost ?? 0),
  timeMs: a.timeMs + (b.timeMs ?? 0),
  calls: a.calls + (b.calls ?? 0),
  errors: a.errors + (b.errors ?? 0),
  denied: a.denied + (b.denied ?? 0),
});

/** The amounts of a model (`provider/id`) or a tool on a day (`2026-03-01`). */
export interface UsageCell extends UsageAmounts {
  readonly day: string;
  readonly kind: "model" | "tool";
  readonly name: string;
}

/** The name of what cannot be assigned to a model. */
const unknownModel = "unknown";

/** Longer times between two entries are those of a machine that was asleep. */
const maxTimeMs = 48 * 60 * 60_000;

export class UsageCounter {
  readonly #cells = new Map<string, UsageCell>();
  /** Entries of a fork from before it was made are copies: the session that it was forked from counts them. */
  readonly #startMs: number;
  #model = unknownModel;
  /** When calls that have no result yet were started. */
  readonly #started = new Map<string, number>();

  constructor(header: Pick<SessionHeader, "timestamp" | "branchPoint" | "parentSession"> | undefined) {
    const isFork = typeof header?.branchPoint === "string" || header?.parentSession !== undefined;
    this.#startMs = isFork ? Date.parse(header!.timestamp) || 0 : 0;
  }

  get cells(): UsageCell[] {
    return [...this.#cells.values()];
  }

  /** Entries are not validated. */
  add(entry: SessionEntry): void {
    const timeMs = Date.parse(entry?.timestamp);
    if (Number.isNaN(timeMs)) return;
    const add = (kind: UsageCell["kind"], name: string, amounts: Partial<UsageAmounts>) => {
      if (timeMs >= this.#startMs) this.#add({ day: formatDate(timeMs), kind, name }, amounts);
    };
    switch (entry.type) {
      case "message":
        this.#addMessage(asRecord(entry.message), timeMs, add);
        break;
      case "model_change":
        this.#model = formatModel(entry.provider, entry.modelId);
        break;
      case "compaction":
      case "branch_summary":
        if (entry.usage) add("model", this.#model, { ...toAmounts(entry.usage), requests: 1 });
        break;
      case "usage":
        // The log of the child counts it.
        if (entry.kind !== "child") {
          add("model", formatModel(entry.provider, entry.model), { ...toAmounts(entry.usage), requests: 1 });
        }
        break;
      case "custom":
        this.#addCustom(entry, timeMs, add);
        break;
      default:
        break;
    }
  }

  #addMessage(message: Record<string, unknown>, timeMs: number, add: AddAmounts): void {
    if (message["role"] === "assistant") {
      this.#model = formatModel(message["provider"], message["model"]);
      const took = getTime(Number(message["timestamp"]), timeMs);
      add("model", this.#model, { ...toAmounts(message["usage"]), requests: 1, timeMs: took });
    } else if (message["role"] === "toolResult") {
      const took = getTime(this.#started.get(String(message["toolCallId"])), timeMs);
      this.#started.delete(String(message["toolCallId"]));
      const amounts = { calls: 1, errors: message["isError"] === true ? 1 : 0, timeMs: took };
      add("tool", formatTool(message["toolName"]), { ...amounts, ...toAmounts(message["usage"]) });
    }
  }

  #addCustom(entry: SessionEntry & { type: "custom" }, timeMs: number, add: AddAmounts): void {
    const data = asRecord(entry.data);
    const nested = getNestedCall(entry);
    if (nested) add("tool", formatTool(nested.toolName), { calls: 1, errors: nested.isError ? 1 : 0 });
    else if (entry.customType === customTypes.callStarted) this.#started.set(String(data["toolCallId"]), timeMs);
    else if (entry.customType === customTypes.decision && data["outcome"] === "denied") {
      add("tool", formatTool(data["toolName"]), { denied: 1 });
    }
  }

  #add({ day, kind, name }: Pick<UsageCell, "day" | "kind" | "name">, amounts: Partial<UsageAmounts>): void {
    const key = `${day} ${kind} ${name}`;
    const cell = this.#cells.get(key) ?? { day, kind, name, ...noUsage };
    this.#cells.set(key, { day, kind, name, ...addAmounts(cell, amounts) });
  }
}

type AddAmounts = (kind: UsageCell["kind"], name: string, amounts: Partial<UsageAmounts>) => void;

function toAmounts(usage: unknown): Partial<UsageAmounts> {
  const { input, output, cacheRead, cacheWrite, cost } = parseUsage(usage);
  return { input, output, cacheRead, cacheWrite, cost };
}

const maxNameLength = 200;

const formatModel = (provider: unknown, model: unknown): string =>
  typeof provider === "string" && typeof model === "string"
    ? `${provider}/${model}`.slice(0, maxNameLength)
    : unknownModel;

const formatTool = (name: unknown): string => (typeof name === "string" ? name.slice(0, maxNameLength) : "unknown");

function getTime(fromMs: number | undefined, toMs: number): number {
  const took = fromMs === undefined ? 0 : toMs - fromMs;
  return took > 0 && took <= maxTimeMs ? took : 0;
}
