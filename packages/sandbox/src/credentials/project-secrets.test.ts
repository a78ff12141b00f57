import { expect, test } from "vitest";
import { isNamedFor, isProjectSecret } from "./project-secrets.ts";

const split = (text: string) => text.trim().split(/\s+/);

test.each(
  split(`.env .env.local .env.production .ENV prod.env .envrc .dev.vars server.pem server.key cert.p12 cert.pfx app.jks
app.keystore id_rsa id_ed25519 id_rsa_work .npmrc .pypirc .netrc credentials.json service-account.json
my-service-account-dev.json serviceAccountKey.json client_secret_1.apps.json secrets.yaml terraform.tfstate kubeconfig
passwords.kdbx AuthKey_1.p8 .Env.Example .env.example.`),
)("%s holds secrets of a project", (name) => {
  expect(isProjectSecret(`/src/app/${name}`)).toBe(true);
  expect(isProjectSecret(name)).toBe(true);
});

test.each(
  split(`.env.example .env.sample .env.template .env.production.example .env.dist example.env environment.ts env.ts keys.ts
key.pub id_rsa.pub id_ed25519.pub README.md package.json monkey.ts secrets.ts .npmignore settings.json app.pub.pem`),
)("%s holds none", (name) => {
  expect(isProjectSecret(`/src/app/${name}`)).toBe(false);
});

test("a name of the policy means files of exactly this name", () => {
  expect(isNamedFor("/src/app/.env", [".env"])).toBe(true);
  for (const [path, names] of [
    ["/src/app/.env.local", [".env"]],
    ["/src/app/.ENV", [".env"]],
    ["/src/app/.env", []],
    ["/src/app/.env", ["*"]],
  ] as const)
    expect(isNamedFor(path, names)).toBe(false);
});
