import type { BudgetLeftData, UsageLimit } from "@tau/protocol";
import { toPlainLine, visibleWidth } from "@tau/tui";
import { describe, expect, test } from "vitest";
import { drawStatus, shortenPath } from "./status-line.ts";
import { Themes } from "./themes.ts";

test("no escape sequence in a directory, a branch, a session's name or a model's id is drawn", () => {
  const hostile = "\x1b[35mstyled\x1b]8;;http://evil.example\x07link";
  const status = {
    cwd: `/${hostile}`,
    home: undefined,
    branch: hostile,
    sessionName: hostile,
    model: `acme/${hostile}`,
    thinkingLevel: "off",
    stats: undefined,
    permissionMode: "edit" as const,
    jobs: 0,
    lacksSandbox: false,
  };
  const { theme } = new Themes({ mode: "none", files: [] });
  const lines = drawStatus(status, theme, 200).join("\n");
  expect(lines).toContain("/styledlink (styledlink) styledlink");
  expect(lines).not.toContain("\x1b[35");
  expect(lines).not.toContain("evil.example");
});

test("the model that is used stands beside the one that was selected", () => {
  const { theme } = new Themes({ mode: "none", files: [] });
  const status = {
    cwd: "/work",
    home: undefined,
    branch: undefined,
    sessionName: undefined,
    model: "a/big",
    thinkingLevel: "high",
    stats: undefined,
    permissionMode: "edit" as const,
    jobs: 0,
    lacksSandbox: false,
  };
  const use = { provider: "b", modelId: "small", thinkingLevel: "off", cause: "fallback" as const, reason: "" };
  const draw = (used: typeof use | undefined) => toPlainLine(drawStatus({ ...status, used }, theme, 80)[1]!);
  expect(draw(use)).toMatch(/^big · high → small$/);
  expect(draw(undefined)).toMatch(/^big · high$/);
});

test("without a branch there are no brackets", () => {
  const status = {
    cwd: "/work",
    home: undefined,
    sessionName: "name",
    model: "a/b",
    thinkingLevel: "off",
    stats: undefined,
    permissionMode: "edit" as const,
    jobs: 0,
    lacksSandbox: false,
  };
  const { theme } = new Themes({ mode: "none", files: [] });
  for (const branch of [undefined, ""]) expect(drawStatus({ ...status, branch }, theme, 80)[0]).toContain("/work name");
});

test("a missing sandbox is told in every width, and the directory gives way to it", () => {
  const { theme } = new Themes({ mode: "none", files: [] });
  const status = {
    cwd: "/work/a/long/directory",
    home: undefined,
    branch: "main",
    sessionName: undefined,
    model: "a/b",
    thinkingLevel: "off",
    stats: undefined,
    permissionMode: "edit" as const,
    jobs: 0,
    lacksSandbox: true,
  };
  const draw = (width: number) => drawStatus(status, theme, width).map(toPlainLine);
  expect(draw(50)[0]).toMatch(/^\/work\/a\/long\/directory \(main\) · edit +no sandbox$/);
  expect(draw(24)[0]).toMatch(/^\/work.*… +no sandbox$/);
  for (const width of [1, 5, 10, 11, 12, 13, 24, 50])
    for (const line of draw(width)) expect(line.length).toBeLessThanOrEqual(width);
});

describe("what is left of a budget", () => {
  const { theme } = new Themes({ mode: "none", files: [] });
  const counts = { userMessages: 0, assistantMessages: 0, toolCalls: 0, toolResults: 0, totalMessages: 0 };
  const tokens = { input: 1_200, output: 30, cacheRead: 0, cacheWrite: 0, total: 1_230 };
  const draw = (budgetLeft: BudgetLeftData | undefined, width = 100) => {
    const stats = { sessionId: "a", ...counts, tokens, cost: 0.5, cacheHitRate: 0, ...(budgetLeft && { budgetLeft }) };
    const place = {
      cwd: "/work",
      home: undefined,
      branch: undefined,
      sessionName: undefined,
      permissionMode: "edit" as const,
      jobs: 0,
      lacksSandbox: false,
    };
    const [, line = ""] = drawStatus({ ...place, model: "a/small", thinkingLevel: "off", stats }, theme, width);
    return toPlainLine(line);
  };

  test.each<[BudgetLeftData | undefined, string]>([
    [undefined, ""],
    [{ cost: 0.4213 }, " · left: $0.421"],
    [{ tokens: 12_000 }, " · left: 12k tokens"],
    [{ turns: 1 }, " · left: 1 turn"],
    [{ turns: 0 }, " · left: 0 turns"],
    [{ timeMs: 119_001 }, " · left: 2 min"],
    [{ timeMs: 4_200 }, " · left: 5 s"],
    [{ cost: 2, tokens: 900, turns: 3, timeMs: 60_000 }, " · left: $2.00, 900 tokens, 3 turns, 60 s"],
  ])("%j is drawn as %j", (left, expected) => {
    expect(draw(left).replace(/ +small$/, "")).toBe(`↑1.2k ↓30 $0.500${expected}`);
  });

  test("stays longer than what was used, and the model longest", () => {
    const left = { cost: 2, turns: 3 };
    expect(draw(left, 48)).toMatch(/^↑1\.2k .* left: \$2\.00, 3 turns +small$/);
    expect(draw(left, 36)).toMatch(/^left: \$2\.00, 3 turns +small$/);
    expect(draw(left, 20)).toBe("small");
  });
});

