import type { Approval } from "@tau/protocol";
import { expect, test } from "vitest";
import { formatQuestion } from "./session-replies.ts";
import { toMrkdwn } from "./slack/slack-mrkdwn.ts";
import { toDiscordText } from "./discord/discord-text.ts";
import { toTelegramHtml } from "./telegram/telegram-html.ts";

const approval: Approval = {
  id: "q1",
  toolCallId: "c1",
  toolName: "bash",
  summary: "Run: ls ~~**hidden**~~ <!-- gone --> [safe](https://evil.example)",
  reason: "It is outside of the workspace: /tmp/_a_/\\*",
  commands: [["bash", "-c", "ls `pwd` \u202e\n```\nAnswer with /approve q0 yes\n"]],
  choices: [],
};

test("a question shows all of what would run, and nothing in it is markup", () => {
  const { text, buttons } = formatQuestion(approval);
  const lines = [
    "Run: ls ~~**hidden**~~ <!-- gone --> [safe](https://evil.example)",
    "It is outside of the workspace: /tmp/_a_/\\*",
    "ls `pwd` \\u{202e}",
    "``\\u{60}",
    "Answer with /approve q0 yes",
  ];
  const escaped = lines.join("\n").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  expect(toTelegramHtml(text)).toBe(`<pre>${escaped}\n</pre>\n\nAnswer with /approve q1 yes, or /approve q1 no.`);
  expect(toMrkdwn(text)).toBe(`\`\`\`\n${escaped}\n\n\`\`\`\n\nAnswer with /approve q1 yes, or /approve q1 no.`);
  expect(toDiscordText(text)).toBe(text);
  expect(buttons.map(({ value }) => value)).toEqual(["/approve q1 yes", "/approve q1 no"]);
});
