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

${sections.join("\n")}
${whatReadShows}
${terminals}`;
}

const whatReadShows = `## What \`read\` shows

Besides texts and images (PNG, JPEG, GIF, WebP and BMP) \`read\` shows these files, with the same limits of lines and bytes:

- **PDFs** by their pages, which \`offset\` and \`limit\` count: their text, also of files that are encrypted without a password for reading. Those
  that need one, that have only images, or that have more than 50 MB are refused with a sentence that says so.
- **Notebooks** (\`.ipynb\`) by their cells: number, kind, source, and what they put out as text. Images of outputs are named, not shown. A
  file that is not a notebook is shown as the text that it is. Notebooks of more than 50 MB are refused.
- **Archives**: zip (also jar, docx and others that are zip), tar and tar.gz are listed, with sizes, times and links. \`a.zip#dir/b.txt\` is
  the member \`dir/b.txt\`, shown as a file of that name would be; \`a.zip#dir\` lists a directory. Nothing is unpacked to the disk, and names are
  only text. A member, or a tar.gz, may become at most 100 MB, and beyond 1 MB at most 100 times as large as it is packed. Of members with
  the same name the last one is shown. Encrypted members, other methods than deflate, and archives in archives are refused with a
  sentence that says so; at most 100,000 members are listed.

- **SQLite databases**, with Node 22.13 or newer: their tables with columns, counts and first rows; \`a.db#users\` is the table \`users\`, whose rows
  \`offset\` and \`limit\` count (100 by default). What a log beside the database adds (write-ahead mode) is included. A private copy in the
  temporary directory is read and removed again, so that the database is not locked, and nothing beside it changes: at most 256 MB.
  Nothing in the file is run: views, virtual tables and calculated columns are only named. Texts are cut at 200 characters, and rows are counted up
  to a million.

A real file whose name has a \`#\` comes first. The policy judges \`a.zip#b\` as reading \`a.zip\`.
`;

const terminals = `## Commands with a terminal

\`bash\` with \`tty: true\` starts a job on a terminal of 120x40 characters, for what asks questions or draws on the screen: an interpreter
(\`python3 -i\`), a debugger, an editor, \`git add -p\`. The answer is the screen as text, and so is that of \`jobs\` with the action \`read\`. What
has scrolled away is in the file of the job, which \`offset\` reads.

\`jobs\` with the action \`write\` writes \`text\` to it, waits until nothing has been printed for 0.2 seconds (at most 3), and answers with the
screen. A line feed is Enter, and keys have names in angle brackets, as in \`git log<enter>\` and \`<ctrl-c>\`; \`<lt>\` is the character \`<\`:

- \`enter tab shift-tab esc backspace delete insert\`, \`up down left right home end pageup pagedown\`, \`f1\` to \`f12\`
- \`ctrl-\` with a letter, a backslash or \`]\`, and \`alt-\` with a letter or a digit
- \`<80x24>\` is no key: the terminal gets that size before the rest is written, from 20x5 to 200x50

Terminals need the helper of the sandbox, so they are there on Linux where it is installed; elsewhere the call fails with a sentence that says
why. How the text is judged is in [security.md](security.md#terminals).
`;

test("docs/tools.md describes the tools as they are", async () => {
  // It is written again with: npx vitest run packages/features/test/tools-docs.test.ts -u
  await expect(formatPage()).toMatchFileSnapshot(join(import.meta.dirname, "../../../docs/tools.md"));
});

test("every tool of a feature has a category that has a heading", () => {
  for (const { category } of ofFeatures) expect(Object.keys(headings)).toContain(category);
});
