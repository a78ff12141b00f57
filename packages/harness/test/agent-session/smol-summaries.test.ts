/** The role smol writes summaries. */
import type { WireReply } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { openWithRoles, says } from "./roles-kit.ts";

const settings = { defaultModel: "house/usual", compaction: { keepRecentTokens: 0 }, retry: { enabled: false } };
const long = "A long story of a long day. ".repeat(200);

async function compactWith(more: object, replies: readonly WireReply[]) {
  const { session, getAsked } = await openWithRoles({ ...settings, ...more }, {}, [says(long), ...replies]);
  await session.prompt(long);
  const outcome = await session.compact();
  return { outcome, asked: getAsked().slice(1), session };
}

test("a compaction is written by the role smol, and by the model of the session without one", async () => {
  const small = await compactWith({ roles: { smol: "house/tiny" } }, [says("A summary.")]);
  expect(small.outcome).toMatchObject({ kind: "compacted" });
  expect(small.asked).toEqual(["tiny"]);
  expect(small.session.model?.id).toBe("usual");
  expect((await compactWith({ roles: { slow: "house/large" } }, [says("A summary.")])).asked).toEqual(["usual"]);
});

test("the setting turns it off", async () => {
  const off = { roles: { smol: "house/tiny" }, smolSummaries: false };
  expect((await compactWith(off, [says("A summary.")])).asked).toEqual(["usual"]);
});

test("if smol fails, the model of the session writes the summary", async () => {
  const failure: WireReply = { kind: "status", status: 400, body: "{}" };
  const { outcome, asked } = await compactWith({ roles: { smol: "house/tiny" } }, [failure, says("A summary.")]);
  expect(outcome).toMatchObject({ kind: "compacted" });
  expect(asked).toEqual(["tiny", "usual"]);
});

test("the summary of a branch that is left is written by smol, too", async () => {
  const { session, getAsked } = await openWithRoles({ ...settings, roles: { smol: "house/tiny" } }, {}, [
    says("One."),
    says(long),
    says("A summary."),
  ]);
  await session.prompt("First.");
  const leafId = session.sessionManager.getLeafId();
  await session.prompt("Second.");
  await session.navigate(leafId!, { summarise: true });
  expect(getAsked()).toEqual(["usual", "usual", "tiny"]);
});
