/**
 * Hard budgets, for a session and for the sessions that it starts. The highest cost of a request is reserved before it is
 * sent, in this budget and its ancestors, so that concurrent requests cannot spend the same remainder. A budget has no
 * timer: the run sets one for `deadlineMs`.
 */
import type { AssistantMessage, Clock, Usage } from "@tau/ai";
import { HarnessError } from "@tau/protocol";
import { type BudgetRequest, type Demand, limitOutput, type Remaining, toDemand } from "./demand.ts";
import { parseUsage, toAmount } from "./usage.ts";

/** A missing number means no limit. */
export interface BudgetLimits {
  /** Input and output together, including what comes from a cache. */
  tokens?: number;
  /** US dollars. With 0, only free models can be used. */
  cost?: number;
  /** Requests, including failed ones. */
  turns?: number;
  /** Milliseconds since the budget was created. */
  timeMs?: number;
}

export type BudgetLimit = "tokens" | "cost" | "turns" | "time";
type Spent = Required<BudgetLimits>;

interface BudgetOptions {
  /** The budget of the session that started this one. */
  parent?: Budget;
  clock: Clock;
  /** The amounts that a resumed session has spent before. They are not charged to the parent. */
  spent?: Partial<Spent>;
}

/** Must be settled or cancelled, also if the request fails. Only the first call has an effect. */
export interface Reservation {
  /**
   * Replaces the reservation by what was used. If the usage is undefined, the estimate of the input is charged; otherwise
   * a provider that never counts could be asked without end.
   */
  settle(usage: Usage | undefined): void;
  /** For a request that was never sent: returns all of it, including the turn. */
  cancel(): void;
}

export type BudgetGrant =
  | {
      kind: "granted";
      /** The maximum length of the answer; undefined if no budget limits it. */
      maxTokens: number | undefined;
      reservation: Reservation;
    }
  | { kind: "spent"; limit: BudgetLimit; message: string };

/** A limit is exceeded only if a provider bills more input than was estimated, or by `charge`. */
export class Budget {
  readonly #limits: BudgetLimits;
  readonly #clock: Clock;
  /** On the monotonic clock. */
  readonly #startMs: number;
  /** This budget and its ancestors, the nearest first. */
  readonly #chain: readonly Budget[];
  readonly #spent: Omit<Spent, "timeMs">;
  /** Added up when needed: a running sum of dollars would not return to 0. */
  readonly #reserved = new Set<Remaining>();

  /** Use `createBudget`. */
  constructor(limits: BudgetLimits, { parent, clock, spent = {} }: BudgetOptions) {
    this.#limits = validate(limits);
    this.#clock = clock;
    this.#startMs = clock.monotonic() - toAmount(spent.timeMs);
    this.#chain = [this, ...(parent ? parent.#chain : [])];
    this.#spent = { tokens: toAmount(spent.tokens), cost: toAmount(spent.cost), turns: toAmount(spent.turns) };
  }

