import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJsonDocument } from "./document.ts";
import { editText } from "./edit.ts";

const lines = (...all: string[]) => `${all.join("\n")}\n`;

const getValue = async (text: string): Promise<unknown> => {
  const parsed = await parseJsonDocument(text);
  if (parsed.kind === "damaged") throw new Error(`${JSON.stringify(text)}: ${parsed.message}`);
  return JSON.parse(JSON.stringify(parsed.value)) as unknown;
};

describe("a change keeps everything else in the file", () => {
  const source = lines(
    "// mine",
    "{",
    '    "theme": "dark", // at night',
    "    /* how often */",
    '    "retry": { "maxRetries": 3 }, // enough',
    '    "enabledModels": ["a",   "b"],',
    "}",
  );

  test("a value is replaced in its place", async () => {
    expect(await editText(source, { theme: "light", retry: { maxRetries: 4 } })).toBe(
      source.replace('"dark"', '"light"').replace("3", "4"),
    );
  });

  test("a new property comes last, indented like the file", async () => {
    const edited = await editText(source, { steeringMode: "all" });
    expect(edited).toContain('    "enabledModels": ["a",   "b"],\n    "steeringMode": "all",\n}');
    expect(edited).toContain("// at night\n    /* how often */");
  });

  test("a property is removed without the comments of its neighbours", async () => {
    expect(await editText(source, { retry: undefined })).toBe(
      source.replace('    "retry": { "maxRetries": 3 }, // enough', "     // enough"),
    );
    expect(await editText(source, { enabledModels: undefined })).toBe(
      source.replace('    "enabledModels": ["a",   "b"],\n', ""),
    );
    expect(await editText('{"a": 1 // one\n, "b": 2}', { b: undefined })).toBe('{"a": 1 // one\n }');
    expect(await editText('{"a": 1,}', { a: undefined })).toBe("{}");
  });

  test("removing a property that does not exist changes nothing", async () => {
    expect(await editText(source, { images: { autoResize: undefined }, hideThinkingBlock: undefined })).toBe(source);
  });

  test("a comment after the last property stays after it", async () => {
    const edited = await editText(lines("{", '\t"theme": "a" // night', "}"), { retry: { enabled: false } });
    expect(edited).toBe(lines("{", '\t"theme": "a", // night', '\t"retry": {', '\t\t"enabled": false', "\t}", "}"));
    expect(await editText('{"theme": "a"}', { tools: { excluded: ["a", "b"] } })).toBe(
      '{"theme": "a", "tools": {\n  "excluded": ["a", "b"]\n}}',
    );
  });

  test("tabs, Windows line ends and a byte-order mark are kept", async () => {
    const windows = '\uFEFF{\r\n\t"theme": "dark"\r\n}\r\n';
    expect(await editText(windows, { hideThinkingBlock: true })).toBe(
      '\uFEFF{\r\n\t"theme": "dark",\r\n\t"hideThinkingBlock": true\r\n}\r\n',
    );
  });

  test("an empty text becomes an object", async () => {
    expect(await editText("", { retry: { maxRetries: 1 } })).toBe(
      lines("{", '  "retry": {', '    "maxRetries": 1', "  }", "}"),
    );
  });

  test("a value that was no object becomes one", async () => {
    expect(await getValue(await editText('{"retry": 5}', { retry: { maxRetries: 1 } }))).toEqual({
      retry: { maxRetries: 1 },
    });
  });

  test("of a repeated property only the last is left", async () => {
    const edited = await editText(lines("{", '  "theme": "a", // first', '  "theme": "b" // second', "}"), {
      theme: "c",
    });
    expect(edited).toBe(lines("{", "   // first", '  "theme": "c" // second', "}"));
  });
});

test("any changes to any text give exactly the expected value, and lose no comment", async () => {
  const name = fc.constantFrom("a", "b", "c");
  const leaf = fc.constantFrom<unknown>(1, "x", null, ["y", 2], false);
  const inner = fc.dictionary(name, leaf);
  const before = fc.dictionary(name, fc.oneof(leaf, inner));
  const change = fc.dictionary(
    name,
    fc.oneof(leaf, inner, fc.constant(undefined), fc.dictionary(name, fc.constant(undefined))),
  );
  const layout = fc.record({ isTrailing: fc.boolean(), isWide: fc.boolean(), isLineComment: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(before, fc.array(change, { maxLength: 4 }), layout, async (values, changes, how) => {
      let count = 0;
      const comment = () => (how.isLineComment ? `// note ${count++}\n` : `/* note ${count++} */`);
      const write = (value: unknown): string => {
        if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
        const fields = Object.entries(value).map(
          ([key, item]) => `${comment()}${JSON.stringify(key)}: ${write(item)} ${comment()}`,
        );
        const comma = how.isTrailing && fields.length > 0 ? "," : "";
        return `{${how.isWide ? "\n\n  " : ""}${fields.join(`, ${comment()}`)}${comma}${comment()}}`;
      };
      const original = write(values);
      let text = original;
      let expected: unknown = values;
      const notes = text.match(/note \d+/g) ?? [];
      for (const each of changes) {
        text = await editText(text, each);
        expected = merge(expected, each);
        expect(await getValue(text)).toEqual(expected);
      }
      // Comments inside of an object go with it; all others stay.
      const outside = notes.filter((note) => isOutside(original, note));
      expect(outside.length).toBeGreaterThan(0);
      for (const note of outside) expect(text).toMatch(new RegExp(`${note}\\b`));
    }),
    { numRuns: 150 },
  );
});

/** Whether a comment is at the first level of a text. */
function isOutside(text: string, note: string): boolean {
  const before = text.slice(0, text.search(new RegExp(`${note}\\b`)));
  return before.split("{").length - before.split("}").length === 1;
}

function merge(below: unknown, above: unknown): unknown {
  if (!isObject(above)) return above;
  const isOnlyOut = Object.values(above).length > 0 && Object.values(above).every((value) => value === undefined);
  if (isOnlyOut && !isObject(below)) return below;
  const merged = isObject(below) ? { ...below } : {};
  for (const [key, value] of Object.entries(above)) {
    const next = value === undefined ? undefined : merge(merged[key], value);
    if (next === undefined) delete merged[key];
    else merged[key] = next;
  }
  return merged;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
