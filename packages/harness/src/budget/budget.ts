/**
 * Hard budgets, for a session and for all that it starts. What a request may cost at most is reserved here and in every
 * budget above before it is sent, so that many who ask at once cannot spend the same rest. There are no timers here:
 * who runs sets one for `deadlineMs`.
 */
import type { AssistantMessage, Clock, Usage } from "@tau/ai";
import { HarnessError } from "../errors.ts";
import { type BudgetRequest, type Demand, toDemand, outputWithin, type Rest } from "./demand.ts";
import { toAmount, toCounted } from "./counted.ts";

export type { BudgetRequest } from "./demand.ts";

/** Without a number there is no limit. */
export interface BudgetLimits {
  /** In and out together, what comes from a cache included. */
  tokens?: number;
  /** US dollars. With 0 only models that cost nothing may be asked. */
  cost?: number;
  /** Requests, those that failed included. */
  turns?: number;
  /** Milliseconds since the budget was made. */
  timeMs?: number;
}

export type BudgetLimit = "tokens" | "cost" | "turns" | "time";
export type Spent = Required<BudgetLimits>;

export interface BudgetOptions {
  /** The budget of the session that started this one. */
  parent?: Budget;
  clock: Clock;
  /** What was spent before, by a session that goes on. It does not count for the parent. */
  spent?: Partial<Spent>;
}

/** Stands until it is settled or cancelled, so each needs to be, also when its request fails. The first call counts. */
export interface Reservation {
  /**
   * Puts what was really used in the place of what was reserved. With undefined nobody knows what was used, and the
   * estimate of the input counts: what a provider is sent it reads, and one that never counts could otherwise be asked
   * without end.
   */
  settle(usage: Usage | undefined): void;
  /** For a request that was never sent: all of it goes back, its turn too. */
  cancel(): void;
}

export type BudgetGrant =
  | {
      kind: "granted";
      /** How long the answer may be; undefined when no limit has a say in it. */
      maxTokens: number | undefined;
      reservation: Reservation;
    }
  | { kind: "spent"; limit: BudgetLimit; message: string };

/**
 * A limit can be overrun by what the provider bills for the input above its estimate, and by what is charged without
 * having been reserved; by nothing else.
 */
export class Budget {
  readonly #limits: BudgetLimits;
  readonly #clock: Clock;
  /** On the monotonic clock. */
  readonly #startMs: number;
  /** This one and those above it, the nearest first. */
  readonly #line: readonly Budget[];
  readonly #spent: Omit<Spent, "timeMs">;
  /** Added up when asked: a running sum of dollars would not come back to 0. */
  readonly #held = new Set<Rest>();

  /** Use `createBudget`. */
  constructor(limits: BudgetLimits, { parent, clock, spent = {} }: BudgetOptions) {
    this.#limits = checked(limits);
    this.#clock = clock;
    this.#startMs = clock.monotonic() - toAmount(spent.timeMs);
    this.#line = [this, ...(parent ? parent.#line : [])];
    this.#spent = { tokens: toAmount(spent.tokens), cost: toAmount(spent.cost), turns: toAmount(spent.turns) };
  }

