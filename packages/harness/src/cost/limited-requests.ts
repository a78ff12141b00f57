/** Sends requests that are reserved in the ledger of costs before, and settled after. */
import type { StreamFn } from "@tau/agent";
import type { AssistantMessage, Clock, Context, Tool } from "@tau/ai";
import { followSignal } from "@tau/ai/internal";
import { countedUsage } from "../budget/budget.ts";
import { toDemand } from "../budget/demand.ts";
import { parseUsage } from "../budget/usage.ts";
import { estimateTokens, usedTokens } from "../compaction/tokens.ts";
import { textTokens } from "../compaction/text.ts";
import { formatDate } from "../prompt/system-prompt.ts";
import { failedStream } from "../request/request.ts";
import { type CostLimits, listWarnings } from "./cost-limits.ts";
import type { CostLedger, CostReservation } from "./cost-ledger.ts";
import { markRefused } from "./refused-streams.ts";

interface LimitedRequestsParts {
  ledger: CostLedger;
  clock: Clock;
  /** Called once a day for each limit of which most is spent. */
  warn: (message: string) => void;
}

/** How long a request that was aborted may take to report what it cost. */
const abortedMs = 5_000;

export class LimitedRequests {
  readonly #parts: LimitedRequestsParts;
  /** The days for which the user was warned, by period. */
  readonly #warned = new Map<string, string>();

  constructor(parts: LimitedRequestsParts) {
    this.#parts = parts;
  }

  async ask(streamFn: StreamFn, request: Parameters<StreamFn>, limits: CostLimits) {
    const { ledger, clock } = this.#parts;
    const [model, context, options] = request;
    const { maxTokens = model.maxTokens } = options ?? {};
    const inputTokens = estimateInput(context);
    const demand = toDemand({ inputTokens, maxOutputTokens: maxTokens, price: model.cost });
    const grant = await ledger.reserve(demand, limits);
    if (grant.kind !== "granted") {
      const stream = failedStream(model, { kind: "refused", message: grant.message }, clock.now());
      return grant.kind === "spent" ? markRefused(stream, grant.period) : stream;
    }
    const { reservation } = grant;
    this.#warn(limits);
    const isShortened = reservation.maxTokens < demand.maxOutput;
    try {
      const shortened = { ...options, ...(isShortened && { maxTokens: reservation.maxTokens }) };
      const stream = await streamFn(model, context, shortened);
      void this.#settle(stream.result(), { reservation, limits, signal: options?.signal });
      return stream;
    } catch (error) {
      await reservation.settle(undefined);
      throw error;
    }
  }

  /** Never rejects. */
  async #settle(
    result: Promise<AssistantMessage>,
    {
      reservation,
      limits,
      signal,
    }: { reservation: CostReservation; limits: CostLimits; signal: AbortSignal | undefined },
  ): Promise<void> {
    const { clock } = this.#parts;
    let cancelTimer = () => {};
    const stopFollowing = followSignal(signal, () => {
      cancelTimer = clock.setTimer(abortedMs, () => void reservation.settle(undefined));
    });
    try {
      const usage = countedUsage(await result);
      await reservation.settle(usage && parseUsage(usage).cost);
    } catch (error) {
      // The stream was not finished, so nobody knows what it cost.
      void error;
      await reservation.settle(undefined);
    } finally {
      stopFollowing();
      cancelTimer();
    }
    this.#warn(limits);
  }

  #warn(limits: CostLimits): void {
    const { ledger, clock, warn } = this.#parts;
    const nowMs = clock.now();
    const today = formatDate(nowMs);
    for (const { period, message } of listWarnings(ledger.state, limits, { nowMs, today })) {
      if (this.#warned.get(period) === today) continue;
      this.#warned.set(period, today);
      warn(message);
    }
  }
}

/** The tokens that a provider counted for the last answer, and an estimate of what is new; else an estimate of everything. */
function estimateInput({ systemPrompt = "", tools = [], messages }: Context): number {
  const counted = messages.findLastIndex((message) => usedTokens(message) > 0);
  const sum = messages.slice(counted + 1).reduce((tokens, message) => tokens + estimateTokens(message), 0);
  return (
    sum +
    (counted < 0
      ? textTokens(systemPrompt) + textTokens(JSON.stringify(tools.map(describeTool)))
      : usedTokens(messages[counted]))
  );
}

const describeTool = ({ name, description, parameters }: Tool) => ({ name, description, parameters });
