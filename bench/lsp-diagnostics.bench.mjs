/** Measures 1,000 diagnostics in one message, from the bytes of a server to places for a model: at most 20 ms of CPU. */
import { runLspProgram } from "./lsp-program.mjs";

export default async function bench(report) {
  const rounds = [];
  for (let round = 0; round < 5; round++) rounds.push(await runLspProgram(program));
  report("1,000 diagnostics", Math.min(...rounds.map(({ cpuMs }) => cpuMs)), "CPU ms");
}

const program = `
import { ContentLengthReader, toFrame } from "./kit/content-length.ts";
import { DiagnosticStore, toProblemPlace } from "./lsp/diagnostics.ts";
import { formatPlaces } from "./lsp/locations.ts";
import { TextLines } from "./lsp/positions.ts";
const diagnostics = Array.from({ length: 1_000 }, (_, line) => ({
  range: { start: { line, character: 4 }, end: { line, character: 9 } },
  severity: 1, code: 2322, source: "ts", message: "Type 'string' is not assignable to type 'number'. " + line,
}));
const bytes = toFrame({ jsonrpc: "2.0", method: "textDocument/publishDiagnostics", params: { uri: "file:///a", diagnostics } });
const lines = new TextLines("const value = 1;\\n".repeat(1_000));
const before = process.cpuUsage();
const store = new DiagnosticStore(systemClock);
const [frame] = new ContentLengthReader().read(bytes);
store.set("/a", frame.message.params.diagnostics, { version: 1, messageBytes: frame.bytes });
const places = store.get("/a").diagnostics.map((each) => toProblemPlace(each, { path: "a", encoding: "utf-16", lines }));
if (formatPlaces(places).length < 50_000) throw new Error("They are not all there.");
const { user, system } = process.cpuUsage(before);
child.kill();
process.stdout.write(JSON.stringify({ cpuMs: (user + system) / 1000 }), () => process.exit(0));
`;
