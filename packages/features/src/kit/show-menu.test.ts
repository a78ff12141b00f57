import { expect, test } from "vitest";
import { showMenu } from "./show-menu.ts";

/** A person who answers by position, and leaves when there are no more answers. */
function answer(...positions: (number | undefined)[]) {
  const shown: string[] = [];
  const select = async (title: string, options: string[]) => {
    shown.push(`${title}: ${options.join(", ")}`);
    const position = positions.shift();
    return position === undefined ? undefined : options[position];
  };
  return { ui: { select }, shown };
}

test("an action is carried out, and the list is shown again as it is then", async () => {
  const { ui, shown } = answer(0, 1, undefined);
  let state = "off";
  await showMenu(ui, {
    title: "Servers",
    getRows: () => [
      {
        label: `docs (${state})`,
        details: ["2 tools"],
        actions: [
          { label: "Restart", run: () => void (state = "restarted") },
          { label: "Turn on", run: async () => void (state = "on") },
        ],
      },
    ],
  });
  expect(shown).toEqual(["Servers: docs (off)", "docs (off)\n2 tools: Restart, Turn on", "Servers: docs (on)"]);
});

test("leaving the actions leads back to the list", async () => {
  const { ui, shown } = answer(0, undefined, undefined);
  await showMenu(ui, { title: "All", getRows: () => [{ label: "one", actions: [] }] });
  expect(shown).toEqual(["All: one", "one: ", "All: one"]);
});

test("rows with the same name are told apart", async () => {
  const { ui } = answer(1, 0, undefined);
  const chosen: number[] = [];
  const getRow = (index: number) => ({
    label: "same",
    actions: [{ label: "Take", run: () => void chosen.push(index) }],
  });
  await showMenu(ui, { title: "All", getRows: () => [getRow(0), getRow(1)] });
  expect(chosen).toEqual([1]);
});
