import { describe, expect, test } from "vitest";
import { getSessionTitle, SessionPages, type SessionPagesOptions } from "./session-pages.ts";

type Fetch = SessionPagesOptions<number>["fetchPage"];

/** A host with so many sessions, whose cursor is the number of the next one. */
const createFetch =
  (count: number, calls: string[] = []): Fetch =>
  async ({ limit, cursor = "0" }) => {
    calls.push(`${limit} from ${cursor}`);
    const start = Number(cursor);
    const end = Math.min(count, start + limit);
    const sessions = Array.from({ length: end - start }, (_unused, index) => start + index);
    return { sessions, ...(end < count && { cursor: String(end) }) };
  };

describe("pages of sessions", () => {
  test("what was searched for last is listed, though the search before it failed", async () => {
    const queries: string[] = [];
    const fetchPage: Fetch = async ({ query }) => {
      queries.push(query);
      if (query === "a") throw new Error("The host does not answer.");
      return { sessions: [1] };
    };
    const changes: unknown[] = [];
    const pages = new SessionPages({ fetchPage, onChange: (error) => changes.push(error), pageSize: 10 });
    await Promise.all([pages.load({ query: "a" }), pages.load({ query: "ab" })]);
    expect([queries, changes, pages.sessions]).toEqual([["a", "ab"], [undefined], [1]]);
  });

  test("a list that was made longer stays as long when it is read again, also above the longest page", async () => {
    const calls: string[] = [];
    const pages = new SessionPages({ fetchPage: createFetch(250, calls), onChange: () => {}, pageSize: 60 });
    await pages.load();
    await pages.loadMore();
    await pages.refresh();
    expect([pages.sessions.length, pages.hasMore]).toEqual([120, true]);
    expect(calls).toEqual(["60 from 0", "60 from 60", "100 from 0", "20 from 100"]);
    await pages.load({ named: true });
    expect(pages.sessions).toHaveLength(60);
  });

  test("a longer list that is overtaken by a refresh is not lost, and no session is listed twice", async () => {
    const pages = new SessionPages({ fetchPage: createFetch(70), onChange: () => {}, pageSize: 40 });
    await pages.load();
    await Promise.all([pages.loadMore(), pages.refresh()]);
    expect([pages.sessions, pages.hasMore]).toEqual([Array.from({ length: 70 }, (_unused, index) => index), false]);
  });

  test("a list that could not be read stays as it was, and says why", async () => {
    let isBroken = false;
    const read = createFetch(5);
    const changes: unknown[] = [];
    const pages = new SessionPages<number>({
      fetchPage: async (params) => {
        if (isBroken) throw new Error("The host does not answer.");
        return await read(params);
      },
      onChange: (error) => changes.push((error as Error | undefined)?.message),
      pageSize: 10,
    });
    await pages.load();
    isBroken = true;
    await pages.refresh();
    expect([pages.sessions.length, pages.isLoading, changes]).toEqual([
      5,
      false,
      [undefined, "The host does not answer."],
    ]);
  });
});

test.each([
  [{ name: "Roof", firstMessage: "Mend it" }, "Roof"],
  [{ firstMessage: " Mend it\n" }, "Mend it"],
  [{ firstMessage: " " }, "(no messages)"],
])("the title of %j is %s", (session, title) => {
  expect(getSessionTitle(session)).toBe(title);
});
