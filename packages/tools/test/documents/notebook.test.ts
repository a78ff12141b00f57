import { createFakeClock } from "@tau/ai/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readNotebook } from "../../src/documents/notebook.ts";
import { renderNotebook } from "../../src/documents/render-notebook.ts";
import { createZip } from "./zip-writer.ts";
import { describeRead, readDocument, withFiles } from "./read-kit.ts";

const notebook = (cells: unknown, more: object = {}) =>
  JSON.stringify({ nbformat: 4, nbformat_minor: 5, cells, ...more });

const some = notebook(
  [
    { cell_type: "markdown", source: ["# Title\n", "Words."] },
    {
      cell_type: "code",
      execution_count: 3,
      source: "print('a')\nplot()",
      outputs: [
        { output_type: "stream", name: "stdout", text: ["a\n", "10%\r100%\n"] },
        { output_type: "stream", name: "stderr", text: "\u001b[31mwarned\u001b[0m\n" },
        { output_type: "execute_result", data: { "text/plain": "42", "text/html": "<b>42</b>" } },
        { output_type: "display_data", data: { "image/png": "A".repeat(4_096), "text/plain": ["<Figure>"] } },
        { output_type: "display_data", data: { "application/vnd.widget": {} } },
        { output_type: "error", ename: "ValueError", evalue: "no", traceback: ["\u001b[1mTrace\u001b[0m", "line 1"] },
      ],
    },
    { cell_type: "raw", source: "as it is" },
  ],
  { metadata: { kernelspec: { display_name: "Python 3" } } },
);

const shown = `[Notebook with 3 cells, Python 3. It is a JSON file: change it as such, with a script.]

[Cell 1, markdown]
# Title
Words.

[Cell 2, code, run 3]
print('a')
plot()
[Output]
a
100%
[Output, standard error]
warned
[Output]
42
[Output]
<Figure>
[Output, not shown: image/png, 3.0 KB]
[Output, not shown: application/vnd.widget]
[Error: ValueError: no]
Trace
line 1

[Cell 3, raw]
as it is`;

describe("a notebook", () => {
  test("is shown by its cells, with what they put out", async () => {
    const cwd = withFiles({ "a.ipynb": some });
    expect((await readDocument(cwd, { path: "a.ipynb" })).text).toBe(shown);
    const { text, details } = await readDocument(cwd, { path: "a.ipynb", offset: 3, limit: 2 });
    expect(text).toBe("[Cell 1, markdown]\n# Title\n\n[Showing lines 3-4. Continue with offset=5.]");
    expect(details).toMatchObject({ firstLine: 3, shownLines: 2 });
  });

  test("in an archive is shown like one beside it", async () => {
    const cwd = withFiles({ "a.zip": createZip([{ name: "n.ipynb", content: some }]) });
    expect((await readDocument(cwd, { path: "a.zip#n.ipynb" })).text).toBe(shown);
  });

  test("of an old version has its cells in worksheets", () => {
    const cells = [
      {
        cell_type: "code",
        input: "1+1",
        prompt_number: 2,
        outputs: [{ output_type: "pyout", text: ["2"], png: "AAAA" }],
      },
    ];
    expect(renderNotebook(JSON.stringify({ nbformat: 3, worksheets: [{ cells }] }))).toContain(
      "[Cell 1, code, run 2]\n1+1\n[Output]\n2\n[Output, not shown: image/png, 0.0 KB]",
    );
  });
});

/** Name, file, and what has to be shown. */
const hostile: [string, string, RegExp][] = [
  ["is no JSON", "{ not json", /^\{ not json$/],
  ["was cut off", some.slice(0, 200), /^\{"nbformat":4/],
  ["is another JSON file", '{"a": 1}', /^\{"a": 1\}$/],
  ["is empty", "", /^\(the file is empty\)$/],
  ["has no cells", notebook([]), /^\[Notebook with 0 cells\./],
  ["has a list in the place of everything", notebook({ length: 9 }), /^\{"nbformat"/],
  [
    "has cells of all wrong types",
    notebook([
      null,
      5,
      "text",
      [],
      { cell_type: {}, source: 7, outputs: "none" },
      { source: [1, null, "x"], outputs: [null, 3, { data: [] }] },
    ]),
    /\[Cell 6, unknown\]\nx$/,
  ],
  [
    "is nested deeply",
    `{"nbformat":4,"cells":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    /^\[Notebook with 1 cell\./,
  ],
  [
    "has keys that are no data",
    `{"nbformat":4,"cells":[{"__proto__":{"source":"x"},"constructor":1}]}`,
    /\[Cell 1, unknown\]/,
  ],
  [
    "has a huge number of outputs",
    notebook([{ cell_type: "code", source: "x", outputs: Array.from({ length: 20_000 }, () => ({})) }]),
    /^\[Notebook with 1 cell\./,
  ],
  [
    "has one endless line",
    notebook([{ cell_type: "code", source: "x".repeat(500_000) }]),
    /^\[Notebook with 1 cell[^]*\[Showing lines 1-3/,
  ],
  [
    "has an output that was written over a million times",
    notebook([{ cell_type: "code", outputs: [{ output_type: "stream", text: "\r".repeat(1_000_000) }] }]),
    /\[Output\]$/,
  ],
  ["has a zero", notebook([{ cell_type: "raw", source: "a\0b" }]), /^binary: /],
];

describe("a hostile notebook", () => {
  test.each(hostile)("that %s is shown as what can be read of it", async (_name, json, said) => {
    const cwd = withFiles({ "a.ipynb": json });
    expect(await describeRead(cwd, { path: "a.ipynb" })).toMatch(said);
  });

  test("that would fill the memory ends its thread alone", async () => {
    const json = Buffer.from(`{"nbformat":4,"cells":[${"[],".repeat(2_000_000)}[]]}`);
    const limits = { clock: createFakeClock(), signal: undefined, maxHeapMb: 16 };
    await expect(readNotebook(json, "a.ipynb", limits)).rejects.toThrow("takes too much memory");
  });

  test("any JSON is rendered, or is not a notebook", () => {
    const cell = fc.oneof(
      fc.jsonValue(),
      fc.record({ cell_type: fc.jsonValue(), source: fc.jsonValue(), outputs: fc.array(fc.jsonValue()) }),
    );
    fc.assert(
      fc.property(fc.array(cell), (cells) => {
        expect(renderNotebook(notebook(cells))).toMatch(/^\[Notebook with/);
      }),
    );
  });
});
