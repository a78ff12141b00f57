import { expect, test } from "vitest";
import { Owned } from "./owned.ts";

test("all parts are closed once, the last one first, also when some fail; the first failure is thrown", async () => {
  const closed: string[] = [];
  const owned = new Owned();
  owned.add(() => closed.push("settings"));
  owned.add(() => Promise.reject(new Error("log")));
  owned.add(() => {
    throw new Error("tools");
  });
  owned.add(async () => closed.push("sandbox"));
  await expect(owned.close()).rejects.toThrow("tools");
  expect(closed).toEqual(["sandbox", "settings"]);
  await owned.close();
  expect(closed).toHaveLength(2);
});
