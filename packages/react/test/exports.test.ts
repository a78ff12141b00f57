import { expect, test } from "vitest";
import * as api from "../src/index.ts";

test("the public names are these", () => {
  expect(Object.keys(api).toSorted()).toEqual(["toUIMessages", "useSession"]);
});