  /** By this session and all below it; without what is reserved. */
  get spent(): Spent {
    return { ...this.#spent, timeMs: this.#clock.monotonic() - this.#startMs };
  }

  /** What can still be reserved, here and above: the least of them, and nothing for what is not limited. */
  get left(): BudgetLimits {
    const left: BudgetLimits = {};
    const narrow = (name: keyof BudgetLimits, amount: number) => {
      if (amount < Number.POSITIVE_INFINITY) left[name] = Math.max(0, Math.min(left[name] ?? amount, amount));
    };
    for (const budget of this.#line) {
      const { tokens, cost } = budget.#rest();
      narrow("tokens", tokens);
      narrow("cost", cost);
      narrow("turns", (budget.#limits.turns ?? Number.POSITIVE_INFINITY) - budget.#spent.turns);
      narrow("timeMs", budget.#endMs - this.#clock.monotonic());
    }
    return left;
  }

  /** When the time is over, on the monotonic clock: the nearest end, here and above. */
  get deadlineMs(): number | undefined {
    const nearest = Math.min(...this.#line.map((budget) => budget.#endMs));
    return nearest === Number.POSITIVE_INFINITY ? undefined : nearest;
  }

  /** The first limit, here or above, that has been reached. */
  exceeded(): BudgetLimit | undefined {
    return this.#reached()?.limit;
  }

  /**
   * Reserves a request, here and above, or nowhere. It may get fewer tokens for its answer than it wants: at most half
   * of what is left, but at least 1,024.
   */
  reserve(request: BudgetRequest): BudgetGrant {
    const reached = this.#reached();
    if (reached) return reached.budget.#refusal(reached.limit, this);
    const demand = toDemand(request);
    let output = demand.wantedOutput;
    let isLimited = false;
    for (const budget of this.#line) {
      const within = outputWithin(budget.#rest(), demand);
      if (within.kind === "spent") return budget.#refusal(within.limit, this, demand);
      output = Math.min(output, within.tokens);
      isLimited ||= budget.#limits.tokens !== undefined || budget.#limits.cost !== undefined;
    }
    // Where nobody says how long the answer may be, a limit of dollars does not say so either for a model that is free.
    const maxTokens = isLimited && output < Number.POSITIVE_INFINITY ? output : undefined;
    return { kind: "granted", maxTokens, reservation: this.#hold(demand, maxTokens ?? 0) };
  }

  /** Counts what was used without being asked for here, such as for a summary. It may overrun a limit. */
  charge(usage: Usage): void {
    const { total, cost } = toCounted(usage);
    for (const budget of this.#line) budget.#add({ tokens: total, cost, turns: 0 });
  }

  #hold(demand: Demand, output: number): Reservation {
    const held = { tokens: demand.inputTokens + output, cost: demand.inputCost + output * demand.outputPrice };
    for (const budget of this.#line) {
      budget.#held.add(held);
      budget.#spent.turns++;
    }
    return {
      settle: (usage) => {
        const { total, cost } = usage ? toCounted(usage) : { total: demand.inputTokens, cost: demand.inputCost };
        this.#release(held, { tokens: total, cost, turns: 0 });
      },
      cancel: () => this.#release(held, { tokens: 0, cost: 0, turns: -1 }),
    };
  }

  #release(held: Rest, used: Omit<Spent, "timeMs">): void {
    // Every budget of the line holds it, or none does any more.
    for (const budget of this.#line) if (budget.#held.delete(held)) budget.#add(used);
  }

  #add(used: Omit<Spent, "timeMs">): void {
    this.#spent.tokens += used.tokens;
    this.#spent.cost += used.cost;
    this.#spent.turns += used.turns;
  }

  get #endMs(): number {
    return this.#startMs + (this.#limits.timeMs ?? Number.POSITIVE_INFINITY);
  }

  #rest(): Rest {
    const { tokens = Number.POSITIVE_INFINITY, cost = Number.POSITIVE_INFINITY } = this.#limits;
    const rest = { tokens: tokens - this.#spent.tokens, cost: cost - this.#spent.cost };
    for (const held of this.#held) {
      rest.tokens -= held.tokens;
      rest.cost -= held.cost;
    }
    return rest;
  }

  #reached(): { budget: Budget; limit: BudgetLimit } | undefined {
    const nowMs = this.#clock.monotonic();
    for (const budget of this.#line) {
      const { turns, tokens, cost } = budget.#limits;
      const spent = budget.#spent;
      if (nowMs >= budget.#endMs) return { budget, limit: "time" };
      if (turns !== undefined && spent.turns >= turns) return { budget, limit: "turns" };
      if (tokens !== undefined && spent.tokens >= tokens) return { budget, limit: "tokens" };
      // Nothing of nothing is not too much.
      if (cost !== undefined && spent.cost > 0 && spent.cost >= cost) return { budget, limit: "cost" };
    }
    return undefined;
  }

  #refusal(limit: BudgetLimit, asked: Budget, demand?: Demand): BudgetGrant & { kind: "spent" } {
    const name = limit === "time" ? "timeMs" : limit;
    const whose = asked === this ? "" : " of the session that started this one";
    const total = amountText(name, this.#limits[name] ?? 0);
    const rest = Math.max(0, limit === "cost" ? this.#rest().cost : this.#rest().tokens);
    const state = demand
      ? `does not suffice: ${amountText(name, rest)} are left, and the next request needs ${amountText(name, getNeed(limit, demand))}`
      : "is spent";
    return {
      kind: "spent",
      limit,
      message: `The budget${whose} of ${total} ${state}. To go on, raise budgets.${name}.`,
    };
  }
}

export const createBudget = (limits: BudgetLimits, options: BudgetOptions): Budget => new Budget(limits, options);

/** What a message's reservation is settled with: undefined when it says something that the provider did not count. */
export function countedUsage({ content, usage }: Pick<AssistantMessage, "content" | "usage">): Usage | undefined {
  return content.length > 0 && toCounted(usage).total === 0 ? undefined : usage;
}

/** The least that a request needs. */
const getNeed = (limit: BudgetLimit, { inputTokens, inputCost, minOutput, outputPrice }: Demand): number =>
  limit === "cost" ? inputCost + minOutput * outputPrice : inputTokens + minOutput;

function amountText(name: keyof BudgetLimits, amount: number): string {
  if (name === "cost") return `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
  const count = Math.floor(amount).toLocaleString("en-US");
  if (name === "timeMs") return `${count} ms`;
  return `${count} ${count === "1" ? name.slice(0, -1) : name}`;
}

function checked(limits: BudgetLimits): BudgetLimits {
  const finite: BudgetLimits = {};
  for (const name of ["tokens", "cost", "turns", "timeMs"] as const) {
    const limit = limits[name];
    if (limit === undefined || limit === Number.POSITIVE_INFINITY) continue;
    if (!(limit >= 0))
      throw new HarnessError("invalid_input", `The limit budgets.${name} is ${limit}. It is a number: 0 or more.`);
    finite[name] = limit;
  }
  return finite;
}
