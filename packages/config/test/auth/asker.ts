/**
 * A process that uses credentials, for tests with several of them. Arguments: the directory, the server, and what to do:
 * `key`, to ask for a key once a line arrives on the standard input, or `set NAME COUNT`, to store so many keys.
 */
import { once } from "node:events";
import { AuthStorage } from "../../src/auth/auth-storage.ts";

const [directory = "", url = "", act = "key", name = "", count = "1"] = process.argv.slice(2);
const provider = {
  id: "here",
  name: "Here",
  clientId: "test-client",
  scopes: ["one", "two"],
  tokenUrl: `${url}/token`,
  device: { dialect: "standard" as const, startUrl: `${url}/device` },
};
const storage = AuthStorage.create(directory, { oauthProviders: url === "" ? [] : [provider] });

process.stdout.write("ready\n");
await once(process.stdin, "data");
process.stdin.destroy();
if (act === "key") process.stdout.write(`${JSON.stringify(await storage.getApiKey("here"))}\n`);
else for (let at = 0; at < Number(count); at++) await storage.set(`${name}-${at}`, { type: "api_key", key: name });
