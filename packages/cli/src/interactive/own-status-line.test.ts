import { expect, test } from "vitest";
import type { StateData, StatsData } from "@tau/protocol";
import { describeStatus, fillStatus, OwnStatusLine, type StatusFacts } from "./own-status-line.ts";

const facts = (more: Partial<StatusFacts> = {}, model = "claude-x"): StatusFacts => ({
  state: {
    cwd: "/home/me/project",
    sessionId: "s1",
    sessionFile: "/s/s1.jsonl",
    thinkingLevel: "off",
    permissions: { mode: "ask" },
    ...(model !== "" && { model: { id: model, name: "Claude X", provider: "anthropic", contextWindow: 200_000 } }),
  } as unknown as StateData,
  stats: {
    cost: 0.25,
    totalMessages: 4,
    tokens: { input: 10, output: 20, cacheRead: 30, cacheWrite: 0, total: 60 },
    contextUsage: { tokens: 50_000, contextWindow: 200_000, percent: 25 },
  } as unknown as StatsData,
  branch: "main",
  sessionName: undefined,
  home: "/home/me",
  version: "1.0.0",
  ...more,
});

const withDay = facts();
(withDay.stats as { costLimits?: unknown }).costLimits = [
  { period: "day", limit: 5, spent: 3, reserved: 0.1, left: 1.9 },
];

test.each([
  ["{directory}[ ({branch})] {model} {cost} {context}", facts(), "~/project (main) claude-x $0.250 25%"],
  ["{directory}[ ({branch})]", facts({ branch: undefined }), "~/project"],
  ["[{thinking} · ]{mode}", facts(), "ask"],
  ["{unknown} [x]", facts(), "{unknown} x"],
  ["{branch}", facts({ branch: "a\u001B[2Jb" }), "a[2Jb"],
  ["{model}", facts({}, ""), ""],
  ["{day}[ · month {month}]", withDay, "$3.10/$5.00"],
  ["[{day}]", facts(), ""],
])("%s is filled", (template, given, line) => {
  const filled = fillStatus(template, given);
  // oxlint-disable-next-line no-control-regex -- it is what must not be there
  expect(filled).not.toMatch(/\u001B/);
  if (!template.includes("{branch}") || given.branch === "main" || given.branch === undefined)
    expect(filled).toBe(line);
});

test("a command reads the fields of Claude Code", () => {
  expect(describeStatus(facts())).toMatchObject({
    hook_event_name: "Status",
    session_id: "s1",
    transcript_path: "/s/s1.jsonl",
    cwd: "/home/me/project",
    model: { id: "claude-x", display_name: "Claude X" },
    workspace: { current_dir: "/home/me/project", project_dir: "/home/me/project" },
    version: "1.0.0",
    output_style: { name: "default" },
    cost: { total_cost_usd: 0.25 },
    context_window: { context_window_size: 200_000, used_percentage: 25, remaining_percentage: 75 },
    exceeds_200k_tokens: false,
  });
});

test("a command reads the limits of the day and of the month where they are set", () => {
  expect(describeStatus(withDay)["cost"]).toEqual({
    total_cost_usd: 0.25,
    limits: [{ period: "day", limit_usd: 5, spent_usd: 3, reserved_usd: 0.1 }],
  });
  expect(describeStatus(facts())["cost"]).toEqual({ total_cost_usd: 0.25 });
});

test("what a command prints keeps its colors and nothing else, three lines at most; nothing brings back the usual lines", () => {
  const requests: unknown[] = [];
  const line = new OwnStatusLine({
    getSetting: () => ({ command: "x" }),
    command: { request: (request) => requests.push(request) },
  });
  expect(line.getLines(facts())).toBeUndefined();
  line.update(facts());
  expect(requests).toHaveLength(1);
  line.take("\u001B[31mred\u001B[0m\u001B[2J\u001B]0;owned\u0007\n2\n3\n4\n");
  const lines = line.getLines(facts())!;
  expect(lines).toHaveLength(3);
  expect(lines[0]).toContain("\u001B[31mred");
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  expect(lines.join("\n").replaceAll(/\u001B\[[0-9;]*m/g, "")).not.toMatch(/[\u001B\u0007]/);
  line.take("  \n");
  expect(line.getLines(facts())).toBeUndefined();
  line.take(undefined);
  expect(line.getLines(facts())).toBeUndefined();
});

test("without the setting nothing is asked for", () => {
  const line = new OwnStatusLine({
    getSetting: () => undefined,
    command: { request: () => expect.unreachable() },
  });
  line.update(facts());
  expect(line.getLines(facts())).toBeUndefined();
});
