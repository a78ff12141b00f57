/** docs/environment.md names every variable that the sources read, and every one that commands get. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findEnvKeys, getModels, getProviders } from "@tau/ai";
import { expect, test } from "vitest";
import { awsVariables } from "../../../ai/src/auth/aws/load.ts";
import { localServers } from "../../../ai/src/providers/local-servers.ts";
import { cleanEnvironment } from "@tau/tools";
import { variable as jobVariable } from "../../../tools/src/shell/process-tree.ts";
import { getSessionEnv } from "../../src/construct/session-env.ts";

const root = join(import.meta.dirname, "../../../..");
const page = readFileSync(join(root, "docs/environment.md"), "utf8");

const readSection = (heading: string) => page.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!;

/** The names in the first cells of the tables of a part of the page. */
const readNames = (text: string): string[] =>
  [...text.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
  );

/** The variables in the text of the sources: `env("X")`, `env["X"]`, `env.X`. */
function findReadVariables(): string[] {
  const names = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", ...awsVariables];
  for (const name of readdirSync(join(root, "packages"))) {
    for (const file of readdirSync(join(root, "packages", name, "src"), { recursive: true }).map(String)) {
      if (!file.endsWith(".ts") || /test\.ts$|^testing/.test(file)) continue;
      const text = readFileSync(join(root, "packages", name, "src", file), "utf8");
      for (const [, variable] of text.matchAll(/\benv(?:\("|\["|\.)([A-Za-z_]*_[A-Za-z_]+|[A-Z]{4,})\b/g))
        names.push(variable!);
    }
  }
  return names;
}

test("every variable that the sources read is in a table, and every name in the tables is read", () => {
  const addresses = getProviders().flatMap((provider) => getModels(provider).map(({ baseUrl }) => baseUrl));
  const placeholders = addresses.flatMap((url) => [...url.matchAll(/\{([A-Z_]+)\}/g)].map(([, name]) => name!));
  const hosts = Object.values(localServers).flatMap((server) =>
    "hostVariable" in server ? [server.hostVariable] : [],
  );
  const tables = ["Read by tau", "Network", "Addresses and accounts of providers"].map(readSection).join("\n");
  expect(readNames(tables).toSorted()).toEqual(
    [...new Set([...findReadVariables(), ...placeholders, ...hosts])].toSorted(),
  );
});

test("the keys are those of every provider", () => {
  const rows = [...readSection("Keys").matchAll(/^\| `([\w-]+)` +\| (.*?) +\|$/gm)].map(([, provider, names]) => [
    provider!,
    [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
  ]);
  const providers = [...new Set([...getProviders(), ...Object.keys(localServers)])];
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(providers.map((provider) => [provider, findEnvKeys(provider, () => "set") ?? []])),
  );
});

test("what commands get is listed: what describes the session, and what keeps output plain", () => {
  const section = readSection("What commands get");
  const session = getSessionEnv({ sessionId: "s", sessionFile: undefined, model: undefined, thinkingLevel: "off" });
  expect(readNames(section).toSorted()).toEqual(Object.keys(session).toSorted());
  for (const [name, value] of Object.entries(cleanEnvironment({}))) expect(section).toContain(`\`${name}=${value}\``);
  expect(section).toContain(`\`${jobVariable}\``);
  const examples = { A_API_KEY: "1", A_TOKEN: "1", A_PASSWORD: "1", AWS_X: "1", AZURE_X: "1", URL: "http://a:b@c" };
  const hooks = { BASH_ENV: "1", PROMPT_COMMAND: "1", FORCE_COLOR: "1", CI: "1" };
  expect(cleanEnvironment({ ...examples, ...hooks })).toEqual(cleanEnvironment({}));
});

test("the variables of install.sh are named", () => {
  const script = readFileSync(join(root, "install.sh"), "utf8");
  for (const [name] of script.matchAll(/TAU_[A-Z]+/g)) expect(page).toContain(`\`${name}\``);
});
