/** Compaction on a session in a file, with a model that answers. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage } from "@tau/agent";
import { streamSimple } from "@tau/ai";
import { scriptedModel, text } from "@tau/ai/testing";
import { nodeFileSystem } from "@tau/tools";
import { expect, onTestFinished, test } from "vitest";
import { summariseBranch } from "../src/compaction/branch-summary.ts";
import { compact } from "../src/compaction/compact.ts";
import { maxConsecutive, planCompaction } from "../src/compaction/plan.ts";
import { resolveCompactionSettings } from "../src/compaction/settings.ts";
import { contextTokens } from "../src/compaction/tokens.ts";
import { SessionManager } from "../src/session/session-manager.ts";
import { createTestSession } from "../src/testing/test-session.ts";

const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });

async function open() {
  const directory = await mkdtemp(join(tmpdir(), "tau-compaction-"));
  const session = await SessionManager.create("/project", directory);
  onTestFinished(async () => {
    await session.close();
    await rm(directory, { recursive: true });
  });
  return session;
}

function model(...answers: string[]) {
  const scripted = scriptedModel(answers.map((answer) => [text(answer)]));
  onTestFinished(() => scripted.dispose());
  return scripted;
}

test("a compacted session is smaller, keeps its end, and is the same when it is opened again", async () => {
  const session = await open();
  for (let index = 0; index < 20; index++) await session.appendMessage(user(`${index} ${"word ".repeat(400)}`));
  const before = await contextTokens(await session.getBranch());
  const outcome = await compact({
    branch: await session.getBranch(),
    model: model("the summary"),
    streamFn: streamSimple,
    settings: { keepRecentTokens: 2_000 },
    reason: "manual",
    append: ({ summary, firstKeptEntryId, tokensBefore, ...extras }) =>
      session.appendCompaction(summary, firstKeptEntryId, tokensBefore, extras),
  });
  expect(outcome.kind).toBe("compacted");
  const again = await SessionManager.open(session.getSessionFile()!, { access: "read" });
  const { messages } = await again.buildContext();
  expect(messages[0]).toMatchObject({ role: "compactionSummary", summary: "the summary" });
  expect(messages.at(-1)).toMatchObject({ content: expect.stringMatching(/^19 /) as string });
  expect(await contextTokens(await again.getBranch())).toBeLessThan(before / 2);
  await again.close();
});

test("the summary of a branch is appended where the user navigates to", async () => {
  const session = await open();
  const start = await session.appendMessage(user("start"));
  await session.appendMessage(user("the wrong way"));
  const branches = { oldBranch: await session.getBranch(), newBranch: await session.getBranch(start) };
  const result = await summariseBranch({ ...branches, model: model("it was wrong"), streamFn: streamSimple });
  if (result.kind !== "summary") throw new Error(result.kind);
  await session.branchWithSummary(start, result.summary, result);
  const { messages } = await session.buildContext();
  expect(messages).toMatchObject([{ content: "start" }, { role: "branchSummary" }]);
  expect(JSON.stringify(messages)).toContain("it was wrong");
});

test("what a compaction reads does not grow with the log, and its plan is the one for the whole branch", async () => {
  const session = await open();
  const settings = resolveCompactionSettings(
    { keepRecentTokens: 500 },
    { provider: "test", id: "test", contextWindow: 10_000 },
  );
  const compactAgain = async (keepsNothing: boolean) => {
    const kept = await session.appendMessage(user(`kept ${"word ".repeat(200)}`));
    await session.appendCompaction("the summary", keepsNothing ? null : kept, 1_000);
  };
  const lengths: number[] = [];
  for (let round = 0; round < 30; round++) {
    for (let index = 0; index < 10; index++) await session.appendMessage(user(`${index} ${"word ".repeat(200)}`));
    // Some follow each other without anything said between them.
    if (round % 3 === 0) for (let count = 0; count < 4; count++) await session.appendCompaction("shorter", null, 1_000);
    else await compactAgain(round % 2 === 0);
    const [recent, whole] = [await session.getRecentBranch(maxConsecutive), await session.getBranch()];
    for (const reason of ["threshold", "overflow", "manual"] as const) {
      expect(await planCompaction(recent, settings, reason)).toEqual(await planCompaction(whole, settings, reason));
    }
    lengths.push(recent.length);
  }
  expect(Math.max(...lengths.slice(6))).toBeLessThanOrEqual(Math.max(...lengths.slice(0, 6)));
});

test("a session compacts with the end of its branch alone", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tau-compaction-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  let bytesRead = 0;
  const fileSystem: typeof nodeFileSystem = {
    ...nodeFileSystem,
    async open(...request) {
      const handle = await nodeFileSystem.open(...request);
      const read = handle.read.bind(handle);
      return Object.assign(handle, {
        async read(...args: Parameters<typeof read>) {
          const result = await read(...args);
          bytesRead += result;
          return result;
        },
      });
    },
  };
  const sessionManager = await SessionManager.create(directory, directory, { fileSystem });
  const agent = await createTestSession([], { sessionManager, settings: { compaction: { keepRecentTokens: 500 } } });
  onTestFinished(() => agent.dispose());
  const costs: number[] = [];
  for (let round = 0; round < 20; round++) {
    for (let index = 0; index < 10; index++)
      await sessionManager.appendMessage(user(`${index} ${"word ".repeat(200)}`));
    agent.model.add([text("the summary")]);
    const before = bytesRead;
    expect(await agent.session.compact()).toMatchObject({ kind: "compacted" });
    costs.push(bytesRead - before);
  }
  expect(costs.at(-1)).toBeGreaterThan(0);
  expect(costs.at(-1)).toBeLessThan(2 * Math.max(...costs.slice(2, 5)));
});
