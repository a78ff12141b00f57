import fc from "fast-check";
import { expect, test } from "vitest";
import { type FileGrants, Grants } from "./grants.ts";
import type { Target } from "./policy.ts";

const at = (path: string): Target => ({ kind: "path", path });

test("a path that is granted for reading covers what is below it, and nothing beside or above it", () => {
  const grants = new Grants();
  grants.grant({ capability: "read", target: at("/a/b") }, { toolCallId: "1" });
  const ofCall = grants.forCall("1");
  expect(["/a/b", "/a/b/c/d", "/a", "/a/bc", "/a/b/../c"].map((path) => ofCall.allows("read", path))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(ofCall.allows("write", "/a/b")).toBe(false);
});

test("a path that is granted for writing may be read too, but nothing below it", () => {
  const grants = new Grants();
  grants.grant({ capability: "write", target: at("/a/b") }, { toolCallId: "1" });
  const ofCall = grants.forCall("1");
  expect([ofCall.allows("write", "/a/b"), ofCall.allows("read", "/a/b")]).toEqual([true, true]);
  expect([ofCall.allows("write", "/a/b/c"), ofCall.allows("read", "/a/b/c")]).toEqual([false, false]);
});

test("what was granted to a call ends with it; what was granted for the session stays", () => {
  const grants = new Grants();
  grants.grant({ capability: "read", target: at("/a") }, { toolCallId: "1" });
  grants.grant({ capability: "read", target: at("/b") }, "session");
  grants.grant({ capability: "read", target: at("/c") }, { toolCallId: "2" });
  grants.endCall("1");
  grants.endCall("never begun");
  const allowedFor = (holder: FileGrants) => ["/a", "/b", "/c"].map((path) => holder.allows("read", path));
  expect(allowedFor(grants.forCall("1"))).toEqual([false, true, false]);
  expect(allowedFor(grants.forCall("2"))).toEqual([false, true, true]);
  expect(allowedFor(grants)).toEqual([false, true, false]);
});

test("only what was granted for the session is remembered, for exactly the same target", () => {
  const grants = new Grants();
  grants.grant({ capability: "exec", target: { kind: "command", command: "make" } }, "session");
  grants.grant({ capability: "exec", target: { kind: "command", command: "make test" } }, { toolCallId: "1" });
  const remembered = (command: string) => grants.isRemembered("exec", { kind: "command", command });
  expect([remembered("make"), remembered("make test"), remembered("make install")]).toEqual([true, false, false]);
  expect(grants.isRemembered("tool", { kind: "command", command: "make" })).toBe(false);
  expect(grants.isRemembered("exec", { kind: "name", name: "make" })).toBe(false);
});

test("a grant never allows a path that is not below one that was granted", () => {
  const name = fc.constantFrom("a", "b", "ab");
  const path = fc.array(name, { maxLength: 4 }).map((names) => `/${names.join("/")}`);
  fc.assert(
    fc.property(fc.array(path, { maxLength: 4 }), path, (granted, asked) => {
      const grants = new Grants();
      for (const one of granted) grants.grant({ capability: "read", target: at(one) }, "session");
      const isBelow = granted.some((one) => `${asked}/`.startsWith(one === "/" ? one : `${one}/`));
      expect(grants.allows("read", asked)).toBe(isBelow);
    }),
  );
});

test("a rule for the beginning of commands covers others, and a command that looks like one does not", () => {
  const grants = new Grants();
  const command = { kind: "command", command: "npm run *" } as const;
  grants.grant({ capability: "exec", target: command }, "session");
  expect(grants.isRemembered("exec", { kind: "command", command: "npm run build" })).toBe(false);
  grants.grant({ capability: "exec", target: command, isPrefix: true }, "session");
  expect(grants.isRemembered("exec", { kind: "command", command: "npm run build" })).toBe(true);
});

test("only the names that were granted for a capability are listed for it", () => {
  const grants = new Grants();
  grants.grant({ capability: "env", target: { kind: "name", name: "TOKEN" } }, { toolCallId: "1" });
  grants.grant({ capability: "tool", target: { kind: "name", name: "bash" } }, { toolCallId: "1" });
  expect(grants.listNames("env", "1")).toEqual(["TOKEN"]);
});
