/** Starts a Postgres server for a test: in a temporary directory, as an unprivileged user, on a socket in that directory. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PostgresServer {
  /** The directory with its socket. */
  readonly host: string;
  readonly user: string;
  readonly database: string;
  close(): Promise<void>;
}

const root = "/usr/lib/postgresql";

/** The directory with the programs of Debian's package; undefined if it is not installed. */
function findPrograms(): string | undefined {
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, "bin")).find((path) => existsSync(join(path, "initdb")));
}

/** The server refuses to run as root. */
function findUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const line = readFileSync("/etc/passwd", "utf8").match(/^(?:postgres|nobody):[^:]*:(\d+):(\d+):/m);
  return { uid: Number(line?.[1] ?? 65_534), gid: Number(line?.[2] ?? 65_534) };
}

/** Why there is no server here; undefined if there can be one. */
export const missingPostgres = (): string | undefined =>
  findPrograms() === undefined ? `${root} has no server: install the package postgresql` : undefined;

export async function startPostgres(): Promise<PostgresServer> {
  const programs = findPrograms()!;
  const owner = findUser();
  const host = mkdtempSync(join(tmpdir(), "tau-postgres-"));
  if (owner.uid !== undefined) chownSync(host, owner.uid, owner.gid!);
  const data = join(host, "data");
  const options = { ...owner, cwd: host, env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C" } };
  const init = ["-D", data, "-A", "trust", "-U", "tau", "--no-sync", "--locale=C", "-E", "UTF8"];
  const made = spawnSync(join(programs, "initdb"), init, { ...options, encoding: "utf8" });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  // No power is lost here, so that nothing has to reach the disk.
  const settings = ["listen_addresses=", `unix_socket_directories=${host}`, "fsync=off", "shared_buffers=16MB"];
  const args = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
  const server = spawn(join(programs, "postgres"), args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  await untilReady(server);
  return {
    host,
    user: "tau",
    database: "postgres",
    async close() {
      // A fast shutdown: it waits for no client.
      server.kill("SIGINT");
      if (server.exitCode === null) await once(server, "exit");
      rmSync(host, { recursive: true, force: true });
    },
  };
}

async function untilReady(server: ChildProcess): Promise<void> {
  let said = "";
  await new Promise<void>((resolve, reject) => {
    server.once("exit", () => reject(new Error(`postgres ended: ${said}`)));
    server.stderr!.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.includes("ready to accept connections")) resolve();
    });
  });
}
