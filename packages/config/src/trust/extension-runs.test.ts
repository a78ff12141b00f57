import { expect, test } from "vitest";
import { countRun, type ExtensionRuns, getRuns } from "./extension-runs.ts";

const guest = { id: "guest", digest: "1" };
const runTimes = (times: number, entries: readonly ExtensionRuns[] = []): readonly ExtensionRuns[] =>
  Array.from({ length: times }).reduce<readonly ExtensionRuns[]>(
    (counted) => countRun(counted, guest, { isRefused: false }),
    entries,
  );

test("runs are counted for one content and one place, and a refusal begins anew", () => {
  const fifty = runTimes(50);
  expect(getRuns(fifty, guest)).toBe(50);
  expect(getRuns(fifty, { ...guest, digest: "2" })).toBe(0);
  expect(getRuns(fifty, { ...guest, project: "/src/app" })).toBe(0);
  const refused = countRun(fifty, guest, { isRefused: true });
  expect(getRuns(refused, guest)).toBe(0);
  expect(getRuns(runTimes(3, refused), guest)).toBe(3);
  const changed = countRun(fifty, { ...guest, digest: "2" }, { isRefused: false });
  expect(getRuns(changed, { ...guest, digest: "2" })).toBe(1);
  expect(getRuns(changed, guest)).toBe(0);
  const beside = countRun(fifty, { id: "other", digest: "1" }, { isRefused: true });
  expect(getRuns(beside, guest)).toBe(50);
});
