import fc from "fast-check";
import { expect, test } from "vitest";
import { parseToml } from "./toml.ts";

const read = (text: string) => {
  const parsed = parseToml(text);
  return parsed.kind === "document" ? (JSON.parse(JSON.stringify(parsed.value)) as unknown) : parsed;
};

test("reads what a configuration has", () => {
  const text = String.raw`
# a comment
model = "gpt-5" # another
"quoted key" = 'C:\raw\path'
a.b.c = 1_000
big = 0xff
ratio = -1.5e3
on = true
day = 2026-11-18 10:00:00Z
list = [ "x", 'y', # comment
  "\u00e9\n", ]
inline = { one = 1, two.three = [ { four = 4 } ] }

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]

[mcp_servers.docs.env]
KEY = """
first \
   joined
second "quoted" """

[[profiles]]
name = '''
raw \n'''
[[profiles]]
name = "second"
[profiles.inner]
x = 1
`;
  expect(read(text)).toEqual({
    model: "gpt-5",
    "quoted key": String.raw`C:\raw\path`,
    a: { b: { c: 1000 } },
    big: 255,
    ratio: -1500,
    on: true,
    day: "2026-11-18 10:00:00Z",
    list: ["x", "y", "é\n"],
    inline: { one: 1, two: { three: [{ four: 4 }] } },
    mcp_servers: { docs: { command: "npx", args: ["-y", "docs"], env: { KEY: 'first joined\nsecond "quoted" ' } } },
    profiles: [{ name: String.raw`raw \n` }, { name: "second", inner: { x: 1 } }],
  });
});

test.each([
  ["a = ", 1, "A value is missing."],
  ["a = 1\nb = text", 2, "Put text in quotes."],
  ["a = 1\na = 2", 2, "used already"],
  ["[a]\n[a]", 2, "used already"],
  ["a = { b = 1 }\n[a.c]", 2, "used already"],
  ["a = [1]\n[[a]]", 2, "used already"],
  ['a = "open', 1, "closing quote"],
  ["a = 1 b = 2", 1, "more than one value"],
  ["[a", 1, '"]" is missing'],
  ["a 1", 1, '"=" is missing'],
  [String.raw`a = "\q"`, 1, "no such escape"],
  [`a = ${"[".repeat(100)}`, 1, "64 levels"],
  [`${"a.".repeat(100)}a = 1`, 1, "64 levels"],
])("%j is damaged", (text, line, message) => {
  expect(read(text)).toEqual({ kind: "damaged", line, message: expect.stringContaining(message) });
});

test("names reach nothing but the table", () => {
  expect(parseToml("__proto__.x = 1\nconstructor = 2")).toMatchObject({ kind: "document" });
  expect(({} as { x?: unknown }).x).toBe(undefined);
});

test("any text ends, with a document or a message that does not quote it", () => {
  const texts = fc.stringMatching(/^[a-c"'\\[\]{}=.,# \n0-9_tu-]{0,80}$/);
  fc.assert(
    fc.property(texts, (text) => {
      expect(["document", "damaged"]).toContain(parseToml(text).kind);
    }),
    { numRuns: 2_000 },
  );
  const secret = parseToml('key = "sk-secret');
  expect(JSON.stringify(secret)).not.toContain("sk-secret");
});
