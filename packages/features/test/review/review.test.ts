/** Reviews in real sessions with real repositories, and a scripted model as the child. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { review } from "../../src/index.ts";
import { formatReview, isAtLeast, severities, toReview } from "../../src/review/findings.ts";
import { cutDiff } from "../../src/review/review-prompt.ts";
import { parseTarget } from "../../src/review/review-target.ts";
import { DialogSurface } from "../dialogs.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

type Turns = Parameters<typeof createTestSession>[0];

const identity = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };

async function open(turns: Turns, params: TestSessionParams = {}) {
  const surface = new DialogSurface();
  const clock = systemClock as never;
  const opened = await createTestSession(turns, { features: [review()], clock, files: { "a.ts": "one\n" }, ...params });
  onTestFinished(() => opened.dispose());
  await opened.session.attachSurface(surface);
  const { cwd } = opened;
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd, env: { PATH: process.env["PATH"], HOME: cwd, ...identity }, encoding: "utf8" });
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "-m", "First");
  const write = (name: string, content: string) => writeFileSync(join(cwd, name), content);
  const ask = (index: number) => JSON.stringify(opened.model.asked[index]!.context.messages.at(-1));
  return { ...opened, surface, git, write, ask };
}

const answer = (findings: readonly object[], summary = "Looked at it.") => [
  text(JSON.stringify({ findings, summary })),
];
const finding = (more: object = {}) => ({ file: "a.ts", line: 1, severity: "high", text: "It is wrong.", ...more });

test("uncommitted changes are reviewed by a child that can only read, and the findings are a message of the session", async () => {
  const { session, model, write, ask, events } = await open([
    [call("read", { path: "a.ts" })],
    answer([finding({ severity: "low", line: 2, text: "Rename it." }), finding()]),
  ]);
  write("a.ts", "one\ntwo\n");
  write("new.ts", "secret plan\n");
  await session.prompt("/review");
  expect(model.asked[0]!.context.tools!.map(({ name }) => name).toSorted()).toEqual(["find", "grep", "ls", "read"]);
  expect(ask(0)).toContain("+two");
  // Git does not know it: the child reads it with its own rights.
  expect(ask(0)).toContain("new.ts");
  expect(ask(0)).not.toContain("secret plan");
  await expect
    .poll(() => session.messages.at(-1))
    .toMatchObject({
      customType: "review",
      content:
        "Review of the uncommitted changes: 2 findings\n\nLooked at it.\n\n1. high: a.ts:1\n   It is wrong.\n\n2. low: a.ts:2\n   Rename it.",
      details: { findings: [{ severity: "high" }, { severity: "low" }] },
    });
  expect(events.filter(({ type }) => type === "tool_denied")).toEqual([]);
});

test("the child cannot write although its model tries to", async () => {
  const { session, write, cwd, surface } = await open([
    [call("write", { path: "a.ts", content: "gone" }), call("bash", { command: "rm a.ts" })],
    answer([]),
  ]);
  write("a.ts", "mine\n");
  await session.prompt("/review");
  expect(execFileSync("cat", [join(cwd, "a.ts")], { encoding: "utf8" })).toBe("mine\n");
  expect(surface.notices).toEqual([]);
  await expect.poll(() => session.messages.at(-1)).toMatchObject({ content: expect.stringContaining("no findings") });
});

test("since a branch, what is committed and what is not are one change, with the lines of the disk", async () => {
  const { session, git, write, ask } = await open([answer([])]);
  git("switch", "--quiet", "-c", "topic");
  write("b.ts", "committed\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "Topic");
  write("b.ts", "committed\nand not\n");
  await session.prompt("/review main");
  expect(ask(0)).toContain("Review the changes since main.");
  expect(ask(0)).toMatch(/\+committed\\n\+and not/);
});

test.each(["/review --commit HEAD~1", "/review HEAD~1"])("%s reviews that commit alone", async (command) => {
  const { session, git, write, ask } = await open([answer([])]);
  for (const name of ["second", "third"]) {
    write("a.ts", `${name}\n`);
    git("commit", "--quiet", "-am", name);
  }
  await session.prompt(command);
  expect(ask(0)).toContain("-one\\n+second");
  expect(ask(0)).not.toContain("third");
});

test("a word that git does not know says what to look at", async () => {
  const { session, write, ask } = await open([answer([])]);
  write("a.ts", "two\n");
  await session.prompt("/review concurrency");
  expect(ask(0)).toContain("Look above all at this: concurrency");
});

test.each([
  ["/review", "There are no uncommitted changes to review."],
  ["/review --commit nowhere", 'There is no branch or commit "nowhere" here.'],
])("%s asks no model: %s", async (command, problem) => {
  const { session, surface, model } = await open([]);
  await session.prompt(command);
  expect(surface.notices.at(-1)).toContain(problem);
  expect(model.asked).toHaveLength(0);
});

test("a directory that is in no repository is refused, and a repository without a commit is reviewed", async () => {
  const opened = await createTestSession([answer([])], { features: [review()], clock: systemClock as never });
  onTestFinished(() => opened.dispose());
  const surface = new DialogSurface();
  await opened.session.attachSurface(surface);
  await opened.session.prompt("/review");
  expect(surface.notices.at(-1)).toContain("this directory is in none");
  execFileSync("git", ["init", "--quiet"], { cwd: opened.cwd });
  writeFileSync(join(opened.cwd, "first.ts"), "first\n");
  execFileSync("git", ["add", "."], { cwd: opened.cwd });
  await opened.session.prompt("/review");
  expect(JSON.stringify(opened.model.asked[0]!.context.messages)).toContain("+first");
});

test("an answer that does not fit is sent back with what is wrong, and after the third the review has failed", async () => {
  const outside = answer([finding({ file: "../elsewhere.ts" })]);
  const { session, surface, write, ask } = await open([[text("Looks good.")], outside, answer([finding({ line: 0 })])]);
  write("a.ts", "two\n");
  await session.prompt("/review");
  expect(ask(1)).toContain("Your answer does not fit its schema");
  expect(ask(2)).toContain("is not a file below the working directory");
  expect(surface.notices.at(-1)).toContain("The review did not work: No answer had the form of a review");
  expect(session.messages).toEqual([]);
});

test("in a directory of a repository its own changes are reviewed, with names that the child can read", async () => {
  const { git, cwd, write } = await open([]);
  mkdirSync(join(cwd, "sub"));
  write("sub/in.ts", "in\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "Sub");
  write("sub/in.ts", "changed in\n");
  write("a.ts", "changed outside\n");
  const inner = await createTestSession([answer([])], {
    features: [review()],
    clock: systemClock as never,
    cwd: join(cwd, "sub"),
  });
  onTestFinished(() => inner.dispose());
  await inner.session.attachSurface(new DialogSurface());
  await inner.session.prompt("/review");
  const asked = JSON.stringify(inner.model.asked[0]!.context.messages);
  expect(asked).toContain("b/in.ts");
  expect(asked).not.toContain("outside");
});

test.each([
  ["", { kind: "parsed", target: { kind: "uncommitted" }, instructions: "" }],
  ["main", { kind: "word", word: "main" }],
  ["look at races", { kind: "parsed", target: { kind: "uncommitted" }, instructions: "look at races" }],
  ["--base=main races", { kind: "parsed", target: { kind: "base", name: "main" }, instructions: "races" }],
  ["--commit abc", { kind: "parsed", target: { kind: "commit", name: "abc" }, instructions: "" }],
  ["--base --output=x", { kind: "invalid", problem: expect.stringContaining("--base needs a name.") }],
  ["--bse main", { kind: "invalid", problem: expect.stringContaining("There is no option --bse.") }],
  ["--uncommitted x y", { kind: "parsed", target: { kind: "uncommitted" }, instructions: "x y" }],
])("/review %s is understood", (args, expected) => {
  expect(parseTarget(args)).toEqual(expected);
});

test("of long differences each file has a part, and what is left out is said", () => {
  const part = (name: string, length: number) => `diff --git a/${name} b/${name}\n${"+x\n".repeat(length)}`;
  const cut = cutDiff(part("one", 100) + part("two", 2) + part("three", 100), { max: 200, maxFile: 120 });
  expect(cut).toContain("diff --git a/one b/one\n+x");
  expect(cut).toContain("[cut: read the file]");
  expect(cut).toContain("b/two\n+x\n+x\n");
  expect(cutDiff(part("one", 100) + part("two", 2), { max: 100, maxFile: 100 })).toMatch(
    /\[the differences of 1 more files are not shown: read them\]$/,
  );
  expect(cutDiff("")).toBe("");
});

test("findings are sorted by what is worst, and a limit includes everything that is worse", () => {
  const arbitrary = fc.array(
    fc.record({
      file: fc.constantFrom("a", "b"),
      line: fc.integer({ min: 1 }),
      severity: fc.constantFrom(...severities),
      text: fc.string(),
    }),
  );
  fc.assert(
    fc.property(arbitrary, fc.constantFrom(...severities), (findings, limit) => {
      const sorted = toReview({ findings, summary: "" }, "/work").findings;
      const flags = sorted.map((each) => isAtLeast(each, limit));
      expect(flags).toEqual([...flags].toSorted((a, b) => Number(b) - Number(a)));
      expect(flags.filter(Boolean)).toHaveLength(
        findings.filter(({ severity }) => severities.indexOf(severity) <= severities.indexOf(limit)).length,
      );
    }),
  );
});

test("nothing in a finding acts on a terminal", () => {
  const shown = formatReview(
    { summary: "", findings: [{ file: "a\nb", line: 1, severity: "low", text: "\u001b[2J" }] },
    "x",
  );
  expect(shown).toContain("1. low: a b:1\n   \\u{1b}[2J");
});
