/**
 * Measures a warm `hover` beside the bare exchange of the same messages with the same server: at most 1 ms of CPU more. Both sides
 * are processes of their own, and the server is the scripted one of the tests, outside of the sandbox.
 */
import { runLspProgram } from "./lsp-program.mjs";

const calls = 500;

export default async function bench(report) {
  const best = async (contents) => {
    const rounds = [];
    for (let round = 0; round < 5; round++) rounds.push(await runLspProgram(contents));
    return Math.min(...rounds.map(({ call }) => call));
  };
  const [bare, ours] = [await best(bareProgram), await best(ourProgram)];
  report("a hover, bare exchange", bare, "CPU ms");
  report("a hover", ours, "CPU ms");
  report("a hover, more than the exchange", ours - bare, "CPU ms");
}

const measure = (callOnce) => `
for (let index = 0; index < 50; index++) await ${callOnce};
const before = process.cpuUsage();
for (let index = 0; index < ${calls}; index++) await ${callOnce};
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify({ call: (user + system) / 1000 / ${calls} }), () => process.exit(0));
`;

const bareProgram = `
import { toFrame, ContentLengthReader } from "./kit/content-length.ts";
const pending = new Map();
const reader = new ContentLengthReader();
child.stdout.on("data", (chunk) => {
  for (const { message } of reader.read(chunk)) pending.get(message.id)?.(message.result);
});
let id = 0;
const request = (method, params) => new Promise((resolve) => {
  pending.set(++id, resolve);
  child.stdin.write(toFrame({ jsonrpc: "2.0", id, method, params }));
});
const uri = "file://" + file;
await request("initialize", { capabilities: {} });
child.stdin.write(toFrame({ jsonrpc: "2.0", method: "textDocument/didOpen", params: { textDocument: { uri, languageId: "toy", version: 1, text: contents } } }));
const hover = () => request("textDocument/hover", { textDocument: { uri }, position: { line: 1, character: 4 } });
${measure("hover()")}
`;

const ourProgram = `
import { hover as ask } from "./lsp/actions.ts";
const hover = () => ask({ session: createSession(), args: { action: "hover", file, line: 2, symbol: "one" }, signal: undefined });
${measure("hover()")}
`;
