/** A port of loopback inside at which commands find the proxy, and what the proxy refused there. */
import type { AddressInfo, Server } from "node:net";
import type { Refusal } from "../proxy/admit.ts";
import { createProxy } from "../proxy/proxy.ts";
import { getUpstreamOf } from "../proxy/upstream.ts";
import type { InnerSockets } from "./inner-sockets.ts";
import { getProxyVariables } from "./proxy-variables.ts";

export interface ProxyPort {
  /** For the command that is started now. */
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
  /** From now on: what was refused when the result is called. */
  watch(): () => readonly Refusal[];
  close(): void;
}

/** More refusals in one command are not reported. */
const maxRefusals = 1_000;

/** More connections at a time are refused: each takes a descriptor of ours, and without those no file can be opened. */
const maxConnections = 256;

export interface ProxyPortParts {
  /** Called for each request. */
  getAllowed: () => readonly string[];
  /** Called with each refusal. */
  notify?: (refusal: Refusal) => void;
  /** Names the proxy behind this one. Default: the environment of the process. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
}

export async function openProxyPort(
  sockets: Pick<InnerSockets, "listen">,
  { getAllowed, notify = () => undefined, env = process.env }: ProxyPortParts,
): Promise<ProxyPort> {
  const server: Server = await sockets.listen(0);
  const watchers = new Set<Refusal[]>();
  const onRefused = (refusal: Refusal) => {
    notify(refusal);
    for (const refusals of watchers) if (refusals.length < maxRefusals) refusals.push(refusal);
  };
  const proxy = createProxy({ getAllowed, onRefused, getUpstream: getUpstreamOf(env) });
  server.on("connection", (socket) => proxy.serve(socket));
  // The sandbox has ended, or we are out of descriptors: commands then get no connection.
  server.on("error", () => server.close());
  server.maxConnections = maxConnections;
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    port,
    get env() {
      return getProxyVariables(port, { isOpen: getAllowed().length > 0, nodeVersion: process.versions.node });
    },
    watch() {
      const refusals: Refusal[] = [];
      watchers.add(refusals);
      return () => {
        watchers.delete(refusals);
        return refusals;
      };
    },
    close() {
      server.close();
      proxy.close();
    },
  };
}
