import { emptyUsage, type Model, type Usage } from "@tau/ai";
import { createFakeClock } from "@tau/ai/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Budget,
  type BudgetGrant,
  type BudgetLimits,
  countedUsage,
  createBudget,
  type Reservation,
} from "./budget.ts";

const clock = createFakeClock();
const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** Dollars per million tokens: a token of input costs $1, one of output $10. */
const expensive = { input: 1e6, output: 1e7, cacheRead: 1e5, cacheWrite: 1e6 };

const budget = (limits: BudgetLimits, parent?: Budget) => createBudget(limits, { clock, ...(parent && { parent }) });
const ask = (inputTokens: number, maxOutputTokens: number, price: Model["cost"] = free) => ({
  inputTokens,
  maxOutputTokens,
  price,
});
const used = (input: number, output: number, cost = 0): Usage => ({
  ...emptyUsage(),
  input,
  output,
  totalTokens: input + output,
  cost: { ...emptyUsage().cost, total: cost },
});
/** `granted 5000`, `granted without limit`, or the limit and its message. */
const describeGrant = (grant: BudgetGrant) =>
  grant.kind === "granted" ? `granted ${grant.maxTokens ?? "without limit"}` : `${grant.limit}: ${grant.message}`;
function granted(grant: BudgetGrant) {
  if (grant.kind === "spent") throw new Error(grant.message);
  return grant;
}

describe("a request", () => {
  test("gets what it requests if nothing is limited", () => {
    expect(describeGrant(budget({}).reserve(ask(1e9, 64_000)))).toBe("granted without limit");
    expect(describeGrant(budget({ turns: 3, timeMs: 10 }).reserve(ask(1e9, 64_000)))).toBe("granted without limit");
    expect(describeGrant(budget({ tokens: Number.POSITIVE_INFINITY }).reserve(ask(1e9, 0)))).toBe(
      "granted without limit",
    );
    expect(describeGrant(budget({ cost: 1 }).reserve(ask(1e9, 0)))).toBe("granted without limit");
  });

  test.each([
    [100_000, 10_000, 8_000, "granted 8000"],
    [100_000, 10_000, 64_000, "granted 45000"],
    [100_000, 10_000, 0, "granted 45000"],
    [12_000, 10_000, 64_000, "granted 1024"],
    [11_024, 10_000, 64_000, "granted 1024"],
    [10_500, 10_000, 500, "granted 500"],
  ])("of %s tokens that sends %s and wants %s is %s", (tokens, input, wanted, expected) => {
    expect(describeGrant(budget({ tokens }).reserve(ask(input, wanted)))).toBe(expected);
  });

  test("is refused with a message if less than the minimum is left", () => {
    expect(describeGrant(budget({ tokens: 11_023 }).reserve(ask(10_000, 64_000)))).toBe(
      "tokens: The budget of 11,023 tokens is not enough: 11,023 tokens are left, but the next request needs 11,024 tokens. To continue, raise budgets.tokens.",
    );
    expect(describeGrant(budget({ cost: 0.5 }).reserve(ask(1, 64_000, expensive)))).toBe(
      "cost: The budget of $0.5000 is not enough: $0.5000 are left, but the next request needs $10241.00. To continue, raise budgets.cost.",
    );
    expect(describeGrant(budget({ turns: 1 }, budget({ turns: 0 })).reserve(ask(1, 1)))).toBe(
      "turns: The budget of the session that started this one of 0 turns is spent. To continue, raise budgets.turns.",
    );
  });

  test("is charged at the highest rate for input, and at the tier of its length", () => {
    const price = {
      ...expensive,
      cacheWrite: 2e6,
      tiers: [{ ...expensive, input: 4e6, output: 2e7, inputTokensAbove: 100 }],
    };
    expect(describeGrant(budget({ cost: 200 + 10 * 4_000 }).reserve(ask(100, 2_000, price)))).toBe("granted 2000");
    expect(describeGrant(budget({ cost: 200 + 10 * 4_000 }).reserve(ask(100, 9_000, price)))).toBe("granted 2000");
    expect(describeGrant(budget({ cost: 404 + 20 * 4_000 }).reserve(ask(101, 9_000, price)))).toBe("granted 2000");
  });

  test("is charged at the highest tier that it reaches, in whatever order the tiers are", () => {
    const tier = (inputTokensAbove: number, output: number) => ({ ...expensive, output, inputTokensAbove });
    for (const tiers of [
      [tier(100, 2e7), tier(50, 4e7)],
      [tier(50, 4e7), tier(100, 2e7)],
    ])
      expect(describeGrant(budget({ cost: 200 + 20 * 4_000 }).reserve(ask(200, 9_000, { ...expensive, tiers })))).toBe(
        "granted 2000",
      );
  });

  test("whose answer is free still pays for its input", () => {
    const price = { ...expensive, output: 0 };
    expect(describeGrant(budget({ cost: 100 }).reserve(ask(100, 9_000, price)))).toBe("granted 9000");
    expect(describeGrant(budget({ cost: 100 }).reserve(ask(101, 9_000, price)))).toMatch(/^cost/);
  });

  test("to a free model is granted with a cost limit of 0", () => {
    const empty = budget({ cost: 0 });
    expect(empty.exceeded()).toBeUndefined();
    expect(describeGrant(empty.reserve(ask(1_000, 2_000)))).toBe("granted 2000");
    expect(describeGrant(empty.reserve(ask(1_000, 2_000, expensive)))).toMatch(/^cost/);
  });

  test("is reserved until it is settled, and settled once", () => {
    const limited = budget({ tokens: 10_000, cost: 1e6, turns: 5 });
    const { reservation } = granted(limited.reserve(ask(1_000, 2_000, expensive)));
    expect(limited.left).toEqual({ tokens: 7_000, cost: 1e6 - 21_000, turns: 4 });
    expect(limited.spent).toMatchObject({ tokens: 0, cost: 0, turns: 1 });
    reservation.settle(used(900, 100, 1_900));
    reservation.settle(used(900, 100, 1_900));
    reservation.settle(undefined);
    expect(limited.left).toEqual({ tokens: 9_000, cost: 1e6 - 1_900, turns: 4 });
    expect(limited.spent).toMatchObject({ tokens: 1_000, cost: 1_900, turns: 1 });
  });

  test("costs its estimated input if its usage is unknown, a turn if it failed, and nothing if it was never sent", () => {
    const limited = budget({ tokens: 10_000 });
    granted(limited.reserve(ask(1_000, 2_000, expensive))).reservation.settle(undefined);
    granted(limited.reserve(ask(1_000, 2_000, expensive))).reservation.settle(emptyUsage());
    const { reservation } = granted(limited.reserve(ask(1_000, 2_000, expensive)));
    reservation.cancel();
    reservation.cancel();
    reservation.settle(used(5, 5, 5));
    expect(limited.spent).toMatchObject({ tokens: 1_000, cost: 1_000, turns: 2 });
    expect(limited.left).toEqual({ tokens: 9_000 });
  });

  test("is settled with the usage of its answer, unless that usage is 0", () => {
    const text = { type: "text" as const, text: "Hello." };
    expect(countedUsage({ content: [text], usage: used(5, 5) })).toEqual(used(5, 5));
    expect(countedUsage({ content: [text], usage: emptyUsage() })).toBeUndefined();
    expect(countedUsage({ content: [], usage: emptyUsage() })).toEqual(emptyUsage());
  });
});

