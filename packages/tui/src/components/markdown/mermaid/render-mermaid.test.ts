import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { visibleWidth } from "../../../text/cells.ts";
import { renderMermaid } from "./render-mermaid.ts";

const draw = (source: string, width = 80) => renderMermaid(source, { width });
/** The pictures below begin with a line feed. */
const toRows = (picture: string) => picture.slice(1).split("\n");

describe("a flowchart", () => {
  test.each<[string, string, string]>([
    [
      "goes from top to bottom, with labels on its edges",
      "graph TD\n A[Start] --> B{Valid?}\n B -->|yes| C(Save)\n B -- no --> D",
      `
     ┌───────┐
     │ Start │
     └───┬───┘
         ▼
    ◇─────────◇
    │ Valid?  │
    ◇────┬────◇
     ╭───┴───╮
    yes     no
    ╭╯       ╰╮
    ▼         ▼
╭───────╮   ┌───┐
│ Save  │   │ D │
╰───────╯   └───┘`,
    ],
    [
      "goes from left to right",
      "flowchart LR; A --> B & C",
      `
         ┌───┐
      ╭─▶│ B │
┌───┐ │  └───┘
│ A ├─┤
└───┘ │  ┌───┐
      ╰─▶│ C │
         └───┘`,
    ],
    [
      "goes up",
      "graph BT\n a --> b",
      `
┌───┐
│ b │
└───┘
  ▲
┌─┴─┐
│ a │
└───┘`,
    ],
    [
      "leads back beside the way on",
      "graph TD\n A[Idle] --> B[Busy]\n B -. done .-> A",
      `
┌───────┐
│ Idle  │
└───┬───┘
    │ ▲
 ╭──╯ ╰┄╮
 │    done
 ╰──╮ ╭┄╯
    ▼ ┆
┌─────┴─┐
│ Busy  │
└───────┘`,
    ],
    [
      "leads back to the left",
      "graph LR\n A[Idle] -->|start| B[Busy] -->|stop| A",
      `
┌──────┐               ┌──────┐
│ Idle │ ╭── start ─╮  │ Busy │
│      ├─╯          ╰─▶│      │
│      │◀─── stop ─────┤      │
└──────┘               └──────┘`,
    ],
    [
      "keeps lines apart that cross",
      "graph TD\n A --> C & D\n B --> C & D",
      `
┌───┐   ┌───┐
│ A │   │ B │
└─┬─┘   └─┬─┘
  ╰┬──────│╮
   ├──────┴┤
   ▼       ▼
┌───┐   ┌───┐
│ C │   │ D │
└───┘   └───┘`,
    ],
    [
      "has heads of all kinds, and lines without one",
      "graph TD\n A --x B\n A --o C\n A === D",
      `
        ┌───┐
        │ A │
        └─┬─┘
  ╭───────┼───────╮
  ×       ○       │
┌───┐   ┌───┐   ┌─┴─┐
│ B │   │ C │   │ D │
└───┘   └───┘   └───┘`,
    ],
    [
      "marks what leads to itself, and reads quotes, breaks and entities",
      'graph TD\n A["a; b<br/>c &amp; d"] --> A',
      `
┌───────┐
│ a; b  │
│ c & d │
│   ↻   │
└───────┘`,
    ],
    [
      "names its groups, and has a title without remarks and colors",
      "---\ntitle: Flow\n---\n%% a remark\ngraph LR\n subgraph one [The first]\n A --> B\n end\n B --> C:::x\n style A fill:#f9f",
      `
Flow

┌───┐    ┌───┐    ┌───┐
│ A ├───▶│ B ├───▶│ C │
└───┘    └───┘    └───┘

The first: A, B`,
    ],
    [
      "has wide characters",
      "graph LR\n A[世界] --> B[🙂 ok]",
      `
┌──────┐    ┌───────┐
│ 世界 ├───▶│ 🙂 ok │
└──────┘    └───────┘`,
    ],
  ])("%s", (_name, source, picture) => {
    expect(draw(source)).toEqual(toRows(picture));
  });

  test("that is too wide goes down, and breaks its labels", () => {
    const source = "graph LR\n A[one two three four] --> B[five six seven eight]";
    expect(draw(source, 50)?.length).toBe(3);
    expect(draw(source, 46)?.length).toBe(4);
    expect(draw(source, 25)?.length).toBe(7);
    expect(draw(source, 18)).toEqual(
      toRows(`
┌─────────────┐
│   one two   │
│ three four  │
└──────┬──────┘
       ▼
┌─────────────┐
│  five six   │
│ seven eight │
└─────────────┘`),
    );
    expect(draw(source, 14)).toBeUndefined();
  });
});

