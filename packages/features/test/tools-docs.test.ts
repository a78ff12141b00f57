/** The page on tools is made of the descriptions that models get. */
import { join } from "node:path";
import type { FeatureTool, ToolCategory } from "@tau/extensions";
import { definitions, defaultToolNames } from "@tau/tools";
import { expect, test } from "vitest";
import { allFeatures } from "../src/index.ts";

const headings: Readonly<Record<ToolCategory, string>> = {
  files: "Files and search",
  runtime: "Runtime",
  code: "Code intelligence",
  coordination: "Coordination",
  external: "External",
  memory: "Memory",
};

const runtimeTools: readonly string[] = ["bash", "jobs"];
const shownTools: readonly string[] = defaultToolNames;

type Described = Pick<FeatureTool, "name" | "category" | "description" | "parameters"> & { note: string };

const builtIn = Object.values(definitions).map((tool): Described => ({
  ...tool,
  category: runtimeTools.includes(tool.name) ? "runtime" : "files",
  note: shownTools.includes(tool.name) ? "built in" : "built in, not shown by default",
}));

const ofFeatures = allFeatures.flatMap(({ name, tools = [] }) =>
  tools.map(({ exposure = "direct", listedIn = [], isActive, ...tool }): Described => {
    const isFound = exposure === "deferred" || exposure === "codemode";
    const places = [
      ...(isFound ? [", found with `tool_search`"] : []),
      ...(isActive ? [", off by default"] : []),
      ...listedIn.map((mode) => `, in ${mode} mode`),
    ];
    return { ...tool, note: `feature \`${name}\`${places.join("")}` };
  }),
);

/** `path, offset?, limit?` */
function listParameters({ parameters }: Described): string {
  const { properties = {}, required = [] } = parameters as { properties?: object; required?: readonly string[] };
  const names = Object.keys(properties).map((name) => `\`${name}\`${required.includes(name) ? "" : " (optional)"}`);
  return names.length === 0 ? "No parameters." : `Parameters: ${names.join(", ")}.`;
}

const formatTool = (tool: Described): string =>
  `- **\`${tool.name}\`** (${tool.note}): ${tool.description.replaceAll(/\s+/g, " ")}\\\n  ${listParameters(tool)}`;

function formatPage(): string {
  const tools = [...builtIn, ...ofFeatures];
  const sections = Object.entries(headings).flatMap(([category, heading]) => {
    const own = tools.filter((tool) => tool.category === category);
    return own.length === 0 ? [] : [`## ${heading}\n\n${own.map(formatTool).join("\n")}\n`];
  });
  return `# Tools

The tools that a model is offered, with the descriptions that it gets. \`defaultTools\`, \`tools.allowed\` and \`tools.excluded\` in the
[settings](settings.md), and \`--tools\` and \`--exclude-tools\` on the command line choose among them. What a call may do is up to
the [policy](security.md). Sessions that serve a channel also have \`session_branch\`, \`session_navigate\`, \`gateway_reload\` and
\`agent_interrupt\`, and [extensions](extensions.md) bring tools of their own.

${sections.join("\n")}`;
}

test("docs/tools.md describes the tools as they are", async () => {
  // It is written again with: npx vitest run packages/features/test/tools-docs.test.ts -u
  await expect(formatPage()).toMatchFileSnapshot(join(import.meta.dirname, "../../../docs/tools.md"));
});

test("every tool of a feature has a category that has a heading", () => {
  for (const { category } of ofFeatures) expect(Object.keys(headings)).toContain(category);
});