describe("a budget", () => {
  test("reserves in all its ancestors, or nowhere", () => {
    const root = budget({ tokens: 20_000 });
    const child = budget({ tokens: 10_000 }, root);
    const grandchild = budget({}, child);
    expect(describeGrant(grandchild.reserve(ask(2_000, 64_000)))).toBe("granted 4000");
    expect([root, child, grandchild].map(({ left }) => left.tokens)).toEqual([14_000, 4_000, 4_000]);
    expect(describeGrant(grandchild.reserve(ask(5_000, 64_000)))).toMatch(/^tokens: The budget of the session/);
    expect([root, child, grandchild].map(({ spent }) => spent.turns)).toEqual([1, 1, 1]);
    expect([root, child, grandchild].map(({ left }) => left.tokens)).toEqual([14_000, 4_000, 4_000]);
    expect(describeGrant(budget({}, root).reserve(ask(5_000, 64_000)))).toBe("granted 4500");
  });

  test("names the limit that was reached, in itself or an ancestor", () => {
    const root = budget({ turns: 1, tokens: 100_000 });
    const child = budget({ tokens: 5_000 }, root);
    expect(child.exceeded()).toBeUndefined();
    granted(child.reserve(ask(10, 100))).reservation.settle(used(6_000, 0));
    expect([root.exceeded(), child.exceeded()]).toEqual(["turns", "tokens"]);
    expect(budget({}, root).exceeded()).toBe("turns");
    expect(child.left).toEqual({ tokens: 0, turns: 0 });
    expect(describeGrant(child.reserve(ask(1, 1)))).toMatch(/^tokens: The budget of 5,000 tokens is spent/);
  });

  test("is charged without a reservation, together with its ancestors", () => {
    const root = budget({ tokens: 1_000 });
    const child = budget({ cost: 5 }, root);
    child.charge(used(600, 600, 2));
    expect([root.spent, child.spent]).toEqual([root.spent, root.spent]);
    expect(root.spent).toMatchObject({ tokens: 1_200, cost: 2, turns: 0 });
    expect(child.left).toEqual({ tokens: 0, cost: 3 });
    expect(child.exceeded()).toBe("tokens");
  });

  test("ends at the earliest deadline of itself and its ancestors", async () => {
    const clock = createFakeClock();
    const root = createBudget({ timeMs: 1_000 }, { clock });
    await clock.advance(400);
    const child = createBudget({ timeMs: 5_000 }, { clock, parent: root });
    const short = createBudget({ timeMs: 100 }, { clock, parent: child });
    expect([root, child, short].map(({ deadlineMs }) => deadlineMs)).toEqual([1_000, 1_000, 500]);
    expect(createBudget({}, { clock }).deadlineMs).toBeUndefined();
    expect([child.left, short.left]).toEqual([{ timeMs: 600 }, { timeMs: 100 }]);
    await clock.advance(100);
    expect(short.exceeded()).toBe("time");
    expect(short.spent.timeMs).toBe(100);
    expect(describeGrant(short.reserve(ask(1, 1)))).toBe(
      "time: The budget of 100 ms is spent. To continue, raise budgets.timeMs.",
    );
    expect(describeGrant(child.reserve(ask(1, 1)))).toBe("granted without limit");
    await clock.advance(500);
    expect(child.exceeded()).toBe("time");
    expect(clock.waiting).toBe(0);
  });

  test("continues from what was spent before", () => {
    const spent = { tokens: 900, cost: 2, turns: 3, timeMs: 40 };
    const resumed = createBudget({ tokens: 1_000, cost: 5, turns: 4, timeMs: 100 }, { clock, spent });
    expect(resumed.spent).toEqual(spent);
    expect(resumed.left).toEqual({ tokens: 100, cost: 3, turns: 1, timeMs: 60 });
    const invalid = createBudget({}, { clock, spent: { tokens: Number.NaN, cost: -1 } });
    expect(invalid.spent).toMatchObject({ tokens: 0, cost: 0 });
  });

  test("rejects limits that are not numbers of 0 or more", () => {
    for (const name of ["tokens", "cost", "turns", "timeMs"] as const)
      for (const limit of [-1, Number.NaN, "5k" as unknown as number])
        expect(() => budget({ [name]: limit })).toThrow(`The limit budgets.${name} is ${limit}.`);
  });

  test("keeps its limits when the caller changes the object", () => {
    const limits = { turns: 1 };
    const kept = budget(limits);
    limits.turns = 100;
    expect(kept.left.turns).toBe(1);
  });
});

