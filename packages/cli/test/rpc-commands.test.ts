/** Tests each command: its effect, and not only its response. */
import { randomUUID } from "node:crypto";
import { copyFile, mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { SessionManager } from "@tau/harness";
import { type Approval, type CommandName, commandNames, type SessionEvent } from "@tau/protocol";
import { describe, expect, test } from "vitest";
import type { TauClient } from "@tau/protocol/node";
import { toolReply, type ModelWorkspace, createModelWorkspace, temporaryDirectory, textReply, text } from "./kit.ts";
import { connect } from "./rpc-kit.ts";

interface CaseContext extends ModelWorkspace {
  client: TauClient;
  events: SessionEvent[];
  questions: Approval[];
  bashOutput: () => string;
  /** Resolves with the next event of this type. */
  next: (type: SessionEvent["type"]) => Promise<SessionEvent>;
  /** The body of a request to the model. */
  sent: (request: number) => string;
}

interface Case {
  replies?: readonly WireReply[];
  args?: readonly string[];
  settings?: object;
  /** Runs before the program starts. */
  prepare?: (workspace: ModelWorkspace) => Promise<void>;
  check: (context: CaseContext) => Promise<void>;
}

const hang: WireReply = { kind: "raw", chunks: [], ending: "hang" };
/** A reply whose usage fills nearly the whole context window. */
const fills = (words: string): WireReply => ({
  kind: "answer",
  answer: { content: [text(words)], usage: { input: 63_500, output: 100 } },
});
const fail: WireReply = { kind: "status", status: 503, headers: { "retry-after": "0" } };
/** Calls a command that runs until it is aborted, or until the file exists. */
const untilFile = (name: string) => toolReply("bash", { command: `until [ -e ${name} ]; do sleep 0.02; done` });
const quickRetry = { retry: { enabled: true, maxRetries: 3, baseDelayMs: 1 } };
const slowRetry = { retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000 } };

