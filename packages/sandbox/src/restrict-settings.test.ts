import fc from "fast-check";
import { expect, test } from "vitest";
import { restrictSandbox } from "./restrict-settings.ts";
import { defaultSandboxSettings, type SandboxNetwork, type SandboxSettings } from "./settings.ts";

const hosts = fc.subarray(["a.example", "b.example", "c.example"]);

const settings: fc.Arbitrary<SandboxSettings> = fc.record(
  {
    mode: fc.constantFrom("off", "auto", "required"),
    allowedPaths: fc.subarray(["/data", "/data/deep", "/opt"]),
    timeoutMs: fc.integer({ min: 1, max: 100 }),
    maxMemoryMb: fc.integer({ min: 16, max: 100 }),
    maxMemoryFilesMb: fc.integer({ min: 1, max: 100 }),
    ports: fc.subarray([80, 3000, 8080]),
    network: fc.oneof(fc.constantFrom("none", "all"), fc.record({ allow: hosts })),
  },
  { requiredKeys: ["mode", "allowedPaths", "ports", "network", "maxMemoryFilesMb"] },
);

const partial = fc
  .tuple(settings, fc.subarray(["mode", "allowedPaths", "timeoutMs", "ports", "network"] as const))
  .map(([all, names]) => Object.fromEntries(names.flatMap((name) => (name in all ? [[name, all[name]]] : []))));

const reaches = (network: SandboxNetwork, host: string) =>
  network === "all" || (network !== "none" && network.allow.includes(host));

test("a project never loosens the sandbox", () => {
  fc.assert(
    fc.property(settings, partial, (own, project) => {
      const both = restrictSandbox(own, project);
      const order = ["off", "auto", "required"];
      expect(order.indexOf(both.mode)).toBeGreaterThanOrEqual(order.indexOf(own.mode));
      for (const path of both.allowedPaths)
        expect(own.allowedPaths.some((allowed) => path === allowed || path.startsWith(`${allowed}/`))).toBe(true);
      expect(own.ports).toEqual(expect.arrayContaining([...both.ports]));
      expect(both.timeoutMs ?? Infinity).toBeLessThanOrEqual(own.timeoutMs ?? Infinity);
      for (const host of ["a.example", "b.example", "c.example", "d.example"])
        expect(reaches(own.network, host) || !reaches(both.network, host)).toBe(true);
    }),
  );
});

test.each<[Partial<SandboxSettings>, Partial<SandboxSettings>, Partial<SandboxSettings>]>([
  [{ network: "all" }, { network: { allow: ["a.example"] } }, { network: { allow: ["a.example"] } }],
  [{ network: { allow: ["a.example"] } }, { network: "none" }, { network: "none" }],
  [{ network: "none" }, { network: "all" }, { network: "none" }],
  [{ mode: "auto" }, { mode: "required" }, { mode: "required" }],
  [{ mode: "required" }, { mode: "off" }, { mode: "required" }],
  [{ allowedPaths: ["/data"] }, { allowedPaths: ["/data/deep", "/etc"] }, { allowedPaths: ["/data/deep"] }],
  [{}, { timeoutMs: 5 }, { timeoutMs: 5 }],
])("%j and then %j gives %j", (own, project, expected) => {
  expect(restrictSandbox({ ...defaultSandboxSettings, ...own }, project)).toMatchObject(expected);
});
