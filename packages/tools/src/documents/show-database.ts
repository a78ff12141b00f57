/** A SQLite database as the result of a read: its tables, or the rows of one. */
import { mkdtemp, rm } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as Threads from "node:worker_threads";
import type { AgentToolResult } from "@tau/agent";
import { ToolsError } from "../errors.ts";
import { chooseLines, presentLines, type ReadDetails } from "../files/show-lines.ts";
import { showName } from "../files/show-name.ts";
import { runThread, type ThreadLimits } from "../files/thread.ts";
import type { Files, ReadableFile } from "../platform/files.ts";
import { defaultMaxBytes, defaultMaxLines } from "../truncate.ts";
import { copyDatabase } from "./copy-database.ts";
import { type DatabaseAnswer, type DatabaseQuery, type DatabaseTable, runDatabaseQuery } from "./query-database.ts";

interface DatabaseRequest extends ThreadLimits {
  files: Files;
  file: ReadableFile;
  path: string;
  /** Names the file in messages. */
  name: string;
  /** The table whose rows are wanted. */
  part: string | undefined;
  offset: number;
  limit: number | undefined;
}

const timeLimitMs = 20_000;
/** SQLite steps over the rows before it. */
const maxOffset = 1_000_000;
const defaultRows = 100;

export async function showDatabase(request: DatabaseRequest): Promise<AgentToolResult<ReadDetails>> {
  const { name, path, part, offset, limit } = request;
  if (!isBuiltin("node:sqlite")) {
    const versions = `Node can read since version 22.13 (this is ${process.version})`;
    throw new ToolsError(
      "unavailable",
      `${name} is a SQLite database, which ${versions}. Use sqlite3 or python3 in bash.`,
    );
  }
  const table = part === "" ? undefined : part;
  if (table !== undefined && offset > maxOffset) {
    const said = `Rows are shown up to ${maxOffset.toLocaleString("en-US")}`;
    throw new ToolsError("invalid_input", `${said}. Use sqlite3 or python3 in bash for later ones.`);
  }
  const maxRows = Math.min(limit ?? defaultRows, defaultMaxLines);
  const { answer, notes } = await queryCopy(request, { table, offset, maxRows });
  switch (answer.kind) {
    case "failed":
      throw new ToolsError("binary", `${name} is a damaged database, or needs an extension: ${answer.message}.`);
    case "missing": {
      const what = answer.isView ? "is a view or a virtual table, which is not run" : "is not a table of it";
      throw new ToolsError("not_found", `${showName(table!)} ${what}. Read ${name} for a list.`);
    }
    case "tables": {
      const lines = [`[${name}: SQLite database, ${countTables(answer)}.]`, ...notes, ...formatTables(answer, name)];
      const range = { offset, maxLines: Math.min(limit ?? defaultMaxLines, defaultMaxLines) };
      return presentLines(
        chooseLines(lines.length, (index) => lines[index]!, range),
        path,
        range,
      );
    }
    case "rows":
      return presentRows(answer, { path, title: `${name}#${showName(table!)}`, offset, notes });
  }
}

async function queryCopy(
  { files, file, name, signal, clock }: DatabaseRequest,
  query: Omit<DatabaseQuery, "path">,
): Promise<{ answer: DatabaseAnswer; notes: string[] }> {
  const directory = await mkdtemp(join(tmpdir(), "tau-database-"));
  try {
    const copy = join(directory, "copy.db");
    const notes = await copyDatabase(file, { files, name, target: copy, signal });
    const answer = await runThread<DatabaseAnswer>(
      {
        source: `(${work.toString()})(require, ${runDatabaseQuery.toString()})`,
        workerData: { ...query, path: copy } satisfies DatabaseQuery,
        maxHeapMb: 256,
        timeLimitMs,
        failedMessage: `${name} is a database that cannot be read here. Use sqlite3 or python3 in bash.`,
        timeoutMessage: `${name} is a database that takes more than ${timeLimitMs / 1_000} s to read.`,
      },
      { clock, signal },
    );
    return { answer, notes: notes.map((note) => `[${note}]`) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The thread gets this function as text, so it must not use anything from outside of it. */
function work(load: (name: string) => unknown, run: typeof runDatabaseQuery): void {
  const { parentPort, workerData } = load("node:worker_threads") as typeof Threads;
  parentPort!.postMessage(run(load, workerData as DatabaseQuery), []);
}

type Tables = Extract<DatabaseAnswer, { kind: "tables" }>;

const countTables = ({ tables, left }: Tables): string => {
  const count = tables.length + left;
  return `${count.toLocaleString("en-US")} table${count === 1 ? "" : "s"}`;
};

function formatTables({ tables, others, left }: Tables, name: string): string[] {
  return [
    ...tables.flatMap((table) => formatTable(table, name)),
    ...(left > 0 ? ["", `[${left} more tables are not listed.]`] : []),
    ...(others.length > 0 ? ["", ...others.map((other) => `[${other}]`)] : []),
  ];
}

function formatTable({ name, columns, rows, count, problem }: DatabaseTable, database: string): string[] {
  const amount =
    problem !== undefined
      ? `damaged: ${problem.replaceAll(/\s+/g, " ").slice(0, 200)}`
      : count === undefined
        ? "more than a million rows, or too many to count"
        : `${count.toLocaleString("en-US")} row${count === 1 ? "" : "s"}`;
  const isMore = count === undefined ? rows.length > 0 : count > rows.length;
  const more = isMore && problem === undefined ? [`[More rows: read ${database}#${showName(name)}]`] : [];
  return ["", `[Table ${showName(name)}, ${amount}]`, columns.join(" | "), ...rows, ...more];
}

function presentRows(
  { columns, rows, hasMore }: Extract<DatabaseAnswer, { kind: "rows" }>,
  { path, title, offset, notes }: { path: string; title: string; offset: number; notes: readonly string[] },
): AgentToolResult<ReadDetails> {
  const head = [`[${title}, rows from ${offset} on]`, ...notes, columns.join(" | ")].join("\n");
  if (rows.length === 0 && offset > 1)
    throw new ToolsError("invalid_input", `Row ${offset} is beyond the end of ${title}.`);
  const window = chooseLines(rows.length, (index) => rows[index]!, {
    offset: 1,
    maxLines: defaultMaxLines,
    maxBytes: defaultMaxBytes - Buffer.byteLength(head),
  });
  const last = offset - 1 + window.lines.length;
  const isCut = window.lines.length < rows.length;
  const notice = isCut || hasMore ? `[Showing rows ${offset}-${last}. Continue with offset=${last + 1}.]` : "";
  const body = rows.length === 0 ? "(no rows)" : window.lines.join("\n");
  return {
    content: [{ type: "text", text: [`${head}\n${body}`, notice].filter(Boolean).join("\n\n") }],
    details: {
      path,
      firstLine: offset,
      shownLines: window.lines.length,
      unit: "rows",
      ...(!isCut && !hasMore && { totalLines: last }),
    },
  };
}
