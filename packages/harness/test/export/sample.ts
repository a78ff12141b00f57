/** A session with an entry of every type, on two branches. For tests. */
import type { AgentMessage } from "@tau/agent";
import type { SessionEntry } from "../../src/session/entry.ts";
import type { ExportSource } from "../../src/export/source.ts";

/** `text` is called with the name of every field that holds text of a user, a model, a tool or another program. */
export function sampleSource(text: (field: string) => string): ExportSource {
  let count = 0;
  const entries: SessionEntry[] = [];
  const add = (fields: object, parentId?: string | null) => {
    const id = `0000000${(++count).toString(36)}`.slice(-8);
    const parent = parentId === undefined ? (entries.at(-1)?.id ?? null) : parentId;
    entries.push({ id, parentId: parent, timestamp: text("timestamp"), ...fields } as unknown as SessionEntry);
    return id;
  };
  const message = (fields: object) => add({ type: "message", message: fields as AgentMessage });
  const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 2, totalTokens: 20, cost: { total: 0.5 } };

  const first = message({ role: "user", content: text("user.content"), timestamp: 1 });
  message({
    role: "user",
    content: [
      { type: "text", text: text("user.text") },
      { type: "image", mimeType: text("image.mimeType"), data: text("image.data") },
      { type: "image", mimeType: "image/png", data: text("image.data") },
      { type: text("block.type"), data: text("block.data") },
    ],
  });
  message({
    role: "assistant",
    provider: text("assistant.provider"),
    model: text("assistant.model"),
    content: [
      { type: "thinking", thinking: text("thinking") },
      { type: "text", text: text("assistant.text") },
      {
        type: "toolCall",
        id: text("call.id"),
        name: text("call.name"),
        arguments: { command: text("call.command"), [text("call.argument")]: text("call.value") },
        argumentsError: text("call.argumentsError"),
      },
    ],
    diagnostics: [{ type: text("diagnostic.type"), error: { message: text("diagnostic.message") } }],
    usage,
    stopReason: "error",
    errorMessage: text("assistant.errorMessage"),
  });
  message({
    role: "toolResult",
    toolCallId: text("call.id"),
    toolName: text("result.toolName"),
    content: [{ type: "text", text: text("result.text") }],
    details: { diff: text("result.diff"), files: [{ diff: text("result.files.diff") }] },
    isError: true,
  });
  const place = {
    path: text("place.path"),
    line: 2,
    column: 1,
    severity: "error",
    message: text("place.message"),
    source: text("place.source"),
    name: text("place.name"),
    kind: text("place.kind"),
    excerpt: { firstLine: 1, lines: [text("place.line"), text("place.current")] },
  };
  message({
    role: "toolResult",
    toolCallId: text("call.id"),
    toolName: text("places.toolName"),
    content: [{ type: "text", text: text("places.text") }],
    details: {
      places: [place],
      stop: {
        reason: text("stop.reason"),
        place,
        frames: [{ name: text("frame.name"), place }],
        variables: [{ name: text("variable.name"), value: text("variable.value"), type: text("variable.type") }],
        output: text("stop.output"),
      },
    },
  });
  message({
    role: "bashExecution",
    command: text("shell.command"),
    output: text("shell.output"),
    exitCode: text("shell.exitCode"),
    truncated: true,
    fullOutputPath: text("shell.path"),
    excludeFromContext: true,
  });
  message({ role: "custom", customType: text("custom.type"), content: text("custom.content"), display: false });
  message({ role: "branchSummary", summary: text("branchSummary.summary"), fromId: text("branchSummary.fromId") });
  message({ role: "compactionSummary", summary: text("compactionSummary.summary"), tokensBefore: 1 });
  message({ role: text("role"), content: text("role.content") });
  add({ type: "model_change", provider: text("model.provider"), modelId: text("model.id") });
  add({ type: "thinking_level_change", thinkingLevel: text("thinkingLevel") });
  add({
    type: "compaction",
    summary: text("compaction.summary"),
    firstKeptEntryId: first,
    tokensBefore: 100,
    details: { note: text("compaction.details") },
    usage,
  });
  add({ type: "branch_summary", fromId: first, summary: text("branch.summary"), details: text("branch.details") });
  add({ type: "custom", customType: text("entry.customType"), data: { [text("entry.key")]: text("entry.data") } });
  add({
    type: "custom",
    customType: "tau.call_started",
    data: { toolCallId: "lost", toolName: text("lost.toolName") },
  });
  add({ type: "custom", customType: "tau.call_started", data: { toolCallId: text("call.id") } });
  add({ type: "custom", customType: "tau.navigated", data: text("navigated") });
  add({
    type: "custom_message",
    customType: text("customMessage.type"),
    content: [{ type: "text", text: text("customMessage.text") }],
    display: true,
    details: text("customMessage.details"),
  });
  const labelled = add({ type: "label", targetId: first, label: text("label") });
  add({ type: "session_info", name: text("name") });
  add({ type: "usage", kind: text("usage.kind"), provider: text("usage.provider"), model: text("usage.model"), usage });
  add({ type: "context_edit", targetId: first, replacement: { content: text("edit.content") } });
  add({ type: text("unknown.type"), field: text("unknown.field") });
  const fork = add({ type: "message", message: { role: "user", content: text("fork.user") } }, first);
  add({ type: "message", message: { role: "assistant", content: [{ type: "text", text: text("fork.text") }] } }, fork);
  const header = {
    type: "session" as const,
    version: 3,
    id: text("header.id"),
    timestamp: text("header.timestamp"),
    cwd: text("header.cwd"),
  };
  return { header, entries, leafId: entries[entries.length - 3]?.id ?? labelled, name: text("source.name") };
}
