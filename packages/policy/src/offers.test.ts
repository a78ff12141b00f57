import { describe, expect, test } from "vitest";
import type { Grant } from "./grants.ts";
import { listOffers } from "./offers.ts";

const home = "/home/me";
const labels = (exact: Grant, offersDirectory = false) =>
  listOffers(exact, { home, offersDirectory }).map(({ label }) => label);
const run = (command: string): Grant => ({ capability: "exec", target: { kind: "command", command } });
const at = (capability: "read" | "write", path: string): Grant => ({ capability, target: { kind: "path", path } });

describe("the answers to a question", () => {
  test("say in words which commands they cover", () => {
    expect(labels(run("git push origin main"))).toEqual([
      "Yes, this once",
      "Yes, for this session: run this command",
      "Yes, for this session: run commands that begin with git push",
      "Always in this project: run this command",
      "Always in this project: run commands that begin with git push",
      "Always, in every project: run this command",
    ]);
  });

  test("offer the directory of a file, unless that is the home or contains it", () => {
    expect(labels(at("write", "/opt/lib/a.ts"), true)).toContain(
      "Always in this project: change everything in /opt/lib",
    );
    expect(labels(at("write", "/opt/lib/a.ts"))).toHaveLength(4);
    for (const path of ["/home/me/a.ts", "/home/x", "/x"]) expect(labels(at("read", path), true)).toHaveLength(4);
  });

  test.each<Grant>([
    run("npm run build"),
    run("rm x"),
    at("read", "/etc/hosts"),
    at("write", "/opt/a"),
    { capability: "http", target: { kind: "host", host: "registry.example" } },
    { capability: "env", target: { kind: "name", name: "TOKEN" } },
  ])("no two of %j have the same name or rule", (exact) => {
    const offers = listOffers(exact, { home, offersDirectory: true });
    expect(new Set(offers.map(({ label }) => label)).size).toBe(offers.length);
    expect(new Set(offers.map(({ choice, rule }) => `${choice} ${rule}`)).size).toBe(offers.length);
  });

  test("name hosts and secrets", () => {
    expect(labels({ capability: "http", target: { kind: "host", host: "registry.example" } })).toContain(
      "Always in this project: reach registry.example",
    );
    expect(labels({ capability: "env", target: { kind: "name", name: "TOKEN" } })).toContain(
      "Yes, for this session: give TOKEN to commands",
    );
  });
});
