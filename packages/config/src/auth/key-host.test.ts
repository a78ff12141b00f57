import { getModels, getProviders } from "@tau/ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { getHost, providerHosts, refuseHost } from "./key-host.ts";

const none = () => undefined;

test.each([
  ["https://API.Example.com/v1", "api.example.com"],
  ["api.example.com", "api.example.com"],
  ["https://api.example.com:443", "api.example.com"],
  ["https://api.example.com:8443/x", "api.example.com:8443"],
  ["wss://api.example.com", "api.example.com"],
  ["http://api.example.com", "http://api.example.com"],
  ["http://127.0.0.1:8080/v1", "127.0.0.1:8080"],
  ["http://localhost:8080", "localhost:8080"],
  ["http://localhost.evil.example", "http://localhost.evil.example"],
  ["https://api.example.com@evil.example", undefined],
  ["file:///etc/passwd", undefined],
  ["https://", undefined],
  ["", undefined],
])("the host of %j is %j", (place, host) => {
  expect(getHost(place)).toBe(host);
});

test.each([
  ["anthropic", "https://api.anthropic.com/v1", true],
  ["anthropic", "http://api.anthropic.com", false],
  ["anthropic", "https://api.anthropic.com.evil.example", false],
  ["anthropic", "https://evil.example/api.anthropic.com", false],
  ["anthropic", "https://api.anthropic.com:8443", false],
  ["anthropic", "https://api.openai.com", false],
  ["amazon-bedrock", "https://bedrock-runtime.eu-west-3.amazonaws.com", true],
  ["amazon-bedrock", "https://bedrock-runtime.s3.evil.amazonaws.com", false],
  ["google-vertex", "https://us-central1-aiplatform.googleapis.com", true],
  ["google-vertex", "https://aiplatform.googleapis.com", true],
  ["azure", "https://mine.services.ai.azure.com/openai/v1", true],
  ["azure-openai-responses", "https://mine.openai.azure.com/openai/v1", true],
  ["ollama", "http://localhost:11434/v1", true],
  ["ollama", "http://[::1]:11434/v1", true],
  ["ollama", "http://192.0.2.1:11434/v1", false],
  ["constructor", "https://api.anthropic.com", false],
])("a key of %s may be sent to %s: %j", (provider, place, isAllowed) => {
  expect(refuseHost(provider, place, providerHosts(provider, none)) === undefined).toBe(isAllowed);
});

test("a provider's key may be sent to each of its models in the catalogue", () => {
  for (const provider of getProviders()) {
    const hosts = providerHosts(provider, none);
    for (const { baseUrl, id } of getModels(provider)) {
      const url = baseUrl.replace(/\{\w+\}/g, "us-central1");
      if (url !== "") expect([id, refuseHost(provider, url, hosts)]).toEqual([id, undefined]);
    }
  }
});

test("a password in an address is not repeated in the refusal", () => {
  const refusal = refuseHost("house", "https://ada:hunter2-secret@gate.example/v1", ["gate.example"]);
  expect(refusal).toMatch(/^No key is sent to an address with a user .* https:\/\/gate\.example\/v1\.$/);
});

test("the address in AZURE_OPENAI_BASE_URL is a host of Azure", () => {
  const env = (name: string) => (name === "AZURE_OPENAI_BASE_URL" ? "https://gate.corp.example/openai" : undefined);
  expect(providerHosts("azure-openai-responses", env)).toContain("gate.corp.example");
});

test("an allowed host matches itself, or with a star exactly as many labels as it has", () => {
  const label = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
  fc.assert(
    fc.property(
      fc.array(label, { minLength: 1, maxLength: 4 }),
      fc.array(label, { minLength: 2, maxLength: 4 }),
      (a, b) => {
        const [host, bound] = [a.join("."), b.join(".")];
        expect(refuseHost("p", host, [bound]) === undefined).toBe(host === bound);
        const isOneMore = a.length === b.length + 1 && host.endsWith(`.${bound}`);
        expect(refuseHost("p", host, [`*.${bound}`]) === undefined).toBe(isOneMore);
        expect(refuseHost("p", `x.${bound}`, [`*.${bound}`])).toBeUndefined();
        expect(refuseHost("p", `x.y.${bound}`, [`*.${bound}`])).toContain("not sent");
      },
    ),
  );
});
