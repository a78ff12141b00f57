import type { Approval, RunEnd, UiDialog } from "@tau/protocol";
import { describe, expect, test } from "vitest";
import { toConfigOptions } from "./config-options.ts";
import { parseChoice, parseForm, toChoice, toForm } from "./elicitation.ts";
import { parseMcpServers } from "./mcp-servers.ts";
import { toApprovalAnswer, toPermissionRequest } from "./permissions.ts";
import { toPrompt } from "./prompt-content.ts";
import { toStopReason } from "./stop-reason.ts";

const approval: Approval = {
  id: "q",
  toolCallId: "c",
  toolName: "bash",
  summary: "Run rm",
  reason: "It deletes files.",
  commands: [
    ["bash", "-c", "rm a && rm b"],
    ["rm", "a"],
    ["rm", "b"],
  ],
  choices: [
    { choice: "once", label: "Yes, this once" },
    { choice: "session", rule: "rm *", label: "Yes, for this session: rm *" },
    { choice: "always", rule: "rm a", label: "Always: rm a" },
  ],
};

describe("a permission request", () => {
  test("offers every scope of ours, and no", () => {
    const { options, toolCall } = toPermissionRequest("s", approval, undefined);
    expect(options).toEqual([
      { optionId: "allow-0", name: "Yes, this once", kind: "allow_once" },
      { optionId: "allow-1", name: "Yes, for this session: rm *", kind: "allow_always" },
      { optionId: "allow-2", name: "Always: rm a", kind: "allow_always" },
      { optionId: "deny", name: "No", kind: "reject_once" },
    ]);
    expect(toolCall).toMatchObject({ toolCallId: "c", title: "Run rm", status: "pending" });
    expect(JSON.stringify(toolCall)).toContain("rm a && rm b\\nruns:\\n  rm a\\n  rm b");
  });

  test.each<[response: unknown, answer: object]>([
    [{ outcome: { outcome: "selected", optionId: "allow-0" } }, { decision: "allow", choice: "once" }],
    [{ outcome: { outcome: "selected", optionId: "allow-1" } }, { decision: "allow", choice: "session", rule: "rm *" }],
    [{ outcome: { outcome: "selected", optionId: "deny" } }, { decision: "deny" }],
    [{ outcome: { outcome: "cancelled" } }, { decision: "deny" }],
    [{ outcome: { outcome: "cancelled", optionId: "allow-0" } }, { decision: "deny" }],
    [{ outcome: { outcome: "selected", optionId: "allow-9" } }, { decision: "deny" }],
    [{ outcome: { outcome: "selected", optionId: 0 } }, { decision: "deny" }],
    [{}, { decision: "deny" }],
    [null, { decision: "deny" }],
    ["allow-0", { decision: "deny" }],
  ])("answered with %j means %j", (response, answer) => {
    expect(toApprovalAnswer(approval, response)).toEqual(answer);
  });
});

describe("a dialog", () => {
  const select: UiDialog = { method: "select", title: "Which?", options: ["a", "b"] };
  const confirm: UiDialog = { method: "confirm", title: "Really?", message: "It is gone then." };
  const input: UiDialog = { method: "input", title: "Name?", placeholder: "Ada" };
  const editor: UiDialog = { method: "editor", title: "Text?", prefill: "Dear" };

  test.each([
    [select, { type: "string", title: "Which?", enum: ["a", "b"] }],
    [input, { type: "string", title: "Name?", description: "Ada" }],
    [editor, { type: "string", title: "Text?", default: "Dear" }],
  ])("%j is a form", (dialog, answer) => {
    expect(toForm("s", dialog)).toEqual({
      mode: "form",
      sessionId: "s",
      message: dialog.title,
      requestedSchema: { type: "object", properties: { answer }, required: ["answer"] },
    });
  });

  test.each<[dialog: UiDialog, response: unknown, answer: object]>([
    [select, { action: "accept", content: { answer: "b" } }, { value: "b" }],
    [select, { action: "accept", content: { answer: "z" } }, { cancelled: true }],
    [select, { action: "decline" }, { cancelled: true }],
    [confirm, { action: "accept", content: { answer: "yes" } }, { confirmed: true }],
    [confirm, { action: "accept", content: { answer: "no" } }, { confirmed: false }],
    [confirm, { action: "accept", content: {} }, { cancelled: true }],
    [confirm, { action: "decline" }, { confirmed: false }],
    [confirm, { action: "cancel" }, { cancelled: true }],
    [input, { action: "accept", content: { answer: "Bo" } }, { value: "Bo" }],
    [input, { action: "accept", content: { answer: 7 } }, { cancelled: true }],
    [editor, "nonsense", { cancelled: true }],
  ])("%j, as a form answered with %j, means %j", (dialog, response, answer) => {
    expect(parseForm(dialog, response)).toEqual(answer);
  });

  test("is a choice for a client without forms, unless it wants a text", () => {
    expect(toChoice("s", "d", select)).toMatchObject({
      options: [
        { optionId: "0", name: "a" },
        { optionId: "1", name: "b" },
      ],
    });
    expect(toChoice("s", "d", confirm)).toMatchObject({
      toolCall: { title: "Really?" },
      options: [{ optionId: "yes" }, { optionId: "no" }],
    });
    expect([toChoice("s", "d", input), toChoice("s", "d", editor)]).toEqual([undefined, undefined]);
  });

  test.each<[dialog: UiDialog, optionId: unknown, answer: object]>([
    [select, "1", { value: "b" }],
    [select, "9", { cancelled: true }],
    [select, "length", { cancelled: true }],
    [confirm, "yes", { confirmed: true }],
    [confirm, "no", { confirmed: false }],
    [confirm, "other", { cancelled: true }],
  ])("%j, as a choice answered with %j, means %j", (dialog, optionId, answer) => {
    expect(parseChoice(dialog, { outcome: { outcome: "selected", optionId } })).toEqual(answer);
    expect(parseChoice(dialog, { outcome: { outcome: "cancelled" } })).toEqual({ cancelled: true });
  });
});

