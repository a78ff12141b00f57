import type { SessionSummaryData } from "@tau/protocol";
import { expect, test } from "vitest";
import type { SessionClient } from "./session-client.ts";
import { SessionPages } from "./session-pages.ts";

test("what was searched for last is listed, though the search before it failed", async () => {
  const session = { path: "/ab.jsonl" } as SessionSummaryData;
  const queries: (string | undefined)[] = [];
  const execute = async ({ query }: { query?: string }) => {
    queries.push(query);
    if (query === "a") throw new Error("The host does not answer.");
    return { sessions: [session] };
  };
  const changes: unknown[] = [];
  const pages = new SessionPages({ execute } as unknown as SessionClient, (error) => changes.push(error));
  await Promise.all([pages.load({ query: "a" }), pages.load({ query: "ab" })]);
  expect([queries, changes, pages.sessions]).toEqual([["a", "ab"], [undefined], [session]]);
});