describe("a tree of budgets", () => {
  const limits = fc.record(
    {
      tokens: fc.integer({ min: 0, max: 60_000 }),
      cost: fc.integer({ min: 0, max: 200_000 }),
      turns: fc.integer({ min: 0, max: 12 }),
    },
    { requiredKeys: [] },
  );
  /** The parent of each budget comes before it; the first has none. */
  const trees = fc.array(fc.record({ limits, parent: fc.nat(9) }), { minLength: 1, maxLength: 7 });
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("reserve" as const),
      who: fc.nat(9),
      input: fc.integer({ min: 0, max: 6_000 }),
      wanted: fc.constantFrom(0, 300, 4_000, 64_000),
      price: fc.constantFrom(free, expensive, { ...expensive, cacheWrite: 2e6 }),
    }),
    fc.record({
      kind: fc.constant("settle" as const),
      which: fc.nat(30),
      /** The share of the granted output that is used. */
      output: fc.double({ min: 0, max: 1, noNaN: true }),
      /** How many tokens the provider counts above or below the estimate. */
      beyond: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.integer({ min: -3_000, max: 500 })),
      how: fc.constantFrom("counted", "counted", "counted", "unknown", "cancelled"),
      twice: fc.boolean(),
    }),
  );

  /** Whether the budget has counted the same as the test, and stays within its limits. */
  function isConsistent(limits: BudgetLimits, spent: Budget["spent"], sum: Sum): boolean {
    const { tokens = Infinity, cost = Infinity, turns = Infinity } = limits;
    const isSame = spent.tokens === sum.tokens && Math.abs(spent.cost - sum.cost) < 1e-3 && spent.turns === sum.turns;
    const isWithin = sum.tokens <= tokens + sum.overTokens && sum.cost <= cost + sum.overCost + 1e-3;
    return isSame && isWithin && sum.turns <= turns;
  }
  type Sum = Record<"tokens" | "cost" | "turns" | "overTokens" | "overCost", number>;

  test("exceeds its limits only by what providers count beyond the estimates, and loses no reservation", () => {
    const seen = { granted: 0, narrowed: 0, spent: 0, settled: 0 };
    fc.assert(
      fc.property(trees, fc.array(step, { maxLength: 40, size: "max" }), (made, steps) => {
        const nodes: { budget: Budget; limits: BudgetLimits; ancestors: number[] }[] = [];
        for (const { limits, parent } of made) {
          const up = nodes.length === 0 ? undefined : parent % nodes.length;
          const ancestors = up === undefined ? [] : [up, ...nodes[up]!.ancestors];
          nodes.push({ budget: budget(limits, up === undefined ? undefined : nodes[up]!.budget), limits, ancestors });
        }
        /** Counted independently of the code. */
        const sums: Sum[] = nodes.map(() => ({ tokens: 0, cost: 0, turns: 0, overTokens: 0, overCost: 0 }));
        type Open = { who: number; input: number; output: number; price: typeof expensive; reservation: Reservation };
        const open: Open[] = [];
        const snapshot = () => JSON.stringify(nodes.map(({ budget }) => [budget.spent, budget.left]));
        const settle = (held: Open, usage: Usage | undefined, beyond: number) => {
          held.reservation.settle(usage);
          const rate = Math.max(held.price.input, held.price.cacheWrite) / 1e6;
          for (const index of [held.who, ...nodes[held.who]!.ancestors]) {
            const sum = sums[index]!;
            sum.tokens += usage ? usage.totalTokens : held.input;
            sum.cost += usage ? usage.cost.total : held.input * rate;
            sum.overTokens += Math.max(0, beyond);
            sum.overCost += Math.max(0, beyond) * rate;
          }
          seen.settled++;
        };
        for (const next of steps) {
          if (next.kind === "reserve") {
            const who = next.who % nodes.length;
            const before = snapshot();
            const grant = nodes[who]!.budget.reserve(ask(next.input, next.wanted, next.price));
            if (grant.kind === "spent") {
              seen.spent++;
              expect(snapshot()).toBe(before);
              continue;
            }
            seen.granted++;
            if (grant.maxTokens !== undefined && grant.maxTokens < next.wanted) seen.narrowed++;
            const minOutput = Math.min(1_024, next.wanted || 1_024);
            expect(grant.maxTokens ?? minOutput).toBeGreaterThanOrEqual(minOutput);
            if (next.wanted > 0) expect(grant.maxTokens ?? 0).toBeLessThanOrEqual(next.wanted);
            for (const index of [who, ...nodes[who]!.ancestors]) sums[index]!.turns++;
            const output = grant.maxTokens ?? 64_000;
            const { reservation } = grant;
            open.push({ who, input: next.input, output, price: next.price, reservation });
          } else if (open.length > 0) {
            const [held] = open.splice(next.which % open.length, 1);
            const input = Math.max(0, held!.input + next.beyond);
            const output = Math.floor(held!.output * next.output);
            const rate = Math.max(held!.price.input, held!.price.cacheWrite);
            const cost = (input * rate + output * held!.price.output) / 1e6;
            if (next.how === "counted") settle(held!, used(input, output, cost), next.beyond);
            else if (next.how === "unknown") settle(held!, undefined, 0);
            else {
              held!.reservation.cancel();
              for (const index of [held!.who, ...nodes[held!.who]!.ancestors]) sums[index]!.turns--;
            }
            const after = snapshot();
            if (next.twice) held!.reservation.settle(used(1_000, 1_000, 1_000));
            else held!.reservation.cancel();
            expect(snapshot()).toBe(after);
          }
          expect(
            nodes.filter(({ limits, budget }, index) => !isConsistent(limits, budget.spent, sums[index]!)),
          ).toEqual([]);
        }
        // When all are settled, nothing is reserved any more.
        for (const held of open) settle(held, emptyUsage(), 0);
        nodes.forEach(({ budget, ancestors }, index) => {
          const getLeft = (name: "tokens" | "cost" | "turns") => {
            const lefts = [index, ...ancestors].map(
              (node) => (nodes[node]!.limits[name] ?? Number.POSITIVE_INFINITY) - nodes[node]!.budget.spent[name],
            );
            const left = Math.max(0, Math.min(...lefts));
            return left === Number.POSITIVE_INFINITY ? {} : { [name]: left };
          };
          expect(budget.left).toEqual({ ...getLeft("tokens"), ...getLeft("cost"), ...getLeft("turns") });
        });
      }),
      { numRuns: 150 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
  });

  test("keeps reservations that are never settled, so that they are not spent twice", () => {
    const root = budget({ tokens: 50_000 });
    let reserved = 0;
    for (let sibling = 0; ; sibling++) {
      const grant = budget({}, root).reserve(ask(1_000, 64_000));
      if (grant.kind === "spent") break;
      reserved += 1_000 + grant.maxTokens!;
      expect(sibling).toBeLessThan(50);
    }
    expect(reserved).toBeLessThanOrEqual(50_000);
    expect(root.left.tokens).toBe(50_000 - reserved);
    expect(root.exceeded()).toBeUndefined();
  });
});
