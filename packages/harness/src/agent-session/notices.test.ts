import type { SessionEvent } from "@tau/protocol";
import { expect, test } from "vitest";
import { Notices } from "./notices.ts";
import { Publisher } from "../run/publisher.ts";

const neverFails = (message: string) => expect.fail(message);

test("a notice is kept and told", () => {
  const publisher = new Publisher(neverFails);
  const told: SessionEvent[] = [];
  publisher.onSessionEvent((event) => told.push(event));
  const notices = new Notices(publisher);
  notices.add("resources", "A skill cannot be read.");
  expect(notices.list).toEqual([{ code: "resources", message: "A skill cannot be read." }]);
  expect(told).toEqual([{ type: "notice", code: "resources", message: "A skill cannot be read." }]);
});

test("a notice that came before anyone listened can still be read", () => {
  const publisher = new Publisher(neverFails);
  const notices = new Notices(publisher);
  notices.add("early", "Nothing listens yet.");
  publisher.onSessionEvent(() => expect.fail("It is not told a second time."));
  expect(notices.list.map(({ code }) => code)).toEqual(["early"]);
});

test("the latest hundred are kept, the latest last", () => {
  const notices = new Notices(new Publisher(neverFails));
  for (let number = 1; number <= 250; number++) notices.add("many", String(number));
  expect(notices.list).toHaveLength(100);
  expect(notices.list[0]?.message).toBe("151");
  expect(notices.list.at(-1)?.message).toBe("250");
});

test("a list that was read does not change", () => {
  const notices = new Notices(new Publisher(neverFails));
  const before = notices.list;
  notices.add("later", "It comes later.");
  expect(before).toEqual([]);
});
