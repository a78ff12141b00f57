/** The address of a cluster, as it is given to `tau gateway --cluster`. */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { credsAuthenticator, nkeyAuthenticator, type NodeConnectionOptions } from "@nats-io/transport-node";
import { GatewayError } from "@tau/gateway/port";

export interface ClusterAddress {
  servers: string[];
  usesTls: boolean;
  user?: string;
  password?: string;
  /** Files. */
  creds?: string;
  nkey?: string;
  ca?: string;
  /** The name of this node. It is part of subjects, and the server's permissions name it. */
  name: string;
  /** Undefined: three in a cluster of servers, and one of a single server. */
  replicas: number | undefined;
}

const form = "nats://[USER:PASSWORD@]HOST[:PORT][,HOST…][?name=NODE&creds=FILE&nkey=FILE&ca=FILE&replicas=N]";

/** Throws for what is not an address. The message has no password in it. */
export function parseClusterUrl(text: string): ClusterAddress {
  const match = /^(nats|tls):\/\/(?:([^@/?]*)@)?([^@/?]+)\/?(?:\?(.*))?$/.exec(text);
  if (!match) throw wrong("it has another form");
  const [, scheme, login, hosts, query] = match;
  const params = new URLSearchParams(query);
  const known = ["name", "creds", "nkey", "ca", "replicas"];
  const unknown = [...params.keys()].find((key) => !known.includes(key));
  if (unknown !== undefined) throw wrong(`${JSON.stringify(unknown)} is not known`);
  const name = params.get("name") ?? toNodeName(hostname());
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) throw wrong("a node's name has letters, digits, '-' and '_', at most 64");
  const replicas = params.get("replicas");
  if (replicas !== null && !/^[1-5]$/.test(replicas)) throw wrong("replicas is a number from 1 to 5");
  const [user, password] = login === undefined ? [] : login.split(/:(.*)/s).map(decodeURIComponent);
  if (login !== undefined && password === undefined) throw wrong("a user needs a password");
  const files = Object.fromEntries(
    ["creds", "nkey", "ca"].flatMap((key) => (params.has(key) ? [[key, params.get(key)!]] : [])),
  );
  return {
    servers: hosts!.split(","),
    usesTls: scheme === "tls" || params.has("ca"),
    ...(user !== undefined && { user, password: password! }),
    ...files,
    name,
    replicas: replicas === null ? undefined : Number(replicas),
  };
}

const wrong = (why: string) =>
  new GatewayError("invalid_parameters", `The address of the cluster is wrong: ${why}. It looks like ${form}.`);

const toNodeName = (host: string): string => host.replaceAll(/[^A-Za-z0-9_-]/g, "-").slice(0, 64) || "node";

/** Reads the files that the address names. */
export async function toConnectionOptions(address: ClusterAddress): Promise<NodeConnectionOptions> {
  const { servers, user, password, creds, nkey, ca, usesTls, name } = address;
  return {
    servers,
    name: `tau ${name}`,
    // Answers to this node's requests; others may not read them.
    inboxPrefix: `_INBOX.tau.${name}`,
    ...(user !== undefined && { user, pass: password! }),
    ...(creds !== undefined && { authenticator: credsAuthenticator(await readSecret(creds)) }),
    ...(nkey !== undefined && { authenticator: nkeyAuthenticator(trimLine(await readSecret(nkey))) }),
    ...(usesTls && { tls: ca === undefined ? {} : { caFile: ca } }),
  };
}

async function readSecret(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code = "unreadable" } = error as NodeJS.ErrnoException;
    throw new GatewayError("invalid_parameters", `The credentials of the cluster in ${path} cannot be read (${code}).`);
  }
}

const trimLine = (bytes: Uint8Array): Uint8Array => new TextEncoder().encode(new TextDecoder().decode(bytes).trim());
