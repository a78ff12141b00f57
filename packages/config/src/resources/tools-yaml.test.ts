import { describe, expect, test } from "vitest";
import { formatFileProblem } from "../files/file-problem.ts";
import { parseToolsYaml } from "./tools-yaml.ts";

const parse = async (text: string) => {
  const { choices, problems } = await parseToolsYaml("tools.yaml", text);
  const tools = choices && Object.fromEntries(choices.tools.map(({ name, ...choice }) => [name, choice]));
  return { only: choices?.only, tools, problems: problems.map(formatFileProblem) };
};

describe("tools.yaml", () => {
  test("as a list has all tools of the agent", async () => {
    expect(await parse("tools: [read, grep, read]")).toEqual({ only: ["read", "grep"], tools: {}, problems: [] });
    expect(await parse("tools: []")).toEqual({ only: [], tools: {}, problems: [] });
  });

  test("as a map enables and disables tools and sets options; aliases are resolved", async () => {
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

  test.each(["tools: &x [*x]", "tools: { bash: &x { a: [*x] } }"])(
    "with an alias inside of itself is invalid: %s",
    async (text) => {
      const { only, tools, problems } = await parse(text);
      expect({ only, tools }).toEqual({ only: undefined, tools: undefined });
      expect(problems).toEqual([expect.stringContaining("tools.yaml:1: This is not valid YAML: An alias")]);
    },
  );

  test("that is empty changes nothing", async () => {
    expect(await parse("# nothing yet\n")).toEqual({ only: undefined, tools: {}, problems: [] });
    expect(await parse("tools:\n")).toEqual({ only: undefined, tools: {}, problems: [] });
  });

  test("with an error in one tool is reported with its line, and that tool is disabled", async () => {
    const { tools, problems } = await parse("tools:\n  read: {}\n  bash: { enabled: nope }\n  ls: off please\n");
    expect(tools).toEqual({
      read: { enabled: true, options: {} },
      bash: { enabled: false, options: {} },
      ls: { enabled: false, options: {} },
    });
    expect(problems).toEqual([
      'tools.yaml:3: `enabled` of bash has to be true or false, not "nope". The tool is disabled.',
      "tools.yaml:4: The options of ls have to be a map, such as { enabled: false }. The tool is disabled.",
    ]);
  });

  test("with something else than a name is reported, and the names are kept", async () => {
    expect(await parse("tools:\n  - raed\n  - 7\n")).toEqual({
      only: ["raed"],
      tools: {},
      problems: ["tools.yaml:3: 7 is not the name of a tool and is ignored."],
    });
  });

  test.each([
    ["tools: [read", /^tools\.yaml:\d: This is not valid YAML/],
    ["tools: read", /^tools\.yaml:1: `tools` has to be a list of names/],
    ["- read", /^tools\.yaml:1: The file has to have `tools:`/],
    ["tool: [read]", /^tools\.yaml:1: The key "tool" is unknown, so no tools are allowed\. Use `tools`\.$/],
    ["tools: [read, bash]\nexcluded: [bash]", /^tools\.yaml:2: The key "excluded" is unknown/],
    ["\n", /^tools\.yaml:1: The file is empty, so no tools are allowed/],
    ["tools: { a: 1, a: 2 }", /^tools\.yaml:1: This is not valid YAML: Map keys must be unique/],
  ])("that cannot be understood (%j) is reported and has no choices", async (text, message) => {
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