describe("a sequence", () => {
  test.each<[string, string, string]>([
    [
      "has a column for each participant",
      "sequenceDiagram\n participant A as Alice\n A->>+B: Hello\n B--x-A: No\n A->>A: think\n Note over A,B: They met",
      `
┌───────┐     ┌───┐
│ Alice │     │ B │
└───┬───┘     └─┬─┘
    │   Hello   │
    ├──────────▶│
    │    No     │
    │×┄┄┄┄┄┄┄┄┄┄┤
    ├──╮ think  │
    │◀─╯        │
    ┌──────────┐│
    │ They met ││
    └──────────┘│`,
    ],
    [
      "has numbers and blocks, and messages that pass a participant",
      "sequenceDiagram\n autonumber\n participant A\n participant B\n loop daily\n A-)C: report\n end",
      `
┌───┐  ┌───┐  ┌───┐
│ A │  │ B │  │ C │
└─┬─┘  └─┬─┘  └─┬─┘
┄ loop daily ┄┄┄│┄┄
  │  1. report  │
  ├──────│─────▶│
┄ end ┄┄┄│┄┄┄┄┄┄│┄┄`,
    ],
  ])("%s", (_name, source, picture) => {
    expect(draw(source)).toEqual(toRows(picture));
  });
});

test.each([
  ["of another kind", "pie\n A: 1"],
  ["without a node", "graph TD"],
  ["with a label that is not closed", "graph TD\n A[open --> B"],
  ["with a group that is not closed", "graph TD\n subgraph x\n A --> B"],
  ["with a block that is not closed", "sequenceDiagram\n loop x\n A->>B: y"],
  ["with an edge to nothing", "graph TD\n A -->"],
  ["with an unknown statement", "sequenceDiagram\n A says hello"],
  ["with a shape that is not known", "graph TD\n A@{ shape: cloud }"],
  ["that is empty", ""],
  ["with too many nodes", `graph TD\n${Array.from({ length: 100 }, (_, index) => `n${index}`).join("\n")}`],
])("a diagram %s is not drawn", (_name, source) => {
  expect(draw(source, 1000)).toBeUndefined();
});

test("what is not closed yet is drawn while more follows", () => {
  const options = { width: 80, isComplete: false };
  expect(renderMermaid("graph TD\n subgraph x\n A --> B", options)).toHaveLength(9);
  expect(renderMermaid("sequenceDiagram\n loop x\n A->>B: y", options)).toHaveLength(6);
});

test("texts and lines have styles of their own", () => {
  const styles = { text: (text: string) => `<${text}>`, line: (line: string) => `(${line})` };
  expect(renderMermaid("graph LR\n A --> B", { width: 80, styles })?.[1]).toBe("(│ )<A >(├───▶│ )<B >(│)");
});

/** Words that sources are made of, in any order. */
const words = [
  ...'ABC;&[]{}|"\n',
  "c d",
  "🙂",
  "世界",
  "-->",
  "-.->",
  "---",
  "|x|",
  "A->>B: x",
  "end",
  "subgraph",
  "loop",
];
const sources = fc
  .tuple(
    fc.constantFrom("graph TD\n", "flowchart RL\n", "sequenceDiagram\n", ""),
    fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 4 })), { maxLength: 30 }),
  )
  .map(([header, parts]) => header + parts.join(" "));

test("nothing throws, and no line is wider than allowed, whatever the source", () => {
  fc.assert(
    fc.property(sources, fc.nat(100), fc.boolean(), (source, width, isComplete) => {
      for (const line of renderMermaid(source, { width, isComplete }) ?? [])
        expect(visibleWidth(line)).toBeLessThanOrEqual(width);
    }),
  );
});

test("white space and quotes without an end take no longer than other texts", () => {
  const message = `a->>${" ".repeat(400)}b:one\u2028two`;
  const sequence = ["sequenceDiagram", ...Array.from({ length: 20 }, () => message)].join("\n");
  expect(draw(sequence)?.join("\n")).toContain("one two");
  expect(draw(`---\ntitle: ${'"'.repeat(9_000)}x\n---\ngraph TD\na`)).toBeUndefined();
});

test("a graph whose edges pass too many others is left as it is written", () => {
  const chain = Array.from({ length: 40 }, (_, index) => `n${index} --> n${index + 1}`);
  const long = Array.from({ length: 50 }, (_, index) => `n${index % 8} --> n${40 - (index % 10)}`);
  const drawWith = (count: number) => draw(["graph TD", ...chain, ...long.slice(0, count)].join("\n"), 300);
  expect(drawWith(8)).toBeDefined();
  expect(drawWith(50)).toBeUndefined();
});

test("every node and every label of a graph is in its picture", () => {
  const edge = fc.record({ from: fc.nat(9), to: fc.nat(9), isLabelled: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(edge, { minLength: 1, maxLength: 14 }),
      fc.constantFrom("TD", "LR", "BT"),
      (edges, direction) => {
        const lines = edges.map(
          ({ from, to, isLabelled }, index) => `n${from} --${isLabelled ? `>|L${index}.|` : ">"} n${to}`,
        );
        const text = draw(`graph ${direction}\n${lines.join("\n")}`, 1000)?.join("\n");
        // Undefined if lines could not be told apart.
        if (text === undefined) return;
        for (const [index, { from, to, isLabelled }] of edges.entries()) {
          expect(text).toContain(` n${from} `);
          expect(text).toContain(` n${to} `);
          if (isLabelled) expect(text).toContain(`L${index}.`);
        }
      },
    ),
  );
});
