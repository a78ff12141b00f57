/** The tables of docs/resources.md have the locations that the loader uses, in their order. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFileSystem } from "@tau/tools/platform";
import { expect, onTestFinished, test } from "vitest";
import { contextFileNames } from "../../../config/src/resources/context-files.ts";
import { type Locations, locateResources, mergeLocations } from "../../../config/src/resources/locations.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/resources.md"), "utf8");

const readRows = (title: string): string[] => {
  const section = page.split(`### ${title}\n`)[1]!.split(/^##/m)[0]!;
  return [...section.matchAll(/^\| `([^`]+)` +\| *([a-z ]*?) *\|$/gm)].map(([, path, note]) =>
    `${path} ${note}`.trim(),
  );
};

test.each<[string, keyof Locations, string[]]>([
  ["System prompt", "systemFiles", ["<agent>/system-prompt.md"]],
  ["Appended to the system prompt", "appendFiles", []],
  ["Skills", "skills", []],
  ["Prompt templates", "prompts", []],
])("%s", async (title, name, before) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-docs-")));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const [cwd, agentDir, home] = [join(root, "cwd"), join(root, "agentDir"), join(root, "home")];
  const agent = {
    name: "agent",
    directory: join(root, "agent"),
    resourcesDir: join(root, "agent", "resources"),
    systemPrompt: undefined,
    tools: { only: undefined, tools: [] },
    problems: [],
  };
  const options = {
    cwd,
    agentDir,
    home,
    includeHome: true,
    includeProject: true,
    discoverSkills: true,
    discoverPrompts: true,
  };
  const { user, project } = await locateResources(nodeFileSystem, options, agent);
  const format = (path: string) => path.replace(home, "~").replace(/^.*\/(agentDir|agent|cwd)\//, "<$1>/");
  const rows = mergeLocations(user, project)[name].map(
    (path) => `${format(path)}${project[name].includes(path) ? " after trust" : ""}`,
  );
  expect(readRows(title)).toEqual([...before, ...rows]);
});

test("Context files", () => {
  expect(page.replaceAll(/\s+/g, " ")).toContain(
    `the first of ${contextFileNames
      .map((name) => `\`${name}\``)
      .join(", ")
      .replace(/, ([^,]*)$/, " and $1")} applies`,
  );
});
