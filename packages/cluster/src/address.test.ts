import { expect, test } from "vitest";
import { parseClusterUrl } from "./address.ts";
import { refuseVersion } from "./version.ts";

test("an address names servers, a login, files and the node", () => {
  const address = parseClusterUrl(
    "nats://me:p%40ss@a:4222,b:4222?name=one&creds=/etc/tau.creds&ca=/etc/ca.pem&replicas=3",
  );
  expect(address).toEqual({
    servers: ["a:4222", "b:4222"],
    user: "me",
    password: "p@ss",
    creds: "/etc/tau.creds",
    ca: "/etc/ca.pem",
    name: "one",
    replicas: 3,
    usesTls: true,
  });
  expect(parseClusterUrl("tls://a").usesTls).toBe(true);
  expect(parseClusterUrl("nats://a").name).toMatch(/^[\w-]+$/);
});

for (const url of [
  "http://a:4222",
  "nats://",
  "nats://secret@a",
  "nats://u:secret@a?token=secret",
  "nats://a?name=x.y",
  "nats://a?replicas=9",
  "nats://u:secret@a/path",
]) {
  test(`${url} is refused with one sentence, without the password`, () => {
    let message = "";
    try {
      parseClusterUrl(url);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toMatch(/^The address of the cluster is wrong: /);
    expect(message).not.toContain("secret");
  });
}

test("servers before 2.10.23 are refused with one sentence", () => {
  for (const version of ["2.10.23", "2.10.27", "2.11.0-preview.1", "3.0.0"])
    expect(refuseVersion(version)).toBeUndefined();
  for (const version of ["2.9.10", "2.10.22", "2.2.30", "1.99.99", "", "latest"]) {
    expect(refuseVersion(version)).toMatch(/too old for a cluster: it needs 2\.10\.23 or newer\.$/);
  }
});
