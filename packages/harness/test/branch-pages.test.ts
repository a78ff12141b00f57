/** Pages of a branch, compared with the whole branch. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type BranchPageOptions, SessionManager } from "../src/session/index.ts";

const moves = fc.array(fc.record({ goesTo: fc.option(fc.nat()) }), { maxLength: 20 });
const pages = fc.array(
  fc.record({
    before: fc.option(fc.nat()),
    after: fc.option(fc.nat()),
    limit: fc.option(fc.integer({ min: 1, max: 8 })),
  }),
  { minLength: 1, maxLength: 8 },
);

/** A branch of a tree of entries that was left here and there. */
async function createTree(steps: readonly { goesTo: number | null }[]): Promise<SessionManager> {
  const session = await SessionManager.inMemory("/project");
  const ids: string[] = [];
  for (const [index, { goesTo }] of steps.entries()) {
    if (goesTo !== null && ids.length > 0) await session.navigate(ids[goesTo % ids.length]!);
    ids.push(await session.appendMessage({ role: "user", content: String(index), timestamp: index }));
  }
  return session;
}

test("a page is a part of the branch, and tells whether there is more before it", () =>
  fc.assert(
    fc.asyncProperty(moves, pages, async (steps, choices) => {
      const session = await createTree(steps);
      const branch = (await session.getBranch()).map(({ id }) => id);
      for (const { before, after, limit } of choices) {
        const pick = (number: number | null) =>
          number === null || branch.length === 0 ? undefined : branch[number % branch.length];
        const options = { before: pick(before), after: pick(after), limit: limit ?? undefined };
        const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
        const start = options.after === undefined ? 0 : branch.indexOf(options.after) + 1;
        const end = options.before === undefined ? branch.length : branch.indexOf(options.before);
        const inRange = branch.slice(start, end);
        const size = options.limit ?? branch.length + 1;
        const expected = options.after === undefined ? inRange.slice(-size) : inRange.slice(0, size);
        const { entries, hasOlder } = await session.getBranchPage(given as BranchPageOptions);
        expect(entries.map(({ id }) => id)).toEqual(expected);
        expect(hasOlder).toBe(expected.length > 0 && expected[0] !== branch[0]);
      }
      await session.close();
    }),
  ));

test("a page that would be too large has fewer entries, but at least one", async () => {
  const session = await SessionManager.inMemory("/project");
  const ids: string[] = [];
  for (const size of [10, 9_000, 3_000, 3_000, 10]) {
    ids.push(await session.appendMessage({ role: "user", content: "x".repeat(size), timestamp: 0 }));
  }
  const list = async (options: BranchPageOptions) => {
    const { entries, hasOlder } = await session.getBranchPage({ maxBytes: 8_000, ...options });
    return [entries.map(({ id }) => ids.indexOf(id)), hasOlder];
  };
  expect(await list({})).toEqual([[2, 3, 4], true]);
  expect(await list({ limit: 2 })).toEqual([[3, 4], true]);
  expect(await list({ before: ids[2]! })).toEqual([[1], true]);
  expect(await list({ before: ids[1]! })).toEqual([[0], false]);
  expect(await list({ after: ids[0]! })).toEqual([[1], true]);
  expect(await list({ after: ids[1]! })).toEqual([[2, 3, 4], true]);
  await session.close();
});

test("an entry of another branch has no page", async () => {
  const session = await createTree([{ goesTo: null }, { goesTo: null }, { goesTo: 0 }]);
  const [first, left] = (await session.getEntries()).filter(({ type }) => type === "message");
  await expect(session.getBranchPage({ before: left!.id })).rejects.toMatchObject({ code: "unknown_entry" });
  await expect(session.getBranchPage({ after: left!.id, limit: 1 })).rejects.toMatchObject({ code: "unknown_entry" });
  await expect(session.getBranchPage({ before: "nowhere" })).rejects.toMatchObject({ code: "unknown_entry" });
  expect((await session.getBranchPage({ after: first!.id })).entries).toHaveLength(1);
  await session.close();
});
