/** Sessions with a server of MCP, for tests. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { noUi } from "@tau/extensions";
import { onTestFinished } from "vitest";
import { discovery, mcp } from "../../src/index.ts";
import { createTestSession, SurfaceUi, type TestSessionParams } from "../kit.ts";
import { hostileServer, makeDirectory } from "./kit.ts";

export interface Place {
  agentDir: string;
  cwd: string;
  /** A line for each start of the server. */
  readPids(): Promise<number[]>;
}

export async function makePlace(entry: object = {}, behaviour = "good", variables: object = {}): Promise<Place> {
  const root = await makeDirectory();
  const [agentDir, cwd] = [join(root, "agent"), join(root, "work")];
  for (const path of [agentDir, cwd]) await mkdir(path);
  const state = join(cwd, "starts");
  const env = { BEHAVIOUR: behaviour, STATE: state, ...variables };
  const server = { command: process.execPath, args: [hostileServer, cwd], env, trusted: true, ...entry };
  await writeFile(join(agentDir, "mcp.json"), JSON.stringify({ mcpServers: { docs: server } }));
  const readPids = async () =>
    (await readFile(state, "utf8").catch(() => ""))
      .split("\n")
      .filter((line) => line !== "")
      .map(Number);
  return { agentDir, cwd, readPids };
}

export type Turns = Parameters<typeof createTestSession>[0];

export async function open(turns: Turns, { agentDir, cwd }: Place, params: TestSessionParams = {}) {
  // The server may write its count into the workspace; where there is no sandbox it runs without.
  const opened = await createTestSession(turns, { agentDir, cwd, features: [discovery(), mcp()], ...params });
  onTestFinished(() => opened.dispose());
  return opened;
}

/** A person who answers all questions alike. */
export class Answering extends SurfaceUi {
  readonly asked: string[] = [];
  readonly notices: string[] = [];

  constructor(answer: boolean) {
    super();
    Object.assign(this.ui, {
      ...noUi,
      confirm: async (title: string, message: string) => {
        this.asked.push(`${title}\n${message}`);
        return answer;
      },
      notify: (message: string) => void this.notices.push(message),
    });
  }
}
