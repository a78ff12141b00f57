import { expect, test } from "vitest";
import { textReply } from "../kit.ts";
import { openApp } from "./kit.ts";

test("/stats shows the table of tau stats, and what is wrong with a period", async () => {
  const app = await openApp([textReply("Hello.")], {
    columns: 90,
    message: "hi",
    settings: { budgets: { day: { cost: 5 } } },
  });
  await app.sees("Hello.");
  const type = (text: string) => {
    app.type(text);
    app.press("escape", "enter");
  };
  type("/stats model 7d");
  await app.sees(/MODEL +COST +TOKENS +CACHED +REQUESTS +TIME/);
  await app.sees("Limit of today: $0.00 of $5.00 are spent, $5.00 are left");
  const lines = (await app.screen()).split("\n");
  const head = lines.findIndex((line) => line.includes("MODEL"));
  expect(lines[head + 1]).toMatch(/^ \S+\/\S+ .* 1 +\d+ s$/);
  type("/stats soon");
  await app.sees(/"since" is a day, such as 2026-03-01/);
});
