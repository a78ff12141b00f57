import type { AgentTool } from "@tau/agent";
import { emptyUsage } from "@tau/ai";
import { lexer, walkTokens } from "marked";
import { describe, expect, onTestFinished, test } from "vitest";
import { customTypes, type SessionEntry } from "../session/entry.ts";
import { call, createTestSession, text } from "../testing/index.ts";
import { exportHtml } from "./html.ts";
import { exportMarkdown } from "./markdown.ts";
import { createSessionMarkdown } from "./session-markdown.ts";
import { markdownHtml } from "./markdown-html.ts";
import type { ExportSource } from "./source.ts";
import { hostileTexts } from "../../test/export/hostile.ts";
import { sampleSource } from "../../test/export/sample.ts";

const header = {
  type: "session" as const,
  version: 3,
  id: "0123",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/home/a_b",
};

function createSource(entries: object[], leaf = entries.length - 1): ExportSource {
  const linked = entries.map((entry, index) => ({
    id: String(index),
    parentId: index === 0 ? null : String(index - 1),
    timestamp: "2026-01-01T00:00:05.000Z",
    ...entry,
  }));
  return { header, entries: linked as unknown as SessionEntry[], leafId: String(leaf) };
}
const message = (role: string, fields: object) => ({ type: "message", message: { role, ...fields } });

test("of what the harness writes for itself a reader sees only what happened", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const slow: AgentTool = {
    name: "look",
    label: "Look",
    description: "Looks.",
    parameters: { type: "object", properties: {} },
    execute: async () => held.then(() => ({ content: [{ type: "text", text: "a door" }], details: undefined })),
  };
  const opened = await createTestSession([[call("look")], [text("Done.")]], { customTools: [slow] });
  onTestFinished(() => opened.dispose());
  const { session } = opened;
  const done = opened.prompt("Begin.");
  await opened.until("tool_execution_start");
  const followUp = await session.followUp("Never sent.");
  await session.steer("Faster.");
  if (followUp.kind === "queued") await session.removeQueued(followUp.id);
  release();
  await done;
  const log = session.sessionManager;
  for (const type of Object.values(customTypes)) await log.appendCustomEntry(type, { toolCallId: "c1", toolName: "x" });
  const [first] = await log.getEntries();
  await log.append({
    type: "usage",
    kind: "child",
    provider: "acme",
    model: "m1",
    usage: { ...emptyUsage(), output: 2 },
  });
  await log.append({ type: "context_edit", targetId: first!.id, replacement: null });
  const source = await log.exportSource();
  const markdown = createSessionMarkdown(source);
  expect(markdown.slice(markdown.indexOf("## User"))).toMatchInlineSnapshot(`
    "## User

    Begin.

    ## Assistant (scripted/scripted)

    **Call of look**

    \`\`\`json
    {}
    \`\`\`

    **Message not sent:** cancelled by the person

    ## Result of look

    \`\`\`
    a door
    \`\`\`

    ## User

    Faster.

    ## Assistant (scripted/scripted)

    Done.

    **Outcome of x:** unknown

    **Usage:** child · acme/m1 · 2 out · $0.0000

    **Context edit:** an entry is hidden from the model
    "
  `);
  expect(await exportHtml(source)).not.toContain('class="unknown');
});

test("the entries of the current branch are sections", () => {
  const usage = { input: 1000, output: 50, cacheRead: 0, cacheWrite: 0, cost: { total: 0.25 } };
  const source = createSource([
    { type: "session_info", name: "Fix <the> *test*" },
    message("user", { content: "Why does it fail?" }),
    { ...message("user", { content: "on another branch" }), parentId: "0" },
    {
      ...message("assistant", {
        provider: "acme",
        model: "m1",
        usage,
        content: [
          { type: "thinking", thinking: "Hm.\n```" },
          { type: "text", text: "# Let me look\n\nAt `<b>` and <b>." },
          { type: "toolCall", name: "bash", arguments: { command: "ls" } },
        ],
      }),
      parentId: "1",
    },
    { type: "custom", customType: "tau.call_started", data: { toolCallId: "c1", toolName: "bash" } },
    message("toolResult", {
      toolCallId: "c1",
      toolName: "bash",
      content: [{ type: "text", text: "\u001b[31ma\u001b[0m.ts\n" }],
      details: {},
    }),
    message("toolResult", { toolName: "edit", content: [], isError: true, details: { diff: "-a\n+b\n" } }),
    message("bashExecution", { command: "make", output: "no", exitCode: 2 }),
    { type: "model_change", provider: "acme", modelId: "m2" },
    { type: "compaction", summary: "It was the clock.", firstKeptEntryId: "1", tokensBefore: 10 },
    { type: "label", targetId: "9", label: "here" },
    message("assistant", {
      provider: "acme",
      model: "m2",
      content: [],
      stopReason: "error",
      errorMessage: "overloaded",
    }),
    { type: "custom", customType: "tau.call_started", data: { toolCallId: "c2", toolName: "edit" } },
    { type: "later", field: 1 },
  ]);
  expect(createSessionMarkdown(source)).toMatchInlineSnapshot(`
    "# Fix &lt;the\\> \\*test\\*

    - Session: 0123
    - Folder: /home/a_b
    - Started: 2026-01-01 00:00:00 UTC
    - Last entry: 2026-01-01 00:00:05 UTC
    - Models: acme/m1, acme/m2
    - Tokens: 1,000 in, 50 out
    - Cost: $0.2500

    **Name:** Fix &lt;the\\> \\*test\\*

    ## User

    Why does it fail?

    ## Assistant (acme/m1)

    **Thinking**

    \`\`\`\`
    Hm.
    \`\`\`
    \`\`\`\`

    ### Let me look

    At \`<b>\` and &lt;b>.

    **Call of bash**

    \`\`\`json
    {
      "command": "ls"
    }
    \`\`\`

    ## Result of bash

    \`\`\`
    a.ts
    \`\`\`

    ## Error of edit

    \`\`\`diff
    -a
    +b
    \`\`\`

    ## Command

    \`\`\`sh
    make
    \`\`\`

    \`\`\`
    no
    \`\`\`

    Exit code 2.

    **Model:** acme/m2

    ## Compaction (here)

    It was the clock.

    **Label:** here

    ## Assistant (acme/m2)

    **Error**

    \`\`\`
    overloaded
    \`\`\`

    **Outcome of edit:** unknown

    ## Entry: later

    \`\`\`json
    {
      "field": 1
    }
    \`\`\`
    "
  `);
});