const cases: Readonly<Record<CommandName, Case>> = {
  initialize: {
    replies: [toolReply("read", { path: "/etc/hostname" }), textReply("Read.")],
    async check({ client, next }) {
      expect(await client.call("initialize")).toEqual({ approvals: false, ui: false });
      expect(await client.call("initialize", { approvals: true })).toEqual({ approvals: true, ui: false });
      const asked = next("approval_requested");
      await client.prompt("Read it.");
      await asked;
    },
  },
  prompt: {
    replies: [textReply("Four.")],
    async check({ client, next, sent }) {
      const ended = next("agent_end");
      expect(await client.prompt("Two and two?")).toEqual({ disposition: "started" });
      expect(await ended).toMatchObject({ terminationReason: "no_tool_calls" });
      expect(sent(0)).toContain("Two and two?");
    },
  },
  steer: {
    replies: [untilFile("go"), textReply("As you say.")],
    async check({ client, next, sent, directory }) {
      const started = next("tool_execution_start");
      await client.prompt("Wait.");
      await started;
      expect(await client.call("steer", { message: "Rather be brief." })).toEqual({
        disposition: "queued",
        id: expect.any(String),
      });
      const ended = next("agent_end");
      await writeFile(join(directory, "go"), "");
      await ended;
      expect(sent(1)).toContain("Rather be brief.");
    },
  },
  follow_up: {
    replies: [untilFile("go"), textReply("Done."), textReply("That too.")],
    async check({ client, next, sent, directory }) {
      const started = next("tool_execution_start");
      await client.prompt("Wait.");
      await started;
      const { disposition, id } = await client.call("follow_up", { message: "And then sing." });
      expect(disposition).toBe("queued");
      const sentIds: unknown[] = [];
      client.onEvent((event) => {
        if (event.type === "entry_appended" && event.entry.type === "message") sentIds.push(event.entry.queueId);
      });
      const ended = next("agent_end");
      await writeFile(join(directory, "go"), "");
      await ended;
      expect(sent(1)).not.toContain("And then sing.");
      expect(sent(2)).toContain("And then sing.");
      expect(sentIds.filter((sentId) => sentId !== undefined)).toEqual([id]);
    },
  },
  execute: {
    replies: [toolReply("write", { path: "a.txt", content: "apples" }), textReply("Written.")],
    async check({ client, directory }) {
      const answer = await client.call("execute", { prompt: "Write a.txt." });
      expect(answer).toEqual({ answer: "Written.", end: { kind: "done" }, terminationReason: "no_tool_calls" });
      expect(await readFile(join(directory, "a.txt"), "utf8")).toBe("apples");
    },
  },
  abort: {
    replies: [hang],
    async check({ client, next }) {
      const ended = next("agent_end");
      const prompted = client.prompt("Never answer.");
      await client.abort();
      expect(await ended).toMatchObject({ terminationReason: "abort_signal" });
      await prompted;
      expect(await client.call("get_state")).toMatchObject({ isStreaming: false });
    },
  },
  clear_queue: {
    replies: [untilFile("go"), textReply("Done.")],
    async check({ client, next, server, directory }) {
      const started = next("tool_execution_start");
      await client.prompt("Wait.");
      await started;
      await writeFile(join(directory, "note.txt"), "as it is now");
      await client.call("steer", { message: "one @note.txt" });
      await client.call("follow_up", { message: "two" });
      expect(await client.call("clear_queue")).toEqual({ steering: ["one @note.txt"], followUp: ["two"] });
      expect(await client.call("get_state")).toMatchObject({ pendingMessageCount: 0 });
      const ended = next("agent_end");
      await writeFile(join(directory, "go"), "");
      await ended;
      expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toMatch(/"(one @note.txt|two)"/);
    },
  },
  approve: {
    replies: [toolReply("read", { path: "/etc/hostname" }), textReply("Read.")],
    async check({ client, next, sent }) {
      await client.call("initialize", { approvals: true });
      const asked = next("approval_requested");
      const ended = next("agent_end");
      await client.prompt("Read it.");
      const { approval } = (await asked) as Extract<SessionEvent, { type: "approval_requested" }>;
      await client.call("approve", { approvalId: approval.id, decision: "allow" });
      await ended;
      expect(sent(1)).toContain((await readFile("/etc/hostname", "utf8")).trim());
      const again = client.call("approve", { approvalId: approval.id, decision: "allow" });
      await expect(again).rejects.toThrow("No question");
    },
  },
  get_questions: {
    settings: { approvals: { later: true } },
    replies: [toolReply("read", { path: "/etc/hostname" })],
    async check({ client, next }) {
      await client.call("initialize", { approvals: false });
      expect(await client.call("get_questions")).toEqual({ questions: [] });
      const ended = next("agent_end");
      await client.prompt("Read it.");
      expect(await ended).toMatchObject({ terminationReason: "no_tool_calls", detail: "asked" });
      const { questions } = await client.call("get_questions");
      expect(questions).toMatchObject([{ toolName: "read", path: expect.stringContaining("hostname") }]);
    },
  },
  resume: {
    settings: { approvals: { later: true } },
    replies: [toolReply("read", { path: "/etc/hostname" }), textReply("Read.")],
    async check({ client, next, sent }) {
      await client.call("initialize", { approvals: false });
      const asked = next("agent_end");
      await client.prompt("Read it.");
      await asked;
      const [question] = (await client.call("get_questions")).questions;
      await client.call("approve", { approvalId: question!.id, decision: "allow" });
      const ended = next("agent_end");
      expect(await client.call("resume")).toBeNull();
      expect(await ended).toMatchObject({ terminationReason: "no_tool_calls" });
      expect(sent(1)).toContain((await readFile("/etc/hostname", "utf8")).trim());
      await expect(client.call("resume")).rejects.toThrow("no call waits");
    },
  },
  get_state: {
    replies: [textReply("Hi.")],
    args: ["--name", "my work"],
    async check({ client }) {
      const before = await client.call("get_state");
      expect(before).toMatchObject({ messageCount: 0, sessionName: "my work", isStreaming: false });
      expect(before.model).toMatchObject({ provider: "acme", id: "small" });
      await client.call("execute", { prompt: "Hi." });
      expect(await client.call("get_state")).toMatchObject({ messageCount: 2, sessionId: before.sessionId });
      expect((await stat(before.sessionFile!)).isFile()).toBe(true);
    },
  },
  get_messages: {
    replies: [textReply("Hello.")],
    async check({ client }) {
      await client.call("execute", { prompt: "Hi." });
      const { messages } = await client.call("get_messages");
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    },
  },
  get_session_stats: {
    replies: [textReply("Hello.")],
    async check({ client }) {
      expect(await client.call("get_session_stats")).toMatchObject({ totalMessages: 0 });
      await client.call("execute", { prompt: "Hi." });
      const stats = await client.call("get_session_stats");
      expect(stats).toMatchObject({ userMessages: 1, assistantMessages: 1, toolCalls: 0, totalMessages: 2 });
      expect(stats.contextUsage).toMatchObject({ contextWindow: 64_000 });
    },
  },
  get_last_assistant_text: {
    replies: [textReply("The last word.")],
    async check({ client }) {
      expect(await client.call("get_last_assistant_text")).toEqual({ text: null });
      await client.call("execute", { prompt: "Hi." });
      expect(await client.call("get_last_assistant_text")).toEqual({ text: "The last word." });
    },
  },
  get_commands: {
    replies: [textReply("Reviewed.")],
    async prepare({ agentDir }) {
      await mkdir(join(agentDir, "prompts"));
      await writeFile(
        join(agentDir, "prompts", "review.md"),
        "---\ndescription: Look closely\n---\nReview it closely.",
      );
    },
    async check({ client, sent }) {
      const { commands } = await client.call("get_commands");
      expect(commands).toContainEqual(
        expect.objectContaining({ name: "review", description: "Look closely", source: "prompt" }),
      );
      await client.call("execute", { prompt: "/review" });
      expect(sent(0)).toContain("Review it closely.");
    },
  },
  get_entries: {
    replies: [textReply("One."), textReply("Two.")],
    async check({ client }) {
      await client.call("execute", { prompt: "First." });
      const { entries, leafId } = await client.call("get_entries");
      expect(leafId).toBe(entries.at(-1)?.id);
      await client.call("execute", { prompt: "Second." });
      const later = await client.call("get_entries", { since: entries.at(-1)!.id });
      expect(JSON.stringify(later.entries)).toContain("Second.");
      expect(JSON.stringify(later.entries)).not.toContain("First.");
      await expect(client.call("get_entries", { since: "nowhere" })).rejects.toThrow('no entry "nowhere"');
      await expect(client.call("get_entries", { since: leafId!, limit: 1 })).rejects.toThrow("use either");
    },
  },
  get_tree: {
    replies: [textReply("One.")],
    async check({ client }) {
      await client.call("execute", { prompt: "First." });
      const { tree, leafId } = await client.call("get_tree");
      let count = 0;
      let last = "";
      const walk = (nodes: typeof tree): void =>
        nodes.forEach(({ entry, children }) => {
          count++;
          last = entry.id;
          walk(children);
        });
      walk(tree);
      expect(count).toBe((await client.call("get_entries")).entries.length);
      expect(last).toBe(leafId);
    },
  },
  set_model: {
    replies: [textReply("Large.")],
    async check({ client, server }) {
      expect(await client.call("set_model", { provider: "acme", modelId: "large" })).toMatchObject({ id: "large" });
      await client.call("execute", { prompt: "Hi." });
      expect(server.requests[0]?.body).toMatchObject({ model: "large" });
      const wrong = client.call("set_model", { provider: "acme", modelId: "larg" });
      await expect(wrong).rejects.toThrow(/larg/);
    },
  },
  cycle_model: {
    replies: [textReply("Large.")],
    args: ["--models", "acme/small,acme/large,acme/third"],
    async prepare({ agentDir }) {
      const path = join(agentDir, "models.json");
      const file = JSON.parse(await readFile(path, "utf8")) as { providers: { acme: { models: object[] } } };
      file.providers.acme.models.push({ id: "third", name: "Third", contextWindow: 9_000, maxTokens: 1_000 });
      await writeFile(path, JSON.stringify(file));
    },
    async check({ client, server }) {
      expect(await client.call("cycle_model")).toMatchObject({ model: { id: "large" }, isScoped: true });
      await client.call("execute", { prompt: "Hi." });
      expect(server.requests[0]?.body).toMatchObject({ model: "large" });
      expect(await client.call("cycle_model")).toMatchObject({ model: { id: "third" } });
      expect(await client.call("cycle_model")).toMatchObject({ model: { id: "small" } });
      expect(await client.call("cycle_model", { direction: "backward" })).toMatchObject({ model: { id: "third" } });
      expect(await client.call("cycle_model", { direction: "backward" })).toMatchObject({ model: { id: "large" } });
    },
  },
  get_providers: {
    async check({ client }) {
      const { providers } = await client.call("get_providers");
      expect(providers).toContainEqual({ name: "acme", configured: true, modelCount: 2 });
      expect(providers.find(({ name }) => name === "anthropic")).toMatchObject({
        configured: false,
        login: expect.stringContaining("Anthropic") as string,
        defaultModel: expect.stringContaining("claude") as string,
      });
    },
  },
  get_available_models: {
    async check({ client }) {
      const { models } = await client.call("get_available_models");
      const { provider, id } = models.find((model) => model.id === "large")!;
      await client.call("set_model", { provider, modelId: id });
      expect((await client.call("get_state")).model?.id).toBe("large");
    },
  },
  set_thinking_level: {
    replies: [textReply("Hm.")],
    args: ["--model", "acme/large"],
    async check({ client, server }) {
      await client.call("set_thinking_level", { level: "high" });
      await client.call("execute", { prompt: "Think." });
      expect(server.requests[0]?.body).toMatchObject({ reasoning_effort: "high" });
      await expect(client.call("set_thinking_level", { level: "loud" as "low" })).rejects.toThrow('not "loud"');
    },
  },
  cycle_thinking_level: {
    args: ["--model", "acme/large:off"],
    async check({ client }) {
      expect(await client.call("cycle_thinking_level")).toEqual({ level: "minimal" });
      expect(await client.call("get_state")).toMatchObject({ thinkingLevel: "minimal" });
      await client.call("set_model", { provider: "acme", modelId: "small" });
      expect(await client.call("cycle_thinking_level")).toBeNull();
    },
  },
  get_available_thinking_levels: {
    async check({ client }) {
      expect(await client.call("get_available_thinking_levels")).toEqual({ levels: ["off"] });
      await client.call("set_model", { provider: "acme", modelId: "large" });
      expect((await client.call("get_available_thinking_levels")).levels).toContain("high");
    },
  },
  set_steering_mode: {
    replies: [untilFile("go"), textReply("Done.")],
    async check({ client, next, sent, directory }) {
      await client.call("set_steering_mode", { mode: "all" });
      const started = next("tool_execution_start");
      await client.prompt("Wait.");
      await started;
      await client.call("steer", { message: "both" });
      await client.call("steer", { message: "at once" });
      const ended = next("agent_end");
      await writeFile(join(directory, "go"), "");
      await ended;
      expect(sent(1)).toMatch(/both.*at once/);
    },
  },
  set_follow_up_mode: {
    replies: [untilFile("go"), textReply("Done."), textReply("Both.")],
    async check({ client, next, sent, directory }) {
      await client.call("set_follow_up_mode", { mode: "all" });
      const started = next("tool_execution_start");
      await client.prompt("Wait.");
      await started;
      await client.call("follow_up", { message: "both" });
      await client.call("follow_up", { message: "at once" });
      const ended = next("agent_end");
      await writeFile(join(directory, "go"), "");
      await ended;
      expect(sent(2)).toMatch(/both.*at once/);
    },
  },
  set_auto_compaction: {
    replies: [
      fills("long ".repeat(2_000)),
      textReply("Two."),
      textReply("## Summary\nBoth said little."),
      textReply("Three."),
    ],
    settings: { compaction: { enabled: true, keepRecentTokens: 50, reserveTokens: 2_000 } },
    async check({ client, events, server }) {
      await client.call("set_auto_compaction", { enabled: false });
      expect(await client.call("get_state")).toMatchObject({ autoCompactionEnabled: false });
      await client.call("execute", { prompt: "First." });
      expect(server.requests.length).toBe(1);
      await client.call("set_auto_compaction", { enabled: true });
      await client.call("execute", { prompt: "Second." });
      expect(events.some(({ type }) => type === "compaction_end")).toBe(true);
    },
  },
  set_auto_retry: {
    replies: [fail, textReply("never asked")],
    settings: quickRetry,
    async check({ client, server }) {
      await client.call("set_auto_retry", { enabled: false });
      await expect(client.call("execute", { prompt: "Hi." })).rejects.toThrow("execute:");
      expect(server.requests.length).toBe(1);
    },
  },
  abort_retry: {
    replies: [{ kind: "status", status: 503 }, textReply("never asked")],
    settings: slowRetry,
    async check({ client, next, server }) {
      const waiting = next("retry_scheduled");
      const ended = next("agent_end");
      await client.prompt("Hi.");
      await waiting;
      await client.call("abort_retry");
      expect(await ended).toMatchObject({ terminationReason: "error" });
      expect(server.requests.length).toBe(1);
    },
  },
  compact: {
    replies: [
      textReply("long ".repeat(8_000)),
      textReply("Second."),
      textReply("## Summary\nThey greeted each other."),
    ],
    settings: { compaction: { enabled: true, keepRecentTokens: 50, reserveTokens: 2_000 } },
    async check({ client, events }) {
      await expect(client.call("compact")).rejects.toThrow("Nothing was compacted: the conversation is empty.");
      await client.call("execute", { prompt: "First." });
      await client.call("execute", { prompt: "Second." });
      const compacted = await client.call("compact", { customInstructions: "Be short." });
      expect(compacted.summary).toContain("They greeted each other.");
      expect(compacted.estimatedTokensAfter).toBeLessThan(1_000);
      expect(events.some(({ type }) => type === "compaction_end")).toBe(true);
      const { messages } = await client.call("get_messages");
      expect(JSON.stringify(messages)).not.toContain("long long");
    },
  },
  bash: {
    replies: [textReply("I saw it.")],
    async check({ client, sent, bashOutput, directory }) {
      const result = await client.call("bash", { command: "echo pears | tee b.txt" });
      expect(result).toMatchObject({ exitCode: 0, cancelled: false, truncated: false });
      expect(result.output).toContain("pears");
      expect(bashOutput()).toContain("pears");
      expect(await readFile(join(directory, "b.txt"), "utf8")).toBe("pears\n");
      await client.call("bash", { command: "echo secretly", excludeFromContext: true });
      await client.call("execute", { prompt: "What did I do?" });
      expect(sent(0)).toContain("pears");
      expect(sent(0)).not.toContain("secretly");
    },
  },
  abort_bash: {
    async check({ client, directory }) {
      const running = client.call("bash", { command: "sleep 60; touch never" });
      await client.call("abort_bash");
      expect(await running).toMatchObject({ cancelled: true });
      await expect(stat(join(directory, "never"))).rejects.toThrow("ENOENT");
    },
  },
  list_jobs: {
    replies: [toolReply("bash", { command: "sleep 600", background: true }), textReply("Started.")],
    async check({ client, next }) {
      expect(await client.call("list_jobs")).toEqual({ jobs: [] });
      const changed = next("jobs_changed");
      await client.call("execute", { prompt: "Start it." });
      expect(await changed).toMatchObject({ running: [{ id: "1", command: "sleep 600" }] });
      const { jobs } = await client.call("list_jobs");
      expect(jobs).toMatchObject([{ id: "1", command: "sleep 600", isRunning: true, state: "Job 1 is running." }]);
      expect((await client.call("get_state")).jobs).toMatchObject([{ id: "1" }]);
    },
  },
  read_job: {
    replies: [toolReply("bash", { command: "echo started; sleep 600", background: true }), textReply("Started.")],
    async check({ client }) {
      await client.call("execute", { prompt: "Start it." });
      const { output } = await client.call("read_job", { id: "1" });
      expect(output).toContain("started");
      await expect(client.call("read_job", { id: "7" })).rejects.toThrow('There is no job "7". There are: 1.');
    },
  },
  kill_job: {
    replies: [
      toolReply("bash", { command: "sleep 600", background: true }),
      textReply("Started."),
      textReply("I see that it is gone."),
    ],
    async check({ client, sent }) {
      await client.call("execute", { prompt: "Start it." });
      const { job } = await client.call("kill_job", { id: "1" });
      expect(job).toMatchObject({ isRunning: false, state: expect.stringContaining("was killed") });
      await client.call("execute", { prompt: "What now?" });
      expect(sent(2)).toContain("Job 1 was killed by the user.");
    },
  },
  set_session_name: {
    async check({ client }) {
      await client.call("set_session_name", { name: " Spring cleaning " });
      const { sessionName, sessionFile } = await client.call("get_state");
      expect(sessionName).toBe("Spring cleaning");
      expect(await readFile(sessionFile!, "utf8")).toContain("Spring cleaning");
      await expect(client.call("set_session_name", { name: " " })).rejects.toThrow("not empty");
    },
  },
  export_html: {
    replies: [textReply("Nice words.")],
    async check({ client, directory }) {
      await client.call("execute", { prompt: "Hi." });
      expect(await client.call("export_html", { outputPath: "talk.html" })).toEqual({
        path: join(directory, "talk.html"),
      });
      const page = await readFile(join(directory, "talk.html"), "utf8");
      for (const part of ["Nice words.", "System prompt", directory, "<b>read</b>"]) expect(page).toContain(part);
      const { path } = await client.call("export_html");
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      await expect(client.call("export_html", { outputPath: "/dev/null" })).rejects.toThrow("/dev/null is not a file");
      const tooLong = client.call("export_html", { outputPath: `${"a".repeat(300)}.html` });
      await expect(tooLong).rejects.toThrow("is too long for a path. Use shorter names.");
      const withNul = client.call("export_html", { outputPath: "a\0.html" });
      await expect(withNul).rejects.toMatchObject({ reason: "invalid_input" });
      // Below a file.
      const nowhere = client.call("export_html", { outputPath: "talk.html/talk.html" });
      await expect(nowhere).rejects.toMatchObject({ reason: "write_failed" });
      await writeFile(join(directory, "notes.md"), "Notes.");
      await client.call("export_html", { outputPath: "talk.html" });
      await expect(client.call("export_html", { outputPath: "notes.md" })).rejects.toThrow("does not end in .html");
      expect(await readFile(join(directory, "notes.md"), "utf8")).toBe("Notes.");
    },
  },
  export_jsonl: {
    replies: [textReply("The key is sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaa and acme-key-0123456789.")],
    async check({ client, directory }) {
      await writeFile(join(directory, "AGENTS.md"), "Another text with acme-key-0123456789.");
      await client.call("reload");
      await client.call("execute", { prompt: "Hi." });
      const { path } = await client.call("export_jsonl", { outputPath: "talk.jsonl" });
      expect(path).toBe(join(directory, "talk.jsonl"));
      const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
      expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toContain("message");
      const { sessionFile } = await client.call("get_state");
      const ontoLog = client.call("export_jsonl", { outputPath: sessionFile! });
      await expect(ontoLog).rejects.toThrow("is the log of the session, which an export must not replace");
      await client.call("export_jsonl", { outputPath: "talk.jsonl", redact: true });
      await client.call("export_html", { outputPath: "talk.html", redact: true });
      for (const name of ["talk.jsonl", "talk.html"]) {
        const text = await readFile(join(directory, name), "utf8");
        expect(text).toContain("The key is");
        expect(text).not.toMatch(/sk-ant-api03|acme-key/);
      }
      expect(await readFile(join(directory, "talk.html"), "utf8")).toContain("Another text with");
    },
  },
  write_bug_report: {
    replies: [textReply("The key is acme-key-0123456789.")],
    async check({ client }) {
      await client.call("execute", { prompt: "Hi." });
      const { path } = await client.call("write_bug_report", { description: "It is slow.", version: "1.2.3" });
      const text = await readFile(path, "utf8");
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(JSON.parse(text)).toMatchObject({ description: "It is slow.", version: "1.2.3", model: { id: "small" } });
      expect(text).toContain("The key is");
      expect(text).not.toContain("acme-key");
    },
  },
  import_session: {
    replies: [textReply("One."), textReply("Two.")],
    async check({ client, sent, directory }) {
      await client.call("execute", { prompt: "First." });
      const before = await client.call("get_state");
      await client.call("export_jsonl", { outputPath: "talk.jsonl" });
      const { sessionId } = await client.call("import_session", { path: "talk.jsonl" });
      expect(sessionId).not.toBe(before.sessionId);
      expect(await client.call("get_state")).toMatchObject({ sessionId, messageCount: 2 });
      await client.call("execute", { prompt: "Second." });
      expect(sent(1)).toContain("First.");
      // A session of another directory is not opened here.
      const other = await temporaryDirectory();
      const header = {
        type: "session",
        version: 3,
        id: randomUUID(),
        timestamp: "2026-01-01T00:00:00.000Z",
        cwd: other,
      };
      const question = { role: "user", content: "Elsewhere?", timestamp: 0 };
      const entry = { type: "message", id: "a", parentId: null, timestamp: header.timestamp, message: question };
      await writeFile(join(directory, "other.jsonl"), `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`);
      const kept = await client.call("import_session", { path: "other.jsonl", keepsDirectory: true });
      expect(kept).toMatchObject({ sessionId, cancelled: false, elsewhere: { cwd: other } });
      expect(kept.elsewhere!.path).toContain(header.id);
      expect(await client.call("get_state")).toMatchObject({ sessionId });
      const { sessions } = await client.call("list_sessions", { all: true });
      expect(sessions).toContainEqual(expect.objectContaining({ id: header.id, cwd: other }));
      const own = await client.call("import_session", { path: "talk.jsonl", keepsDirectory: true });
      expect(own.elsewhere).toBeUndefined();
      expect(await client.call("get_state")).toMatchObject({ sessionId: own.sessionId, messageCount: 2 });
      await expect(client.call("import_session", { path: "nothing.jsonl" })).rejects.toThrow("There is no file");
    },
  },
  new_session: {
    replies: [textReply("One."), textReply("Two.")],
    async check({ client, sent }) {
      await client.call("execute", { prompt: "First." });
      const before = await client.call("get_state");
      await client.call("set_follow_up_mode", { mode: "all" });
      await client.call("set_model", { provider: "acme", modelId: "large" });
      expect(await client.call("new_session")).toEqual({ sessionId: expect.any(String) as string, cancelled: false });
      const after = await client.call("get_state");
      expect(after.sessionId).not.toBe(before.sessionId);
      expect(after).toMatchObject({ messageCount: 0, followUpMode: "all", model: { id: "large" } });
      await client.call("execute", { prompt: "Second." });
      expect(sent(1)).not.toContain("First.");
    },
  },
  switch_session: {
    replies: [textReply("One."), textReply("Two."), textReply("Three."), textReply("Four.")],
    async check({ client, sent, agentDir, directory }) {
      await client.call("execute", { prompt: "First." });
      const { sessionFile, sessionId } = await client.call("get_state");
      await client.call("new_session");
      await client.call("execute", { prompt: "Second." });
      expect(await client.call("switch_session", { sessionPath: sessionFile! })).toEqual({
        sessionId,
        cancelled: false,
      });
      expect(await client.call("get_state")).toMatchObject({ sessionId, messageCount: 2 });
      await client.call("execute", { prompt: "Third." });
      expect(sent(2)).toContain("First.");
      expect(sent(2)).not.toContain("Second.");
      const elsewhere = await SessionManager.create(tmpdir(), undefined, { agentDir });
      await elsewhere.appendSessionInfo("Elsewhere");
      await elsewhere.close();
      const far = client.call("switch_session", { sessionPath: elsewhere.getSessionFile()! });
      await expect(far).rejects.toThrow(`belongs to ${tmpdir()}`);
      const wrong = client.call("switch_session", { sessionPath: "nowhere" });
      await expect(wrong).rejects.toThrow("There is no session");
      expect(await client.call("get_state")).toMatchObject({ sessionId });
      // A file that does not exist is a session that begins.
      const begun = await client.call("switch_session", { sessionPath: "kept/fresh.jsonl" });
      expect(begun).toMatchObject({ cancelled: false });
      const fresh = join(directory, "kept", "fresh.jsonl");
      expect(await client.call("get_state")).toMatchObject({
        sessionId: begun.sessionId,
        sessionFile: fresh,
        messageCount: 0,
      });
      await client.call("execute", { prompt: "Fourth." });
      expect(sent(3)).not.toContain("First.");
      expect(await readFile(fresh, "utf8")).toContain("Fourth.");
      await client.call("switch_session", { sessionPath: sessionFile! });
      expect(await client.call("switch_session", { sessionPath: fresh })).toEqual(begun);
    },
  },
  fork: {
    replies: [textReply("One."), textReply("Two."), textReply("Other.")],
    async check({ client, sent }) {
      await client.call("execute", { prompt: "First." });
      await client.call("execute", { prompt: "Second." });
      const before = await client.call("get_state");
      const { messages } = await client.call("get_fork_messages");
      expect(await client.call("fork", { entryId: messages[1]!.entryId })).toEqual({
        text: "Second.",
        sessionId: expect.any(String) as string,
        cancelled: false,
      });
      const after = await client.call("get_state");
      expect(after.sessionId).not.toBe(before.sessionId);
      expect(after.messageCount).toBe(2);
      await client.call("execute", { prompt: "Instead." });
      expect(sent(2)).toContain("First.");
      expect(sent(2)).not.toContain("Second.");
      await expect(client.call("fork", { entryId: "nowhere" })).rejects.toThrow("no entry");
      await client.call("fork", { entryId: messages[0]!.entryId });
      expect(await client.call("get_state")).toMatchObject({ messageCount: 0 });
    },
  },
  clone: {
    replies: [textReply("One.")],
    async check({ client }) {
      await expect(client.call("clone")).rejects.toThrow("nothing to clone");
      await client.call("execute", { prompt: "First." });
      const before = await client.call("get_state");
      expect(await client.call("clone")).toEqual({ sessionId: expect.any(String) as string, cancelled: false });
      const after = await client.call("get_state");
      expect(after.sessionId).not.toBe(before.sessionId);
      expect(after.messageCount).toBe(2);
    },
  },
  get_fork_messages: {
    replies: [textReply("One."), textReply("Two.")],
    async check({ client }) {
      await client.call("execute", { prompt: "First." });
      await client.call("execute", { prompt: "Second." });
      const { messages } = await client.call("get_fork_messages");
      expect(messages.map(({ text }) => text)).toEqual(["First.", "Second."]);
    },
  },
  edit_queued: {
    replies: [untilFile("go"), textReply("Done."), textReply("Louder.")],
    async check({ client, next, sent, directory }) {
      const started = next("tool_execution_start");
      await client.prompt("Wait.");
      await started;
      const changed = next("queue_changed");
      await client.call("follow_up", { message: "Sing." });
      const { followUps } = (await changed) as Extract<SessionEvent, { type: "queue_changed" }>;
      const { id } = await client.call("edit_queued", { id: followUps[0]!.id, message: "Sing loudly." });
      expect(id).not.toBe(followUps[0]!.id);
      await expect(client.call("edit_queued", { id: "gone", message: "x" })).rejects.toThrow("gone");
      const ended = next("agent_end");
      await writeFile(join(directory, "go"), "");
      await ended;
      expect(sent(2)).toContain("Sing loudly.");
      expect(sent(2)).not.toContain("Sing.");
    },
  },
  remove_queued: {
    replies: [untilFile("go"), textReply("Done.")],
    async check({ client, next, server, directory }) {
      const started = next("tool_execution_start");
      await client.prompt("Wait.");
      await started;
      const changed = next("queue_changed");
      await client.call("follow_up", { message: "Sing." });
      const { followUps } = (await changed) as Extract<SessionEvent, { type: "queue_changed" }>;
      expect(await client.call("remove_queued", { id: followUps[0]!.id })).toEqual({ removed: true });
      expect(await client.call("remove_queued", { id: followUps[0]!.id })).toEqual({ removed: false });
      const ended = next("agent_end");
      await writeFile(join(directory, "go"), "");
      await ended;
      expect(server.requests.length).toBe(2);
    },
  },
  navigate: {
    replies: [textReply("One."), textReply("Two."), textReply("Other.")],
    async check({ client, sent }) {
      await client.call("execute", { prompt: "First." });
      const { leafId } = await client.call("get_tree");
      await client.call("execute", { prompt: "Second." });
      expect(await client.call("navigate", { entryId: leafId, label: "start" })).toMatchObject({
        leafId: expect.any(String),
      });
      const { tree } = await client.call("get_tree");
      expect(JSON.stringify(tree)).toContain('"label":"start"');
      await client.call("execute", { prompt: "Instead." });
      expect(sent(2)).toContain("First.");
      expect(sent(2)).not.toContain("Second.");
      await expect(client.call("navigate", { entryId: "nowhere" })).rejects.toThrow("no entry");
    },
  },
  undo: {
    replies: [toolReply("bash", { command: "echo new > new.txt; rm old.txt" }), textReply("Done.")],
    prepare: async ({ directory }) => await writeFile(join(directory, "old.txt"), "old"),
    async check({ client, directory }) {
      expect(await client.call("undo")).toMatchObject({ prompts: [], files: [], done: false });
      await client.call("execute", { prompt: "Replace it." });
      const shown = await client.call("undo");
      const files = [
        { path: "new.txt", kind: "removed" },
        { path: "old.txt", kind: "created" },
      ];
      expect(shown).toMatchObject({ prompts: ["Replace it."], files, conflicts: [], done: false });
      expect(shown.diff).toContain("-new");
      await expect(client.call("undo", { apply: true, digest: "another" })).rejects.toThrow("Look at it again");
      await expect(client.call("undo", { entryId: "nowhere" })).rejects.toThrow("no entry");
      expect(await readFile(join(directory, "new.txt"), "utf8")).toBe("new\n");
      const { digest } = shown;
      const done = await client.call("undo", { apply: true, digest, conversation: true });
      expect(done).toMatchObject({ done: true, files });
      expect(await readFile(join(directory, "old.txt"), "utf8")).toBe("old");
      await expect(readFile(join(directory, "new.txt"))).rejects.toThrow("ENOENT");
      expect((await client.call("get_tree")).leafId).toBe(shown.leafId);
      expect(await client.call("get_messages")).toEqual({ messages: [] });
    },
  },
  redo: {
    replies: [toolReply("write", { path: "new.txt", content: "new" }), textReply("Done."), textReply("I see.")],
    async check({ client, directory, sent }) {
      await client.call("execute", { prompt: "Write it." });
      await client.call("undo", { apply: true });
      await expect(readFile(join(directory, "new.txt"))).rejects.toThrow("ENOENT");
      expect(await client.call("redo", { apply: true })).toMatchObject({ done: true, prompts: ["Write it."] });
      expect(await readFile(join(directory, "new.txt"), "utf8")).toBe("new");
      expect(await client.call("redo")).toMatchObject({ prompts: [] });
      await client.call("execute", { prompt: "And now?" });
      expect(sent(2)).toContain("The user took back what was done to the files");
    },
  },
  set_label: {
    replies: [textReply("One.")],
    async check({ client }) {
      await client.call("execute", { prompt: "First." });
      const { leafId } = await client.call("get_tree");
      await client.call("set_label", { entryId: leafId!, label: "good" });
      expect(JSON.stringify(await client.call("get_tree"))).toContain('"label":"good"');
      await client.call("set_label", { entryId: leafId! });
      const { tree } = await client.call("get_tree");
      expect(JSON.stringify(tree.map(({ label }) => label))).not.toContain("good");
    },
  },
  branch: {
    replies: [textReply("One."), textReply("Two.")],
    async check({ client }) {
      await client.call("execute", { prompt: "First." });
      const { leafId } = await client.call("get_tree");
      await client.call("execute", { prompt: "Second." });
      const before = await client.call("get_state");
      const { sessionId } = await client.call("branch", { entryId: leafId! });
      expect(await client.call("get_state")).toMatchObject({ sessionId: before.sessionId, messageCount: 4 });
      await client.call("switch_session", { sessionPath: sessionId });
      expect(await client.call("get_state")).toMatchObject({ sessionId, messageCount: 2 });
    },
  },
  list_sessions: {
    replies: [textReply("One."), textReply("Two.")],
    async check({ client }) {
      await client.call("execute", { prompt: "About apples." });
      await client.call("new_session");
      await client.call("execute", { prompt: "About pears." });
      const { sessions } = await client.call("list_sessions");
      expect(sessions.map(({ firstMessage }) => firstMessage).toSorted()).toEqual(["About apples.", "About pears."]);
      const list = await client.call("list_sessions", { query: "APPLES" });
      expect(list.sessions.map(({ firstMessage }) => firstMessage)).toEqual(["About apples."]);
      const first = await client.call("list_sessions", { limit: 1 });
      const rest = await client.call("list_sessions", { limit: 1, cursor: first.cursor! });
      expect([...first.sessions, ...rest.sessions]).toEqual(sessions);
      expect(rest.cursor).toBeUndefined();
    },
  },
  search_sessions: {
    replies: [textReply("Apples are red."), textReply("Two.")],
    async check({ client }) {
      await client.call("execute", { prompt: "About apples." });
      const { sessionId } = await client.call("get_state");
      const { entries } = await client.call("get_entries");
      await client.call("new_session");
      await client.call("execute", { prompt: "About pears." });
      const { hits, hasMore } = await client.call("search_sessions", { text: "apple red" });
      expect({ hits, hasMore }).toMatchObject({
        hits: [{ session: { id: sessionId }, author: "assistant", entryId: entries.at(-1)!.id }],
        hasMore: false,
      });
      expect(hits[0]!.excerpt).toEqual({
        text: "Apples are red.",
        marks: [
          [0, 5],
          [11, 14],
        ],
      });
      const both = await client.call("search_sessions", { text: "about", all: true });
      expect(both.hits.map(({ author }) => author)).toEqual(["user", "user"]);
      const none = { text: "about", until: "2020-01-01T00:00:00Z" };
      expect((await client.call("search_sessions", none)).hits).toEqual([]);
      await expect(client.call("search_sessions", { text: " " })).rejects.toThrow("nothing to search for");
      await expect(client.call("search_sessions", { text: "x", since: "soon" })).rejects.toThrow("ISO 8601");
    },
  },
  get_usage_report: {
    replies: [textReply("One.")],
    async check({ client }) {
      await client.call("execute", { prompt: "Hello." });
      const report = await client.call("get_usage_report", { by: "model", since: "today" });
      expect(report).toMatchObject({ by: "model", rows: [{ requests: 1 }], total: { requests: 1 }, limits: [] });
      expect(await client.call("get_usage_report", {})).toMatchObject({ by: "day", rows: [{ requests: 1 }] });
      const before = await client.call("get_usage_report", { since: "2020-01-01", until: "2020-02-01" });
      expect(before).toMatchObject({ since: "2020-01-01", until: "2020-02-01", rows: [] });
      await expect(client.call("get_usage_report", { since: "soon" })).rejects.toThrow("a day, such as 2026-03-01");
      await expect(client.call("get_usage_report", { by: "colour" as never })).rejects.toThrow('"by"');
    },
  },
  rename_session: {
    replies: [textReply("One."), textReply("Two.")],
    async check({ client }) {
      await client.call("execute", { prompt: "First." });
      const { sessionId } = await client.call("get_state");
      await client.call("rename_session", { session: sessionId, name: "Here" });
      expect(await client.call("get_state")).toMatchObject({ sessionName: "Here" });
      await client.call("new_session");
      await client.call("rename_session", { session: sessionId, name: "There" });
      const { sessions } = await client.call("list_sessions", { query: "there" });
      expect(sessions).toMatchObject([{ id: sessionId, name: "There" }]);
    },
  },
  delete_session: {
    replies: [textReply("One.")],
    async check({ client, directory }) {
      await client.call("execute", { prompt: "First." });
      const { sessionId, sessionFile } = await client.call("get_state");
      await expect(client.call("delete_session", { session: sessionId })).rejects.toThrow("open here");
      const copy = join(directory, "copy.jsonl");
      await copyFile(sessionFile!, copy);
      await expect(client.call("delete_session", { session: copy })).rejects.toThrow(
        /copy\.jsonl is outside of the session directories \([^()]+\)\.$/,
      );
      await client.call("new_session");
      expect(await client.call("delete_session", { session: sessionId })).toEqual({ id: sessionId });
      expect((await client.call("list_sessions")).sessions).toEqual([]);
    },
  },
  restore_session: {
    replies: [textReply("One.")],
    async check({ client }) {
      await client.call("execute", { prompt: "First." });
      const { sessionId, sessionFile } = await client.call("get_state");
      await client.call("new_session");
      await client.call("delete_session", { session: sessionId });
      expect(await client.call("restore_session", { session: sessionId })).toEqual({
        id: sessionId,
        path: sessionFile,
      });
      await client.call("switch_session", { sessionPath: sessionId });
      expect(await client.call("get_state")).toMatchObject({ sessionId, messageCount: 2 });
      await expect(client.call("restore_session", { session: sessionId })).rejects.toThrow("no deleted session");
    },
  },
  get_tools: {
    args: ["--exclude-tools", "bash"],
    async check({ client }) {
      const { tools } = await client.call("get_tools");
      expect(tools.find(({ name }) => name === "read")).toMatchObject({
        active: true,
        readOnly: true,
        shows: "excerpt",
      });
      expect(tools.find(({ name }) => name === "bash")).toMatchObject({
        active: false,
        shows: "command",
        label: "Bash",
      });
      const hashline = tools.find(({ name }) => name === "hashline_edit");
      expect(hashline).toMatchObject({ active: false, shows: "diff", reason: expect.any(String) });
    },
  },
  set_tools: {
    replies: [textReply("One.")],
    async check({ client, sent }) {
      const { tools } = await client.call("set_tools", { names: ["read"] });
      expect(tools.filter(({ active }) => active).map(({ name }) => name)).toEqual(["read"]);
      // What is hidden is still described: surfaces draw its earlier results, and offer it again.
      expect(tools.find(({ name }) => name === "grep")).toMatchObject({
        active: false,
        description: expect.stringMatching(/./),
        readOnly: true,
        shows: "matches",
      });
      await client.call("execute", { prompt: "Hi." });
      expect(sent(0)).toContain('"name":"read"');
      expect(sent(0)).not.toContain('"name":"bash"');
      await expect(client.call("set_tools", { names: ["raed"] })).rejects.toThrow("read");
    },
  },
  get_settings: {
    settings: { steeringMode: "all", nonsense: 1 },
    async check({ client }) {
      const { settings, problems } = await client.call("get_settings");
      expect(settings).toMatchObject({ steeringMode: "all" });
      expect(problems.join(" ")).toContain("nonsense");
    },
  },
  list_settings: {
    settings: { steeringMode: "all" },
    prepare: async ({ directory }) => {
      await mkdir(join(directory, ".tau"));
      await writeFile(join(directory, ".tau", "settings.json"), '{ "retry": { "maxRetries": 7 } }');
    },
    async check({ client }) {
      const { settings } = await client.call("list_settings");
      const find = (key: string) => settings.find((setting) => setting.key === key);
      expect(find("steeringMode")).toMatchObject({
        value: "all",
        own: "all",
        default: "one-at-a-time",
        choices: ["all", "one-at-a-time"],
        origin: "global",
      });
      expect(find("retry.maxRetries")).toMatchObject({ value: 7, type: "number", origin: "project" });
      expect(find("followUpMode")).toMatchObject({ value: "one-at-a-time", origin: "default" });
      expect(find("shellEnv")).toMatchObject({ value: {}, default: {}, origin: "default" });
      for (const { key, description } of settings) expect(description, key).toMatch(/\.$/);
    },
  },
  set_setting: {
    async check({ client, agentDir }) {
      await client.call("set_setting", { key: "retry.maxRetries", value: 7 });
      expect((await client.call("get_settings")).settings).toMatchObject({ retry: { maxRetries: 7 } });
      expect(JSON.parse(await readFile(join(agentDir, "settings.json"), "utf8"))).toMatchObject({
        retry: { maxRetries: 7 },
      });
      await expect(client.call("set_setting", { key: "retry.maxRetries", value: "many" })).rejects.toThrow(
        "maxRetries",
      );
    },
  },
  complete: {
    async prepare({ directory, agentDir }) {
      await mkdir(join(agentDir, "prompts"));
      await writeFile(join(agentDir, "prompts", "look.md"), "Look at $1.");
      await writeFile(join(directory, "fruit.txt"), "apples");
      await mkdir(join(directory, "fresh air"));
      await writeFile(join(directory, "fresh air", "in.txt"), "");
    },
    async check({ client }) {
      for (const text of ["/lo", "/ook", "/LK"]) {
        const found = await client.call("complete", { text, cursor: text.length });
        const items = expect.arrayContaining([expect.objectContaining({ value: "look" })]) as unknown;
        expect(found).toMatchObject({ from: 1, items });
      }
      expect((await client.call("complete", { text: "/kool", cursor: 5 })).items).toEqual([]);
      const ask = () => client.call("complete", { text: "see @fr", cursor: 7 });
      await expect.poll(async () => (await ask()).incomplete).toBeUndefined();
      const { from, items } = await ask();
      expect(from).toBe(5);
      expect(items.map(({ value }) => value)).toEqual(["fruit.txt", '"fresh air/"', '"fresh air/in.txt"']);
      expect((await client.call("complete", { text: "plain", cursor: 5 })).items).toEqual([]);
    },
  },
  reload: {
    async check({ client, agentDir }) {
      await client.call("get_state");
      await mkdir(join(agentDir, "prompts"));
      await writeFile(join(agentDir, "prompts", "look.md"), "Look at $1.");
      // It may be empty: the files are watched.
      expect((await client.call("reload")).changed).toEqual(expect.any(Array));
      const { commands } = await client.call("get_commands");
      expect(commands.map(({ name }) => name)).toContain("look");
    },
  },
  get_policy: {
    async prepare({ agentDir, directory }) {
      const target = (command: string) => ({ kind: "command", command });
      const rules = [
        { capability: "exec", target: target("npm test") },
        { capability: "exec", target: target("npm run *"), isPrefix: true, project: directory },
        { capability: "exec", target: target("make"), project: "/elsewhere" },
      ];
      await writeFile(join(agentDir, "approvals.json"), JSON.stringify({ version: 1, rules }));
      const policy = { profile: "safe", execMediation: { denyPatterns: ["git push *"] } };
      await writeFile(join(agentDir, "settings.json"), JSON.stringify({ policy, sandbox: { mode: "off" } }));
    },
    async check({ client }) {
      expect(await client.call("get_policy")).toEqual({
        profile: "safe",
        profiles: [
          { name: "safe", description: expect.any(String) },
          { name: "balanced", description: expect.any(String) },
          { name: "permissive", description: expect.any(String) },
        ],
        permissions: { mode: "edit", choices: ["plan", "ask", "edit", "free"] },
        mode: "strict",
        exec: { denyThreshold: "high", denyPatterns: ["git push *"], allowPatterns: [] },
        sandbox: { mode: "off", state: "off" },
        rules: [
          { rule: "exec npm test", scope: "always" },
          { rule: "exec npm run *", scope: "project" },
        ],
      });
    },
  },
  set_permission_mode: {
    settings: { sandbox: { mode: "off" } },
    replies: [toolReply("write", { path: "new.txt", content: "x" }), textReply("Not allowed.")],
    async check({ client, next, directory }) {
      const changed = next("permission_mode_changed");
      expect(await client.call("set_permission_mode", { mode: "ask" })).toMatchObject({ mode: "ask" });
      expect(await changed).toMatchObject({ mode: "ask" });
      await client.call("initialize", { approvals: true });
      const asked = next("approval_requested");
      const ended = next("agent_end");
      await client.prompt("Write it.");
      const { approval } = (await asked) as Extract<SessionEvent, { type: "approval_requested" }>;
      expect(approval.choices[2]).toMatchObject({ choice: "session", label: expect.stringContaining("everything in") });
      await client.call("approve", { approvalId: approval.id, decision: "deny" });
      await ended;
      await expect(stat(join(directory, "new.txt"))).rejects.toThrow("ENOENT");
      const free = await client.call("set_permission_mode", { mode: "free" });
      expect(free.note).toContain("The sandbox is turned off, so free asks as edit does.");
      expect((await client.call("get_state")).permissions.mode).toBe("free");
      const plan = await client.call("set_permission_mode", { mode: "plan" });
      expect(plan).toMatchObject({ mode: "plan", afterPlan: "free" });
      await expect(client.call("set_permission_mode", { mode: "no" })).rejects.toThrow("There is no permission mode");
    },
  },
  add_directory: {
    async check({ client, directory }) {
      const other = await realpath(await temporaryDirectory());
      await writeFile(join(other, "AGENTS.md"), "Rules.");
      await client.call("initialize", { approvals: false });
      await expect(client.call("add_directory", { path: other })).rejects.toThrow("--add-dir PATH");
      await client.call("initialize", { approvals: true });
      await expect(client.call("add_directory", { path: "/" })).rejects.toThrow("everything on this machine");
      const instructions = { path: join(other, "AGENTS.md"), trusted: false };
      expect(await client.call("add_directory", { path: other })).toEqual({
        path: other,
        directories: [other],
        instructions,
      });
      const { cwd, directories } = await client.call("get_state");
      expect([cwd, directories]).toEqual([directory, [other]]);
      const { trusted, digest } = await client.call("get_trust", { directory: other });
      expect(trusted).toBe(false);
      expect(await client.call("set_trust", { trusted: true, digest, directory: other })).toMatchObject({
        path: other,
        trusted: true,
      });
      expect((await client.call("get_trust")).trusted).toBe(false);
      await expect(client.call("set_trust", { trusted: true, directory: "/etc" })).rejects.toThrow(
        "not in the workspace",
      );
    },
  },
  get_trust: {
    async prepare({ directory }) {
      await mkdir(join(directory, ".tau"));
      await writeFile(join(directory, ".tau", "settings.json"), "{}");
    },
    async check({ client }) {
      const trust = await client.call("get_trust");
      expect(trust).toMatchObject({ trusted: false, changed: false, files: [join(".tau", "settings.json")] });
    },
  },
  set_trust: {
    async prepare({ directory }) {
      await mkdir(join(directory, ".tau"));
      await writeFile(join(directory, ".tau", "settings.json"), '{ "shellEnv": { "FRUIT": "apples" } }');
    },
    async check({ client, directory }) {
      expect((await client.call("get_settings")).settings).not.toMatchObject({ shellEnv: { FRUIT: "apples" } });
      expect(await client.call("set_trust", { trusted: true })).toMatchObject({ trusted: true });
      expect((await client.call("get_settings")).settings).toMatchObject({ shellEnv: { FRUIT: "apples" } });
      await writeFile(join(directory, ".tau", "settings.json"), '{ "shellEnv": { "FRUIT": "poison" } }');
      expect(await client.call("get_trust")).toMatchObject({ trusted: false, changed: true });
    },
  },
  login: {
    async check({ client, agentDir }) {
      const stored = await client.call("login", { provider: "mistral", apiKey: "key-0123456789" });
      expect(stored).toEqual({ provider: "mistral", kind: "api_key" });
      expect(await readFile(join(agentDir, "auth.json"), "utf8")).toContain("key-0123456789");
      expect((await client.call("get_available_models")).models.map(({ provider }) => provider)).toContain("mistral");
      await expect(client.call("login", { provider: "mistral" })).rejects.toThrow("no login");
      await expect(client.call("login", { provider: "mistrall", apiKey: "key-0123456789" })).rejects.toThrow("mistral");
      await expect(client.call("login", { provider: "openai", apiKey: "two words" })).rejects.toThrow("spaces");
      expect(await readFile(join(agentDir, "auth.json"), "utf8")).not.toMatch(/mistrall|openai/);
    },
  },
  paste_login: {
    async check({ client, events }) {
      expect(await client.call("paste_login", { text: "early" })).toEqual({ accepted: false });
      const login = client.call("login", { provider: "anthropic", paste: true });
      login.catch(() => {});
      await expect.poll(() => events.some((event) => event.type === "notice" && event.code === "login")).toBe(true);
      expect(await client.call("paste_login", { text: "some-code#wrong-state" })).toEqual({ accepted: true });
      await expect(login).rejects.toThrow("The pasted text belongs to another login.");
    },
  },
  abort_login: {
    async check({ client, events }) {
      const login = client.call("login", { provider: "anthropic" });
      await expect.poll(() => events.some((event) => event.type === "notice" && event.code === "login")).toBe(true);
      expect(await client.call("abort_login")).toBeNull();
      await expect(login).rejects.toThrow("cancelled");
    },
  },
  logout: {
    async check({ client, agentDir }) {
      await client.call("login", { provider: "mistral", apiKey: "key-0123456789" });
      expect(await client.call("logout", { provider: "mistral" })).toEqual({ removed: true });
      expect(await readFile(join(agentDir, "auth.json"), "utf8")).not.toContain("key-0123456789");
      await expect(client.call("logout", { provider: "unknown" })).rejects.toThrow("unknown");
    },
  },
};

