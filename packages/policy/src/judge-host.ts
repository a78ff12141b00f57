/** Judges what the model wants to read from the network. Pure. */
import type { SandboxNetwork } from "@tau/sandbox";
import { createHostRules, parseHost } from "@tau/sandbox/internal";
import type { PolicyRequest, Verdict } from "./policy.ts";
import type { SecretBroker } from "./secrets/secret-broker.ts";

interface HostFacts {
  secrets: Pick<SecretBroker, "isIn" | "listGiven">;
  /** The network that the sandbox lets through. */
  network: SandboxNetwork;
}

/** Judges a request of the model to a host: what the sandbox lets commands reach is open to it too. */
export function judgeHost(host: string, { sends, chosen }: PolicyRequest, { secrets, network }: HostFacts): Verdict {
  // The names of hosts are in lower case.
  if (sends !== undefined && listDecoded(sends).some((text) => secrets.isIn(text, { ignoresCase: true }))) {
    const reason = "The address has a secret in it, or something that looks like a key, so nothing was sent.";
    return { kind: "deny", rule: "secret-in-address", reason };
  }
  if (isReachable(host, network)) return { kind: "allow", rule: "network" };
  if (chosen === "host") return { kind: "allow", rule: "chosen-host" };
  const hasSecrets = secrets.listGiven().length > 0;
  if (chosen === "address" && !hasSecrets) return { kind: "allow", rule: "chosen-address" };
  const why =
    chosen === "address" ? " A command of this session was given a secret, so every address is asked about." : "";
  return { kind: "ask", rule: hostRule, reason: `It reads from ${host}, a host on the network.${why}` };
}

/** The rule of a question about a host. */
export const hostRule = "host";

/** Ports that hosts of the web have where a setting names none. */
const webPorts = [80, 443];

function isReachable(name: string, network: SandboxNetwork): boolean {
  if (network === "all" || network === "none") return network === "all";
  const host = parseHost(name);
  const rules = createHostRules(network.allow);
  return host !== undefined && webPorts.some((port) => rules.check({ host, port }) !== "refused");
}

/** Text may be escaped several times on its way. */
const maxDecodings = 8;

/** The text, and what it is without the escapes of addresses. A plus is a space in forms, and itself in base64. */
function listDecoded(text: string): string[] {
  const texts = [text];
  for (let count = 0; count < maxDecodings; count++) {
    const last = texts.at(-1)!;
    const bytes = last.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (codes) =>
      Buffer.from(codes.replaceAll("%", ""), "hex").toString("utf8"),
    );
    if (bytes === last) break;
    texts.push(bytes);
  }
  return texts.flatMap((each) => (each.includes("+") ? [each, each.replaceAll("+", " ")] : [each]));
}
