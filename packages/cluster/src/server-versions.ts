/** The versions of servers, which each sends before it knows who connects. */
import { connect } from "node:net";
import { tryParseJson } from "@tau/ai/internal";

/** A server that does not answer in this time is not asked: it is not there, or speaks only TLS. */
const answerMs = 1_000;
const maxInfoLength = 64 * 1024;
const defaultPort = 4222;

/** Reads the versions of all servers that can be reached. `hosts` may have ports. */
export async function readVersions(hosts: Iterable<string>): Promise<string[]> {
  const versions = await Promise.all([...new Set(hosts)].map(readVersion));
  return versions.filter((version) => version !== undefined);
}

function readVersion(address: string): Promise<string | undefined> {
  const { hostname, port } = new URL(`nats://${address}`);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || defaultPort });
  return new Promise((resolve) => {
    let text = "";
    const finish = () => {
      socket.destroy();
      resolve(parseVersion(text));
    };
    socket.setTimeout(answerMs, finish);
    socket.on("error", finish).on("close", finish);
    socket.setEncoding("utf8").on("data", (data: string) => {
      text += data;
      if (text.includes("\n") || text.length > maxInfoLength) finish();
    });
  });
}

/** Parses the first line that a server sends: `INFO` and an object. Pure. */
function parseVersion(text: string): string | undefined {
  const [, json = ""] = /^INFO (\{.*\})\s*\r?\n/.exec(text) ?? [];
  const { version } = (tryParseJson(json) ?? {}) as { version?: unknown };
  return typeof version === "string" ? version : undefined;
}
