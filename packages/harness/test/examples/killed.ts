/** Processes that write to a session of a database, and are killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Storage } from "@tau/tools/storage";
import { build } from "esbuild";
import { expect, onTestFinished } from "vitest";
import { SessionManager } from "../../src/index.ts";

const rounds = process.env["TAU_LONG"] ? 20 : 3;

/** A lost writer's lease is taken over after this. */
const leaseMs = 500;

interface KilledPlace {
  kind: "sqlite" | "postgres";
  /** Where the database is: a file, or the directory of the server. */
  path: string;
  /** Opens the storage as another process would. */
  open: () => Promise<Storage>;
}

/** Whatever was acknowledged is there after each kill, in its order, and the next process takes the lease over. */
export async function keepsAcknowledged({ kind, path, open }: KilledPlace): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "tau-killed-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const program = join(directory, "writer.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, `killed-${kind}.ts`)],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    logLevel: "silent",
    external: ["google-auth-library", "pg-native", "node:sqlite"],
    // The library of Postgres is written in the older form.
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire("file://${program}");` },
  });
  const acknowledged: string[] = [];
  for (let round = 1; round <= rounds; round++) {
    const child = spawn(process.execPath, [program, path, String(leaseMs)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let printed = "";
    const wanted = 3 * round;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (printed.split("\n").length > wanted) child.kill("SIGKILL");
    });
    await once(child, "close");
    const ids = printed.split("\n").slice(0, -1);
    expect(ids.length).toBeGreaterThanOrEqual(wanted);
    acknowledged.push(...ids);
    const storage = await open();
    // The lease of the killed process is still valid for a moment.
    await expect
      .poll(async () => {
        const store = await storage.open("session/killed");
        const { kind: lease } = await store.acquire().finally(() => store.close());
        return lease;
      }, patience)
      .toBe("held");
    const session = await SessionManager.openStored("killed", { storage, verifiesAll: true });
    expect(session.problems).toEqual([]);
    const there = (await session.getEntries()).map(({ id }) => id);
    expect(there.filter((id) => acknowledged.includes(id))).toEqual(acknowledged);
    acknowledged.push(await session.appendMessage({ role: "user", content: "After.", timestamp: 0 }));
    await session.close();
  }
}

const patience = { timeout: 60_000 };
