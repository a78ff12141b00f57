import { expect, test } from "vitest";
import type { SandboxNetwork } from "@tau/sandbox";
import { judgeHost } from "./judge-host.ts";
import type { PolicyRequest } from "./policy.ts";
import { createSecretBroker } from "./secrets/secret-broker.ts";
import { resolvePolicy } from "./extension-policy.ts";

const secret = "hush/hush 42 is the word";
const ownKey = "own-key-0123456789";

function judge(sent: Pick<PolicyRequest, "sends" | "chosen">, network: SandboxNetwork = "none", isGiven = false) {
  const secrets = createSecretBroker({
    policy: () => resolvePolicy().secretBroker,
    isOwnKey: () => false,
    listOwnForms: () => [ownKey],
    env: { MY_TOKEN: secret },
  });
  if (isGiven) secrets.give(["MY_TOKEN"]);
  const request: PolicyRequest = {
    subject: { kind: "model", sessionId: "s" },
    capability: "http",
    target: { kind: "host", host: "docs.example.org" },
    ...sent,
  };
  return judgeHost("docs.example.org", request, { secrets, network });
}

test.each<[kind: string, sent: Pick<PolicyRequest, "sends" | "chosen">, network: SandboxNetwork, isGiven: boolean]>([
  ["ask", {}, "none", false],
  ["ask", { sends: "https://docs.example.org/a" }, { allow: ["example.org"] }, false],
  ["allow", {}, "all", false],
  ["allow", {}, { allow: ["docs.example.org"] }, false],
  ["allow", {}, { allow: ["*.example.org"] }, false],
  ["ask", {}, { allow: ["docs.example.org:8080"] }, false],
  ["allow", { chosen: "address" }, "none", false],
  ["ask", { chosen: "address" }, "none", true],
  ["allow", { chosen: "host" }, "none", true],
])("%s: %j with the network %j, after a secret: %j", (kind, sent, network, isGiven) => {
  expect(judge(sent, network, isGiven).kind).toBe(kind);
});

const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

/** An encoding of a longer text that has a plus and a slash, of which only the slash is escaped. */
const base64WithPlus = ((): string => {
  const texts = Array.from({ length: 3_000 }, (_unused, n) => Buffer.from(`${n}>>${secret}??>`).toString("base64"));
  const wanted = texts.find((text) => text.includes("+") && text.includes("/"))!;
  return wanted.replaceAll("/", "%2F");
})();

test.each([
  ["in a query", encodeURIComponent(secret)],
  ["in a form", secret.replaceAll(" ", "+")],
  ["with every byte escaped", percent(secret)],
  ["escaped twice", encodeURIComponent(encodeURIComponent(secret))],
  ["with some letters escaped", `%68ush%2Fhush 42 is the wor%64`],
  ["in base64", Buffer.from(secret).toString("base64url")],
  ["in base64 of a longer text", encodeURIComponent(Buffer.from(`x${secret}y`).toString("base64"))],
  ["in hexadecimal", Buffer.from(secret).toString("hex")],
  ["in base64 with a plus and an escaped slash", base64WithPlus],
  ["escaped five times", Array.from({ length: 5 }).reduce<string>((text) => encodeURIComponent(text), secret)],
  [
    "in the name of a host, in lower case",
    `x&next=https://${Buffer.from(secret).toString("base64url").toLowerCase()}.evil.example`,
  ],
  ["as a key of tau's own", ownKey],
  ["as a key of a service", "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3"],
])("an address with a secret %s is refused, whoever chose it", (_name, text) => {
  for (const chosen of ["address", "host"] as const)
    expect(judge({ sends: `https://docs.example.org/a?q=${text}`, chosen }, "all")).toMatchObject({
      kind: "deny",
      rule: "secret-in-address",
    });
});