test("all diffs of a tool are included", () => {
  const details = { diff: "+one", files: [{ path: "a", diff: "+two" }, null, { diff: 3 }, { diff: "+three" }] };
  const markdown = createSessionMarkdown(
    createSource([message("toolResult", { toolName: "patch", content: [], details })]),
  );
  expect(markdown).toContain("```diff\n+one\n```\n\n```diff\n+two\n```\n\n```diff\n+three\n```");
});

test("invisible characters of commands, arguments and diffs are shown, and escape sequences of output are removed", () => {
  const hidden = "a \u001b]0;b\u0007\r\u009d\u202e";
  const markdown = createSessionMarkdown(
    createSource([
      message("bashExecution", { command: hidden, output: "\u001b[31mred\u001b]0;open" }),
      message("assistant", { content: [{ type: "toolCall", name: hidden, arguments: { x: "\u001b\u009d" } }] }),
      message("toolResult", { content: [], details: { diff: `+${hidden}` } }),
    ]),
  );
  const shown = "a [U+001B]]0;b[U+0007][U+000D][U+009D][U+202E]";
  expect(markdown).toContain(`\`\`\`sh\n${shown}\n`);
  expect(markdown).toContain(`\`\`\`diff\n+${shown}\n`);
  expect(markdown).toContain(`**Call of ${shown.replace(/[[\]]/g, "\\$&")}**`);
  expect(markdown).toContain('"x": "\\u001b[U+009D]"');
  expect(markdown).toContain("```\nred0;open\n```");
});

test("an entry whose parent is missing follows the entry above it, with a note", () => {
  const source = createSource([
    message("user", { content: "before" }),
    { ...message("user", { content: "after" }), parentId: "gone" },
  ]);
  expect(createSessionMarkdown(source)).toMatch(
    /before\n\n\*The entry before this one is missing[^\n]*\*\n\n## User\n\nafter\n$/,
  );
});

test("a missing header and entries that are no objects are left out", () => {
  const entries = [null, 5, { ...message("user", { content: "here" }), id: "a", parentId: null }];
  const source = { header: undefined, entries, leafId: "a" } as unknown as ExportSource;
  expect(createSessionMarkdown(source)).toContain("## User\n\nhere");
});

test("exportMarkdown resolves to the document", async () => {
  const source = createSource([message("user", { content: "here" })]);
  expect(await exportMarkdown(source)).toBe(createSessionMarkdown(source));
});

/** The lines of a document that are not in a fence, without the marks of lists and quotes. */
function removeFences(markdown: string): string[] {
  let fence = "";
  const lines = markdown.split("\n").map((line) => line.replace(/^(?:\s|>|[-*+]\s|\d+[.)]\s)+/, ""));
  return lines.filter((line) => {
    const marks = /^(?:`{3,}|~{3,})/.exec(line)?.[0] ?? "";
    if (!fence) fence = marks;
    else if (marks.startsWith(fence) && line.trim() === marks) {
      fence = "";
      return false;
    }
    return !fence;
  });
}

describe.each(hostileTexts.map((text) => [JSON.stringify(text), text]))("%s", (_, text) => {
  const markdown = createSessionMarkdown(sampleSource(() => text));

  test("hides nothing that follows it, and adds no heading of the first two levels", () => {
    const getHeadings = (markdown: string) => markdownHtml(markdown).match(/<h[34]>/g) ?? [];
    expect(getHeadings(markdown)).toEqual(getHeadings(createSessionMarkdown(sampleSource(() => "x"))));
  });

  test("contains no HTML", () => {
    const htmlLines = removeFences(markdown)
      .map((line) => line.replace(/`[^`]+`|\\[\\`<]|<https?:[^\s<>]*>/g, ""))
      .filter((line) => /<[A-Za-z/!?]/.test(line));
    expect(htmlLines).toEqual([]);
    const htmlTokens: string[] = [];
    walkTokens(lexer(markdown), (token) => {
      if (token.type === "html") htmlTokens.push(token.raw);
    });
    expect(htmlTokens).toEqual([]);
  });
});

test("cells are code, with their images named", () => {
  const code = "x = 1\n```\nx";
  const content = [{ type: "toolCall", name: "eval", arguments: { language: "python", code, timeoutMs: 5 } }];
  const image = { type: "image", mimeType: "image/png", data: "AAAA" };
  const source = createSource([
    message("assistant", { content }),
    message("toolResult", {
      toolName: "eval",
      content: [{ type: "text", text: "1" }, image],
      details: { result: "1" },
    }),
  ]);
  const markdown = createSessionMarkdown(source);
  expect(markdown).toContain("````python\nx = 1\n```\nx\n````");
  expect(markdown).toContain('"timeoutMs": 5');
  expect(markdown).toContain("(image: image/png)");
});
