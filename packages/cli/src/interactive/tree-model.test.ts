import type { SessionEntry, TreeNodeData } from "@tau/protocol";
import { describe, expect, test } from "vitest";
import {
  createSessionTree,
  describeItem,
  drawConnectors,
  findNextStart,
  findRow,
  findStart,
  leavesMessages,
  listRows,
  toTarget,
  type TreeFilter,
} from "./tree-model.ts";

const stamp = "2026-01-01T00:00:00.000Z";

const say = (id: string, role: "user" | "assistant" | "toolResult", text: string, label?: string) => ({
  entry: {
    type: "message",
    id,
    parentId: null,
    timestamp: stamp,
    message: { role, content: [{ type: "text", text }], ...(role === "toolResult" && { toolName: "bash" }) },
  } as unknown as SessionEntry,
  ...(label !== undefined && { label }),
});

const note = (id: string): { entry: SessionEntry } => ({
  entry: { type: "thinking_level_change", id, parentId: null, timestamp: stamp, thinkingLevel: "high" },
});

/** Each of the list hangs on the one before; the branches hang on the last. */
function chain(parts: readonly { entry: SessionEntry; label?: string }[], branches: TreeNodeData[] = []): TreeNodeData {
  const [first, ...rest] = parts;
  const { entry, label } = first!;
  const children = rest.length > 0 ? [chain(rest, branches)] : branches;
  for (const child of children) child.entry.parentId = entry.id;
  return { entry, children, ...(label !== undefined && { label }) };
}

const forked = () =>
  createSessionTree(
    [
      chain(
        [say("q1", "user", "first question"), note("n"), say("a1", "assistant", "first answer", "good")],
        [
          chain([
            say("q2", "user", "second question"),
            say("t2", "toolResult", "output"),
            say("a2", "assistant", "done"),
          ]),
          chain([say("q3", "user", "third question"), say("a3", "assistant", "other")]),
        ],
      ),
    ],
    "a3",
  );

const draw = (filter: TreeFilter, { query = "", folded = [] as string[] } = {}) => {
  const rows = listRows(forked(), { filter, query, folded: new Set(folded) });
  return rows.map(({ item }, position) => `${drawConnectors(rows, position)}${item.id}`);
};

describe("rows", () => {
  test.each<[TreeFilter, string[]]>([
    ["default", ["q1", "a1", "├─ q3", "│  a3", "└─ q2", "   t2", "   a2"]],
    ["no-tools", ["q1", "a1", "├─ q3", "│  a3", "└─ q2", "   a2"]],
    ["user-only", ["q1", "├─ q3", "└─ q2"]],
    ["labeled-only", ["a1"]],
    ["all", ["q1", "n", "a1", "├─ q3", "│  a3", "└─ q2", "   t2", "   a2"]],
  ])("of the view %s: the branch that is shown comes first", (filter, expected) => {
    expect(draw(filter)).toEqual(expected);
  });

  test("below one that is folded are not shown", () => {
    expect(draw("default", { folded: ["q3"] })).toEqual(["q1", "a1", "├─ q3", "└─ q2", "   t2", "   a2"]);
  });

  test("of a search have all words in their text, author or label", () => {
    expect(draw("default", { query: "QUESTION" })).toEqual(["q1", "├─ q3", "└─ q2"]);
    expect(draw("default", { query: "good answer" })).toEqual(["a1"]);
  });

  test("an entry that is not shown is stood for by the next one above it", () => {
    const tree = forked();
    const rows = listRows(tree, { filter: "user-only", query: "", folded: new Set() });
    expect(rows[findRow(tree, rows, "a2")]!.item.id).toBe("q2");
  });

  test("of 100,000 entries in one chain are listed without recursion", () => {
    const entries = Array.from({ length: 100_000 }, (_unused, index) => say(`e${index}`, "user", `text ${index}`));
    const root: TreeNodeData = { entry: entries[0]!.entry, children: [] };
    let last = root;
    for (const { entry } of entries.slice(1)) {
      entry.parentId = last.entry.id;
      const node: TreeNodeData = { entry, children: [] };
      last.children.push(node);
      last = node;
    }
    const tree = createSessionTree([root], "e99999");
    const rows = listRows(tree, { filter: "default", query: "", folded: new Set() });
    expect(rows.length).toBe(100_000);
    expect(drawConnectors(rows, 99_999)).toBe("");
  });
});