  /** The amounts that this session and its descendants have spent, without reservations. */
  get spent(): Spent {
    return { ...this.#spent, timeMs: this.#clock.monotonic() - this.#startMs };
  }

  /** The amounts that can still be reserved in all budgets of the chain. Amounts without a limit are missing. */
  get left(): BudgetLimits {
    const left: BudgetLimits = {};
    const narrow = (name: keyof BudgetLimits, amount: number) => {
      if (amount < Number.POSITIVE_INFINITY) left[name] = Math.max(0, Math.min(left[name] ?? amount, amount));
    };
    for (const budget of this.#chain) {
      const { tokens, cost } = budget.#remaining();
      narrow("tokens", tokens);
      narrow("cost", cost);
      narrow("turns", (budget.#limits.turns ?? Number.POSITIVE_INFINITY) - budget.#spent.turns);
      narrow("timeMs", budget.#endMs - this.#clock.monotonic());
    }
    return left;
  }

  /** The earliest end of a time limit in the chain, on the monotonic clock. */
  get deadlineMs(): number | undefined {
    const earliest = Math.min(...this.#chain.map((budget) => budget.#endMs));
    return earliest === Number.POSITIVE_INFINITY ? undefined : earliest;
  }

  /** The first limit of the chain that was reached. */
  exceeded(): BudgetLimit | undefined {
    return this.#findReached()?.limit;
  }

  /**
   * Reserves a request in all budgets of the chain, or in none. The answer may get fewer tokens than requested: at most
   * half of what remains, but at least 1,024.
   */
  reserve(request: BudgetRequest): BudgetGrant {
    const reached = this.#findReached();
    if (reached) return reached.budget.#refuse(reached.limit, this);
    const demand = toDemand(request);
    let output = demand.maxOutput;
    let isLimited = false;
    for (const budget of this.#chain) {
      const limited = limitOutput(budget.#remaining(), demand);
      if (limited.kind === "spent") return budget.#refuse(limited.limit, this, demand);
      output = Math.min(output, limited.tokens);
      isLimited ||= budget.#limits.tokens !== undefined || budget.#limits.cost !== undefined;
    }
    // A cost limit does not limit the answer of a free model.
    const maxTokens = isLimited && output < Number.POSITIVE_INFINITY ? output : undefined;
    return { kind: "granted", maxTokens, reservation: this.#hold(demand, maxTokens ?? 0) };
  }

  /** Counts what was used without a reservation, for example by a summary. It may exceed a limit. */
  charge(usage: Usage): void {
    const { total, cost } = parseUsage(usage);
    for (const budget of this.#chain) budget.#add({ tokens: total, cost, turns: 0 });
  }

  #hold(demand: Demand, output: number): Reservation {
    const amount = { tokens: demand.inputTokens + output, cost: demand.inputCost + output * demand.outputPrice };
    for (const budget of this.#chain) {
      budget.#reserved.add(amount);
      budget.#spent.turns++;
    }
    const release = (tokens: number, cost: number, turns: number) => {
      for (const budget of this.#chain) if (budget.#reserved.delete(amount)) budget.#add({ tokens, cost, turns });
    };
    return {
      settle: (usage) => {
        const { total, cost } = usage ? parseUsage(usage) : { total: demand.inputTokens, cost: demand.inputCost };
        release(total, cost, 0);
      },
      cancel: () => release(0, 0, -1),
    };
  }

  #add({ tokens, cost, turns }: Omit<Spent, "timeMs">): void {
    this.#spent.tokens += tokens;
    this.#spent.cost += cost;
    this.#spent.turns += turns;
  }

  get #endMs(): number {
    return this.#startMs + (this.#limits.timeMs ?? Number.POSITIVE_INFINITY);
  }

  #remaining(): Remaining {
    const { tokens = Number.POSITIVE_INFINITY, cost = Number.POSITIVE_INFINITY } = this.#limits;
    const remaining = { tokens: tokens - this.#spent.tokens, cost: cost - this.#spent.cost };
    for (const reserved of this.#reserved) {
      remaining.tokens -= reserved.tokens;
      remaining.cost -= reserved.cost;
    }
    return remaining;
  }

  #findReached(): { budget: Budget; limit: BudgetLimit } | undefined {
    const nowMs = this.#clock.monotonic();
    for (const budget of this.#chain) {
      const { turns, tokens, cost } = budget.#limits;
      const spent = budget.#spent;
      if (nowMs >= budget.#endMs) return { budget, limit: "time" };
      if (turns !== undefined && spent.turns >= turns) return { budget, limit: "turns" };
      if (tokens !== undefined && spent.tokens >= tokens) return { budget, limit: "tokens" };
      // A cost limit of 0 is not reached while free models are used.
      if (cost !== undefined && spent.cost > 0 && spent.cost >= cost) return { budget, limit: "cost" };
    }
    return undefined;
  }

  /** `asked` is the budget that the request was made to. */
  #refuse(limit: BudgetLimit, asked: Budget, demand?: Demand): BudgetGrant & { kind: "spent" } {
    const name = limit === "time" ? "timeMs" : limit;
    const owner = asked === this ? "" : " of the session that started this one";
    const total = formatAmount(name, this.#limits[name] ?? 0);
    const left = Math.max(0, limit === "cost" ? this.#remaining().cost : this.#remaining().tokens);
    const state = demand
      ? `is not enough: ${formatAmount(name, left)} are left, but the next request needs ${formatAmount(name, getNeed(limit, demand))}`
      : "is spent";
    const message = `The budget${owner} of ${total} ${state}. To continue, raise budgets.${name}.`;
    return { kind: "spent", limit, message };
  }
}

export const createBudget = (limits: BudgetLimits, options: BudgetOptions): Budget => new Budget(limits, options);

/** Returns the usage that settles the reservation of an answer: undefined if it has content but the provider counted 0. */
export function countedUsage({ content, usage }: Pick<AssistantMessage, "content" | "usage">): Usage | undefined {
  return content.length > 0 && parseUsage(usage).total === 0 ? undefined : usage;
}

/** The minimum that a request needs. */
const getNeed = (limit: BudgetLimit, { inputTokens, inputCost, minOutput, outputPrice }: Demand): number =>
  limit === "cost" ? inputCost + minOutput * outputPrice : inputTokens + minOutput;

function formatAmount(name: keyof BudgetLimits, amount: number): string {
  if (name === "cost") return `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
  const count = Math.floor(amount).toLocaleString("en-US");
  if (name === "timeMs") return `${count} ms`;
  return `${count} ${count === "1" ? name.slice(0, -1) : name}`;
}

function validate(limits: BudgetLimits): BudgetLimits {
  const finite: BudgetLimits = {};
  for (const name of ["tokens", "cost", "turns", "timeMs"] as const) {
    const limit = limits[name];
    if (limit === undefined || limit === Number.POSITIVE_INFINITY) continue;
    if (!(limit >= 0))
      throw new HarnessError(
        "invalid_input",
        `The limit budgets.${name} is ${limit}. It must be a number of 0 or more.`,
      );
    finite[name] = limit;
  }
  return finite;
}
