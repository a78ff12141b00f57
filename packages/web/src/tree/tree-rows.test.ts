import type { TreeEntryData } from "@tau/protocol/gateway";
import { expect, test } from "vitest";
import { listPanelRows, toTarget } from "./tree-rows.ts";

const say = (id: string, parentId: string | null, text: string, kind: TreeEntryData["kind"] = "user") =>
  ({ id, parentId, kind, text }) as TreeEntryData;

const draw = (entries: TreeEntryData[], leafId: string | null) =>
  listPanelRows(entries, leafId).map(
    ({ depth, text, isOnBranch, isLeaf, entry: { label } }) =>
      `${"  ".repeat(depth)}${isOnBranch ? "*" : "-"} ${text}${isLeaf ? " (here)" : ""}${label ? ` [${label}]` : ""}`,
  );

test("branches are indented, the shown one comes first, and entries that say nothing are left out", () => {
  const entries = [
    say("a", null, "one"),
    say("b", "a", "answer", "assistant"),
    { ...say("c", "b", "two"), label: "old" },
    { id: "n", parentId: "b" },
    { id: "m", parentId: "b" },
    say("d", "m", "three"),
    { id: "l", parentId: "d" },
  ];
  expect(draw(entries, "l")).toEqual(["* one", "* answer", "* three (here)", "  - two [old]"]);
});

test("a long conversation is one line down", () => {
  const entries = Array.from({ length: 20_000 }, (_, index) =>
    say(`e${index}`, index === 0 ? null : `e${index - 1}`, "x"),
  );
  const rows = listPanelRows(entries, "e19999");
  expect(rows).toHaveLength(20_000);
  expect(rows.at(-1)).toMatchObject({ depth: 0, isLeaf: true });
});

test("going to a user message means to write it again", () => {
  const rows = listPanelRows([say("a", null, "one"), say("b", "a", "answer", "assistant")], "b");
  expect(rows.map(toTarget)).toEqual([
    { entryId: null, text: "one" },
    { entryId: "b", text: undefined },
  ]);
});
