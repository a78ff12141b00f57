/** A home directory with sessions of other programs, and tau's own directory. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "@tau/ai";
import { expect, onTestFinished } from "vitest";
import { findForeignSessions, type ForeignRoots } from "../../src/imports/find-sessions.ts";
import { buildContext } from "../../src/session/context.ts";
import { convertToLlm } from "../../src/session/message.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { importForeignSessions, type ImportSessionsOptions } from "../../src/imports/import-sessions.ts";

/** Written by Claude Code 2.1, codex 0.169, pi 1.5 and opencode 1.18 against a server on loopback; long texts are shortened. */
export const samples = join(import.meta.dirname, "samples");

export const sampleFiles = {
  "claude-code": "projects/-home-user-project/8588677f-52e7-4ffb-97e8-5e8e5d3ce48e.jsonl",
  codex: "sessions/2026/11/18/rollout-2026-11-18T02-06-55-01a1ec68-3829-7623-8537-0161b1227852.jsonl",
  pi: "sessions/--home-user-project--/2026-11-18T02-07-32-679Z_01a1ec68-c947-737a-aa98-b90e865b97cc.jsonl",
} as const;

/** When the samples were last used. */
export const lastUsed = new Date("2026-11-18T03:00:00Z");

export function createDesk() {
  const root = mkdtempSync(join(tmpdir(), "tau-imports-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const agentDir = join(root, "tau");
  mkdirSync(agentDir);
  return {
    root,
    agentDir,
    /** Writes a session file of a tool from its lines, and returns its path. */
    write(tool: string, path: string, lines: readonly unknown[], ending = "\n"): string {
      const file = join(root, tool, path);
      mkdirSync(join(file, ".."), { recursive: true });
      const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
      writeFileSync(file, text + ending);
      return file;
    },
    copySample(tool: keyof typeof sampleFiles): void {
      cpSync(join(samples, tool), join(root, tool), { recursive: true });
      utimesSync(join(root, tool, sampleFiles[tool]), lastUsed, lastUsed);
    },
    /** Finds and imports everything below the root, as a user would. */
    async run(options: Partial<ImportSessionsOptions> = {}) {
      const tools = ["pi", "claude-code", "codex", "opencode", "omp"] as const;
      const roots: ForeignRoots = Object.fromEntries(tools.map((tool) => [tool, join(root, tool)]));
      const source = await findForeignSessions(roots);
      try {
        const imported = await importForeignSessions(source, source.sessions, {
          agentDir,
          fallbackCwd: join(root, "fallback"),
          ...options,
        });
        return { imported, outcomes: imported.map(({ outcome }) => outcome), skipped: source.skipped };
      } finally {
        source.close();
      }
    },
  };
}

/** Opens an imported session, which has no problems. */
export async function open(path: string, agentDir: string): Promise<SessionManager> {
  const session = await SessionManager.open(path, { agentDir, access: "read" });
  onTestFinished(() => session.close());
  expect(session.problems).toEqual([]);
  return session;
}

/** The messages that a model is sent. */
export const readMessages = async (session: SessionManager): Promise<Message[]> =>
  convertToLlm((await buildContext(await session.getBranch())).messages);

/** The roles, the texts and the calls of messages, in one line each. */
export const describeMessages = (messages: readonly Message[]) =>
  messages.map((message) => {
    const blocks =
      typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
    const parts = blocks.map((block) => {
      if (block.type === "text") return block.text;
      if (block.type === "thinking") return `(${block.thinking})`;
      return block.type === "toolCall" ? `${block.name} ${JSON.stringify(block.arguments)}` : block.type;
    });
    return `${message.role}: ${parts.join(" | ")}`;
  });

export const readSampleLines = (tool: keyof typeof sampleFiles): string[] =>
  readFileSync(join(samples, tool, sampleFiles[tool]), "utf8")
    .trimEnd()
    .split("\n");

interface OpencodeRows {
  session: Record<string, unknown>[];
  message: Record<string, unknown>[];
  part: Record<string, unknown>[];
}

export const readOpencodeRows = (): OpencodeRows =>
  JSON.parse(readFileSync(join(samples, "opencode.json"), "utf8")) as OpencodeRows;

/** The files of opencode before it had a database. */
export function writeOpencodeFiles(directory: string, { session, message, part }: OpencodeRows): void {
  const write = (path: string, value: unknown) => {
    mkdirSync(join(directory, "storage", path, ".."), { recursive: true });
    writeFileSync(join(directory, "storage", path), JSON.stringify(value));
  };
  for (const {
    id,
    project_id: project,
    title,
    directory: cwd,
    time_created: created,
    time_updated: updated,
    revert,
  } of session) {
    write(`session/${String(project)}/${String(id)}.json`, {
      id,
      title,
      directory: cwd,
      time: { created, updated },
      ...(revert ? { revert } : {}),
    });
  }
  for (const row of message) {
    write(`message/${String(row["session_id"])}/${String(row["id"])}.json`, {
      id: row["id"],
      ...(row["data"] as object),
    });
  }
  for (const row of part) {
    write(`part/${String(row["message_id"])}/${String(row["id"])}.json`, { id: row["id"], ...(row["data"] as object) });
  }
}

interface Sqlite {
  DatabaseSync: new (path: string) => {
    exec(sql: string): void;
    prepare(sql: string): { run(...values: unknown[]): void };
    close(): void;
  };
}

/** Undefined where Node has none. */
export function loadSqlite(): Sqlite | undefined {
  try {
    return createRequire(import.meta.url)("node:sqlite") as Sqlite;
  } catch {
    return undefined;
  }
}

export function writeOpencodeDatabase(directory: string, rows: OpencodeRows, { DatabaseSync }: Sqlite): void {
  mkdirSync(directory, { recursive: true });
  const database = new DatabaseSync(join(directory, "opencode.db"));
  database.exec("PRAGMA journal_mode = WAL");
  for (const [table, entries] of Object.entries(rows) as [string, Record<string, unknown>[]][]) {
    const columns = Object.keys(entries[0]!);
    database.exec(`CREATE TABLE ${table} (${columns.map((name) => `"${name}"`).join(", ")})`);
    const insert = database.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => "?").join(", ")})`);
    for (const row of entries) {
      insert.run(
        ...columns.map((name) =>
          typeof row[name] === "object" && row[name] !== null ? JSON.stringify(row[name]) : row[name],
        ),
      );
    }
  }
  database.close();
}
