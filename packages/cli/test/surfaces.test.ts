/** The contract of surfaces, for RPC in both framings, JSON mode and ACP. */
import type { SessionEvent } from "@tau/protocol";
import { onTestFinished } from "vitest";
import { main } from "../src/start/main.ts";
import { serveLines } from "./acp-kit.ts";
import type { SessionUpdate } from "./acp-sdk.ts";
import { createIo, type ModelWorkspace } from "./kit.ts";
import { type Json, serve } from "./rpc-kit.ts";
import {
  createSeenSession,
  noteCall,
  openSurfaceContract,
  type SeenSession,
  type SurfaceClient,
  surfaceContract,
} from "./surface-contract.ts";

function takeEvent(seen: SeenSession, event: SessionEvent): void {
  if (event.type === "text_delta") seen.text += event.delta;
  if (event.type === "tool_execution_start") noteCall(seen, event.toolCallId, { begun: true });
  if (event.type === "tool_execution_end") noteCall(seen, event.toolCallId, { ended: { failed: !event.success } });
  if (event.type === "tool_denied") seen.denied.add(event.toolCallId);
}

/** Calls `take` with each record exactly once, and what is asked is answered. */
function follow(records: readonly Json[], take: (record: Json) => void): () => void {
  let count = 0;
  return () => {
    for (; count < records.length; count++) take(records[count]!);
  };
}

async function openJsonRpc(workspace: ModelWorkspace): Promise<SurfaceClient> {
  const seen = createSeenSession();
  const { send, seen: wait, records, close } = serve(workspace);
  const read = follow(records, (record) => {
    if (record["method"] === "event") takeEvent(seen, record["params"] as SessionEvent);
    if (record["method"] === "approve") send({ jsonrpc: "2.0", id: record["id"], result: { decision: "deny" } });
  });
  void wait(() => (read(), false)).catch(() => undefined);
  send({ jsonrpc: "2.0", id: "hello", method: "initialize", params: { approvals: true } });
  await wait(({ id }) => id === "hello");
  return {
    seen,
    async prompt(text) {
      send({ jsonrpc: "2.0", id: text, method: "execute", params: { prompt: text, outcome: true } });
      const { result } = await wait(({ id }) => id === text);
      return (result as { end: { kind: string } }).end.kind === "aborted" ? "aborted" : "done";
    },
    abort: () => send({ jsonrpc: "2.0", id: "abort", method: "abort" }),
    close,
  };
}

async function openPi(workspace: ModelWorkspace): Promise<SurfaceClient> {
  const seen = createSeenSession();
  const { send, seen: wait, records, close } = serve(workspace);
  const read = follow(records, (record) => {
    const { type, toolCallId, assistantMessageEvent } = record;
    const delta = assistantMessageEvent as { type?: string; delta?: string } | undefined;
    if (delta?.type === "text_delta") seen.text += delta.delta ?? "";
    if (type === "tool_execution_start") noteCall(seen, String(toolCallId), { begun: true });
    if (type === "tool_execution_end")
      noteCall(seen, String(toolCallId), { ended: { failed: record["isError"] === true } });
    if (type === "tool_denied") seen.denied.add(String(toolCallId));
    if (type === "extension_ui_request") send({ type: "extension_ui_response", id: record["id"], confirmed: false });
  });
  void wait(() => (read(), false)).catch(() => undefined);
  return {
    seen,
    async prompt(message) {
      send({ id: message, type: "prompt", message });
      const { aborted } = await wait(({ type }) => type === "agent_settled");
      return aborted === true ? "aborted" : "done";
    },
    abort: () => send({ id: "abort", type: "abort" }),
    close,
  };
}

async function openAcp(workspace: ModelWorkspace): Promise<SurfaceClient> {
  const seen = createSeenSession();
  const { send, seen: wait, ask, records, close } = serveLines(workspace);
  const read = follow(records, (record) => {
    if (record["method"] === "session/update") takeUpdate(seen, (record["params"] as { update: SessionUpdate }).update);
    if (record["method"] === "session/request_permission")
      send({ id: record["id"], result: { outcome: { outcome: "selected", optionId: "deny" } } });
  });
  void wait(() => (read(), false));
  await ask("initialize", { protocolVersion: 1 });
  const { result } = await ask("session/new", { cwd: workspace.directory, mcpServers: [] });
  const { sessionId } = result as { sessionId: string };
  return {
    seen,
    async prompt(text) {
      const answer = await ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
      return (answer["result"] as { stopReason: string }).stopReason === "cancelled" ? "aborted" : "done";
    },
    abort: () => send({ method: "session/cancel", params: { sessionId } }),
    close,
  };
}

/** A call is announced before it begins: its arguments are still arriving. */
function takeUpdate(seen: SeenSession, update: SessionUpdate): void {
  if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
    seen.text += update.content.text;
  if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") return;
  const { toolCallId, status } = update;
  if (status === "in_progress") noteCall(seen, toolCallId, { begun: true });
  if (status === "completed" || status === "failed")
    noteCall(seen, toolCallId, { ended: { failed: status === "failed" } });
  if (status === "failed" && JSON.stringify(update.content).includes("was not allowed")) seen.denied.add(toolCallId);
}

/** JSON mode takes one prompt, on the command line, and a signal to abort. */
async function openJson(workspace: ModelWorkspace): Promise<SurfaceClient> {
  const seen = createSeenSession();
  const interrupting = new AbortController();
  onTestFinished(() => interrupting.abort());
  let code: Promise<number> | undefined;
  return {
    seen,
    async prompt(text) {
      const { io } = createIo(workspace, { input: "", signal: interrupting.signal });
      let rest = "";
      const out = (content: string | Uint8Array) => {
        const lines = (rest + String(content)).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) takeEvent(seen, JSON.parse(line) as SessionEvent);
      };
      code = main(["--mode", "json", text], { ...io, out });
      return (await code) === 130 ? "aborted" : "done";
    },
    abort: () => interrupting.abort("SIGINT"),
    close: () => code!,
  };
}

surfaceContract("JSON-RPC", openJsonRpc);
surfaceContract("RPC in pi's framing", openPi);
surfaceContract("ACP", openAcp);
surfaceContract("JSON mode", openJson);
openSurfaceContract("JSON-RPC", openJsonRpc);
openSurfaceContract("RPC in pi's framing", openPi);
openSurfaceContract("ACP", openAcp);
