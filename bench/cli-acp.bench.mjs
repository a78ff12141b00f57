/** CPU of many deltas over ACP, beside the same deltas in JSON mode, each minus one short answer. */
import { createWorkspace, installProgram, interleaved, measure } from "./packed-program.mjs";

const rounds = 15;
const deltas = 20_000;

const frame = (choice) =>
  `data: ${JSON.stringify({ id: "a", model: "small", choices: [{ index: 0, ...choice }] })}\n\n`;

/** An answer in the format of OpenAI's completions: one frame per delta, 100 frames per network chunk. */
function createReply(count) {
  const frames = Array.from({ length: count }, () => frame({ delta: { content: "word " } }));
  frames.push(frame({ delta: {}, finish_reason: "stop" }), "data: [DONE]\n\n");
  const chunks = [];
  for (let start = 0; start < frames.length; start += 100) chunks.push(frames.slice(start, start + 100).join(""));
  return { kind: "raw", chunks, ending: "end" };
}

/** Plays an editor: opens a session, sends one prompt, and leaves when it is answered. */
function createEditor({ directory }) {
  const send = (stdin, id, method, params) =>
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  let rest;
  return (stdin, chunk) => {
    if (rest === undefined) {
      rest = "";
      send(stdin, 1, "initialize", { protocolVersion: 1 });
      send(stdin, 2, "session/new", { cwd: directory, mcpServers: [] });
    }
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith('{"jsonrpc":"2.0","id":2,')) {
        const { sessionId } = JSON.parse(line).result;
        send(stdin, 3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "Go." }] });
      }
      if (line.startsWith('{"jsonrpc":"2.0","id":3,')) stdin.end();
    }
  };
}

export default async function bench(report) {
  const installation = await installProgram();
  const repeat = (count) => Array.from({ length: 2 * (rounds + 2) }, () => createReply(count));
  const short = await createWorkspace(installation, repeat(1), "short");
  const many = await createWorkspace(installation, repeat(deltas), "many");
  const runJson = (workspace) =>
    measure([installation.program, "--mode", "json", "Go."], { ...installation, workspace });
  const runAcp = (workspace, keepOutput = false) =>
    measure([installation.program, "acp"], {
      ...installation,
      workspace,
      keepOutput,
      answer: createEditor(workspace),
    });
  await runJson(short);
  await runAcp(short);
  const { text } = await runAcp(many, true);
  const [shortJson, manyJson, shortAcp, manyAcp] = await interleaved(
    [() => runJson(short), () => runJson(many), () => runAcp(short), () => runAcp(many)],
    rounds,
  );
  for (const workspace of [short, many]) await workspace.server.close();
  const [json, acp] = [manyJson.cpuMs - shortJson.cpuMs, manyAcp.cpuMs - shortAcp.cpuMs];
  report("deltas", text.split('"agent_message_chunk"').length - 1, "updates");
  report("CPU a delta in JSON mode", (json * 1_000) / deltas, "µs");
  report("CPU a delta over ACP", (acp * 1_000) / deltas, "µs");
  report("ACP beside JSON mode", acp / json, "times (at most 1.3)");
}
