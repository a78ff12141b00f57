import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  changeTrust,
  forgetExtensionTrust,
  type ExtensionTrustState,
  extensionTrustStates,
  getTrustState,
  listExtensionTrust,
  readExtensionTrust,
  type TrustChange,
  writeExtensionTrust,
} from "./extension-trust.ts";
import { getLedgerPath, verifyLedger } from "@tau/policy";

let agentDir: string;
beforeEach(async () => {
  agentDir = await mkdtemp(join(tmpdir(), "tau-trust-"));
});
afterEach(async () => {
  await rm(agentDir, { recursive: true });
});

test.each<[ExtensionTrustState, ExtensionTrustState, string, ExtensionTrustState]>([
  ["pending", "acknowledged", "person", "acknowledged"],
  ["pending", "acknowledged", "quota", "pending"],
  ["pending", "trusted", "person", "pending"],
  ["pending", "killed", "person", "killed"],
  ["acknowledged", "trusted", "person", "trusted"],
  ["acknowledged", "trusted", "quota", "acknowledged"],
  ["acknowledged", "killed", "quota", "killed"],
  ["trusted", "acknowledged", "person", "trusted"],
  ["trusted", "pending", "content", "pending"],
  ["trusted", "killed", "crashes", "killed"],
  ["killed", "acknowledged", "person", "acknowledged"],
  ["killed", "acknowledged", "quota", "killed"],
  ["killed", "trusted", "person", "killed"],
  ["killed", "pending", "content", "killed"],
])("%s, asked to be %s by %s, is %s", (state, to, operator, expected) => {
  expect(changeTrust(state, { to, operator, reason: "" })).toBe(expected);
});

test("without a person, no sequence of changes trusts more", () => {
  const rank: Record<ExtensionTrustState, number> = { killed: 0, pending: 1, acknowledged: 2, trusted: 3 };
  const states = fc.constantFrom(...extensionTrustStates);
  fc.assert(
    fc.property(states, fc.array(states), (first, changes) => {
      let state = first;
      for (const to of changes) {
        const next = changeTrust(state, { to, operator: "quota", reason: "" });
        expect(rank[next]).toBeLessThanOrEqual(rank[state]);
        state = next;
      }
    }),
  );
});

test("another content is pending, but a killed extension stays killed", () => {
  expect(getTrustState(undefined, "a")).toBe("pending");
  expect(getTrustState({ state: "trusted", digest: "a" }, "a")).toBe("trusted");
  expect(getTrustState({ state: "trusted", digest: "a" }, "b")).toBe("pending");
  expect(getTrustState({ state: "killed", digest: "a" }, "b")).toBe("killed");
});

test("every change is stored and in the ledger, and one that changes nothing is not", async () => {
  const extension = { id: "clock", digest: "a" };
  const options = { agentDir, ids: systemIds };
  const write = (to: TrustChange["to"], operator = "person") =>
    writeExtensionTrust(extension, { to, operator, reason: "test" }, options);
  expect(await write("acknowledged")).toBe("acknowledged");
  expect(await write("trusted")).toBe("trusted");
  expect(await write("killed", "quota")).toBe("killed");
  expect(await write("killed", "person")).toBe("killed");
  expect(await write("acknowledged", "quota")).toBe("killed");
  expect(await readExtensionTrust(extension, { agentDir })).toBe("killed");
  expect(await readExtensionTrust({ id: "clock", digest: "b" }, { agentDir })).toBe("killed");
  expect(await write("acknowledged")).toBe("acknowledged");
  expect(await readExtensionTrust({ id: "clock", digest: "b" }, { agentDir })).toBe("pending");
  const { records, problems } = verifyLedger(await readFile(getLedgerPath(agentDir), "utf8"));
  expect(problems).toEqual([]);
  expect(
    records.map(({ previous_state, new_state, activated, operator }) => [
      previous_state,
      new_state,
      activated,
      operator,
    ]),
  ).toEqual([
    ["pending", "acknowledged", false, "person"],
    ["acknowledged", "trusted", false, "person"],
    ["trusted", "killed", true, "quota"],
    ["killed", "acknowledged", false, "person"],
  ]);
  expect(records[0]).toMatchObject({ extension_id: "clock", ts_ms: expect.any(Number), reason: "test" });
});

test("nothing but the ledger stays of an extension that was removed", async () => {
  const options = { agentDir, ids: systemIds };
  const change = { to: "acknowledged", operator: "person", reason: "test" } as const;
  for (const id of ["gone", "kept"]) await writeExtensionTrust({ id, digest: "a" }, change, options);
  for (const id of ["gone", "never"]) await forgetExtensionTrust({ id }, options);
  expect((await listExtensionTrust(options)).map(([id]) => id)).toEqual(["kept"]);
  const { records } = verifyLedger(await readFile(getLedgerPath(agentDir), "utf8"));
  expect(records).toHaveLength(3);
  expect(records.at(-1)).toMatchObject({ extension_id: "gone", reason: "removed", new_state: "pending" });
});

test("what is said about a package of one project counts there alone, but a kill counts everywhere", async () => {
  const options = { agentDir, ids: systemIds };
  const own = { id: "npm:x", digest: "1" };
  const first = { ...own, project: "/a", digest: "2" };
  const second = { ...first, project: "/b" };
  const write = (extension: typeof own, to: TrustChange["to"], operator = "person") =>
    writeExtensionTrust(extension, { to, operator, reason: "test" }, options);
  const read = () => Promise.all([own, first, second].map((extension) => readExtensionTrust(extension, options)));
  for (const extension of [own, first]) await write(extension, "acknowledged");
  await write(own, "trusted");
  expect(await read()).toEqual(["trusted", "acknowledged", "pending"]);
  await write(first, "killed", "quota");
  expect(await read()).toEqual(["killed", "killed", "killed"]);
  await write(second, "acknowledged");
  expect(await read()).toEqual(["trusted", "pending", "acknowledged"]);
  await forgetExtensionTrust(second, options);
  expect(await read()).toEqual(["trusted", "pending", "pending"]);
});
