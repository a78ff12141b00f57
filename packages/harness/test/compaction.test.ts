/** Compaction on a session in a file, with a model that answers. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage } from "@tau/agent";
import { streamSimple } from "@tau/ai";
import { scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { summariseBranch } from "../src/compaction/branch-summary.ts";
import { compact } from "../src/compaction/compact.ts";
import { contextTokens } from "../src/compaction/tokens.ts";
import { SessionManager } from "../src/session/session-manager.ts";

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
  const before = contextTokens(await session.getBranch());
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
  expect(contextTokens(await again.getBranch())).toBeLessThan(before / 2);
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
