/** The code of the feature `hooks`: which events of a session run which hooks, and what follows from their answers. */
import { enclose } from "@tau/config/internal";
import type { ExtensionContext, ExtensionEvent, ExtensionFactory, FeaturePlace } from "@tau/extensions";
import { cutText } from "../kit/cut-text.ts";
import { isChildSession } from "../kit/is-child-session.ts";
import { toVisible } from "../kit/visible-text.ts";
import { findHooks } from "./find-hooks.ts";
import { describeResult, describeToolCall } from "./hook-input.ts";
import { createHooksCommand } from "./menu.ts";
import { SessionHooks } from "./session-hooks.ts";

/** Characters of hooks that go to the model at once. */
const maxContextCharacters = 10_000;

/** So often in a row may hooks ask the model to continue. */
const maxContinuations = 8;

/** After this time without a prompt a person is waited for. */
const idleMs = 60_000;

export const createHooksExtension =
  (place: FeaturePlace): ExtensionFactory =>
  async (tau) => {
    const hooks = new SessionHooks({ tau, place, ...(await findHooks(place)) });
    tau.registerCommand(
      "hooks",
      createHooksCommand(async () => hooks),
    );

    /** Texts of hooks for the model that wait for the next run. */
    let waiting: Promise<string | undefined>[] = [];
    let continuations = 0;
    let cancelIdle = (): void => {};

    const toContext = async (event: string, text: string): Promise<string> =>
      enclose("hook", { event }, await cutText(text, { maxChars: maxContextCharacters, keepText: tau.keepText }));

    const startSession = (source: string, context: ExtensionContext): void => {
      if (!hooks.has("SessionStart") || isChildSession(context)) return;
      // Not waited for before a run needs it: a session opens at once.
      const run = hooks.run("SessionStart", context, { subject: { text: source }, input: { source } });
      waiting.push(run.then((answer) => answer?.context && toContext("SessionStart", answer.context)));
    };

    tau.on("session_start", ({ reason }, context) => {
      if (reason !== "reload")
        startSession(reason === "startup" ? "startup" : reason === "new" ? "clear" : "resume", context);
    });

    tau.on("input", async ({ text, source, streamingBehavior }, context) => {
      cancelIdle();
      if (source === "extension" || isChildSession(context) || !hooks.has("UserPromptSubmit")) return undefined;
      const answer = await hooks.run("UserPromptSubmit", context, { input: { prompt: text } });
      if (answer?.verdict === "deny" || answer?.verdict === "stop" || answer?.verdict === "ask") {
        context.ui.notify(toVisible(`A hook blocked the prompt: ${answer.reason}`), "warning");
        return { action: "handled" };
      }
      if (answer?.context === undefined) return undefined;
      const content = await toContext("UserPromptSubmit", answer.context);
      if (streamingBehavior)
        tau.sendMessage({ customType: "hooks", content, display: true }, { deliverAs: streamingBehavior });
      else waiting.push(Promise.resolve(content));
      return undefined;
    });

    tau.on("before_agent_start", async () => {
      continuations = 0;
      const texts = await Promise.all(waiting.splice(0));
      const content = texts.filter((text) => text !== undefined && text !== "").join("\n\n");
      return content === "" ? undefined : { message: { customType: "hooks", content, display: true } };
    });

    if (hooks.has("PreToolUse"))
      tau.on("tool_call", async (event, context) => {
        const { toolCallId, toolName } = event;
        const answer = await hooks.run("PreToolUse", context, {
          subject: toSubject(event),
          input: describeToolCall(event, place.cwd),
          signal: context.signal,
        });
        if (answer?.verdict === "ask") {
          const summary = `A hook wants you to decide about ${toolName}: ${toVisible(answer.reason ?? "")}`;
          const access = { capability: "tool", target: { kind: "name", name: toolName }, eachTime: summary } as const;
          const { signal } = context;
          const verdict = await tau.requestAccess([access], { name: toolName, summary, isContained: true, signal });
          if (verdict.kind === "denied") return { block: true, reason: verdict.reason };
        } else if (answer?.verdict === "deny" || answer?.verdict === "stop") {
          const reason = toVisible(answer.reason ?? "");
          await tau.audit({ kind: "denied", name: "hook", toolCallId, toolName, reason });
          const isStop = answer.verdict === "stop";
          return { block: true, reason: `A hook blocked the call: ${reason}`, ...(isStop && { terminate: true }) };
        }
        if (answer?.context !== undefined) {
          const content = await toContext("PreToolUse", answer.context);
          tau.sendMessage({ customType: "hooks", content, display: true }, { deliverAs: "steer" });
        }
        return undefined;
      });

    if (hooks.has("PostToolUse") || hooks.has("PostToolUseFailure"))
      tau.on("tool_result", async (event, context) => {
        const name = event.isError ? "PostToolUseFailure" : "PostToolUse";
        const answer = await hooks.run(name, context, {
          subject: toSubject(event),
          input: describeResult(event, place.cwd),
          signal: context.signal,
        });
        if (answer?.verdict === "stop") {
          context.ui.notify(toVisible(`A hook stopped the run: ${answer.reason}`), "warning");
          context.abort();
        }
        const said = [answer?.verdict === "deny" ? answer.reason : undefined, answer?.context];
        const text = said.filter((part) => part !== undefined).join("\n\n");
        if (text === "") return undefined;
        return { content: [...event.content, { type: "text", text: await toContext(name, text) }] };
      });

    tau.on("agent_before_settle", async ({ outcome, entries }, context) => {
      const name = isChildSession(context) ? "SubagentStop" : "Stop";
      if (outcome !== "completed" || !hooks.has(name)) return undefined;
      const input = { stop_hook_active: continuations > 0, last_assistant_message: getLastText(context) };
      const answer = await hooks.run(name, context, { input, signal: context.signal });
      if (answer?.verdict !== "deny") return undefined;
      if (continuations >= maxContinuations) {
        context.ui.notify(
          `${name} hooks wanted more work ${maxContinuations} times in a row; the run ends.`,
          "warning",
        );
        return undefined;
      }
      continuations++;
      const content = await toContext(name, answer.reason ?? "");
      return {
        continue: true,
        entries: [...entries, { type: "custom_message", customType: "hooks", content, display: true }],
      };
    });

    tau.on("session_before_compact", async ({ reason, customInstructions, signal }, context) => {
      const trigger = reason === "manual" ? "manual" : "auto";
      const answer = await hooks.run("PreCompact", context, {
        subject: { text: trigger },
        input: { trigger, custom_instructions: customInstructions ?? "" },
        signal,
      });
      if (answer?.verdict !== "deny" && answer?.verdict !== "stop") return undefined;
      context.ui.notify(toVisible(`A hook blocked the compaction: ${answer.reason}`), "warning");
      return { cancel: true };
    });
    tau.on("session_compact", (_event, context) => startSession("compact", context));

    const notify = (type: string, message: string, context: ExtensionContext): void => {
      const input = { message, title: "tau", notification_type: type };
      void hooks.run("Notification", context, { subject: { text: type }, input });
    };
    if (hooks.has("Notification")) {
      tau.on("ui_prompt_start", ({ kind, title = "" }, context) => {
        if (kind === "approval") notify("permission_prompt", `tau needs your permission: ${title}`, context);
        else if (!context.isIdle()) notify("elicitation_dialog", `tau asks you: ${title}`, context);
      });
      tau.on("agent_settled", (_event, context) => {
        if (isChildSession(context)) return;
        const timer = setTimeout(() => notify("idle_prompt", "tau is waiting for your input", context), idleMs);
        timer.unref();
        cancelIdle = () => clearTimeout(timer);
      });
    }

    tau.on("session_shutdown", async ({ reason }, context) => {
      cancelIdle();
      if (reason === "reload" || isChildSession(context) || !hooks.has("SessionEnd")) return;
      const why = reason === "new" ? "clear" : reason === "quit" ? "prompt_input_exit" : "other";
      await hooks.run("SessionEnd", context, { subject: { text: why }, input: { reason: why } });
    });
  };

function toSubject({ toolName, paths = [], input }: Pick<ExtensionEvent<"tool_call">, "toolName" | "paths" | "input">) {
  const { command } = input;
  return { toolName, paths, command: typeof command === "string" ? command : undefined };
}

/** The text of the last answer of the model. */
function getLastText({ sessionManager }: ExtensionContext): string {
  const last = sessionManager
    .getBranch()
    .findLast((entry) => entry.type === "message" && entry.message.role === "assistant");
  if (last?.type !== "message" || last.message.role !== "assistant") return "";
  return last.message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
