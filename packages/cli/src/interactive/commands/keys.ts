import { formatRows } from "../format-rows.ts";
import type { Interface } from "../interface.ts";
import { type AppKeybinding, keybindingDefinitions } from "../keybindings.ts";

/** Where keys apply, by how the ids of their actions begin. The first that fits is used: the same key may do several things. */
const places: readonly [title: string, ids: RegExp][] = [
  ["In the full screen", /^tui\.altScreen\./],
  ["In lists", /^tui\.select\./],
  ["In the list of sessions", /^app\.session\.(?:toggle|rename|delete)/],
  ["In the list of models to cycle through", /^app\.models\./],
  ["In the list of thinking levels", /^app\.thinking\.save$/],
  ["In the tree", /^app\.tree\./],
  ["While you write", /^tui\./],
  ["At any time", /^/],
];

/** `/hotkeys` */
export function showKeys(ui: Interface): void {
  const rows = Object.entries(keybindingDefinitions).map(([id, { description = id }]) => {
    return { id, key: ui.describeKey(id as AppKeybinding), description };
  });
  const bound = rows.filter(({ key }) => key !== "");
  const unbound = rows.filter(({ key }) => key === "");
  const width = Math.max(...bound.map(({ key }) => key.length));
  const format = (rows: [name: string, text: string][]) =>
    formatRows(
      rows.map(([name, text]) => [`  ${name}`, text]),
      ui.columns,
    );
  const groups = places.toReversed().map(([title, ids]) => {
    const own = bound.filter(({ id }) => places.find(([, each]) => each.test(id))?.[1] === ids);
    return own.length === 0 ? [] : ["", title, ...format(own.map((row) => [row.key.padEnd(width), row.description]))];
  });
  const rest = format(unbound.map(({ id, description }) => [id, description]));
  const withoutKey = rest.length === 0 ? [] : ["", "Without a key, until keybindings.json has one for them", ...rest];
  ui.say([...groups.flat(), ...withoutKey].slice(1).join("\n"));
}
