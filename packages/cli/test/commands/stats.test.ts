import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { emptyUsage } from "@tau/ai";
import { createFakeClock } from "@tau/ai/testing";
import { SessionManager } from "@tau/harness";
import { expect, test } from "vitest";
import { displayWidth } from "../../src/process/table.ts";
import { createWorkspace, run, type Workspace } from "../kit.ts";

const onTerminal = (columns: number, env: Record<string, string> = {}) => ({
  terminal: { out: true },
  env: { COLUMNS: String(columns), ...env },
});

async function createAnswers(workspace: Workspace, costs: readonly number[], day: Date): Promise<void> {
  const clock = createFakeClock(day.getTime());
  const { directory, agentDir } = workspace;
  const session = await SessionManager.create(directory, undefined, { agentDir, clock, durability: "none" });
  for (const cost of costs) {
    const usage = {
      ...emptyUsage(),
      input: 1_000,
      cacheRead: 3_000,
      totalTokens: 4_000,
      cost: { ...emptyUsage().cost, total: cost },
    };
    const message = { role: "assistant", provider: "acme", model: "small", content: [], usage, timestamp: clock.now() };
    await clock.advance(90_000);
    await session.appendMessage(message as never);
  }
  await session.close();
}

async function createDays() {
  const workspace = await createWorkspace();
  await createAnswers(workspace, [1, 1.5], new Date(2026, 2, 1, 12));
  await createAnswers(workspace, [5], new Date(2026, 2, 3, 12));
  return workspace;
}

const since = ["--since", "2026-03-01"];

test("a table has a row for each day, with a bar, and a total", async () => {
  const workspace = await createDays();
  const { code, out } = await run(workspace, ["stats", ...since], onTerminal(100));
  expect(code).toBe(0);
  const [head, first, second, total, ...rest] = out.split("\n");
  expect(head).toMatch(/^DAY +COST +TOKENS +CACHED +REQUESTS +CALLS +DENIED +TIME$/);
  expect(first).toMatch(/^2026-03-01 +█+[▉-▏]? +\$2\.50 +8\.0k +75% +2 +0 +0 +3 min$/);
  expect(second).toMatch(/^2026-03-03 +█+ +\$5\.00 +4\.0k +75% +1 +0 +0 +2 min$/);
  expect(total).toMatch(/^TOTAL +\$7\.50 +12k +75% +3 /);
  expect(rest).toEqual([""]);
  const bars = [first, second].map((line) => line!.match(/█/g)!.length);
  expect(bars[1]! / bars[0]!).toBeCloseTo(2, 0);
});

test.each([24, 60, 72, 80, 100, 200])(
  "on a terminal of %i columns no line is longer, by whatever is asked",
  async (width) => {
    const workspace = await createDays();
    for (const by of ["day", "project", "model", "tool", "agent"]) {
      const { out } = await run(workspace, ["stats", "--by", by, ...since], onTerminal(width));
      for (const line of out.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(width);
    }
  },
);

test("a terminal that can only print lines gets a chart of plain characters, and a pipe none", async () => {
  const workspace = await createDays();
  const plain = await run(workspace, ["stats", ...since], onTerminal(100, { TERM: "dumb" }));
  expect(plain.out).toMatch(/2026-03-03 +#+ +\$5\.00/);
  expect(plain.out).not.toContain("█");
  const piped = await run(workspace, ["stats", ...since]);
  expect(piped.out).toMatch(/2026-03-03 +\$5\.00/);
});

test("--json has every amount, and --until and --by apply to it", async () => {
  const workspace = await createDays();
  const { out } = await run(workspace, ["stats", "--json", "--by", "model", ...since, "--until", "2026-03-02"]);
  const amounts = { requests: 2, input: 2_000, cacheRead: 6_000, cost: 2.5, timeMs: 180_000, calls: 0, denied: 0 };
  expect(JSON.parse(out)).toMatchObject({
    since: "2026-03-01",
    until: "2026-03-02",
    by: "model",
    rows: [{ name: "acme/small", ...amounts }],
    total: amounts,
  });
});

test.each([
  [["--by", "colour"], "--by"],
  [["--since", "2026-02-30"], "--since takes a day"],
  [["--until", "soon"], "--until takes a day"],
])("%j is a usage error", async (args, message) => {
  const { code, out, err } = await run(await createWorkspace(), ["stats", ...args]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(message);
});

test("what is left of the limits of the day and the month follows the table", async () => {
  const workspace = await createDays();
  const { agentDir } = workspace;
  const budgets = { day: { cost: 5 }, month: { cost: 60.5 } };
  await writeFile(join(agentDir, "settings.json"), JSON.stringify({ budgets }));
  const now = new Date();
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0"));
  const open = { type: "reserved", id: "r", cost: 0.5, inputCost: 0.1, untilMs: Date.now() + 60_000 };
  const lines = [{ type: "spent", cost: 1.25 }, open].map((line) => JSON.stringify({ ...line, day: day.join("-") }));
  await writeFile(join(agentDir, "costs.jsonl"), `${lines.join("\n")}\n`);
  const { out } = await run(workspace, ["stats", ...since], onTerminal(100));
  const waiting = "($0.50 are reserved by requests in progress)";
  expect(out.split("\n").slice(-3)).toEqual([
    `Limit of today: $1.25 of $5.00 are spent, $3.25 are left ${waiting}`,
    `Limit of this month: $1.25 of $60.50 are spent, $58.75 are left ${waiting}`,
    "",
  ]);
  const json = await run(workspace, ["stats", "--json", ...since]);
  expect(JSON.parse(json.out).limits[0]).toEqual({ period: "day", limit: 5, spent: 1.25, reserved: 0.5, left: 3.25 });
});

test("without any use, that is said", async () => {
  const { code, out, err } = await run(await createWorkspace(), ["stats", "--since", "2026-03-01"]);
  expect({ code, out, err }).toEqual({ code: 0, out: "", err: "Nothing was used since 2026-03-01.\n" });
});