describe("a call", () => {
  const call = (id: string, text: string, ...calls: { id: string; command: string }[]) => {
    const entry = say(id, "assistant", text).entry as unknown as { message: { content: object[] } };
    entry.message.content.push(
      ...calls.map((each) => ({ type: "toolCall", id: each.id, name: "bash", arguments: { command: each.command } })),
    );
    return { entry: entry as unknown as SessionEntry };
  };
  const result = (id: string, toolCallId: string) => {
    const { entry } = say(id, "toolResult", "output");
    Object.assign((entry as unknown as { message: object }).message, { toolCallId });
    return { entry };
  };
  const list = (parts: { entry: SessionEntry; label?: string }[], leafId: string, query = "") => {
    const tree = createSessionTree([chain(parts)], leafId);
    return listRows(tree, { filter: "default", query, folded: new Set() }).map(({ item }) => {
      const { author, text } = describeItem(item);
      return `${item.id} ${author}: ${text}`;
    });
  };
  const question = () => say("q", "user", "go");

  test("and its result are one row, which says what the call was about", () => {
    const parts = [
      question(),
      call("c", "", { id: "1", command: "make" }, { id: "2", command: "make test" }),
      result("r1", "1"),
      result("r2", "2"),
      say("a", "assistant", "done"),
    ];
    const rows = ["q user: go", "r1 bash: make", "r2 bash: make test", "a assistant: done"];
    expect(list(parts, "a")).toEqual(rows);
    // Both the call and its output are found.
    expect(list(parts, "a", "test")).toEqual(["r2 bash: make test"]);
    expect(list(parts, "a", "output")).toEqual(rows.slice(1, 3));
  });

  test("without a result, with words or a label, or where the session is, keeps its row", () => {
    const unanswered = call("c", "", { id: "1", command: "make" });
    expect(list([question(), unanswered], "q")).toEqual(["q user: go", "c assistant: [bash]"]);
    const spoken = call("c", "I look.", { id: "1", command: "make" });
    expect(list([question(), spoken, result("r", "1")], "r")).toEqual([
      "q user: go",
      "c assistant: I look. [bash]",
      "r bash: make",
    ]);
    const labeled = { ...call("c", "", { id: "1", command: "make" }), label: "here" };
    expect(list([question(), labeled, result("r", "1")], "r")).toContain("c assistant: [bash]");
    expect(list([question(), call("c", "", { id: "1", command: "make" }), result("r", "1")], "c")).toContain(
      "c assistant: [bash]",
    );
  });

  test("of a broken log changes nothing", () => {
    const broken = { ...say("b", "assistant", ""), entry: { ...say("b", "assistant", "").entry } };
    Object.assign(broken.entry, { message: { role: "assistant", content: [null, { type: "toolCall", id: 5 }] } });
    expect(list([question(), broken, result("r", "x")], "r")).toHaveLength(3);
  });
});

test("keys lead to the start of a part of a branch, then to the part above, and to the next part or the end", () => {
  const rows = listRows(forked(), { filter: "default", query: "", folded: new Set() });
  const id = (position: number) => rows[position]!.item.id;
  expect(id(findStart(rows, 6))).toBe("q2");
  expect(id(findStart(rows, 4))).toBe("q1");
  expect(id(findStart(rows, 0))).toBe("q1");
  expect(id(findNextStart(rows, 0))).toBe("q3");
  expect(id(findNextStart(rows, 1))).toBe("q3");
  expect(id(findNextStart(rows, 4))).toBe("a2");
});

test("a user message is written again from before it; any other entry is continued after it", () => {
  const { nodes } = forked();
  const target = (id: string) => toTarget(nodes.find(({ item }) => item.id === id)!.item);
  expect(target("q2")).toEqual({ entryId: "a1", text: "second question" });
  expect(target("q1")).toEqual({ entryId: null, text: "first question" });
  expect(target("a2")).toEqual({ entryId: "a2", text: undefined });
});

test.each([
  ["a1", true],
  ["a3", false],
  ["a2", true],
  [null, true],
])("going to %s leaves messages behind: %s", (entryId, expected) => {
  expect(leavesMessages(forked(), entryId)).toBe(expected);
});