test("every command of the protocol has a case here", () => {
  expect(Object.keys(cases).sort()).toEqual(commandNames.toSorted());
});

describe.each(Object.entries(cases))("%s", (name, { replies = [], args = [], settings, prepare, check }) => {
  test(`${name} does what it says`, async () => {
    const workspace = await createModelWorkspace(replies);
    if (settings) {
      const path = join(workspace.agentDir, "settings.json");
      await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, "utf8")), ...settings }));
    }
    await prepare?.(workspace);
    const questions: Approval[] = [];
    let bash = "";
    const { client } = connect(workspace, args, {
      onApproval: (question) => {
        questions.push(question);
        // Answered by the command under test, or never.
        return new Promise(() => undefined);
      },
      onBashOutput: (delta) => void (bash += delta),
      onProblem: (message) => expect.fail(message),
    });
    const events: SessionEvent[] = [];
    client.onEvent((event) => void events.push(event));
    const next = (type: SessionEvent["type"]) =>
      new Promise<SessionEvent>((resolve) => {
        const stop = client.onEvent((event) => {
          if (event.type !== type) return;
          stop();
          resolve(event);
        });
      });
    const sent = (request: number) => JSON.stringify(workspace.server.requests[request]?.body);
    await check({ ...workspace, client, events, questions, bashOutput: () => bash, next, sent });
  });
});