test.each([
  ["/home/ann", "/home/ann", "~"],
  ["/home/ann/x", "/home/ann", "~/x"],
  ["/home/anna/x", "/home/ann", "/home/anna/x"],
  ["/x", "", "/x"],
  ["/x", undefined, "/x"],
])("%s with the home directory %j is shown as %s", (path, home, expected) => {
  expect(shortenPath(path, home)).toBe(expected);
});

test("the permission mode and the number of jobs are shown, and an unusual mode stays in a narrow terminal", () => {
  const { theme } = new Themes({ mode: "16color" });
  const status = {
    cwd: "/work",
    home: undefined,
    branch: undefined,
    sessionName: undefined,
    model: "a/b",
    thinkingLevel: "off",
    stats: undefined,
    permissionMode: "edit" as "ask" | "edit",
    jobs: 0,
    lacksSandbox: false,
  };
  const draw = (changes: Partial<typeof status>, width: number) =>
    toPlainLine(drawStatus({ ...status, ...changes }, theme, width)[0]!);
  expect(draw({}, 40)).toBe("/work · edit");
  expect(draw({ jobs: 1, permissionMode: "ask" }, 40)).toMatch(/^\/work · ask +1 job$/);
  expect(draw({ jobs: 2 }, 40)).toMatch(/^\/work · edit +2 jobs$/);
  expect(draw({ jobs: 2, permissionMode: "ask" }, 12)).toMatch(/^\/work · ask$/);
  expect(draw({ jobs: 2 }, 10)).toBe("/work");
});

describe("the limits of the day and of the month", () => {
  const counts = { userMessages: 0, assistantMessages: 0, toolCalls: 0, toolResults: 0, totalMessages: 0 };
  const tokens = { input: 1_200, output: 30, cacheRead: 0, cacheWrite: 0, total: 1_230 };
  const place = {
    cwd: "/work",
    home: undefined,
    branch: undefined,
    sessionName: undefined,
    jobs: 0,
    lacksSandbox: false,
  };
  const draw = (
    costLimits: readonly UsageLimit[],
    width = 100,
    theme = new Themes({ mode: "none", files: [] }).theme,
  ) => {
    const stats = {
      sessionId: "a",
      ...counts,
      tokens,
      cost: 0.5,
      cacheHitRate: 0,
      budgetLeft: { turns: 3 },
      costLimits,
    };
    const status = { ...place, permissionMode: "edit" as const, model: "a/small", thinkingLevel: "off", stats };
    return drawStatus(status, theme, width)[1]!;
  };
  const day = { period: "day", limit: 5, spent: 3, reserved: 0.1, left: 1.9 } as const;
  const month = { period: "month", limit: 50, spent: 45, reserved: 0, left: 5 } as const;

  test("are shown as long as there is room for them and the model", () => {
    const line = (width: number) => toPlainLine(draw([day, month], width));
    expect(line(100)).toMatch(
      /^↑1\.2k ↓30 \$0\.500 · left: 3 turns · today \$3\.10\/\$5\.00 · month \$45\.00\/\$50\.00 +small$/,
    );
    expect(line(70)).toMatch(/^left: 3 turns · today \$3\.10\/\$5\.00 · month \$45\.00\/\$50\.00 +small$/);
    expect(line(48)).toMatch(/^today \$3\.10\/\$5\.00 · month \$45\.00\/\$50\.00 +small$/);
    expect(line(20)).toBe("small");
    expect(toPlainLine(draw([], 100))).toMatch(/left: 3 turns +small$/);
    for (let width = 1; width < 110; width++)
      expect(visibleWidth(draw([day, month], width))).toBeLessThanOrEqual(width);
  });

  test("are a warning from 80 % on", () => {
    const { theme } = new Themes({ mode: "truecolor", files: [] });
    const line = draw([day, month], 100, theme);
    expect(line).toContain(theme.fg("dim", "today $3.10/$5.00"));
    expect(line).toContain(theme.fg("warning", "month $45.00/$50.00"));
    expect(draw([{ ...day, reserved: 1 }], 100, theme)).toContain(theme.fg("warning", "today $4.00/$5.00"));
  });
});
