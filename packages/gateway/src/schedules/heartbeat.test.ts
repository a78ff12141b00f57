import { expect, test } from "vitest";
import { formatHeartbeat } from "./heartbeat.ts";

test.each(["", "\n\n", "# Heartbeat\n\n", "# A\n- [ ]\n-\n* \n<!-- nothing yet -->\n"])(
  "a list without anything to look at asks no model: %j",
  (list) => expect(formatHeartbeat("", list)).toBeUndefined(),
);

test("the list and the prompt of the settings are said together", () => {
  const said = formatHeartbeat("Be brief.", "# List\n- [ ] Is the build red?\n");
  expect(said).toContain("HEARTBEAT_OK");
  expect(said).toContain("Be brief.");
  expect(said).toContain("- [ ] Is the build red?");
  expect(formatHeartbeat("Be brief.", "")).not.toContain("HEARTBEAT.md");
});
