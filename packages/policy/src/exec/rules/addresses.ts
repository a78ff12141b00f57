/** Hosts of addresses, and sockets that lead to other machines or to the rights of root. */
import { type Scope, report } from "../shell/analysis.ts";
import { type Options, type Text, joinOrigins, origins } from "../shell/text.ts";

/** The machine itself. */
export function isLocalHost(host: string): boolean {
  const name = normalise(host);
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "::1" ||
    name === "0.0.0.0" ||
    name === "host.docker.internal" ||
    /^127(?:\.\d{1,3}){3}$/.test(name)
  );
}

/** The service that gives a cloud machine its credentials, in all spellings of its address. */
export function isMetadataHost(host: string): boolean {
  const name = normalise(host);
  if (
    /^(?:metadata\.google\.internal|metadata|instance-data(?:\.ec2\.internal)?|fd00:ec2::254|100\.100\.100\.200|169\.254\.170\.2)$/.test(
      name,
    )
  )
    return true;
  if (name.startsWith("::ffff:")) return isMetadataHost(name.slice(7)) || /^::ffff:a9fe:a9fe$/.test(name);
  return toAddress(name) === 0xa9_fe_a9_fe;
}

const normalise = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");

/** An IPv4 address as a number, also from decimal, octal and hexadecimal parts. */
function toAddress(host: string): number | undefined {
  const parts = host
    .split(".")
    .map((part) =>
      /^0[0-7]+$/.test(part) ? Number.parseInt(part, 8) : /^(?:\d+|0x[\da-f]+)$/.test(part) ? Number(part) : Number.NaN,
    );
  if (parts.length > 4 || parts.some((part) => !Number.isInteger(part))) return undefined;
  const last = parts.pop()!;
  return parts.reduce((sum, part, index) => sum + part * 256 ** (3 - index), 0) + last;
}

/** The host of a URL or of `host/path`; undefined where there is none. */
export function getHost(address: string): string | undefined {
  const match = /^(?:\w[\w+.-]*:\/\/)?(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]+)/.exec(address);
  return match?.[1];
}

type Socket = "local" | "remote";

/** Reports a connection to another machine. Undefined for a path that is no socket. */
export function judgeSocket(path: string, operator: string, scope: Scope): Socket | undefined {
  const host = /^\/dev\/(?:tcp|udp)\/([^/]+)\//.exec(path)?.[1];
  if (host === undefined) return undefined;
  if (isLocalHost(host)) return "local";
  if (operator === "<>") {
    report(scope, "critical", "reverse_shell", `It opens a connection to ${host} for reading and writing.`);
  } else {
    const isOutput = operator !== "<" && operator !== "<&";
    report(scope, isOutput ? "high" : "medium", "exfiltration", `It opens a connection to ${host}.`);
  }
  return "remote";
}

/** Credentials that leave through such a socket. */
export function judgeSentOutput(path: string, output: Options<Text>, scope: Scope): void {
  if (!/^\/dev\/(?:tcp|udp)\//.test(path) || (joinOrigins(output) & origins.credential) === 0) return;
  report(scope, "critical", "exfiltration", "It sends credentials to another machine.");
}

const socket =
  /(?:^|[/:=,@"'\s]|%2F)(?:docker|docker-cli|podman|containerd|crio|cri-dockerd|buildkitd|dockershim|lxd\/unix|incus\/unix)\.(?:sock|socket)(?![\w.-])/i;

/** Whether a text names such a socket, also in an address such as `http+unix://%2Frun%2Fdocker.sock`. */
const namesContainerSocket = (text: string): boolean => socket.test(text);

/** Reports a request to such a socket. `changes`: it may start or change something, so that the machine is in its hands. */
export function judgeContainerSocket(texts: readonly string[], scope: Scope, changes: boolean): void {
  const name = texts.find(namesContainerSocket);
  if (name === undefined) return;
  const tier = changes ? "critical" : "high";
  report(scope, tier, "privilege_escalation", `It speaks to ${name.slice(0, 80)}, which may start anything as root.`);
}