const failed = (kind: string): RunEnd =>
  ({ kind: "failed", cause: "model", failure: { kind, message: "It failed." } }) as RunEnd;

test.each<[end: RunEnd, reason: string]>([
  [{ kind: "done" }, "end_turn"],
  [{ kind: "stopped", by: "hook" }, "end_turn"],
  [{ kind: "length" }, "max_tokens"],
  [{ kind: "budget", limit: "tokens" }, "max_tokens"],
  [{ kind: "budget", limit: "turns" }, "max_turn_requests"],
  [{ kind: "budget", limit: "cost" }, "max_turn_requests"],
  [{ kind: "timeout" }, "max_turn_requests"],
  [{ kind: "aborted", by: "person" }, "cancelled"],
  [{ kind: "disconnected" }, "cancelled"],
  [failed("refused"), "refusal"],
])("a run that ended with %j stops for the reason %s", (end, reason) => {
  expect(toStopReason(end)).toBe(reason);
});

test.each([
  ["auth", "auth_required"],
  ["overloaded", "internal_error"],
])("a run that failed with %s is the error %s", (kind, code) => {
  expect(() => toStopReason(failed(kind))).toThrow(expect.objectContaining({ code, message: "It failed." }));
});

describe("the content of a prompt", () => {
  test("is the text with files mentioned as they are typed, images, and texts that the editor attached", () => {
    expect(
      toPrompt([
        { type: "text", text: "Compare" },
        { type: "resource_link", uri: "file:///w/a%20b.ts", name: "a b.ts" },
        { type: "text", text: " with " },
        { type: "resource", resource: { uri: "file:///w/c.ts#L1:2", text: "const c = 1;" } },
        { type: "resource_link", uri: "https://example.org/x", name: "X" },
        { type: "image", data: "AAAA", mimeType: "image/png" },
        { type: "resource", resource: { uri: "file:///w/p.png", blob: "BBBB", mimeType: "image/png" } },
      ]),
    ).toEqual({
      text: 'Compare @"/w/a b.ts" with [/w/c.ts#L1:2] X (https://example.org/x)',
      images: [
        { type: "image", data: "AAAA", mimeType: "image/png" },
        { type: "image", data: "BBBB", mimeType: "image/png" },
      ],
      context: [{ name: "/w/c.ts#L1:2", text: "const c = 1;" }],
    });
  });

  test.each<[block: unknown]>([
    [{ type: "audio", data: "", mimeType: "audio/wav" }],
    [{ type: "video" }],
    [{ type: "text" }],
    [{ type: "image", data: "AAAA" }],
    [{ type: "resource_link", name: "x" }],
    [{ type: "resource" }],
    [{ type: "resource", resource: { uri: "file:///w/x.bin", blob: "AAAA" } }],
    [null],
    ["text"],
  ])("%j is refused", (block) => {
    expect(() => toPrompt([block])).toThrow(expect.objectContaining({ code: "invalid_params" }));
  });
});

test("MCP servers of an editor get the form of mcp.json, and a wrong one is refused", () => {
  expect(
    Object.fromEntries(
      parseMcpServers([
        { name: "files", command: "npx", args: ["-y", "x"], env: [{ name: "A", value: "1" }] },
        { type: "http", name: "web", url: "https://example.org/mcp", headers: [{ name: "X", value: "y" }] },
      ]),
    ),
  ).toEqual({
    files: { command: "npx", args: ["-y", "x"], env: { A: "1" } },
    web: { type: "http", url: "https://example.org/mcp", headers: { X: "y" } },
  });
  for (const server of [{}, { name: "x" }, { name: "x", type: "http" }, { name: "x", type: "acp", id: "y" }, 7])
    expect(() => parseMcpServers([server])).toThrow(expect.objectContaining({ code: "invalid_params" }));
});

test("models of several providers are grouped, and one that is not listed any more is still the current one", () => {
  const [, option] = toConfigOptions({
    permissions: { mode: "edit", choices: ["ask", "edit"] },
    models: [
      { provider: "a", id: "x/1", name: "One" },
      { provider: "b", id: "2", name: "Two" },
    ],
    model: { provider: "b", id: "3", name: "Three" },
    thinkingLevels: ["off"],
    thinkingLevel: "off",
  });
  expect(option).toMatchObject({
    currentValue: "b/3",
    options: [
      { group: "b", options: [{ value: "b/3" }, { value: "b/2" }] },
      { group: "a", options: [{ value: "a/x/1", name: "One" }] },
    ],
  });
});
