import { describe, expect, test } from "vitest";
import { parseToolsYaml } from "./tools-yaml.ts";

const parse = async (text: string, known?: string[]) => {
  const { choices, problems } = await parseToolsYaml("tools.yaml", text, known);
  const tools = choices && Object.fromEntries(choices.tools.map(({ name, ...choice }) => [name, choice]));
  return { only: choices?.only, tools, problems: problems.map(({ message }) => message) };
};

describe("tools.yaml", () => {
  test("as a list names the tools there are and no others", async () => {
    expect(await parse("tools: [read, grep, read]")).toEqual({ only: ["read", "grep"], tools: {}, problems: [] });
    expect(await parse("tools: []")).toEqual({ only: [], tools: {}, problems: [] });
  });

  test("as a map turns tools off and on and sets options; an alias is read", async () => {
    const text =
      "# mine\ntools:\n  bash: &off { enabled: false }\n  jobs: *off\n  read:\n  ls: true\n  find: false\n  grep: { limit: 5, enabled: true }\n";
    expect(await parse(text)).toEqual({
      only: undefined,
      tools: {
        bash: { enabled: false, options: {} },
        jobs: { enabled: false, options: {} },
        read: { enabled: true, options: {} },
        ls: { enabled: true, options: {} },
        find: { enabled: false, options: {} },
        grep: { enabled: true, options: { limit: 5 } },
      },
      problems: [],
    });
  });

  test("that is empty changes nothing", async () => {
    expect(await parse("# nothing yet\n")).toEqual({ only: undefined, tools: {}, problems: [] });
    expect(await parse("tools:\n")).toEqual({ only: undefined, tools: {}, problems: [] });
  });

  test("with a mistake in one tool names the line and leaves that tool off", async () => {
    const { tools, problems } = await parse(
      "tools:\n  read: {}\n  bash: { enabled: nope }\n  ls: off please\nextra: 1\n",
    );
    expect(tools).toEqual({
      read: { enabled: true, options: {} },
      bash: { enabled: false, options: {} },
      ls: { enabled: false, options: {} },
    });
    expect(problems).toEqual([
      'tools.yaml:5: there is no key "extra" here; it is ignored. Use `tools`.',
      'tools.yaml:3: `enabled` of bash is "nope"; it is true or false. The tool is left off.',
      "tools.yaml:4: what is set for ls is a map, such as { enabled: false }. The tool is left off.",
    ]);
  });

  test("with an unknown name is reported with the nearest one, and the name is kept", async () => {
    const known = ["read", "grep"];
    expect(await parse("tools:\n  - raed\n  - 7\n", known)).toEqual({
      only: ["raed"],
      tools: {},
      problems: [
        'tools.yaml:2: there is no tool "raed" built in. Did you mean "read"?',
        "tools.yaml:3: 7 is not a tool's name; it is ignored.",
      ],
    });
  });

  test.each([
    ["tools: [read", /^tools\.yaml:\d: this is not valid YAML/],
    ["tools: read", /^tools\.yaml:1: `tools` is a list of names/],
    ["- read", /^tools\.yaml:1: expected `tools:`/],
    ["tools: { a: 1, a: 2 }", /^tools\.yaml:1: this is not valid YAML: Map keys must be unique/],
  ])("that says nothing clear (%j) decides nothing", async (text, message) => {
    const { tools, problems } = await parse(text);
    expect([tools, problems]).toEqual([undefined, [expect.stringMatching(message)]]);
  });

  test("cannot reach a prototype", async () => {
    const { choices } = await parseToolsYaml("tools.yaml", "tools: { read: { __proto__: { polluted: true } } }");
    const { options } = choices!.tools[0]!;
    expect(Object.keys(options)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(options)).toBe(Object.prototype);
  });
});
