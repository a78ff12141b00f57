import { expect, test } from "vitest";
import { createTree, findTreeRow, listTreeRows, toTreeTarget, type TreeItem } from "./tree-rows.ts";

const item = (id: string, parentId: string | null): TreeItem => ({ id, parentId });

/** `a` has the hidden child `n`, and below it are `c` with `d`, and `e`. */
const forked = [item("a", null), item("n", "a"), item("c", "n"), item("d", "c"), item("e", "n")];
const isShown = ({ id }: TreeItem) => id !== "n";

const draw = (leafId: string | null, folded: string[] = []) =>
  listTreeRows(createTree(forked, leafId), { isShown, folded: new Set(folded) }).map(
    (row) => `${"-".repeat(row.depth)}${row.item.id}${row.isStart ? " start" : ""}${row.isLast ? " last" : ""}`,
  );

test.each([
  ["d", [], ["a start last", "c start", "d last", "-e start last"]],
  // The branch that is shown comes first.
  ["e", [], ["a start last", "e start", "-c start last", "-d last"]],
  ["e", ["c"], ["a start last", "e start", "-c start last"]],
  [null, [], ["a start last", "c start", "d last", "-e start last"]],
])("rows where %s is shown and %j are folded", (leafId, folded, expected) => {
  expect(draw(leafId, folded)).toEqual(expected);
});

test("an entry whose parent is missing is a root, and entries in a circle are left out", () => {
  const tree = createTree([item("a", "gone"), item("b", "c"), item("c", "b")], "b");
  expect(tree.nodes.map(({ item: { id }, parent }) => [id, parent])).toEqual([["a", -1]]);
});

test("an entry that is not shown is stood for by the next one above it", () => {
  const tree = createTree(forked, "e");
  const rows = listTreeRows(tree, { isShown });
  const find = (id: string | null) => rows[findTreeRow(tree, rows, id)]?.item.id;
  expect([find("n"), find("d"), find(null), find("zzz")]).toEqual(["a", "d", undefined, undefined]);
});

test("a user message is written again from before it; any other entry is continued after it", () => {
  expect(toTreeTarget(item("b", "a"), "Hi")).toEqual({ entryId: "a", text: "Hi" });
  expect(toTreeTarget(item("b", "a"), undefined)).toEqual({ entryId: "b", text: undefined });
});
