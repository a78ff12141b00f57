/**
 * Searches 1,000 sessions of 1 MB: the index is at most 15 % of them, and a query takes at most 150 ms of CPU and 100 MB of memory.
 * Each query runs in a process of its own, which has searched nothing before.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const sessions = Number(process.env["SESSIONS"] ?? 1_000);
const sessionBytes = 1_000_000;

/** Each takes one more process. Common words end the search when there are enough hits; absent ones never do. */
const queries = {
  "of a word that one session has": "zebrafish",
  "of a word that none has": "aardvarks",
  "of a common word": "session",
  "of three words that are never in one message": "question promise import",
  "of a phrase that none has": '"the session of the import"',
};

export default async function bench(report) {
  const scratch = mkdtempSync(join(tmpdir(), "tau-bench-"));
  const directory = join(scratch, "sessions");
  mkdirSync(directory);
  try {
    const program = join(scratch, "search.mjs");
    await bundle(program);
    const { encodeLine } = await import(program);
    for (let number = 0; number < sessions; number++) generate(directory, number, encodeLine);
    const first = run(program, directory, "aardvarks");
    report("a session of 1 MB indexed", first.cpuMs / sessions, "ms of CPU");
    report("memory of a process that indexes", first.maxMb - first.startMb, "MB");
    const share = sizeOf(directory, ".search") / sizeOf(directory, ".jsonl");
    report("the index, of the logs", share * 100, "%");
    for (const [name, text] of Object.entries(queries)) {
      const runs = Array.from({ length: 3 }, () => run(program, directory, text));
      report(`a query ${name}`, Math.min(...runs.map(({ cpuMs }) => cpuMs)), "ms of CPU");
      report(`memory of a query ${name}`, Math.min(...runs.map(({ maxMb, startMb }) => maxMb - startMb)), "MB");
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

const bundle = (outfile) =>
  build({
    stdin: {
      contents: `
        export { encodeLine } from "./session/line.ts";
        import { searchSessions } from "./search/index.ts";
        const [directory, text] = process.argv.slice(2);
        if (directory !== undefined && text !== undefined) {
          const startMb = process.memoryUsage.rss() / 2 ** 20;
          const before = process.cpuUsage();
          const { hits } = await searchSessions([directory], { text });
          const { user, system } = process.cpuUsage(before);
          const maxMb = process.resourceUsage().maxRSS / 1024;
          process.stdout.write(JSON.stringify({ hits: hits.length, cpuMs: (user + system) / 1000, startMb, maxMb }));
        }`,
      resolveDir: join(root, "packages", "harness", "src"),
      loader: "ts",
    },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    external: ["google-auth-library"],
  });

const run = (program, directory, text) =>
  JSON.parse(execFileSync(process.execPath, [program, directory, text], { encoding: "utf8" }));

const sizeOf = (directory, suffix) =>
  readdirSync(directory)
    .filter((name) => name.endsWith(suffix))
    .reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

/** Prose and code of this repository, so that words are as frequent as they are. */
const readAll = (directory, suffix) =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(suffix) && !name.includes("node_modules"))
    .map((name) => readFileSync(join(directory, name), "utf8"))
    .join("\n");
const prose = readAll(join(root, "docs"), ".md");
const code = ["ai", "harness", "tools", "tui"]
  .map((name) => readAll(join(root, "packages", name, "src"), ".ts"))
  .join("\n");

/** A working session: prompts, answers with thinking and calls, and results of which most are longer than what is indexed. */
function generate(directory, number, encodeLine) {
  let state = number + 1;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const slice = (text, length) => {
    const start = Math.floor(random() * (text.length - length));
    return text.slice(start, start + length);
  };
  const hex = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  const id = String(number).padStart(8, "0");
  const timestamp = new Date(1_750_000_000_000 + number * 60_000).toISOString();
  const lines = [encodeLine({ type: "session", version: 3, id, timestamp, cwd: "/" })];
  let [size, parentId] = [lines[0].length, null];
  const add = (message) => {
    const entry = {
      type: "message",
      id: hex(),
      parentId,
      timestamp,
      message: { ...message, timestamp: 1_750_000_000_000 },
    };
    parentId = entry.id;
    lines.push(encodeLine(entry));
    size += lines.at(-1).length;
  };
  while (size < sessionBytes) {
    add({
      role: "user",
      content: [{ type: "text", text: `${size > 500_000 && number === 7 ? "zebrafish " : ""}${slice(prose, 300)}` }],
    });
    for (let call = 0; call < 6; call++) {
      const path = `packages/${hex().slice(0, 3)}/src/${slice(code, 12).replaceAll(/\W/g, "")}.ts`;
      const isEdit = call % 3 === 2;
      add({
        role: "assistant",
        content: [
          {
            type: "thinking",
            thinking: slice(prose, 500),
            thinkingSignature: Array.from({ length: 60 }, hex).join(""),
          },
          ...(call === 5 ? [{ type: "text", text: slice(prose, 1_500) }] : []),
          {
            type: "toolCall",
            id: `toolu_${hex()}${hex()}`,
            name: isEdit ? "edit" : "read",
            arguments: isEdit
              ? { path, edits: [{ oldText: slice(code, 400), newText: slice(code, 500) }] }
              : { path, offset: 1 },
          },
        ],
        api: "anthropic-messages",
        provider: "anthropic",
        model: "claude-opus-4-5",
        usage: {
          input: 4,
          output: 700,
          cacheRead: 90_000,
          cacheWrite: 2_000,
          totalTokens: 92_704,
          cost: { input: 0.01, output: 0.02, cacheRead: 0.04, cacheWrite: 0.01, total: 0.08 },
        },
        stopReason: "toolUse",
      });
      const length = [800, 2_000, 5_000, 9_000, 15_000][Math.floor(random() * 5)];
      add({
        role: "toolResult",
        toolCallId: `toolu_${hex()}`,
        toolName: "read",
        isError: false,
        content: [{ type: "text", text: slice(code, length) }],
      });
    }
  }
  writeFileSync(join(directory, `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`), Buffer.concat(lines));
}
