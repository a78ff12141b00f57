import { expect, test } from "vitest";
import { resolvePolicy } from "../extension-policy.ts";
import { createSecretBroker, removeSecrets } from "./secret-broker.ts";

const env = {
  HOME: "/home/me",
  DEPLOY_TOKEN: "deploy-secret-1",
  INTERNAL_THING: "internal-secret",
  SHOWN_TOKEN: "shown",
  OWN_KEY: "sk-own-key",
};

const create = () =>
  createSecretBroker({
    policy: () =>
      resolvePolicy({ secretBroker: { exact: ["INTERNAL_THING"], disclosureAllowlist: ["SHOWN_TOKEN"] } }).secretBroker,
    isOwnKey: (name) => name === "OWN_KEY",
    env,
  });

test("commands inherit nothing that the policy calls a secret", () => {
  const inherited = create().getInherited();
  expect(inherited).toMatchObject({ HOME: "/home/me" });
  for (const name of ["DEPLOY_TOKEN", "INTERNAL_THING"]) expect(inherited).not.toHaveProperty(name);
  expect(create().getDisclosed()).toEqual({ SHOWN_TOKEN: "shown" });
});

test("a secret that is given out is known from then on, and tau's own key never is", () => {
  const broker = create();
  expect(broker.give(["DEPLOY_TOKEN", "OWN_KEY", "HOME", "MISSING", "__proto__"])).toEqual({
    DEPLOY_TOKEN: "deploy-secret-1",
  });
  expect(broker.listGiven()).toEqual(["deploy-secret-1"]);
});

test("the value of a secret is removed in the forms in which programs print it", () => {
  const value = "s3cret/with+signs";
  const texts = [value, JSON.stringify(value), encodeURIComponent(value), Buffer.from(value).toString("base64")];
  for (const text of texts)
    expect(removeSecrets(`a ${text} b`, [value])).toBe(`a ${text.startsWith('"') ? '"[secret]"' : "[secret]"} b`);
  expect(removeSecrets("ordinary text", ["short"])).toBe("ordinary text");
});
