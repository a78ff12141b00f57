/** Addresses at which the gateway serves one exported page. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOutsideOrigin, type NewShare, Shares } from "@tau/gateway";
import { findGateway } from "@tau/protocol/node";
import type { Io } from "../commands/command.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";
import { openSettings } from "../hosting/open-settings.ts";
import type { Sharing } from "../interactive/program.ts";

export const linksAreOff =
  "Links are off, because whoever has one can read the page. To allow them: tau config set gateway.shares true";

interface ShareLink extends Omit<NewShare, "token"> {
  address: string;
  /** Whether a gateway runs that serves it now. */
  isServed: boolean;
}

export async function createShareLink(
  page: { sessionId: string; title: string; html: string },
  io: Io,
): Promise<ShareLink> {
  const agentDir = getAgentDir(io);
  const gateway = await readSettings(io);
  const { token, ...share } = await new Shares({ agentDir }).add(page);
  const running = await findGateway(agentDir);
  const origin = getOrigin(gateway, running?.url);
  return { ...share, address: `${origin}/share/${token}`, isServed: running !== undefined };
}

/** For the terminal: the page is written to a file first, by whoever has the session. Returns why links are refused, if they are. */
export async function findLinkSharing(io: Io): Promise<Sharing | string> {
  if (!(await readSettings(io)).shares) return linksAreOff;
  const directory = await mkdtemp(join(tmpdir(), "tau-share-"));
  const path = join(directory, "session.html");
  return {
    path,
    async send({ sessionId, title } = { sessionId: "", title: "" }) {
      const share = await createShareLink({ sessionId, title, html: await readFile(path, "utf8") }, io);
      return `${share.address}\n${formatShare(share)}`;
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

async function readSettings(io: Io) {
  const settings = await openSettings({ cwd: io.cwd, agentDir: getAgentDir(io) });
  await settings.close();
  return settings.get().gateway;
}

interface OriginSettings {
  host: string;
  port: number;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
  tls: { cert: string | undefined };
}

/** The address that people outside reach it by, if the settings name one. Pure. */
export function getOrigin(settings: OriginSettings, url: string | undefined): string {
  const { host, port, tls } = settings;
  const outside = findOutsideOrigin(settings);
  if (outside !== undefined) return outside;
  if (url !== undefined) return url.replace(/^ws/, "http");
  return `${tls.cert === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Explains the address to a person. */
export function formatShare({ id, expiresAt, isServed }: ShareLink): string {
  const day = new Date(expiresAt).toISOString().slice(0, 10);
  return [
    `Whoever has the address can read the page until ${day}. It is shown only now. To take it back: tau sessions share --revoke ${id}`,
    ...(isServed ? [] : ["No gateway of yours is running, so it opens when one is: tau gateway"]),
  ].join("\n");
}
